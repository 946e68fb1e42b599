"""Semantics of ``wgmma``, ``tcgen05`` and ``tensormap``.

Part of ``model/semantics.py``.
"""

from ptxlint.model.effects import (
    TensorAlloc,
    TensorCommit,
    TensorCopy,
    TensorDealloc,
    TensorFence,
    TensorLoad,
    TensormapCopyFence,
    TensormapReplace,
    TensorMma,
    TensorRelinquish,
    TensorShift,
    TensorStore,
    TensorWait,
    WgmmaCommit,
    WgmmaFence,
    WgmmaOp,
    WgmmaWait,
)
from ptxlint.model.opcodes import (
    SCOPES,
    TYPE_BITS,
    TYPES,
    Builder,
    Effects,
    Handler,
    Operands,
    UnknownOpcode,
    address,
    check,
    constant,
    flat,
    integer,
    pick,
    space_of,
    split_at_address,
    types_of,
    words,
)
from ptxlint.ptx.syntax import Address, Immediate, Vector

# --- wgmma (9.7.15) ------------------------------------------------------------------------------


def _wgmma(opcode: str, modifiers: list[str]) -> Handler:
    form = modifiers[0] if modifiers else ""
    if form == "mma_async":
        return _wgmma_multiply(opcode, modifiers[1:])
    check(opcode, modifiers[1:], words("sync aligned"))
    if form == "fence":
        return constant(WgmmaFence())
    if form == "commit_group":
        return constant(WgmmaCommit())
    if form == "wait_group":
        return Handler(lambda operands: (WgmmaWait(integer(operands[0])),), 0)
    raise UnknownOpcode(opcode)


def _wgmma_multiply(opcode: str, modifiers: list[str]) -> Handler:
    """``wgmma.mma_async{.sp}``: the D registers are read too, unless ``scale-d`` is false."""
    shapes = [shape for shape in map(_shape, modifiers) if shape is not None]
    others = [word for word in modifiers if _shape(word) is None]
    check(opcode, others, words("sp sync aligned and popc satfinite", TYPES))
    kinds = types_of(others)
    if len(shapes) != 1 or len(kinds) < 3:
        raise UnknownOpcode(f"shape or types of {opcode}")
    shape = shapes[0]
    element_bits = TYPE_BITS[kinds[1]] if kinds[1] != "tf32" else 32

    def decode(operands: Operands) -> Effects:
        a = operands[1]
        registers = a.elements if isinstance(a, Vector) else ()
        return (
            WgmmaOp(
                None if registers else a,
                operands[2],
                shape,
                element_bits,
                flat(operands[0]),
                registers,
            ),
        )

    return Handler(decode, 1, updated=True)


def _shape(word: str) -> tuple[int, int, int] | None:
    """Return (m, n, k) of ``m64n128k16``; None for any other word."""
    m, first, rest = word[1:].partition("n")
    n, second, k = rest.partition("k")
    if word[:1] == "m" and first and second and m.isdigit() and n.isdigit() and k.isdigit():
        return int(m), int(n), int(k)
    return None


# --- tcgen05 (9.7.16) ----------------------------------------------------------------------------

_GROUPS = words("cta_group::1 cta_group::2")


def _group(opcode: str, modifiers: list[str]) -> int:
    found = pick(modifiers, _GROUPS)
    if not found:
        raise UnknownOpcode(f"cta_group of {opcode}")
    return int(found[-1])


def _alloc(opcode: str, modifiers: list[str]) -> Handler:
    """``tcgen05.alloc`` (9.7.16.7.1)."""
    check(opcode, modifiers, words("sync aligned exclusive shared::cta b32", _GROUPS))
    group = _group(opcode, modifiers)
    space = space_of(modifiers)
    return Handler(lambda operands: (TensorAlloc(address(operands[0]), operands[1], group, space),), 0)


def _dealloc(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("sync aligned exclusive b32", _GROUPS))
    group = _group(opcode, modifiers)
    return Handler(lambda operands: (TensorDealloc(operands[0], operands[1], group),), 0)


