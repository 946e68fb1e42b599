"""PTX102: shared memory read by the generic proxy is overwritten by the async proxy, unfenced."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.proxy_fences import explain, is_generic
from ptxlint.engine.events import Conflict, Gap
from ptxlint.report.finding import Severity


class MissingProxyFenceReadWrite(Check):
    """A generic read, then an async write of the same bytes, with no proxy fence on the path."""

    code = "PTX102"
    name = "missing-proxy-fence-read-write"
    severity = Severity.WARNING

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim generic read → async write that is ordered but unfenced."""
        first, second = conflict.first, conflict.second
        if not is_generic(conflict) or first.write or not second.write:
            return None
        if conflict.gap is not Gap.PROXY_FENCE:
            return None
        what = (
            f"{context.opcode(second)} overwrites {context.place(second)} through the async proxy after "
            f"{context.opcode(first)} read it through the generic proxy"
        )
        return explain(
            conflict, context, what, "in each reading thread after its reads, before it gives the buffer back"
        )
