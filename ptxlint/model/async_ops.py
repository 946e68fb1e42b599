"""Semantics of asynchronous copies: ``cp.async``, bulk and tensor copies, ``st.async``, ``red.async``.

Part of ``model/semantics.py``.
"""

from collections.abc import Callable

from ptxlint.model.effects import (
    BulkCommit,
    BulkCopy,
    BulkKind,
    BulkWait,
    CpAsync,
    CpAsyncArrive,
    CpAsyncCommit,
    CpAsyncWait,
    Order,
    Space,
    StoreAsync,
)
from ptxlint.model.opcodes import (
    SCOPES,
    SPACES,
    TYPE_BITS,
    TYPES,
    Effects,
    Handler,
    Operands,
    UnknownOpcode,
    address,
    check,
    constant,
    integer,
    last_type,
    order_of,
    pick,
    space_of,
    split_at_address,
    words,
)
from ptxlint.ptx.syntax import Address, Operand

_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_OPERATIONS = words("and or xor add inc dec min max")

# --- cp.async (9.7.9.25.3) -----------------------------------------------------------------------

_CP_ASYNC = words("async ca cg shared shared::cta global L2::cache_hint L2::64B L2::128B L2::256B")


def _cp_async(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, _CP_ASYNC)

    def decode(operands: Operands) -> Effects:
        return (CpAsync(address(operands[0]), address(operands[1]), integer(operands[2])),)

    return Handler(decode, 0)


def _cp_async_arrive(opcode: str, modifiers: list[str]) -> Handler:
    """``cp.async.mbarrier.arrive`` (9.7.13.15.15)."""
    check(opcode, modifiers, words("async mbarrier arrive noinc shared shared::cta b64"))
    no_increment = "noinc" in modifiers
    return Handler(lambda operands: (CpAsyncArrive(address(operands[0]), no_increment),), 0)


# --- bulk copies (9.7.9.25.4, 9.7.9.26-27) -------------------------------------------------------

_DIMENSIONS = words("1d 2d 3d 4d 5d")
_COPY_SPACES = ("shared::cta", "shared::cluster", "global")
_MULTICAST = words("multicast::cluster multicast::cluster::16b multicast::cluster::32b")
_REPORTS = words(
    "mbarrier::report::disabled mbarrier::report::validity::per_element::ff "
    "mbarrier::report::validity::per_16bytes::80000000 mbarrier::report::validity::per_16bytes::8000 "
    "mbarrier::report::validity::per_16bytes::80 mbarrier::report::validity::per_16bytes::8"
)
_OVERRIDES = words("override::global_address override::global_dim override::global_dim_stride")
_MODES = words(
    "tile tile::gather4 tile::scatter4 im2col im2col::w im2col::w::128 im2col_no_offs im2col_no_offs::w"
)
_COMPLETION = words("mbarrier::complete_tx::bytes bulk_group")
_BULK = words("async bulk", _COPY_SPACES, _COMPLETION, ["L2::cache_hint"])
_STRENGTH = words("weak relaxed", SCOPES)
_COPY = _BULK | _MULTICAST | _REPORTS | _STRENGTH | words("cp_mask ignore_oob b128")
_TENSOR_COPY = (
    _BULK
    | _MULTICAST
    | _REPORTS
    | _STRENGTH
    | _DIMENSIONS
    | _MODES
    | _OVERRIDES
    | words("tensor cta_group::1 cta_group::2")
)
_REDUCE = _BULK | _STRENGTH | _OPERATIONS | TYPES | words("reduce noftz ftz cp_mask acc::f16 acc::f32")
_TENSOR_REDUCE = _BULK | _STRENGTH | _OPERATIONS | _DIMENSIONS | _MODES | _OVERRIDES | words("reduce tensor")
_PREFETCH = words(
    "async bulk prefetch tensor L2 global L2::cache_hint L2::evict_last L2::evict_normal",
    _DIMENSIONS,
    _MODES,
    _OVERRIDES,
)

_PRIORITY = words("async bulk tensor global bulk_group L2::evict_normal", _DIMENSIONS, _MODES, _OVERRIDES)


def _spaces(opcode: str, modifiers: list[str]) -> tuple[str, str]:
    """Return the destination's and the source's state space, which are written in this order."""
    found = [modifier for modifier in modifiers if modifier in _COPY_SPACES]
    if len(found) != 2:
        raise UnknownOpcode(f"state spaces of {opcode}")
    return found[0], found[1]


def _group(modifiers: list[str]) -> int:
    return {"cta_group::1": 1, "cta_group::2": 2}.get(pick(modifiers, ("cta_group::1", "cta_group::2")), 0)


