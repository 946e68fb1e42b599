"""PTX309: one lane publishes for its warp with no warp barrier after the other lanes' accesses."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.engine.events import Conflict, Gap
from ptxlint.report.finding import Fix, Severity


class ElectedPublishWithoutWarpSync(Check):
    """``elect.sync`` and reconvergence order no memory; ``bar.warp.sync`` does."""

    code = "PTX309"
    name = "elected-publish-without-warp-sync"
    severity = Severity.WARNING

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim accesses that only convergence orders before an async operation."""
        if conflict.gap is not Gap.WARP_SYNC:
            return None
        first, second = conflict.first, conflict.second
        verb = "writes" if first.write else "reads"
        message = (
            f"{context.opcode(first)} of {first.actor} {verb} {context.place(first)}, and one lane hands it over to "
            f"{context.opcode(second)} with no bar.warp.sync in between"
        )
        fix = Fix(
            "join the warp after its accesses, before one lane arrives or issues for it",
            "bar.warp.sync 0xffffffff;",
            "__syncwarp();",
        )
        return Verdict("no-warp-sync", message, fix)
