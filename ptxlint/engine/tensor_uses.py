"""Where the registers that ``tcgen05.ld`` fills have all been used.

A use of a loaded register waits for the load (PTX ISA 9.7.16.6.4.5): from there on the load is complete
without ``tcgen05.wait::ld``. What is never used, on no path, waits for nothing.
"""

from collections.abc import Sequence

from ptxlint.flow.cfg import Cfg
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import Instruction, Name


def loads_used(
    instructions: Sequence[Instruction],
    effects: list[tuple[fx.Effect, ...]],
    cfg: Cfg,
) -> dict[int, list[int]]:
    """Return, by instruction, the loads that are complete before it because their results were used."""
    loads: dict[int, fx.TensorLoad] = {}
    for at, decoded in enumerate(effects):
        for effect in decoded:
            if isinstance(effect, fx.TensorLoad):
                loads[at] = effect
    if not loads:
        return {}
    bits: dict[str, int] = {}
    filled: dict[int, int] = {}
    for at, load in loads.items():
        mask = 0
        for dst in load.dsts:
            if isinstance(dst, Name):
                mask |= 1 << bits.setdefault(dst.text, len(bits))
        filled[at] = mask
    used = [_mask(semantics.uses(i), bits) for i in instructions]
    defined = [_mask(semantics.definitions(i), bits) if i.guard is None else 0 for i in instructions]
    live = _live_in(cfg, used, defined)
    waits = {
        at
        for at, decoded in enumerate(effects)
        if any(isinstance(e, fx.TensorWait) and e.loads for e in decoded)
    }
    block_of = {at: block for block in cfg.blocks for at in range(block.start, block.end)}
    done: dict[int, list[int]] = {}
    for at in loads:
        if at not in block_of:
            continue
        seen: dict[int, int] = {}
        block = block_of[at]
        rest = filled[at]
        # Only what is used at all can be waited for by being used.
        later = live.get(("after", block.index), 0)
        for index in range(block.end - 1, at, -1):
            later = (later & ~defined[index]) | used[index]
        rest &= later
        if not rest:
            continue
        work = [(block.index, at + 1, rest)]
        while work:
            number, index, rest = work.pop()
            current = cfg.blocks[number]
            while index < current.end:
                if index in waits or index == at:
                    rest = 0
                    break
                rest &= ~(used[index] | defined[index])
                index += 1
                if not rest:
                    _note(done, index, at)
                    break
            if not rest:
                continue
            for target in current.successors:
                if target == cfg.exit:
                    continue
                left = rest & live.get(("before", target), 0)
                if not left:
                    _note(done, cfg.blocks[target].start, at)
                elif left & ~seen.get(target, 0):
                    seen[target] = seen.get(target, 0) | left
                    work.append((target, cfg.blocks[target].start, left))
    return done


def _note(done: dict[int, list[int]], index: int, load: int) -> None:
    found = done.setdefault(index, [])
    if load not in found:
        found.append(load)


def _mask(names: tuple[str, ...], bits: dict[str, int]) -> int:
    mask = 0
    for name in names:
        bit = bits.get(name)
        if bit is not None:
            mask |= 1 << bit
    return mask


def _live_in(cfg: Cfg, used: list[int], defined: list[int]) -> dict[tuple[str, int], int]:
    live: dict[tuple[str, int], int] = {}
    gen: dict[int, int] = {}
    kill: dict[int, int] = {}
    for block in cfg.blocks:
        uses = kills = 0
        for at in range(block.start, block.end):
            uses |= used[at] & ~kills
            kills |= defined[at]
        gen[block.index], kill[block.index] = uses, kills
    changed = True
    while changed:
        changed = False
        for block in reversed(cfg.blocks):
            out = 0
            for target in block.successors:
                out |= live.get(("before", target), 0)
            new = gen[block.index] | (out & ~kill[block.index])
            live["after", block.index] = out
            if live.get(("before", block.index), 0) != new:
                live["before", block.index] = new
                changed = True
    return live
