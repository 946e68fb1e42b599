"""PTX207: cp.async.wait_group is used to wait for bulk copies, or the reverse."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.bulk_groups import source_reuse
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.report.finding import Fix, Severity


class WrongGroupFamily(Check):
    """The families of groups are separate: a wait of one knows nothing of the other."""

    code = "PTX207"
    name = "wrong-group-family"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim early reuse where the issuer waited in the wrong family only."""
        first, second = conflict.first, conflict.second
        if first.family is Family.CP_ASYNC and conflict.gap is Gap.COMPLETION:
            from ptxlint.checks.base import by_issuer, entries_of

            waits = [e for e in entries_of(conflict, "BulkWait") if by_issuer(e, first.actor)]
            own = [e for e in entries_of(conflict, "CpAsyncWait") if by_issuer(e, first.actor)]
            if not waits or own:
                return None
            message = (
                f"{context.opcode(second)} uses {context.place(first)} while the cp.async that writes it may be "
                "pending: cp.async.bulk.wait_group does not wait for it"
            )
            fix = Fix(
                "use the wait of the same family", "cp.async.wait_group 0;", "__pipeline_wait_prior(0);"
            )
            return Verdict("bulk-for-cp-async", message, fix, (waits[-1], "waits for bulk groups only"))
        reuse = source_reuse(conflict)
        if reuse is None or reuse.own_waits or not reuse.other_family:
            return None
        message = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the {context.opcode(first)} that "
            "reads it may be pending: cp.async.wait_group does not wait for bulk copies"
        )
        fix = Fix(
            "use the wait of the bulk family",
            "cp.async.bulk.wait_group.read 0;",
            'asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");',
        )
        return Verdict(
            "cp-async-for-bulk", message, fix, (reuse.other_family[-1], "waits for cp.async groups only")
        )
