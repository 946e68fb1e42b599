"""PTX306: the False outcome of try_wait or test_wait reaches the access that it guards."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, Verdict
from ptxlint.checks.loads import LOADS
from ptxlint.engine.events import Conflict, Family, Gap, LogEntry
from ptxlint.engine.run import DENIED
from ptxlint.model import effects as fx
from ptxlint.records import replace
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step

FIX = Fix(
    "loop until the wait returns True",
    "waitLoop: mbarrier.try_wait.parity.shared::cta.b64 p, [mbar], parity;\n@!p bra waitLoop;",
    "while (!cuda::ptx::mbarrier_try_wait_parity(&bar, parity)) {}",
)


class WaitResultIgnored(Check):
    """try_wait may return False at any time: only True completes and acquires."""

    code = "PTX306"
    name = "wait-result-ignored"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim what goes wrong only when waits answer False first."""
        first, second = conflict.first, conflict.second
        unused = conflict.facts.get("unused_wait")
        if isinstance(unused, LogEntry) and conflict.gap is not Gap.PROXY_FENCE:
            message = (
                f"{context.opcode(second)} uses {context.place(second)} after a wait whose result nothing looks at: it "
                "may have returned False, and then orders nothing"
            )
            return Verdict("result-unused", message, FIX, (unused, "its result is not used"))
        if conflict.scenario != DENIED:
            return None
        if second.family in LOADS and first.family is Family.GENERIC:
            # The use is what comes too early, in whichever order the two were run.
            conflict = replace(conflict, first=second, second=first)
            first, second = second, first
        waits = [
            e
            for e in conflict.log
            if e.event.kind == "MbarrierWait" and not e.event.spin and e.actor.warp == second.actor.warp
        ]
        message = (
            f"{context.opcode(second)} uses {context.place(second)} although a wait before it may have returned "
            f"False, so that the {context.opcode(first)} is not ordered before it"
        )
        near = (waits[-1], "may return False") if waits else None
        return Verdict("false-outcome", message, FIX, near, conflict=conflict)

    def run(self, context: Context) -> Iterator[Draft]:
        """Report waits whose result nothing uses although accesses follow."""
        if any(isinstance(event.effect, fx.BulkCopy) for _, event in context.analysis.events()):
            return  # what the wait should have ordered is seen: conflicts tell
        for code in context.analysis.codes:
            for event in code.events:
                if not isinstance(event.effect, fx.MbarrierWait) or not event.unused:
                    continue
                later = [
                    other
                    for other in code.events
                    if other.instruction.index > event.instruction.index
                    and isinstance(other.effect, (fx.MemoryAccess, fx.BulkCopy, fx.WgmmaOp, fx.TensorMma))
                ]
                if not later or any(
                    other.effect.__class__ is fx.MbarrierWait and not other.unused for other in code.events
                ):
                    continue
                site = context.site(event)
                finding = Finding(
                    self.code,
                    self.name,
                    "result-unused",
                    self.severity,
                    Confidence.HIGH,
                    f"the result of {event.instruction.opcode.split('.')[1]} is not used: it may return False, and "
                    "then orders nothing",
                    site,
                    (
                        Step("each thread", site, "may return False", "first"),
                        Step("each thread", context.site(later[0]), "goes on regardless", "second"),
                    ),
                    FIX,
                )
                yield Draft(finding, (self.code, context.fold_key(event)), event)
