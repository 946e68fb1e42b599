"""Where the registers that ``tcgen05.ld`` fills have all been used.

A use of a loaded register waits for the load of that register (PTX ISA 9.7.16.6.4.5): when all of them
have been used, the load is complete without ``tcgen05.wait::ld``. A register that is not used on the path
waits for nothing.
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
                if rest & ~seen.get(target, 0):
                    seen[target] = seen.get(target, 0) | rest
                    work.append((target, cfg.blocks[target].start, rest))
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
