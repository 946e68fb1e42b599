"""Semantics of mbarriers, fences, barriers, warp collectives and launch control.

Part of ``model/semantics.py``.
"""

from ptxlint.model.arithmetic import opaque
from ptxlint.model.effects import (
    ClusterArrive,
    ClusterWait,
    Collective,
    Compute,
    CtaBarrier,
    GridDependency,
    LaunchCancel,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInitFence,
    MbarrierInvalidate,
    MbarrierWait,
    Order,
    ProxyFence,
    ThreadFence,
    WarpBarrier,
)
from ptxlint.model.opcodes import (
    SCOPES,
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
    nothing,
    order_of,
    pair,
    pick,
    scope_of,
    space_of,
    split_at_address,
    words,
)
from ptxlint.ptx.syntax import Name, Operand, Sink

_SINK = Sink()

# --- mbarrier (9.7.13.15) ------------------------------------------------------------------------

_OWN = "shared shared::cta b64"
_ANY = "shared shared::cta shared::cluster b64 multicast::cluster::32b multicast::cluster"
_LAYOUTS = "layout::v0 layout::v1"


def _init(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words(f"init {_LAYOUTS} {_OWN}"))
    space = space_of(modifiers)
    return Handler(lambda operands: (MbarrierInit(address(operands[0]), operands[1], space),), 0)


def _inval(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words(f"inval {_OWN}"))
    space = space_of(modifiers)
    return Handler(lambda operands: (MbarrierInvalidate(address(operands[0]), space),), 0)


def _transactions(opcode: str, modifiers: list[str]) -> Handler:
    """``mbarrier.expect_tx``, ``mbarrier.complete_tx`` (9.7.13.15.11-12)."""
    check(opcode, modifiers, words(f"expect_tx complete_tx relaxed cta cluster {_ANY}"))
    space = space_of(modifiers)
    make = MbarrierExpect if modifiers[0] == "expect_tx" else MbarrierComplete
    return Handler(lambda operands: (make(address(operands[0]), operands[1], space),), 0)


_ARRIVE = words(f"arrive arrive_drop expect_tx noComplete release relaxed cta cluster {_ANY}")


def _arrive(opcode: str, modifiers: list[str]) -> Handler:
    """``mbarrier.arrive``, ``.arrive_drop`` (9.7.13.15.13-14): ``.release.cta`` unless stated."""
    check(opcode, modifiers, _ARRIVE)
    expects = "expect_tx" in modifiers
    drop = modifiers[0] == "arrive_drop"
    no_complete = "noComplete" in modifiers
    space = space_of(modifiers)
    order = order_of(modifiers, Order.RELEASE)
    scope = scope_of(modifiers, "cta")
    masked = 1 if pick(modifiers, ("multicast::cluster", "multicast::cluster::32b")) else 0

    def decode(operands: Operands) -> Effects:
        before, where, after = split_at_address(operands)
        value = after[0] if len(after) > masked else None
        return (
            MbarrierArrive(
                where,
                None if expects else value,
                value if expects else None,
                drop,
                no_complete,
                space,
                order,
                scope,
                before[0] if before else None,
            ),
        )

    return Handler(decode)


_WAIT = words(
    "test_wait try_wait parity phase_type::primary phase_type::conditional acquire relaxed cta "
    f"cluster {_OWN}"
)


def _wait(opcode: str, modifiers: list[str]) -> Handler:
    """``mbarrier.test_wait``, ``.try_wait`` (9.7.13.15.16): ``.acquire.cta`` unless stated.

    From ISA 9.3 on, ``complete|report, value`` may stand for the predicate; both reports are opaque.
    """
    check(opcode, modifiers, _WAIT)
    parity = "parity" in modifiers
    blocking = modifiers[0] == "try_wait"
    space = space_of(modifiers)
    order = order_of(modifiers, Order.ACQUIRE)
    scope = scope_of(modifiers, "cta")

    def decode(operands: Operands) -> Effects:
        before, where, after = split_at_address(operands)
        dst, report = pair(before[0])
        wait = MbarrierWait(
            where,
            dst,
            after[0] if parity else None,
            None if parity else after[0],
            blocking,
            space,
            order,
            scope,
        )
        reports: tuple[Operand, ...] = (report, *before[1:])
        if len(before) > 1 or not isinstance(report, Sink):
            return wait, Compute("opaque", reports, ())
        return (wait,)

    return Handler(decode, 2)


