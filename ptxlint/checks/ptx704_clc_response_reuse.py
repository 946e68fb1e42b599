"""PTX704: a cluster-launch-control response is overwritten while it may still be being read."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.proxy_fences import explain
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Severity


class ClcResponseReuse(Check):
    """The response is written through the async proxy (9.7.13.17): reads come first only if fenced."""

    code = "PTX704"
    name = "clc-response-reuse"
    severity = Severity.WARNING

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim a try_cancel into bytes that a generic read may not be done with."""
        first, second = conflict.first, conflict.second
        if second.family is not Family.CANCEL or first.family is not Family.GENERIC or first.write:
            return None
        if conflict.gap is not Gap.PROXY_FENCE:
            return None
        what = (
            f"{context.opcode(second)} overwrites the response at {context.place(second)} that "
            f"{context.opcode(first)} reads through the generic proxy"
        )
        return explain(conflict, context, what, "in each reading thread after its reads, before the barrier")
