"""PTX901: a proxy fence that covers no generic access."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.hazards import report
from ptxlint.engine.events import Actor, Hazard, Point
from ptxlint.engine.program import Event
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "remove the fence: the wait for an asynchronous operation carries the fence that its data needs",
    "// no fence between the wait and ld.shared",
    "// no fence between the wait and the read",
)


class RedundantProxyFence(Check):
    """Completion of a bulk copy or a wgmma is followed by an implicit proxy fence (9.7.9.25.2, 9.7.15.4)."""

    code = "PTX901"
    name = "redundant-proxy-fence"
    severity = Severity.NOTE
    default = False

    def run(self, context: Context) -> Iterator[Draft]:
        """Report fences that no generic access of shared memory precedes, in any run."""
        useful: dict[int, bool] = {}
        events: dict[int, Event] = {}
        for outcome in context.analysis.outcomes:
            if outcome.unresolved or outcome.budget_stop:
                return
            for index, (event, covers, _) in outcome.fences.items():
                events[index] = event
                useful[index] = useful.get(index, False) or covers
        for index, event in events.items():
            if useful[index]:
                continue
            point = Point(event, Actor(0, 0xFFFFFFFF), 0)
            yield report(
                self,
                Hazard("redundant fence", point, point),
                context,
                cause=None,
                message="this proxy fence covers no generic access of shared memory: waits for asynchronous "
                "operations, and mbarrier.init, need none",
                fix=FIX,
                notes=("no generic access precedes that is not covered yet", ""),
                best=Confidence.LOW,
            )
