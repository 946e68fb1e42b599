"""PTX101: shared memory written by the generic proxy is read by the async proxy, unfenced."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.proxy_fences import explain, is_generic
from ptxlint.engine.events import Conflict, Gap
from ptxlint.report.finding import Severity


class MissingProxyFenceWriteRead(Check):
    """A generic write, then an async read of the same bytes, with no proxy fence on the path."""

    code = "PTX101"
    name = "missing-proxy-fence-write-read"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim generic write → async read that is unfenced, or not ordered at all."""
        first, second = conflict.first, conflict.second
        if not is_generic(conflict) or not first.write or second.write:
            return None
        if conflict.gap not in (Gap.PROXY_FENCE, Gap.ORDER):
            return None
        what = (
            f"{context.opcode(second)} reads {context.place(second)} through the async proxy after "
            f"{context.opcode(first)} wrote it through the generic proxy"
        )
        if conflict.gap is Gap.ORDER:
            what += ", and no barrier orders the write before the issue"
        return explain(conflict, context, what, "in each writing thread after its writes, before the barrier")
