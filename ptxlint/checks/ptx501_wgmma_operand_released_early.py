"""PTX501: a shared operand of wgmma is overwritten before the wgmma-group has been waited for."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Fix, Severity


class WgmmaOperandReleasedEarly(Check):
    """The stage is released or overwritten while wgmma may still read it."""

    code = "PTX501"
    name = "wgmma-operand-released-early"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim a pending wgmma read that is overwritten."""
        first, second = conflict.first, conflict.second
        if conflict.gap is not Gap.COMPLETION or first.family is not Family.WGMMA or not second.write:
            return None
        message = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the wgmma that reads it may be "
            "pending: no wgmma.wait_group that retires it is on the path"
        )
        fix = Fix(
            "wait for the wgmma-group before releasing its operands",
            "wgmma.wait_group.sync.aligned 0;",
            'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");  // warpgroup_wait<0>()',
        )
        return Verdict("no-wait", message, fix)