def _pending_count(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("pending_count b64"))
    return opaque(32)


def _check_layout(opcode: str, modifiers: list[str]) -> Handler:
    """``mbarrier.check_layout`` (ISA 9.3)."""
    check(opcode, modifiers, words(f"check_layout {_LAYOUTS} {_OWN}"))
    return opaque(1)


_MBARRIER: dict[str, Builder] = {
    "init": _init,
    "inval": _inval,
    "expect_tx": _transactions,
    "complete_tx": _transactions,
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "test_wait": _wait,
    "try_wait": _wait,
    "pending_count": _pending_count,
    "check_layout": _check_layout,
}


def _mbarrier(opcode: str, modifiers: list[str]) -> Handler:
    build = _MBARRIER.get(modifiers[0] if modifiers else "")
    if build is None:
        raise UnknownOpcode(opcode)
    return build(opcode, modifiers)


# --- fences (9.7.13.4) ---------------------------------------------------------------------------

_EVERYWHERE = frozenset({"shared", "cluster", "global"})
_COVERED: dict[str, frozenset[str]] = {
    "shared::cta": frozenset({"shared"}),
    "shared::cluster": frozenset({"shared", "cluster"}),
    "shared::cluster::read": frozenset({"shared", "cluster"}),
    "global": frozenset({"global"}),
}
_RESTRICT = "sync_restrict::"
_RESTRICTED_SPACES = ("shared::cta", "shared::cluster")
_FENCE_ORDERS = ("sc", "acq_rel", "acquire", "release")
_FABRIC = words("generic::fabric fabric::generic fabric::fabric")


def _proxy_fence(opcode: str, modifiers: list[str]) -> Handler:
    """``fence.proxy``: *modifiers* start with the proxy kind."""
    kind = modifiers[0] if modifiers else ""
    rest = modifiers[1:]
    half = pick(rest, ("acquire", "release"))
    scope = scope_of(rest, "")
    if kind == "async":
        check(opcode, rest, words("global shared::cta shared::cluster"))
        return constant(ProxyFence("async", _COVERED[rest[0]] if rest else _EVERYWHERE))
    if kind == "alias":
        check(opcode, rest, words("acquire release", SCOPES))
        return constant(ProxyFence("alias", half=half, scope=scope))
    if kind == "async::generic":
        restricted = [word for word in rest if word.startswith(_RESTRICT)]
        check(opcode, (word for word in rest if word not in restricted), words("acquire release", SCOPES))
        spaces = restricted[0][len(_RESTRICT) :] if restricted else ""
        if not spaces.startswith(_RESTRICTED_SPACES) or spaces not in _COVERED or not half:
            raise UnknownOpcode(f"restriction of {opcode}")
        reads = spaces.endswith("::read")
        return constant(ProxyFence("async", _COVERED[spaces], half, scope, reads_only=reads))
    if kind == "tensormap::generic":
        check(opcode, rest, words("acquire release", SCOPES))
        if half == "release":
            return constant(ProxyFence("tensormap", half=half, scope=scope))
        return Handler(
            lambda operands: (
                ProxyFence(
                    "tensormap",
                    half="acquire",
                    scope=scope,
                    address=address(operands[0]),
                    size=integer(operands[1]),
                ),
            ),
            0,
        )
    if kind in _FABRIC:
        # ISA 9.3: between the fabric proxy and another one.
        check(opcode, rest, words("alias acquire release", SCOPES))
        return constant(ProxyFence("fabric", half=half, scope=scope))
    raise UnknownOpcode(f"proxy .{kind} of {opcode}")