def _bulk(opcode: str, modifiers: list[str]) -> Handler:
    """``cp.async.bulk``, ``cp.reduce.async.bulk`` and their multimem forms, without a tensor map."""
    reduction = "reduce" in modifiers
    check(opcode, modifiers, _REDUCE if reduction else _COPY)
    into, out_of = _spaces(opcode, modifiers)
    group = "bulk_group" in modifiers
    if group == ("mbarrier::complete_tx::bytes" in modifiers):
        raise UnknownOpcode(f"completion mechanism of {opcode}")
    kind = BulkKind.REDUCE if reduction else BulkKind.COPY
    destination_space, source_space = SPACES[into], SPACES[out_of]
    multicast = bool(pick(modifiers, _MULTICAST))
    local = into == "shared::cta"
    masked = "cp_mask" in modifiers

    def decode(operands: Operands) -> Effects:
        barrier: Address | None = None
        mask: Operand | None = None
        if not group:
            # With .ignore_oob, two byte counts stand between the size and the mbarrier.
            _, barrier, after = split_at_address(operands[3:])
            mask = after[0] if multicast else None
        return (
            BulkCopy(
                kind,
                destination_space,
                source_space,
                address(operands[0]),
                address(operands[1]),
                operands[2],
                barrier,
                group,
                None,
                mask,
                0,
                local,
                masked,
            ),
        )

    return Handler(decode, 0)


def _tensor_copy(opcode: str, modifiers: list[str]) -> Handler:
    """``cp.async.bulk.tensor`` (9.7.9.27.1.2): one of the two addresses is a tensor map."""
    check(opcode, modifiers, _TENSOR_COPY)
    if not pick(modifiers, _DIMENSIONS):
        raise UnknownOpcode(f"dimension of {opcode}")
    into, out_of = _spaces(opcode, modifiers)
    destination_space, source_space = SPACES[into], SPACES[out_of]
    if into == "global":
        if "bulk_group" not in modifiers:
            raise UnknownOpcode(f"completion mechanism of {opcode}")
        return _tensor_store(BulkKind.TENSOR_COPY, source_space)
    if "mbarrier::complete_tx::bytes" not in modifiers:
        raise UnknownOpcode(f"completion mechanism of {opcode}")
    cta_group = _group(modifiers)
    local = into == "shared::cta"
    # im2col offsets stand between the mbarrier and the mask.
    multicast = bool(pick(modifiers, _MULTICAST))
    multicast_at = 4 if pick(modifiers, _IM2COL) else 3

    def decode(operands: Operands) -> Effects:
        mask: Operand | None = None
        if multicast:
            mask = operands[multicast_at] if multicast_at < len(operands) else operands[3]
        return (
            BulkCopy(
                BulkKind.TENSOR_COPY,
                destination_space,
                source_space,
                address(operands[0]),
                None,
                None,
                address(operands[2]),
                False,
                address(operands[1]),
                mask,
                cta_group,
                local,
            ),
        )

    return Handler(decode, 0)


_IM2COL = words("im2col im2col::w im2col::w::128")


def _tensor_store(kind: BulkKind, source_space: Space) -> Handler:
    def decode(operands: Operands) -> Effects:
        return (
            BulkCopy(
                kind,
                Space.GLOBAL,
                source_space,
                None,
                address(operands[1]),
                None,
                bulk_group=True,
                tensor_map=address(operands[0]),
            ),
        )

    return Handler(decode, 0)


def _tensor_reduce(opcode: str, modifiers: list[str]) -> Handler:
    """``cp.reduce.async.bulk.tensor`` (9.7.9.27.1.3)."""
    check(opcode, modifiers, _TENSOR_REDUCE)
    into, out_of = _spaces(opcode, modifiers)
    if into != "global" or "bulk_group" not in modifiers or not pick(modifiers, _OPERATIONS):
        raise UnknownOpcode(f"completion mechanism of {opcode}")
    return _tensor_store(BulkKind.TENSOR_REDUCE, SPACES[out_of])


def _prefetch(opcode: str, modifiers: list[str]) -> Handler:
    """``cp.async.bulk.prefetch`` with and without ``.tensor`` (9.7.9.25.4.3, 9.7.9.27.1.4)."""
    check(opcode, modifiers, _PREFETCH)
    tensor = "tensor" in modifiers

    def decode(operands: Operands) -> Effects:
        first = address(operands[0])
        if tensor:
            return (
                BulkCopy(
                    BulkKind.TENSOR_PREFETCH, Space.GLOBAL, Space.GLOBAL, None, None, None,
                    tensor_map=first,
                ),
            )  # fmt: skip
        return (BulkCopy(BulkKind.PREFETCH, Space.GLOBAL, Space.GLOBAL, None, first, operands[1]),)

    return Handler(decode, 0)


