"""Turns kept computations into closures over register lists."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxlint.engine.operations import MOST_KEPT, Operation, int_function, value_key
from ptxlint.engine.program import Alu, Code
from ptxlint.engine.values import FULL, LANES, Value, lane_of, lanes_of, settle
from ptxlint.engine.warp import Fiber, merge

if TYPE_CHECKING:
    from ptxlint.engine.oracle import Oracle

Step = Callable[[list[Value], Fiber], None]

NOWHERE = -(1 << 30)


def compile_alu(alu: Alu, code: Code, oracle: "Oracle") -> Step:
    """Return a closure that performs *alu* on a fiber's registers."""
    effect = alu.effect
    if effect.op in ("setp", "set"):
        step = _comparison(alu, code, oracle)
    elif effect.op == "pack":
        step = _pack(alu, oracle)
    elif effect.op == "unpack":
        step = _unpack(alu, oracle)
    elif effect.op == "query":
        step = _query(alu, oracle)
    elif effect.op == "opaque" or not alu.dsts:
        step = _opaque(alu, oracle)
    else:
        step = _plain(alu, code, oracle)
    if alu.guard is not None:
        return _guarded(alu, step, oracle)
    return step


def _guarded(alu: Alu, step: Step, oracle: "Oracle") -> Step:
    assert alu.guard is not None
    slot, negated = alu.guard
    dsts = [d for d in alu.dsts if d > NOWHERE]

    def run(regs: list[Value], fiber: Fiber) -> None:
        guard = regs[slot]
        if guard.__class__ is int:
            if guard != negated:
                step(regs, fiber)
            return
        mask = oracle.mask_of(guard, bool(negated), fiber, None)
        if not mask:
            return
        old = [regs[d] for d in dsts]
        step(regs, fiber)
        if mask != fiber.mask:
            rest = fiber.mask & ~mask
            for d, before in zip(dsts, old, strict=True):
                regs[d] = merge(regs[d], mask, before, rest)

    return run


def _plain(alu: Alu, code: Code, oracle: "Oracle") -> Step:
    effect = alu.effect
    function = int_function(effect.op, effect.bits, effect.signed, effect.source_bits, effect.extra)
    if function is None:
        return _opaque(alu, oracle)
    slow = Operation(
        oracle.unknowns, effect.op, effect.bits, effect.signed, effect.source_bits, effect.extra, function
    )
    dst = alu.dsts[0]
    srcs = alu.srcs
    if dst == NOWHERE:
        return lambda regs, fiber: None
    if effect.op == "mov" and len(srcs) == 1:
        only = srcs[0]

        def move(regs: list[Value], fiber: Fiber) -> None:
            regs[dst] = regs[only]

        return move
    if effect.op == "selp":
        a, b, p = srcs

        def select(regs: list[Value], fiber: Fiber) -> None:
            chosen = regs[p]
            if chosen.__class__ is int:
                regs[dst] = regs[a] if chosen else regs[b]
                return
            mask = oracle.mask_of(chosen, False, fiber, oracle.wishes[id(code)].get(p))
            regs[dst] = merge(regs[a], mask, regs[b], fiber.mask & ~mask)

        return select
    if len(srcs) == 1:
        one = srcs[0]

        def unary(regs: list[Value], fiber: Fiber) -> None:
            x = regs[one]
            regs[dst] = function(x) if x.__class__ is int else slow(x)

        return unary
    if len(srcs) == 2:
        first, second = srcs

        def binary(regs: list[Value], fiber: Fiber) -> None:
            x = regs[first]
            y = regs[second]
            if x.__class__ is int and y.__class__ is int:
                regs[dst] = function(x, y)
            else:
                regs[dst] = slow(x, y)

        return binary

    def several(regs: list[Value], fiber: Fiber) -> None:
        regs[dst] = slow(*[regs[s] for s in srcs])

    return several


def _opaque(alu: Alu, oracle: "Oracle") -> Step:
    dsts = [d for d in alu.dsts if d > NOWHERE]
    low, high = (0, 1) if alu.effect.bits == 1 else (-(1 << 31), (1 << 31) - 1)
    site = alu.instruction.index

    def run(regs: list[Value], fiber: Fiber) -> None:
        for number, dst in enumerate(dsts):
            regs[dst] = oracle.fresh(("opaque", site, number), fiber, low, high)

    return run


def _query(alu: Alu, oracle: "Oracle") -> Step:
    """Fields of a launch-control response: the same for all that read the same response."""
    field, part = alu.effect.extra
    first = "xyzw".index(part) if part else 0
    source = alu.srcs[0]

    def run(regs: list[Value], fiber: Fiber) -> None:
        response = value_key(oracle.unknowns.resolve(lane_of(regs[source], fiber.lanes[0])))
        for number, dst in enumerate(alu.dsts):
            if dst <= NOWHERE:
                continue
            if field == "is_canceled":
                regs[dst] = int(oracle.cancelled(response))
            else:
                key = ("query", field, first + number, response)
                regs[dst] = oracle.unknowns.atom(key, 0, (1 << 31) - 1)

    return run


