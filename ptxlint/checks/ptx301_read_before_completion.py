"""PTX301: the destination of an async load is used before a wait on its phase succeeded."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.loads import LOADS, Fault, hand_over
from ptxlint.engine.events import Conflict
from ptxlint.records import replace
from ptxlint.report.finding import Fix, Severity


class ReadBeforeCompletion(Check):
    """No wait on the mbarrier phase that tracks the load is on the path to the use."""

    code = "PTX301"
    name = "read-before-completion"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim the use of a pending load by a thread that did not wait for its phase."""
        found = hand_over(conflict)
        if found is None or found.fault is not Fault.NO_WAIT:
            return None
        if conflict.first.family not in LOADS:
            conflict = replace(conflict, first=conflict.second, second=conflict.first)
        first, second = conflict.first, conflict.second
        verb = "overwrites" if second.write else "reads"
        message = (
            f"{context.opcode(second)} {verb} {context.place(second)} before the {context.opcode(first)} that "
            "fills it is known to be complete: no wait on its mbarrier phase precedes the access"
        )
        fix = Fix(
            "wait for the phase that tracks the load before using its destination",
            "waitLoop: mbarrier.try_wait.parity.shared::cta.b64 p, [mbar], parity;\n@!p bra waitLoop;",
            "while (!cuda::ptx::mbarrier_try_wait_parity(&bar, parity)) {}",
        )
        return Verdict("no-wait", message, fix, conflict=conflict)
