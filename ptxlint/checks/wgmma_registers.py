"""Registers of wgmma in the control flow: what is pending, and what a fence has not covered.

Copies from register to register are taken as renaming: compilers put them at the ends of loops, and
ptxas drops them.
"""

from collections.abc import Iterator, Sequence

from ptxlint.checks.base import Context
from ptxlint.engine.program import Code
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import Instruction, Name, Operand
from ptxlint.records import record
from ptxlint.report.finding import Site

MAX_GROUPS = 8

# Pending registers by group, the open group first, then the newest; each maps to its wgmma.
Pending = tuple[dict[str, int], ...]


@record
class RegisterHazard:
    """An instruction that meets registers of a wgmma: *other* is the wgmma, or the access before it."""

    at: int
    other: int
    register: str
    writes: bool = False


def site_of(context: Context, instruction: Instruction) -> Site:
    """Return where *instruction* stands."""
    position = context.module.position(instruction)
    return Site(position.line, position.column, context.module.source_chain(instruction))


def _names(operands: tuple[Operand, ...]) -> list[str]:
    return [operand.text for operand in operands if isinstance(operand, Name)]


def _copy(effects: tuple[fx.Effect, ...]) -> tuple[str, str] | None:
    """Return (destination, source) of a copy from register to register."""
    if len(effects) == 1 and isinstance(effects[0], fx.Compute) and effects[0].op == "mov":
        dsts, srcs = effects[0].dsts, effects[0].srcs
        if len(dsts) == len(srcs) == 1 and isinstance(dsts[0], Name) and isinstance(srcs[0], Name):
            return dsts[0].text, srcs[0].text
    return None


def _is_constant(effects: tuple[fx.Effect, ...]) -> bool:
    """Return whether a register is set to a constant."""
    return (
        len(effects) == 1
        and isinstance(effects[0], fx.Compute)
        and effects[0].op == "mov"
        and not any(isinstance(src, Name) for src in effects[0].srcs)
    )


def _is_wgmma(effects: tuple[fx.Effect, ...], kind: type[fx.Effect]) -> bool:
    return any(isinstance(effect, kind) for effect in effects)


class _Pass:
    """What both analyses need of a function."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.instructions: Sequence[Instruction] = code.function.instructions
        self.of_interest: set[str] = set()
        for effects in code.effects:
            for effect in effects:
                if isinstance(effect, fx.WgmmaOp):
                    self.of_interest.update(_names(effect.accumulators + effect.a_registers))
        self._close_over_copies()
        self.touches: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
            (
                tuple(n for n in semantics.uses(i) if n in self.of_interest),
                tuple(n for n in semantics.definitions(i) if n in self.of_interest),
            )
            for i in self.instructions
        ]

    def _close_over_copies(self) -> None:
        pairs = [pair for pair in map(_copy, self.code.effects) if pair is not None]
        size = -1
        while size != len(self.of_interest):
            size = len(self.of_interest)
            for dst, src in pairs:
                if dst in self.of_interest or src in self.of_interest:
                    self.of_interest |= {dst, src}


def has_wgmma(code: Code) -> bool:
    """Return whether *code* multiplies with wgmma."""
    return any(_is_wgmma(effects, fx.WgmmaOp) for effects in code.effects)


def used_while_pending(code: Code) -> Iterator[RegisterHazard]:
    """Yield accesses of accumulators and A fragments that a wgmma-group may still be using (9.7.15.7.3)."""
    given = _Pass(code)
    states: dict[int, Pending] = {0: ({},)}
    work = [0]
    found: dict[int, RegisterHazard] = {}
    while work:
        number = work.pop()
        block = code.cfg.blocks[number]
        state = states[number]
        for at in range(block.start, block.end):
            state = _step(given, at, state, found)
        for target in block.successors:
            if target == code.cfg.exit or target in code.dead:
                continue
            joined = _join(states.get(target), state)
            if joined is not None:
                states[target] = joined
                if target not in work:
                    work.append(target)
    return iter(found.values())


def _step(given: _Pass, at: int, state: Pending, found: dict[int, RegisterHazard]) -> Pending:
    effects = given.code.effects[at]
    for effect in effects:
        if isinstance(effect, fx.WgmmaOp):
            names = _names(effect.accumulators + effect.a_registers)
            return ({**state[0], **dict.fromkeys(names, at)}, *state[1:])
        if isinstance(effect, fx.WgmmaCommit):
            return ({}, *state)[: MAX_GROUPS + 1]
        if isinstance(effect, fx.WgmmaWait):
            # An uncommitted wgmma stays pending, whatever is waited for.
            return state[: 1 + effect.pending]
    pair = _copy(effects)
    if pair is not None:
        dst, src = pair
        if any(src in group or dst in group for group in state):
            moved = []
            for group in state:
                new = {n: w for n, w in group.items() if n != dst}
                if src in group:
                    new[dst] = group[src]
                moved.append(new)
            return tuple(moved)
        return state
    uses, definitions = given.touches[at]
    for touched, writes in ((uses, False), (definitions, True)):
        for name in touched:
            for group in state:
                if name in group:
                    found.setdefault(at, RegisterHazard(at, group[name], name, writes))
    return state


def _join(old: Pending | None, new: Pending) -> Pending | None:
    """Return the union, group by group from the newest; None when it is *old*."""
    if old is None:
        return new
    longer, shorter = (old, new) if len(old) >= len(new) else (new, old)
    joined = tuple({**group, **(shorter[i] if i < len(shorter) else {})} for i, group in enumerate(longer))
    same = len(joined) == len(old) and all(a.keys() == b.keys() for a, b in zip(joined, old, strict=True))
    return None if same else joined


def touched_since_fence(code: Code) -> Iterator[RegisterHazard]:
    """Yield wgmmas whose registers were written with no ``wgmma.fence`` since, or that none precedes at all.

    The state is the instruction that wrote each register last since the fence; ``*`` stands for the
    start of the kernel (9.7.15.7.1).
    """
    given = _Pass(code)
    states: dict[int, dict[str, int]] = {0: {"*": -1}}
    work = [0]
    found: dict[int, RegisterHazard] = {}
    while work:
        number = work.pop()
        block = code.cfg.blocks[number]
        state = dict(states[number])
        for at in range(block.start, block.end):
            _written(given, at, state, found)
        for target in block.successors:
            if target == code.cfg.exit or target in code.dead:
                continue
            old = states.get(target)
            if old is None:
                states[target] = dict(state)
            elif state.keys() <= old.keys():
                continue
            else:
                states[target] = {**state, **old}
            if target not in work:
                work.append(target)
    return iter(found.values())


def _written(given: _Pass, at: int, state: dict[str, int], found: dict[int, RegisterHazard]) -> None:
    effects = given.code.effects[at]
    for effect in effects:
        if isinstance(effect, fx.WgmmaFence):
            state.clear()
            return
        if isinstance(effect, fx.WgmmaOp):
            for name in _names(effect.accumulators + effect.a_registers):
                if name in state:
                    found.setdefault(at, RegisterHazard(at, state[name], name))
                    return
            if "*" in state:
                found.setdefault(at, RegisterHazard(at, -1, "*"))
            return
        if isinstance(effect, (fx.WgmmaCommit, fx.WgmmaWait)):
            return
    pair = _copy(effects)
    if pair is not None:
        dst, src = pair
        if src in state:
            state[dst] = state[src]
        else:
            state.pop(dst, None)
        return
    if _is_constant(effects):
        # Zeros for a first wgmma that does not read them; compilers move them past the fence.
        return
    for name in given.touches[at][1]:
        state[name] = at