def _pack(alu: Alu, oracle: "Oracle") -> Step:
    dst = alu.dsts[0]
    srcs = alu.srcs
    width = alu.effect.bits // max(1, len(srcs))
    mask = (1 << width) - 1
    whole = (1 << alu.effect.bits) - 1

    def join(*pieces: int) -> int:
        result = 0
        for i, piece in enumerate(pieces):
            result |= (piece & mask) << (width * i)
        return result & whole

    slow = Operation(oracle.unknowns, "pack", alu.effect.bits, False, 0, (), join)

    def run(regs: list[Value], fiber: Fiber) -> None:
        pieces = [regs[s] for s in srcs]
        if all(piece.__class__ is int for piece in pieces):
            regs[dst] = join(*pieces)  # type: ignore[arg-type]
        elif len(pieces) == 2 and pieces[1] == 0:
            regs[dst] = pieces[0]
        else:
            regs[dst] = slow(*pieces)

    return run


def _unpack(alu: Alu, oracle: "Oracle") -> Step:
    source = alu.srcs[0]
    dsts = alu.dsts
    width = (alu.effect.source_bits or alu.effect.bits * len(dsts)) // max(1, len(dsts))
    mask = (1 << width) - 1
    pieces = [
        Operation(oracle.unknowns, f"unpack{i}", width, False, width * len(dsts), (), _piece(i * width, mask))
        for i in range(len(dsts))
    ]

    def run(regs: list[Value], fiber: Fiber) -> None:
        value = regs[source]
        for i, dst in enumerate(dsts):
            if dst == NOWHERE:
                continue
            if value.__class__ is int:
                regs[dst] = (value >> (i * width)) & mask
            elif i == 0:
                # The low half of an unknown is taken for the unknown: 64-bit forms of 32-bit values.
                regs[dst] = value
            else:
                regs[dst] = pieces[i](value)

    return run


def _piece(shift: int, mask: int) -> Callable[[int], int]:
    return lambda a: (a >> shift) & mask


_BOOLEAN: dict[str, Callable[[int, int], int]] = {
    "and": lambda p, c: p & c,
    "or": lambda p, c: p | c,
    "xor": lambda p, c: p ^ c,
}


def _comparison(alu: Alu, code: Code, oracle: "Oracle") -> Step:
    effect = alu.effect
    relation = effect.extra[0]
    boolean = _BOOLEAN.get(effect.extra[1]) if len(effect.extra) > 1 else None
    bits = effect.source_bits or 32
    top = (1 << bits) - 1
    sign = 1 << (bits - 1)
    signed = effect.signed and relation not in ("lo", "ls", "hi", "hs")
    a, b = alu.srcs[0], alu.srcs[1]
    third = alu.srcs[2] if len(alu.srcs) > 2 else None
    p = alu.dsts[0]
    q = alu.dsts[1] if len(alu.dsts) > 1 else NOWHERE
    true = 1 if effect.op == "setp" or effect.bits == 1 else (1 << effect.bits) - 1

    def concrete(x: int, y: int) -> int:
        x &= top
        y &= top
        if signed:
            x ^= sign
            y ^= sign
        if relation == "eq":
            return int(x == y)
        if relation == "ne":
            return int(x != y)
        if relation in ("lt", "lo"):
            return int(x < y)
        if relation in ("le", "ls"):
            return int(x <= y)
        if relation in ("gt", "hi"):
            return int(x > y)
        return int(x >= y)

    def store(regs: list[Value], result: Value, fiber: Fiber) -> None:
        if boolean is not None and third is not None:
            other = regs[third]
            if result.__class__ is int and other.__class__ is int:
                both: Value = boolean(result, other)
                negative: Value = boolean(1 - result, other)
            else:
                x = _bits(result, fiber, oracle)
                y = _bits(other, fiber, oracle)
                both = settle([boolean(i, j) for i, j in zip(x, y, strict=True)])
                negative = settle([boolean(1 - i, j) for i, j in zip(x, y, strict=True)])
        else:
            both = result
            if result.__class__ is int:
                negative = 1 - result
            else:
                negative = tuple(1 - v for v in result)  # type: ignore[union-attr,operator]
        if p != NOWHERE:
            regs[p] = both if true == 1 else _times(both, true)
        if q != NOWHERE:
            regs[q] = negative

    vectors: dict[tuple[Value, Value], Value] = {}

    def run(regs: list[Value], fiber: Fiber) -> None:
        x = regs[a]
        y = regs[b]
        if x.__class__ is int and y.__class__ is int:
            result: Value = concrete(x, y)
        elif (known := vectors.get((x, y))) is not None:
            result = known
        elif _concrete_lanes(x) and _concrete_lanes(y):
            result = settle(
                [concrete(i, j) for i, j in zip(lanes_of(x), lanes_of(y), strict=True)]  # type: ignore[arg-type]
            )
            if len(vectors) >= MOST_KEPT:
                vectors.clear()
            vectors[x, y] = result
        else:
            result = oracle.compare(alu, code, relation, x, y, bits, signed, fiber)
        store(regs, result, fiber)

    return run


def _times(value: Value, factor: int) -> Value:
    """Return a predicate as the integer that ``set`` makes of it."""
    if isinstance(value, int):
        return value * factor
    return tuple(lane * factor if isinstance(lane, int) else lane for lane in lanes_of(value))


def _concrete_lanes(value: Value) -> bool:
    if value.__class__ is int:
        return True
    return isinstance(value, tuple) and all(v.__class__ is int for v in value)


def _bits(value: Value, fiber: Fiber, oracle: "Oracle") -> list[int]:
    mask = oracle.mask_of(value, False, fiber, None)
    return [mask >> i & 1 for i in range(LANES)]


__all__ = ["FULL", "NOWHERE", "Step", "compile_alu", "lane_of"]
