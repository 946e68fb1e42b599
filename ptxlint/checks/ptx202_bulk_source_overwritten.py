"""PTX202: a bulk store's source is overwritten with no wait of the issuer on the path."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.bulk_groups import is_overwritten_before_issue, source_reuse, swapped
from ptxlint.checks.near_misses import wait_after, wait_between
from ptxlint.engine.events import Conflict
from ptxlint.report.finding import Fix, Severity


class BulkSourceOverwritten(Check):
    """Nobody waited for the store, or only the issuer knows that it is done."""

    code = "PTX202"
    name = "bulk-source-overwritten"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim what is left of early reuse."""
        if is_overwritten_before_issue(conflict):
            conflict = swapped(conflict)
        reuse = source_reuse(conflict)
        if reuse is None:
            return None
        first, second = conflict.first, conflict.second
        base = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the {context.opcode(first)} that "
            f"reads it may be pending"
        )
        if reuse.waited:
            fix = Fix(
                "put a barrier between the issuer's wait and the write",
                "cp.async.bulk.wait_group.read 0;\nbar.sync 0;",
                "__syncthreads();  // after the issuing thread's wait",
            )
            wait = reuse.own_waits[-1] if reuse.own_waits else wait_after(first, context)
            near = (wait, "the issuer waits, but the writer is not told") if wait else None
            return Verdict(
                "wait-not-published",
                f"{base}: the issuer's wait is not ordered before the write",
                fix,
                near,
                conflict=conflict,
            )
        fix = Fix(
            "let the issuing thread wait for its groups before the buffer is reused",
            "cp.async.bulk.wait_group.read 0;",
            'asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");',
        )
        elsewhere = wait_between(first, second.event, context)
        if elsewhere is not None:
            return Verdict(
                "wait-off-path",
                f"{base}: the issuing thread's wait is not on each path to the write",
                fix,
                (elsewhere, "waits, but on a path that need not be taken"),
            )
        if reuse.fences:
            return Verdict(
                "proxy-fence-instead-of-wait",
                f"{base}: a proxy fence does not wait for it",
                fix,
                (reuse.fences[0], "a proxy fence waits for nothing"),
            )
        return Verdict("no-wait", f"{base}: the issuing thread does not wait for it", fix)
