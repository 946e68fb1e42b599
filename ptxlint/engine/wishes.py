"""What the predicates of a function should be, so that a run sees as much of it as it can.

For each predicate that decides a branch or guards an event: staying in a loop, the side of a branch
from which more events can be reached, the event executed. The oracle follows these wishes where the
values leave a comparison open.
"""

from ptxlint.engine.program import Alu, Code, Event
from ptxlint.flow.dominators import Loop, region
from ptxlint.model import effects as fx
from ptxlint.records import record, replace


@record
class Wish:
    """What a predicate should be: ``stay`` in loop *header* when it is *value*, or just *value*.

    ``guards``: the branch guards a loop that it may skip as a whole.
    """

    value: bool
    header: int = -1
    block: int = -1
    guards: bool = False


def wishes(code: Code, at: dict[Alu, Wish]) -> dict[int, Wish]:
    """Return for each predicate slot what its comparison should decide; *at* is what ``wishes_at`` gave."""
    result: dict[int, Wish] = {}
    for slot, uses in code.wants.items():
        best = _wish_of(code, uses)
        if best is not None:
            result[slot] = best
    # Through boolean arithmetic on predicates, and through integers made of predicates.
    for _ in range(4):
        for block_ in reversed(code.blocks):
            for item in reversed(block_.items):
                if isinstance(item, Event):
                    if isinstance(item.effect, fx.Collective) and item.effect.op.startswith("vote"):
                        voted = (
                            result.get(item.b.dsts[0]) if item.b.dsts and item.b.dsts[0] is not None else None
                        )
                        if voted is not None and item.b.srcs and item.b.srcs[0] is not None:
                            result.setdefault(item.b.srcs[0], voted)
                    continue
                if not item.dsts:
                    continue
                wish = at.get(item) or result.get(item.dsts[0])
                effect = item.effect
                if wish is None:
                    continue
                if effect.op in ("mov", "cvt") or (effect.op in ("and", "or") and effect.bits <= 32):
                    for source in item.srcs:
                        if source >= 0:
                            result.setdefault(source, wish)
                elif effect.op == "not" and effect.bits == 1:
                    result.setdefault(item.srcs[0], replace(wish, value=not wish.value))
                elif effect.op == "setp" and len(item.srcs) > 2 and item.srcs[2] >= 0:
                    result.setdefault(item.srcs[2], wish)
                elif effect.op == "setp" and effect.extra[0] in ("eq", "ne"):
                    constant = code.constants.get(item.srcs[1])
                    zero = getattr(constant, "value", None) == 0
                    if zero and item.srcs[0] >= 0:
                        same = effect.extra[0] == "ne"
                        result.setdefault(item.srcs[0], wish if same else replace(wish, value=not wish.value))
                elif effect.op == "selp" and len(item.srcs) == 3 and item.srcs[2] >= 0:
                    result.setdefault(item.srcs[2], wish)
    return result


def wishes_at(code: Code) -> dict[Alu, Wish]:
    """Return what single computations should decide: those of slots that are computed at several places.

    A predicate register that serves one branch after another has a wish for each of its definitions,
    that of the uses which the definition reaches.
    """
    places: dict[int, list[tuple[int, int, Alu]]] = {}
    for block in code.blocks:
        for at, item in enumerate(block.items):
            if isinstance(item, Alu):
                for slot in item.dsts:
                    if slot in code.wants:
                        places.setdefault(slot, []).append((block.index, at, item))
    result: dict[Alu, Wish] = {}
    for slot, found in places.items():
        if len(found) < 2 or len(code.wants[slot]) < 2:
            continue
        for index, at, item in found:
            wish = _wish_of(code, _reached(code, slot, index, at + 1))
            if wish is not None:
                result[item] = wish
    return result


def _reached(code: Code, slot: int, block: int, at: int) -> list[tuple[int, bool]]:
    """Return the uses of *slot* (as in ``Code.wants``) that a definition before item *at* reaches."""
    uses: list[tuple[int, bool]] = []
    seen: set[int] = set()
    ahead = [(block, at)]
    while ahead:
        index, at = ahead.pop()
        here = code.blocks[index]
        for item in here.items[at:]:
            if item.guard is not None and item.guard[0] == slot and isinstance(item, Event):
                uses.append((-1, bool(item.guard[1])))
            if isinstance(item, Alu) and slot in item.dsts and item.guard is None:
                break
        else:
            if here.exit.guard is not None and here.exit.guard[0] == slot:
                uses.append((index, bool(here.exit.guard[1])))
            for target in here.exit.targets:
                if target not in seen and target < len(code.blocks):
                    seen.add(target)
                    ahead.append((target, 0))
    return uses


def _wish_of(code: Code, uses: list[tuple[int, bool]]) -> Wish | None:
    """Return what a predicate with these *uses* should be."""
    best: Wish | None = None
    for block, negated in uses:
        if block < 0:
            if best is None:
                best = Wish(not negated)
            continue
        exit_ = code.blocks[block].exit
        taken, fall = exit_.targets[0], exit_.targets[1]
        loop = code.exit_of.get(block)
        if loop is not None:
            return Wish((taken in loop.blocks) != negated, loop.header, block)
        weight_taken, weight_fall = code.weight.get(taken, 0), code.weight.get(fall, 0)
        take = weight_taken > weight_fall if weight_taken != weight_fall else exit_.join != taken
        best = Wish(take != negated, -1, block, guards_loop(code, block))
    return best


def guards_loop(code: Code, block: int) -> bool:
    """Whether one side of the branch skips straight to the join and the other enters a loop."""
    exit_ = code.blocks[block].exit
    if exit_.join not in exit_.targets:
        return False
    inside = exit_.targets[0] if exit_.targets[1] == exit_.join else exit_.targets[1]
    if inside == exit_.join:
        return False
    within = region(code.cfg, inside, exit_.join)
    return any(
        loop.header in within and block not in loop.blocks and not _only_waits(code, loop)
        for loop in code.loops
    )


def _only_waits(code: Code, loop: Loop) -> bool:
    """Whether *loop* does nothing but wait on an mbarrier: a branch around it skips no turns of work."""
    events = [
        item
        for index in loop.blocks
        for item in code.blocks[index].items
        if isinstance(item, Event) and not isinstance(item.effect, fx.Collective)
    ]
    return bool(events) and all(event.spin for event in events)
