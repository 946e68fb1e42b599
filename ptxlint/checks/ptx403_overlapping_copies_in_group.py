"""PTX403: two copies of one cp.async group write the same bytes."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.engine.events import Access, Conflict, Family, Gap
from ptxlint.report.finding import Fix, Severity


def common(first: Access, second: Access) -> int | None:
    """Return a byte that both accesses touch for certain."""
    ours = first.points if first.points is not None else range(first.low, first.high, first.size)
    theirs = second.points if second.points is not None else range(second.low, second.high, second.size)
    covered = {byte for start in ours for byte in range(start, start + first.size)}
    for start in theirs:
        for byte in range(start, start + second.size):
            if byte in covered:
                return byte
    return None


class OverlappingCopiesInGroup(Check):
    """The copies of one group have no order: which of them ends up in memory is open."""

    code = "PTX403"
    name = "overlapping-copies-in-group"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim overlapping cp.async of the same thread that no wait separates."""
        first, second = conflict.first, conflict.second
        if conflict.gap is not Gap.COMPLETION or first.family is not Family.CP_ASYNC:
            return None
        if second.family is not Family.CP_ASYNC or first.completion != second.completion:
            return None
        if common(first, second) is None:
            return None
        message = (
            f"{context.opcode(second)} writes {context.place(second)}, which another cp.async of the "
            "same group writes too: "
            "copies of a group have no order"
        )
        fix = Fix(
            "let the copies of a group write different bytes, or wait for the first before the second",
            "cp.async.commit_group;\ncp.async.wait_group 0;",
            "__pipeline_commit();\n__pipeline_wait_prior(0);",
        )
        return Verdict("overlap", message, fix)
