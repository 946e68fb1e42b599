"""PTX309: one lane publishes for its warp with no warp barrier after the other lanes' accesses."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, Verdict, short_opcode
from ptxlint.checks.mbarriers import draft, problems
from ptxlint.engine.events import Conflict, Gap
from ptxlint.report.finding import Fix, Severity

FIX = Fix(
    "join the warp after its accesses, before one lane arrives or issues for it",
    "bar.warp.sync 0xffffffff;",
    "__syncwarp();",
)


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
            f"{context.opcode(first)} of {first.actor} {verb} {context.place(first)}, and one lane "
            "hands it over to "
            f"{context.opcode(second)} with no bar.warp.sync in between"
        )
        return Verdict("no-warp-sync", message, FIX)

    def run(self, context: Context) -> Iterator[Draft]:
        """Report one lane's arrival on a barrier whose other side the kernel does not show."""
        for problem in problems(context, "mbarrier-elected"):
            message = (
                (
                    f"one lane arrives for its warp after {short_opcode(problem.other)} of other lanes, with no "
                    "bar.warp.sync in between"
                )
                if problem.other
                else "one lane arrives for its warp with no bar.warp.sync"
            )
            yield draft(self, context, problem, message, FIX, ("accesses shared memory", "arrives"))
