"""PTX205: the destination of a bulk store is used or handed on before the store is complete."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import between, hazards, report
from ptxlint.engine.events import Hazard, LogEntry
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "wait for the whole group, not only for its source reads, before the destination is used",
    "cp.async.bulk.wait_group 0;",
    'asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  '
    "// cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>{})",
)

_WHY = {
    "read-wait": "the wait on the way has .read: it covers the source, not the destination",
    "no-wait": "no wait for its group is on the way",
    "no-commit": "it is in no committed group, so that no wait covers it",
    "wait-too-weak": "the wait on the way leaves its group pending",
}
_VERB = {
    "destination read": "reads the destination of",
    "published": "releases to other threads what follows from",
    "dependents": "lets the dependent grid read the destination of",
}


class ReadWaitBeforeDestinationUse(Check):
    """``.read`` tells that the source may be reused, and nothing of the destination (9.7.9.25.4.3)."""

    code = "PTX205"
    name = "read-wait-before-destination-use"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report reads of the destination, and releases, that a pending store precedes."""
        for hazard in hazards(context, "destination read", "published", "dependents"):
            dependents = hazard.kind == "dependents"
            if dependents and hazard.cause != "read-wait":
                continue
            wait = last_wait(hazard)
            verb = _VERB[hazard.kind]
            yield report(
                self,
                hazard,
                context,
                cause="dependent-grid" if dependents else hazard.cause,
                message=f"{short_opcode(hazard.second.event)} {verb} a {short_opcode(hazard.first.event)} that may not "
                "have "
                f"written it yet: {_WHY[hazard.cause]}",
                fix=FIX,
                notes=(
                    f"{short_opcode(hazard.first.event)} writes global memory through the async proxy",
                    f"{short_opcode(hazard.second.event)} {verb.removesuffix(' of')}",
                ),
                near=(wait, "the source has been read; the destination may not be written") if wait else None,
                severity=Severity.WARNING if dependents else None,
                best=Confidence.MEDIUM if dependents else Confidence.HIGH,
            )


def last_wait(hazard: Hazard) -> LogEntry | None:
    """Return the last wait for bulk groups between the store and the use."""
    waits = [e for e in between(hazard, "BulkWait") if e.actor.warp == hazard.first.actor.warp]
    return waits[-1] if waits else None