def _relinquish(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("sync aligned", _GROUPS))
    return constant(TensorRelinquish(_group(opcode, modifiers)))


# Tensor-memory columns of 32 bits that one unit of .num spans.
_COLUMNS = {"32x32b": 1, "16x64b": 2, "16x128b": 4, "16x256b": 8, "16x32bx2": 1}
_COUNTS = words("x1 x2 x4 x8 x16 x32 x64 x128")

_LOAD = words("red spcompress sync aligned min max abs NaN pack::16b b2 b32 f32 u32 s32", _COLUMNS, _COUNTS)


def _columns(opcode: str, modifiers: list[str]) -> int:
    shape = pick(modifiers, _COLUMNS)
    count = pick(modifiers, _COUNTS)
    if not shape or not count:
        raise UnknownOpcode(f"shape of {opcode}")
    return _COLUMNS[shape] * int(count[1:])


def _load(opcode: str, modifiers: list[str]) -> Handler:
    """``tcgen05.ld``, ``.ld.red``, ``.ld.spcompress`` (9.7.16.8.3): all before the address is written."""
    others = [word for word in modifiers if not word.startswith("sp::")]
    check(opcode, others, _LOAD)
    columns = _columns(opcode, modifiers)

    def decode(operands: Operands) -> Effects:
        before, where, _ = split_at_address(operands)
        dsts = flat(before[0])
        for operand in before[1:]:
            dsts += flat(operand)
        return (TensorLoad(where, dsts, columns),)

    return Handler(decode, 3)


def _store(opcode: str, modifiers: list[str]) -> Handler:
    """``tcgen05.st`` (9.7.16.8.4); ``16x32bx2`` has an immediate before the data."""
    check(opcode, modifiers, words("sync aligned unpack::16b b32", _COLUMNS, _COUNTS))
    columns = _columns(opcode, modifiers)

    def decode(operands: Operands) -> Effects:
        data = operands[2] if len(operands) > 2 and isinstance(operands[1], Immediate) else operands[1]
        return (TensorStore(address(operands[0]), flat(data), columns),)

    return Handler(decode, 0)


_KINDS = words(
    "kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 kind::ti16"
)
_COLLECTORS = frozenset(
    f"collector::{buffer}::{use}"
    for buffer in ("a", "b", "b0", "b1", "b2", "b3")
    for use in ("fill", "use", "lastuse", "discard")
)
_MMA = words(
    "sp ws ashift block_scale decompress::lut::b scale_vec::1X scale_vec::2X scale_vec::4X block16 block32",
    _GROUPS,
    _KINDS,
    _COLLECTORS,
)


def _multiply(opcode: str, modifiers: list[str]) -> Handler:
    """``tcgen05.mma{.ws}{.sp}`` (9.7.16.10.9)."""
    check(opcode, modifiers, _MMA)
    group = _group(opcode, modifiers)
    kind = pick(modifiers, _KINDS)
    if not kind:
        raise UnknownOpcode(f"kind of {opcode}")
    kind = kind[len("kind::") :]
    scaled = "block_scale" in modifiers

    def decode(operands: Operands) -> Effects:
        a = operands[1]
        # The scales are the last addresses; a sparse or compressed operand has one before them.
        scales = tuple(x for x in operands[3:] if isinstance(x, Address))[-2:] if scaled else ()
        idesc = next((x for x in operands[3:] if not isinstance(x, Address)), None)
        return (TensorMma(operands[0], a, operands[2], isinstance(a, Address), group, scales, kind, idesc),)

    return Handler(decode, 0)


# Rows, and bytes of each.
_COPY_SHAPES = {
    "128x256b": (128, 32),
    "4x256b": (4, 32),
    "128x128b": (128, 16),
    "64x128b": (64, 16),
    "32x128b": (32, 16),
}


