"""PTX701: a thread that only arrives on a barrier reads what the barrier protects."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "wait on the barrier in the threads that read",
    "bar.sync 1, 64;",
    'cuda::ptx::barrier_sync(1, 64);  // asm volatile("bar.sync 1, 64;" ::: "memory")',
)


class BarArriveAsAcquire(Check):
    """``bar.arrive`` does not wait, and gives the arriving thread nothing of the others (8.9.4, 9.7.13.1)."""

    code = "PTX701"
    name = "bar-arrive-as-acquire"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report reads between an arrive and the next wait, of bytes that the warp did not write."""
        for hazard in hazards(context, "arrive as acquire"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"{second} reads shared memory after a mere {first}, which does not order the "
                "writes of others before it",
                fix=FIX,
                notes=(f"{first} does not wait", f"{second} reads"),
                best=Confidence.MEDIUM,
            )