def asynchronous_priority(opcode: str, modifiers: list[str]) -> Handler:
    """``applypriority.async.bulk{.tensor}`` (ISA 9.4): a hint that a bulk async-group tracks."""
    check(opcode, modifiers, _PRIORITY)
    kind = BulkKind.TENSOR_PREFETCH if "tensor" in modifiers else BulkKind.PREFETCH

    def decode(operands: Operands) -> Effects:
        first = address(operands[0])
        tensor = kind is BulkKind.TENSOR_PREFETCH
        return (
            BulkCopy(
                kind,
                Space.GLOBAL,
                Space.GLOBAL,
                None,
                None if tensor else first,
                None if tensor else operands[1],
                bulk_group=True,
                tensor_map=first if tensor else None,
            ),
        )

    return Handler(decode, 0)


# --- groups (9.7.9.25.3.2-3, 9.7.9.27.2) ---------------------------------------------------------


def _wait(make: Callable[[int], BulkWait | CpAsyncWait]) -> Handler:
    return Handler(lambda operands: (make(integer(operands[0])),), 0)


def _wait_group(opcode: str, modifiers: list[str]) -> Handler:
    read = modifiers[-1] == "read"
    return _wait(lambda pending: BulkWait(pending, read))


def copy(opcode: str, modifiers: list[str]) -> Handler:
    """``cp``: the non-bulk and bulk copies, reductions, prefetches and their groups."""
    rest = opcode[len("cp.") :]
    exact = _GROUPS.get(rest)
    if exact is not None:
        return exact(opcode, modifiers)
    if modifiers[:3] == ["reduce", "async", "bulk"]:
        return (_tensor_reduce if "tensor" in modifiers else _bulk)(opcode, modifiers)
    if modifiers[:2] == ["async", "mbarrier"]:
        return _cp_async_arrive(opcode, modifiers)
    if modifiers[:2] == ["async", "bulk"]:
        if "prefetch" in modifiers:
            return _prefetch(opcode, modifiers)
        return (_tensor_copy if "tensor" in modifiers else _bulk)(opcode, modifiers)
    if modifiers[:1] == ["async"]:
        return _cp_async(opcode, modifiers)
    raise UnknownOpcode(opcode)


_GROUPS: dict[str, Callable[[str, list[str]], Handler]] = {
    "async.bulk.commit_group": lambda opcode, modifiers: constant(BulkCommit()),
    "async.bulk.wait_group": _wait_group,
    "async.bulk.wait_group.read": _wait_group,
    "async.commit_group": lambda opcode, modifiers: constant(CpAsyncCommit()),
    "async.wait_group": lambda opcode, modifiers: _wait(CpAsyncWait),
    "async.wait_all": lambda opcode, modifiers: constant(CpAsyncWait(0, True)),
}


def multimem_copy(opcode: str, modifiers: list[str]) -> Handler:
    """``multimem.cp.async.bulk``, ``multimem.cp.reduce.async.bulk`` (9.7.9.26)."""
    rest = modifiers[1:]
    if rest[:2] == ["async", "bulk"] or rest[:3] == ["reduce", "async", "bulk"]:
        return _bulk(opcode, rest)
    raise UnknownOpcode(opcode)


# --- st.async, red.async (9.7.9.12, 9.7.13.7) ----------------------------------------------------

_STORE = words(
    "async weak relaxed release mmio mbarrier::complete_tx::bytes", SCOPES, SPACES, _VECTORS, TYPES
)


def store_async(opcode: str, modifiers: list[str]) -> Handler:
    """``st.async``, ``red.async``, and the multimem forms of both.

    With a completion mechanism the target is a peer's shared memory, else global memory.
    """
    reduction = opcode.split(".async", 1)[0].endswith("red")
    check(opcode, modifiers, _STORE | _OPERATIONS if reduction else _STORE)
    tracked = "mbarrier::complete_tx::bytes" in modifiers
    space = space_of(modifiers)
    if space is Space.GENERIC and not tracked:
        space = Space.GLOBAL
    size = TYPE_BITS[last_type(opcode, modifiers)] // 8 * _VECTORS.get(pick(modifiers, _VECTORS), 1)
    order = order_of(modifiers, Order.WEAK)

    def decode(operands: Operands) -> Effects:
        barrier: Address | None = address(operands[2]) if tracked else None
        return (StoreAsync(address(operands[0]), barrier, size, reduction, space, order),)

    return Handler(decode, 0)
