"""PTX204: the thread that waits for a bulk async-group is not the thread that issued it."""

from ptxlint.checks.base import Check, Context, Verdict, by_issuer, entries_of
from ptxlint.checks.bulk_groups import source_reuse
from ptxlint.checks.near_misses import passes
from ptxlint.engine.events import Conflict, LogEntry
from ptxlint.report.finding import Fix, Severity


class GroupWaitByNonIssuer(Check):
    """Bulk async-groups are per thread: a wait in another thread returns at once."""

    code = "PTX204"
    name = "group-wait-by-non-issuer"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim early reuse where only threads that issued nothing waited."""
        reuse = source_reuse(conflict)
        if reuse is None or not reuse.committed or reuse.own_waits:
            return None
        first, second = conflict.first, conflict.second
        wait = reuse.foreign_waits[-1] if reuse.foreign_waits else _passed_by_others(conflict, context)
        if wait is None:
            return None
        message = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the {context.opcode(first)} that "
            f"reads it may be pending: {wait.actor} waits, but {first.actor} issued the store"
        )
        fix = Fix(
            "wait in the thread that issued the store, then tell the others by a barrier",
            "cp.async.bulk.wait_group.read 0;  // in the issuing thread",
            'if (issuer) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");\n__syncthreads();',
        )
        note = (
            "has issued nothing: the wait returns at once" if wait.detail else "waits for its own groups only"
        )
        return Verdict("non-issuer", message, fix, (wait, note))


def _passed_by_others(conflict: Conflict, context: Context) -> LogEntry | None:
    """Return a wait on the issuer's way that another thread executes, and the issuer does not."""
    first, second = conflict.first, conflict.second
    for entry in reversed(entries_of(conflict, "BulkWait")):
        if not by_issuer(entry, first.actor) and passes(first, second.event, entry.event, context):
            return entry
    return None
