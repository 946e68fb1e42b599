"""PTX703: everything that a kernel reads of global memory comes before its griddepcontrol.wait."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import report
from ptxlint.engine.events import Actor, Hazard, Point
from ptxlint.engine.program import Code, Event
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "wait for the prerequisite grids before the first read of what they write",
    "griddepcontrol.wait;",
    'cudaGridDependencySynchronize();  // asm volatile("griddepcontrol.wait;" ::: "memory")',
)


class GriddepcontrolOrder(Check):
    """What the prerequisite grids wrote is visible after ``griddepcontrol.wait``, not before (9.7.13.14)."""

    code = "PTX703"
    name = "griddepcontrol-order"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report bulk loads before a wait after which no global memory is touched any more."""
        code = context.analysis.kernel
        waits = [e for e in code.events if isinstance(e.effect, fx.GridDependency) and e.effect.wait]
        if len(waits) != 1:
            return
        wait = waits[0]
        after = reachable(code, wait)
        if any(_touches_global(effect) for at in after for effect in code.effects[at]):
            return
        for event in code.events:
            if event.instruction.index in after or not _loads(event):
                continue
            everyone = Actor(0, 0xFFFFFFFF)
            hazard = Hazard("order", Point(event, everyone, 0), Point(wait, everyone, 1))
            yield report(
                self,
                hazard,
                context,
                cause="load-before-wait",
                message=f"{short_opcode(event)} reads global memory before griddepcontrol.wait, after which "
                "nothing is "
                "read: the prerequisite grid may not have written it",
                fix=FIX,
                notes=(
                    f"{short_opcode(event)} reads global memory",
                    "the prerequisite grids are complete only here",
                ),
                best=Confidence.LOW,
                at_first=True,
            )


def _loads(event: Event) -> bool:
    effect = event.effect
    return isinstance(effect, fx.BulkCopy) and effect.source_space is fx.Space.GLOBAL


def _touches_global(effect: fx.Effect) -> bool:
    if isinstance(effect, fx.MemoryAccess):
        return effect.space in (fx.Space.GLOBAL, fx.Space.GENERIC)
    if isinstance(effect, fx.BulkCopy):
        return fx.Space.GLOBAL in (effect.source_space, effect.destination_space)
    return isinstance(effect, (fx.CpAsync, fx.Call))


def reachable(code: Code, event: Event) -> set[int]:
    """Return the instructions that may run after *event*."""
    cfg = code.cfg
    start = event.instruction.index
    own = next(b for b in cfg.blocks if b.start <= start < b.end)
    found = set(range(start + 1, own.end))
    work = list(own.successors)
    seen: set[int] = set()
    while work:
        index = work.pop()
        if index in seen or index == cfg.exit:
            continue
        seen.add(index)
        found.update(range(cfg.blocks[index].start, cfg.blocks[index].end))
        work.extend(cfg.blocks[index].successors)
    return found
