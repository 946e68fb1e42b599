"""PTX303: a consumer gives a stage back and accesses it after that."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.loads import Fault, hand_over
from ptxlint.engine.events import Conflict, Family
from ptxlint.records import replace
from ptxlint.report.finding import Fix, Severity


class StageReleasedTooEarly(Check):
    """The arrival that the producer waits for comes before the consumer's last access."""

    code = "PTX303"
    name = "stage-released-too-early"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim an access after the arrival that freed its stage."""
        found = hand_over(conflict)
        if found is None or found.fault is not Fault.EARLY_RELEASE or found.release is None:
            return None
        first, second = conflict.first, conflict.second
        load, user = (second, first) if second.family is Family.BULK_LOAD else (first, second)
        verb = "writes" if user.write else "reads"
        message = (
            f"{context.opcode(user)} {verb} {context.place(user)} after {user.actor} has released the stage: "
            f"{context.opcode(load)} may refill it at the same time"
        )
        fix = Fix(
            "arrive on the empty mbarrier after the last access of the stage",
            "mbarrier.arrive.shared::cta.b64 _, [empty];  // after the last access",
            "cuda::ptx::mbarrier_arrive(&empty[stage]);  // after the last access",
        )
        told = conflict if user is second else replace(conflict, first=second, second=first)
        return Verdict(
            "access-after-release", message, fix, (found.release, "releases the stage"), conflict=told
        )
