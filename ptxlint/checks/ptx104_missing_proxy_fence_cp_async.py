"""PTX104: shared data of a non-bulk cp.async is read through the async proxy, unfenced."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.proxy_fences import explain
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Severity


class MissingProxyFenceCpAsync(Check):
    """``cp.async`` writes through the generic proxy (9.7.9.25.3): it needs the fence that stores need."""

    code = "PTX104"
    name = "missing-proxy-fence-cp-async"
    severity = Severity.WARNING

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim a completed cp.async, then an async access of its bytes, unfenced."""
        first, second = conflict.first, conflict.second
        if first.family is not Family.CP_ASYNC or conflict.gap is not Gap.PROXY_FENCE:
            return None
        if second.family in (Family.GENERIC, Family.CP_ASYNC):
            return None
        verb = "overwrites" if second.write else "reads"
        what = (
            f"{context.opcode(second)} {verb} {context.place(second)} through the async proxy after "
            f"{context.opcode(first)} wrote it through the generic proxy"
        )
        return explain(conflict, context, what, "in each copying thread after its wait, before the barrier")
