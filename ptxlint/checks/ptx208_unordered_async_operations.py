"""PTX208: two asynchronous operations conflict, and the first is not observed complete."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Fix, Severity


class UnorderedAsyncOperations(Check):
    """Asynchronous operations are not ordered with each other, not even of one thread."""

    code = "PTX208"
    name = "unordered-async-operations"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim async against async, where no rule of a unit of its own does."""
        first, second = conflict.first, conflict.second
        if conflict.gap is not Gap.COMPLETION:
            return None
        if Family.GENERIC in (first.family, second.family) or first.family is Family.CP_ASYNC:
            return None
        verb = "overwrites" if second.write else "reads"
        done = "is written by" if first.write else "is read by"
        message = (
            f"{context.opcode(second)} {verb} {context.place(second)}, which {done} an earlier "
            f"{context.opcode(first)} that is not known to be complete"
        )
        fix = Fix(
            "observe the completion of the first operation before issuing the second",
            "waitLoop: mbarrier.try_wait.parity.shared::cta.b64 p, [mbar], parity;\n@!p bra waitLoop;",
            "while (!cuda::ptx::mbarrier_try_wait_parity(&bar, parity)) {}",
        )
        return Verdict(None, message, fix)