def _copy(opcode: str, modifiers: list[str]) -> Handler:
    """``tcgen05.cp`` (9.7.16.9.2); padded 4- and 6-bit sources take as many bytes as they become."""
    check(
        opcode,
        modifiers,
        words("warpx2::02_13 warpx2::01_23 warpx4 b8x16 b6x16_p32 b4x16_p64", _GROUPS, _COPY_SHAPES),
    )
    group = _group(opcode, modifiers)
    shape = pick(modifiers, _COPY_SHAPES)
    if not shape:
        raise UnknownOpcode(f"shape of {opcode}")
    rows, width = _COPY_SHAPES[shape]
    return Handler(lambda operands: (TensorCopy(operands[0], operands[1], group, rows, width),), 0)


def _shift(opcode: str, modifiers: list[str]) -> Handler:
    """``tcgen05.shift`` (9.7.16.9.3)."""
    check(opcode, modifiers, words("down", _GROUPS))
    group = _group(opcode, modifiers)
    return Handler(lambda operands: (TensorShift(operands[0], group),), 0)


def _commit(opcode: str, modifiers: list[str]) -> Handler:
    """``tcgen05.commit`` (9.7.16.12.1)."""
    multicasts = words("multicast::cluster multicast::cluster::16b multicast::cluster::32b")
    check(
        opcode,
        modifiers,
        words(
            "mbarrier::arrive::one shared::cluster sync_restrict::shared::read::mma::a b64",
            _GROUPS,
            multicasts,
        ),
    )
    group = _group(opcode, modifiers)
    space = space_of(modifiers)
    multicast = bool(pick(modifiers, multicasts))

    def decode(operands: Operands) -> Effects:
        return (TensorCommit(address(operands[0]), group, operands[1] if multicast else None, space),)

    return Handler(decode, 0)


def _waiting(loads: bool) -> Builder:
    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, words("sync aligned"))
        return constant(TensorWait(loads))

    return build


def _fencing(before: bool) -> Builder:
    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, frozenset())
        return constant(TensorFence(before))

    return build


_TCGEN05: dict[str, Builder] = {
    "alloc": _alloc,
    "dealloc": _dealloc,
    "relinquish_alloc_permit": _relinquish,
    "ld": _load,
    "st": _store,
    "wait::ld": _waiting(True),
    "wait::st": _waiting(False),
    "mma": _multiply,
    "cp": _copy,
    "shift": _shift,
    "commit": _commit,
    "fence::before_thread_sync": _fencing(True),
    "fence::after_thread_sync": _fencing(False),
}


def _tcgen05(opcode: str, modifiers: list[str]) -> Handler:
    build = _TCGEN05.get(modifiers[0] if modifiers else "")
    if build is None:
        raise UnknownOpcode(opcode)
    return build(opcode, modifiers[1:])


# --- tensormap (9.7.9.28, 9.7.13.16) -------------------------------------------------------------

_REPLACE = words(
    "replace tile global_address rank box_dim global_dim global_stride element_stride elemtype "
    "interleave_layout swizzle_mode swizzle_atomicity fill_mode global shared::cta b1024 b32 b64"
)
_COPY_FENCE = words("cp_fenceproxy global shared::cta tensormap::generic release sync aligned", SCOPES)


def _tensormap(opcode: str, modifiers: list[str]) -> Handler:
    form = modifiers[0] if modifiers else ""
    if form == "replace":
        check(opcode, modifiers, _REPLACE)
        space = space_of(modifiers)
        return Handler(lambda operands: (TensormapReplace(address(operands[0]), space),), 0)
    if form != "cp_fenceproxy":
        raise UnknownOpcode(opcode)
    check(opcode, modifiers, _COPY_FENCE)
    scope = pick(modifiers, SCOPES)
    return Handler(
        lambda operands: (TensormapCopyFence(address(operands[0]), address(operands[1]), scope),), 0
    )


BUILDERS: dict[str, Builder] = {"wgmma": _wgmma, "tcgen05": _tcgen05, "tensormap": _tensormap}
