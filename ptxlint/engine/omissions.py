"""Which undecided branches are worth taking because they leave out what orders: a fence, a wait, a free.

Runs prefer the side of a branch with more events, so that a fence or a wait under a condition is met
every time. One more run each takes the other side. Waits on mbarriers and barriers are not left out:
whether they are needed mostly hangs together with conditions elsewhere that the values do not show.
"""

from collections.abc import Sequence

from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.engine.program import Code, Event
from ptxlint.engine.wishes import guards_loop
from ptxlint.flow.dominators import region
from ptxlint.model import effects as fx

Side = tuple[int, int, int]

# The scenario's name.
PAST = "past a fence or wait"


def orders(event: Event) -> bool:
    """Return whether *event* is a fence, a wait or a free that a run may leave out."""
    effect = event.effect
    if isinstance(effect, fx.ProxyFence):
        return effect.orders_shared
    return isinstance(effect, (fx.BulkWait, fx.TensorDealloc))


def next_omission(
    codes: Sequence[Code], sides: set[Side], tried: set[tuple[int, int]]
) -> tuple[int, int] | None:
    """Return an undecided branch past such an event, if no run has taken the side without.

    *sides* are those that were taken: (function, block, 0 when the branch was taken).
    """
    for code in codes:
        places = [event.instruction.index for event in code.events if orders(event)]
        blocks = {
            block.index for block in code.cfg.blocks if any(block.start <= at < block.end for at in places)
        }
        if not blocks:
            continue
        for block in code.blocks:
            name = (id(code), block.index)
            if block.exit.kind != "branch" or name in tried or block.index in code.exit_of:
                continue
            taken = [(*name, side) in sides for side in (0, 1)]
            if not any(taken) or all(taken):
                continue
            within, without = block.exit.targets if taken[0] else reversed(block.exit.targets)
            join = block.exit.join
            left_out = region(code.cfg, within, join) & blocks
            if (
                left_out
                and not region(code.cfg, without, join) & blocks
                and not guards_loop(code, block.index)
            ):
                return name
    return None


def is_evidence(conflict: Conflict) -> bool:
    """Return whether *conflict* of such a run follows from what was left out."""
    if conflict.gap is Gap.PROXY_FENCE:
        return True
    return conflict.gap is Gap.COMPLETION and conflict.first.family is Family.BULK_STORE
