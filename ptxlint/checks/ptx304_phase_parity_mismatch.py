"""PTX304: the parity waited for is not the parity of the phase that tracks the data."""

from ptxlint.checks.base import Check, Context, Verdict, entries_of
from ptxlint.checks.loads import LOADS, Fault, hand_over
from ptxlint.engine.events import Conflict
from ptxlint.records import replace
from ptxlint.report.finding import Fix, Severity


class PhaseParityMismatch(Check):
    """The wait succeeds on an earlier phase: its parity did not follow the use of the barrier."""

    code = "PTX304"
    name = "phase-parity-mismatch"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim the use of a pending load after a wait that an earlier phase satisfied."""
        found = hand_over(conflict)
        if found is None or found.fault is not Fault.WRONG_PHASE:
            return None
        first, second = conflict.first, conflict.second
        fix = Fix(
            "flip the parity each time the barrier's phase has been waited for (when the stage index wraps)",
            "xor.b32 parity, parity, 1;",
            "phase ^= 1;  // when the stage index wraps",
        )
        verb = "overwrites" if second.write else "reads"
        if found.tracked < 0 and found.release is not None:
            wait = found.release
            load_second = second.family in LOADS
            if load_second != found.by_issuer:
                # The access behind the wait that does not do comes last.
                conflict = replace(conflict, first=second, second=first)
                first, second = second, first
                verb = "overwrites" if second.write else "reads"
            message = (
                f"{context.opcode(second)} {verb} {context.place(second)} while {context.opcode(first)} of "
                f"{first.actor} may still use it: the wait of {wait.actor} that should keep them apart is satisfied by "
                "a phase that it has seen before"
            )
            near_miss = (wait, "succeeds on a phase already observed")
            return Verdict("parity", message, fix, near_miss, conflict=conflict)
        waits = [e for e in entries_of(conflict, "MbarrierWait") if e.number == conflict.facts.get("barrier")]
        message = (
            f"{context.opcode(second)} {verb} {context.place(second)} before the {context.opcode(first)} that "
            f"fills it is complete: the wait is satisfied by an earlier phase than phase {found.tracked}, which "
            "tracks the load"
        )
        near = (waits[-1], "succeeds on an earlier phase") if waits else None
        return Verdict("parity", message, fix, near)
