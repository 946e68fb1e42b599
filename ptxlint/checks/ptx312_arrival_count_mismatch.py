"""PTX312: the arrivals of a phase are not as many as the mbarrier was initialised for."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.loads import LOADS, Fault, hand_over
from ptxlint.checks.mbarriers import barrier_name, blurred, by_barrier, draft, problems, unreached
from ptxlint.engine.events import Conflict, Gap, Problem
from ptxlint.report.finding import Confidence, Fix, Severity
from ptxlint.report.summary import plural


def count_problems(context: Context, copies: bool) -> list[Problem]:
    """Return the count problems; *copies*: of barriers that cp.async arrivals count for, or of others."""
    if blurred(context):
        return []
    found = []
    counted = problems(context, "mbarrier-count")
    # A wait for a phase without arrivals follows from any other wrong count, and from wrong parities.
    other = any(p.facts.get("cause") != "too-few" or p.facts["begun"] for p in counted)
    other = other or any(_of_stages(c) and not _follows(c) for c in context.analysis.conflicts)
    for problem in counted:
        if other and problem.facts.get("cause") == "too-few" and not problem.facts["begun"]:
            continue
        if (problem.facts.get("copy_arrival") is not None) != copies:
            continue
        if problem.facts.get("cause") == "all-lanes" and unreached(context):
            continue
        if problem.facts.get("cause") == "too-few" and not _lacking(context, problem):
            continue
        found.append(problem)
    return list(by_barrier(found))


def _of_stages(conflict: Conflict) -> bool:
    """Whether a load into a stage, and the stage's other uses, are not kept apart."""
    loads = conflict.first.family in LOADS or conflict.second.family in LOADS
    return loads and conflict.gap in (Gap.ORDER, Gap.COMPLETION)


def _follows(conflict: Conflict) -> bool:
    """Whether *conflict* came up only after a wait that never ends was taken as done."""
    found = hand_over(conflict)
    return conflict.forced and (found is None or found.fault is not Fault.WRONG_PHASE)


def _lacking(context: Context, problem: Problem) -> bool:
    """Whether a phase that did not end in a run lacks arrivals, not a part of the kernel that was not run.

    A phase that got none is told of only when ordinary numbers of turns show it: how often loops of
    different threads turn may not go together in the other runs.
    """
    stopped = problem.facts.get("stopped")
    if unreached(context, stopped if isinstance(stopped, frozenset) else frozenset()):
        return False
    usual = problem.facts.get("scenario") in ("many trips", "odd trips")
    return bool(problem.facts["begun"]) or (usual and not context.analysis.budget_stop)


class ArrivalCountMismatch(Check):
    """A phase ends before all have arrived, or counts what belongs to the next, or never ends."""

    code = "PTX312"
    name = "arrival-count-mismatch"
    severity = Severity.ERROR

    def explains(self, conflict: Conflict, context: Context) -> bool:
        """Return whether *conflict* follows from phases that end too early, or never."""
        found = count_problems(context, False)
        wrong = {p.facts["address"] for p in found}
        if any(p.facts.get("cause") == "too-few" and not p.facts["begun"] for p in found):
            if conflict.forced and _follows(conflict):
                return True
        counted = problems(context, "mbarrier-count")
        wrong -= {p.facts["address"] for p in counted if p.facts["cause"] == "all-lanes"}
        if not wrong:
            return False
        if conflict.facts.get("barrier") in wrong:
            return True
        return any(e.event.kind == "MbarrierWait" and e.number in wrong for e in conflict.log)

    def run(self, context: Context) -> Iterator[Draft]:
        """Report one finding for each barrier whose count is wrong."""
        for problem in count_problems(context, False):
            yield self._draft(context, problem)

    def _draft(self, context: Context, problem: Problem) -> Draft:
        where = barrier_name(context, problem.facts["address"])
        arrivals, cause = problem.facts["arrivals"], problem.facts.get("cause")
        count = problem.facts["expected"]
        expected = count if isinstance(count, int) else 0  # not known, nor told, when all lanes issue
        fix = Fix(
            "let the count of mbarrier.init be the arrivals of one phase",
            "mbarrier.init.shared::cta.b64 [mbar], arrivals_per_phase;",
            "cuda::ptx::mbarrier_init(&bar, arrivals_per_phase);",
        )
        sure = Confidence.LOW if problem.forced else None
        if cause == "too-few":
            message = (
                f"a phase of {where} gets {arrivals or 'none'} of the {plural(expected, 'arrival')} it was "
                f"initialised for, and no thread is left to make {'the rest' if arrivals else 'them'}: the wait "
                "never ends"
            )
            began = problem.other is problem.facts.get("init")
            notes = ("is initialised" if began else "the last to arrive", "waits for ever")
            sure = sure or Confidence.MEDIUM
        elif cause == "all-lanes":
            message = (
                f"{arrivals} lanes each issue the same {short_opcode(problem.event)} for {where}: as many copies "
                "and bytes as "
                "lanes, where one is meant"
            )
            notes = ("", "every lane issues it")
        elif cause == "too-many":
            message = (
                f"{where} was initialised for {plural(expected, 'arrival')} a phase, and {short_opcode(problem.event)} makes "
                f"{arrivals}"
            )
            notes = ("arrives, or initialises the count", "arrives too often")
        else:
            message = (
                f"{short_opcode(problem.event)} of {problem.actor} arrives on {where} for the next phase, "
                "although it does not "
                f"know that the phase before is over: more than {plural(expected, 'arrival is', 'arrivals are')} made for one phase"
            )
            notes = ("arrives for the phase before", "arrives again")
        return draft(self, context, problem, message, fix, notes, sure=sure)
