"""PTX304: the parity waited for is not the parity of the phase that tracks the data."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, Verdict, entries_of, short_opcode
from ptxlint.checks.hazards import hazards
from ptxlint.checks.loads import LOADS, Fault, hand_over
from ptxlint.checks.mbarriers import barrier_name, by_barrier, draft, problems
from ptxlint.engine.events import Conflict
from ptxlint.engine.tensor_memory import TensorGap
from ptxlint.engine.tensor_rules import KIND
from ptxlint.records import replace
from ptxlint.report.finding import Fix, Severity

UNORDERED = tuple(KIND + gap.value for gap in (TensorGap.COMPLETION, TensorGap.ORDER, TensorGap.REFILL))


class PhaseParityMismatch(Check):
    """The wait succeeds on an earlier phase: its parity did not follow the use of the barrier."""

    code = "PTX304"
    name = "phase-parity-mismatch"
    severity = Severity.ERROR
    explains_waits = True

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

    def run(self, context: Context) -> Iterator[Draft]:
        """Report waits that the barrier may leave two phases behind."""
        for problem in by_barrier(problems(context, "mbarrier-lapped")):
            assert problem.other is not None
            pair = {problem.actor.warp, problem.facts["by"]}
            if any({h.first.actor.warp, h.second.actor.warp} == pair for h in hazards(context, *UNORDERED)):
                continue  # the one does not wait for the other at all: that is told
            where = barrier_name(context, problem.facts["address"])
            message = (
                f"{short_opcode(problem.event)} of {problem.actor} waits for each phase of {where} by its parity, and "
                f"{short_opcode(problem.other)} may end the next phase before it has seen the first: the wait then takes "
                "one phase for the other"
            )
            fix = Fix(
                "let nobody end a phase before all who wait have seen the one before, or take one barrier a stage",
                "mbarrier.try_wait.parity.shared::cta.b64 p, [seen], parity;  // the waiters arrive on it",
                "one full barrier for each stage that may be under way",
            )
            yield draft(self, context, problem, message, fix, ("may end the next phase", "may be lapped"))
