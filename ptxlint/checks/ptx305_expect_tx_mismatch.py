"""PTX305: the bytes expected and the bytes copied of one phase of an mbarrier differ."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.mbarriers import barrier_name, blurred, draft, problems
from ptxlint.engine.events import Problem
from ptxlint.engine.program import Event
from ptxlint.report.finding import Confidence, Fix, Severity


class ExpectTxMismatch(Check):
    """Too few bytes expected: the phase ends while copies are under way. Too many: it never ends."""

    code = "PTX305"
    name = "expect-tx-mismatch"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report phases whose bytes are all known and do not add up."""
        if blurred(context):
            return
        for problem in problems(context, "mbarrier-bytes"):
            yield self._draft(context, problem)

    def _draft(self, context: Context, problem: Problem) -> Draft:
        facts = problem.facts
        expected, copied = int(str(facts["expected"])), int(str(facts["copied"]))
        expects = facts.get("expects")
        events: list[Event] = list(expects) if isinstance(expects, tuple) else []
        copy = problem.event
        if events:
            # The place to repair is the expect-tx: the copies are its evidence.
            problem = Problem(
                problem.kind,
                events[-1],
                problem.actor,
                copy,
                "",
                problem.forced,
                {**facts, "other_actor": problem.actor},
            )
        where = barrier_name(context, facts["address"])
        if copied > expected:
            end = "the phase may end while copies are still under way"
        else:
            end = "the phase never ends"
        cause, copies = facts.get("cause"), f"{copied} are copied"
        if cause == "other-phases":
            copies = f"{copied} of other phases with the same tensor copies"
        elif cause == "no-room":
            copies = f"there is room for {copied} up to what lies behind the destinations"
        elif isinstance(facts.get("least"), int):
            copies = f"its tensor copies bring at least {copied}"
        message = f"{expected} bytes are expected of a phase of {where}, but {copies}: {end}"
        fix = Fix(
            f"expect as many bytes as the phase's copies bring: {copied}",
            f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], {copied};",
            f"cuda::ptx::mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &bar, {copied});",
        )
        notes = (
            f"{short_opcode(copy)}: the phase's copies bring {copied} bytes",
            f"expects {expected} bytes",
        )
        if "least" in facts:
            notes = (f"{short_opcode(copy)} signals the phase", notes[1])
        if not events:
            notes = ("initialised", f"brings {copied} bytes, with no expect-tx in the phase")
        sure = Confidence.MEDIUM if "least" in facts and not problem.forced else None
        return draft(self, context, problem, message, fix, notes, sure=sure)
