"""PTX302: a producer refills a stage with no wait that follows the consumers' last access."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.loads import Fault, hand_over
from ptxlint.engine.events import Conflict, Family
from ptxlint.records import replace
from ptxlint.report.finding import Fix, Severity


class StageOverwrittenBeforeRelease(Check):
    """The refill is not ordered after the use of what the stage held before."""

    code = "PTX302"
    name = "stage-overwritten-before-release"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim a refill that is issued too early."""
        found = hand_over(conflict)
        if found is None or found.fault is not Fault.EARLY_REFILL:
            return None
        first, second = conflict.first, conflict.second
        load, user = (second, first) if second.family is Family.BULK_LOAD else (first, second)
        if load.event is user.event:
            message = (
                f"{context.opcode(load)} refills {context.place(load)} with no wait for the stage to be free, nor "
                "for the load before it"
            )
        else:
            message = (
                f"{context.opcode(load)} refills {context.place(load)} while {context.opcode(user)} of {user.actor} "
                "may still use it: no wait by the issuer follows that access"
            )
        fix = Fix(
            "wait until the consumers have released the stage (an empty mbarrier or a barrier) before the refill",
            "waitLoop: mbarrier.try_wait.parity.shared::cta.b64 p, [empty], parity;\n@!p bra waitLoop;",
            "while (!cuda::ptx::mbarrier_try_wait_parity(&empty[stage], phase ^ 1)) {}  // or __syncthreads()",
        )
        told = conflict if load is second else replace(conflict, first=second, second=first)
        return Verdict("no-release", message, fix, conflict=told)
