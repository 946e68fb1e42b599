"""PTX401: the destination of a non-bulk cp.async is used before a sufficient wait."""

from ptxlint.checks.base import Check, Context, Verdict, by_issuer, entries_of
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Fix, Severity


class ReadBeforeCpAsyncWait(Check):
    """The copying thread has not waited for its group, or the using thread was not told."""

    code = "PTX401"
    name = "read-before-cp-async-wait"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim the use of bytes that a cp.async may still be writing."""
        first, second = conflict.first, conflict.second
        if first.family is not Family.CP_ASYNC or conflict.gap is not Gap.COMPLETION:
            return None
        if second.family is Family.CP_ASYNC:
            return None
        waits = [e for e in entries_of(conflict, "CpAsyncWait") if by_issuer(e, first.actor)]
        verb = "overwrites" if second.write else "reads"
        base = f"{context.opcode(second)} {verb} {context.place(second)} while the cp.async that writes it may be pending"
        fix = Fix(
            "wait for the group in each copying thread, then put a barrier before other threads read",
            "cp.async.wait_group 0;\nbar.sync 0;",
            "__pipeline_wait_prior(0);\n__syncthreads();",
        )
        if waits:
            wait = waits[-1]
            if conflict.facts.get("waited"):
                return Verdict(
                    "wait-not-published",
                    f"{base}: no barrier after the copying thread's wait",
                    fix,
                    (wait, "only this thread knows that its copies are complete"),
                )
            return Verdict(
                "count", f"{base}: wait_group {wait.number} leaves its group pending", fix, (wait, "too weak")
            )
        return Verdict("no-wait", f"{base}: no wait for its group is on the path", fix)