def _fence(opcode: str, modifiers: list[str]) -> Handler:
    if modifiers[:1] == ["proxy"]:
        return _proxy_fence(opcode, modifiers[1:])
    if modifiers == ["mbarrier_init", "release", "cluster"]:
        return constant(MbarrierInitFence())
    plain = [word for word in modifiers if not word.startswith(_RESTRICT)]
    for word in modifiers:
        if word.startswith(_RESTRICT) and word[len(_RESTRICT) :] not in _RESTRICTED_SPACES:
            raise UnknownOpcode(f"modifier .{word} of {opcode}")
    check(opcode, plain, words("", _FENCE_ORDERS, SCOPES))
    scope = scope_of(plain, "")
    if not scope:
        raise UnknownOpcode(f"scope of {opcode}")
    return constant(ThreadFence(order_of(plain, Order.ACQ_REL), scope))


def _membar(opcode: str, modifiers: list[str]) -> Handler:
    """``membar``: the old spelling of ``fence.sc`` and ``fence.proxy``."""
    if modifiers[:1] == ["proxy"]:
        return _proxy_fence(opcode, modifiers[1:])
    level = modifiers[0] if modifiers else ""
    check(opcode, modifiers, words("cta gl sys"))
    return constant(ThreadFence(Order.SC, {"gl": "gpu"}.get(level, level)))


# --- barriers (9.7.13.1-3) -----------------------------------------------------------------------

_BARRIER = words("cta sync arrive red popc and or aligned u32 pred")


def _barrier(opcode: str, modifiers: list[str]) -> Handler:
    """``bar``, ``barrier``: every form of ``bar`` is aligned."""
    if modifiers[:1] == ["cluster"]:
        return _cluster_barrier(opcode, modifiers[1:])
    if modifiers[:2] == ["warp", "sync"]:
        return Handler(lambda operands: (WarpBarrier(operands[0]),), 0)
    check(opcode, modifiers, _BARRIER)
    aligned = opcode.startswith("bar.") or "aligned" in modifiers
    form = pick(modifiers, ("sync", "arrive", "red"))
    if form == "red":
        operation = pick(modifiers, ("popc", "and", "or"))

        def reduce(operands: Operands) -> Effects:
            count = operands[2] if len(operands) > 3 else None
            return (CtaBarrier(operands[1], count, False, aligned, operands[0], operands[-1], (operation,)),)

        return Handler(reduce)
    if not form:
        raise UnknownOpcode(f"form of {opcode}")
    arrive = form == "arrive"

    def decode(operands: Operands) -> Effects:
        count = operands[1] if len(operands) > 1 else None
        return (CtaBarrier(operands[0], count, arrive, aligned),)

    return Handler(decode, 0)


def _cluster_barrier(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("arrive wait release relaxed acquire aligned"))
    aligned = "aligned" in modifiers
    form = modifiers[0] if modifiers else ""
    if form == "arrive":
        return constant(ClusterArrive("relaxed" in modifiers, aligned))
    if form == "wait":
        return constant(ClusterWait(aligned))
    raise UnknownOpcode(f"form of {opcode}")


# --- collectives (9.7.9.5-6, 9.7.13.8-14) --------------------------------------------------------


def _shuffle(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("sync up down bfly idx b32"))
    mode = pick(modifiers, ("up", "down", "bfly", "idx"))
    if not mode:
        raise UnknownOpcode(f"mode of {opcode}")

    def decode(operands: Operands) -> Effects:
        mask = operands[4] if len(operands) > 4 else None
        return (Collective("shfl_" + mode, pair(operands[0]), operands[1:4], mask),)

    return Handler(decode)


