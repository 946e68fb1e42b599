"""PTX607: the source of a copy to a peer is overwritten before the copy is known to have read it."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Confidence, Fix, Severity


class DsmemSourceReuse(Check):
    """A copy from shared memory to a peer signals only the peer's mbarrier (9.7.9.25.4.1)."""

    code = "PTX607"
    name = "dsmem-source-reuse"
    severity = Severity.WARNING

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim writes to the source of a copy to a peer that nothing came back for."""
        first, second = conflict.first, conflict.second
        if first.family is not Family.REMOTE or conflict.gap is not Gap.COMPLETION or not second.write:
            return None
        fix = Fix(
            "let the peer answer when its mbarrier tells that the data is there, and wait for the answer",
            "waitLoop: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [answered], parity;\n"
            "@!p bra waitLoop;",
            "while (!cuda::ptx::mbarrier_try_wait_parity(&answered, parity)) {}",
        )
        return Verdict(
            "no-answer",
            f"{context.opcode(second)} overwrites {context.place(second)} while the {context.opcode(first)} "
            "that "
            "sends it to a peer may still be reading it: only the peer is told of its completion",
            fix,
            confidence=Confidence.MEDIUM,
        )
