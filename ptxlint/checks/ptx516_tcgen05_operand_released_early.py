"""PTX516: a shared operand of tcgen05.mma or tcgen05.cp is overwritten before its commit is observed."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Fix, Severity


class Tcgen05OperandReleasedEarly(Check):
    """The stage is overwritten while tensor-core operations may still read it."""

    code = "PTX516"
    name = "tcgen05-operand-released-early"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim a pending tcgen05 read that is overwritten."""
        first, second = conflict.first, conflict.second
        if conflict.gap is not Gap.COMPLETION or first.family is not Family.TCGEN05 or not second.write:
            return None
        message = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the "
            f"{context.opcode(first)} that reads "
            "it may be pending: no tcgen05.commit that covers it has been observed"
        )
        fix = Fix(
            "commit the operations to the stage's empty mbarrier, and wait for it before the refill",
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [empty];",
            "cutlass::arch::umma_arrive(&empty[stage]);  // tcgen05.commit",
        )
        return Verdict("no-commit", message, fix)
