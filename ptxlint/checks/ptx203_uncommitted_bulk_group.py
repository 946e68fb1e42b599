"""PTX203: a bulk copy that no commit_group covers."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, Verdict
from ptxlint.checks.bulk_groups import source_reuse
from ptxlint.engine.events import Conflict
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step

FIX = Fix(
    "commit the group after the copy, before the wait",
    "cp.async.bulk.commit_group;",
    'asm volatile("cp.async.bulk.commit_group;" ::: "memory");',
)


class UncommittedBulkGroup(Check):
    """The copy belongs to no committed group at its wait, its reuse, or the exit."""

    code = "PTX203"
    name = "uncommitted-bulk-group"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim early reuse of the source of a store that was never committed."""
        reuse = source_reuse(conflict)
        if reuse is None or reuse.committed:
            return None
        first, second = conflict.first, conflict.second
        message = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the {context.opcode(first)} that "
            "reads it is in no committed group: no wait_group covers it"
        )
        near = (reuse.own_waits[-1], "waits for committed groups only") if reuse.own_waits else None
        return Verdict("no-commit", message, FIX, near)

    def run(self, context: Context) -> Iterator[Draft]:
        """Report copies that are uncommitted when their thread exits."""
        pending_copies = [pending for pending in context.analysis.exits if not pending.committed]
        for pending in pending_copies:
            access = pending.access
            site = context.site(access.event)
            finding = Finding(
                self.code,
                self.name,
                "no-commit",
                self.severity,
                Confidence.LOW if pending.forced else Confidence.HIGH,
                f"{context.opcode(access)} is in no committed bulk async-group when its thread exits: "
                "no wait_group covers it",
                site,
                (Step(context.actor(access), site, f"reads {context.place(access)}", "first"),),
                FIX,
            )
            # One commit mends them all.
            key = context.fold_key(pending_copies[0].access.event)
            yield Draft(finding, (self.code, key), access.event)