def _vote(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("sync all any uni ballot pred b32"))
    mode = pick(modifiers, ("all", "any", "uni", "ballot"))
    if not mode:
        raise UnknownOpcode(f"mode of {opcode}")

    def decode(operands: Operands) -> Effects:
        mask = operands[2] if len(operands) > 2 else None
        return (Collective("vote_" + mode, (operands[0], _SINK), (operands[1],), mask),)

    return Handler(decode)


def _match(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("sync any all b32 b64"))
    mode = pick(modifiers, ("any", "all"))
    if not mode:
        raise UnknownOpcode(f"mode of {opcode}")

    def decode(operands: Operands) -> Effects:
        return (Collective("match_" + mode, pair(operands[0]), (operands[1],), operands[2]),)

    return Handler(decode)


def _redux(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("sync add min max and or xor abs NaN u32 s32 b32 f32"))
    operation = pick(modifiers, ("add", "min", "max", "and", "or", "xor"))
    if not operation:
        raise UnknownOpcode(f"operation of {opcode}")
    signed = "s32" in modifiers
    extra = tuple(word for word in modifiers if word not in ("sync", "u32", "s32", "b32"))

    def decode(operands: Operands) -> Effects:
        return (Collective("redux", (operands[0], _SINK), (operands[1],), operands[2], extra, signed),)

    return Handler(decode)


def _elect(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("sync"))

    def decode(operands: Operands) -> Effects:
        return (Collective("elect", pair(operands[0]), (), operands[1]),)

    return Handler(decode)


def _activemask(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("b32"))
    return Handler(lambda operands: (Collective("activemask", (operands[0], _SINK), (), None),))


# --- launch control (9.7.13.13, 9.7.13.17-18) ----------------------------------------------------

_CANCEL = words(
    "try_cancel async shared shared::cta mbarrier::complete_tx::bytes multicast::cluster::all b128"
)
_QUERY = words(
    "query_cancel is_canceled get_first_ctaid get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z "
    "v4 b32 pred b128"
)


def _launch(opcode: str, modifiers: list[str]) -> Handler:
    form = modifiers[0] if modifiers else ""
    if form == "query_cancel":
        check(opcode, modifiers, _QUERY)
        return _query(modifiers)
    if form != "try_cancel":
        raise UnknownOpcode(opcode)
    check(opcode, modifiers, _CANCEL)
    multicast = "multicast::cluster::all" in modifiers

    def decode(operands: Operands) -> Effects:
        return (LaunchCancel(address(operands[0]), address(operands[1]), multicast),)

    return Handler(decode, 0)


def _query(modifiers: list[str]) -> Handler:
    """What a response says: the same to all who read it."""
    wanted = next(m for m in modifiers[1:] if m not in ("v4", "b32", "pred", "b128"))
    field, _, part = wanted.partition("::")
    bits = 1 if field == "is_canceled" else 32

    def decode(operands: Operands) -> Effects:
        first = operands[0]
        dsts = (first,) if isinstance(first, Name) else flat(first)
        return (Compute("query", dsts, (operands[1],), bits, extra=(field, part)),)

    return Handler(decode)


def _grid(opcode: str, modifiers: list[str]) -> Handler:
    if modifiers == ["wait"] or modifiers == ["launch_dependents"]:
        return constant(GridDependency(modifiers[0] == "wait"))
    raise UnknownOpcode(opcode)


def _quiet(known: frozenset[str]) -> Builder:
    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, known)
        return nothing()

    return build


BUILDERS: dict[str, Builder] = {
    "mbarrier": _mbarrier,
    "fence": _fence,
    "membar": _membar,
    "bar": _barrier,
    "barrier": _barrier,
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "redux": _redux,
    "elect": _elect,
    "activemask": _activemask,
    "clusterlaunchcontrol": _launch,
    "griddepcontrol": _grid,
    "setmaxnreg": _quiet(words("inc dec sync aligned u32")),
    "nanosleep": _quiet(words("u32")),
    "pmevent": _quiet(words("mask")),
}
