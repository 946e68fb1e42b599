"""PTX402: arrivals by cp.async.mbarrier.arrive and the count of the mbarrier do not fit."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.mbarriers import barrier_name, draft
from ptxlint.checks.ptx312_arrival_count_mismatch import count_problems
from ptxlint.engine.events import Conflict, Family, Problem
from ptxlint.engine.program import Event
from ptxlint.report.finding import Confidence, Fix, Severity
from ptxlint.report.summary import plural


class CpAsyncMbarrierCount(Check):
    """With .noinc each thread's arrival must be in the count; without, none may be."""

    code = "PTX402"
    name = "cp-async-mbarrier-count"
    severity = Severity.WARNING

    def explains(self, conflict: Conflict, context: Context) -> bool:
        """Return whether *conflict* follows from phases that end too early."""
        wrong = {p.facts["address"] for p in count_problems(context, True)}
        if not wrong:
            return False
        waited = any(e.event.kind == "MbarrierWait" and e.number in wrong for e in conflict.log)
        return conflict.facts.get("barrier") in wrong or waited or conflict.first.family is Family.CP_ASYNC

    def run(self, context: Context) -> Iterator[Draft]:
        """Report barriers whose count leaves copies out or counts them twice."""
        for problem in count_problems(context, True):
            yield self._draft(context, problem)

    def _draft(self, context: Context, problem: Problem) -> Draft:
        arrival = problem.facts["copy_arrival"]
        assert isinstance(arrival, Event)
        init = problem.facts["init"]
        where = barrier_name(context, problem.facts["address"])
        expected, arrivals = problem.facts["expected"], problem.facts["arrivals"]
        assert isinstance(expected, int)
        assert isinstance(arrivals, int)
        if problem.facts.get("cause") == "too-few":
            cause = "counted-without-noinc"
            message = (
                f"{where} was initialised for {plural(expected, 'arrival')}, but only {plural(arrivals, 'is', 'are')} made: "
                "cp.async.mbarrier.arrive without .noinc adds the arrival that it makes"
            )
            fix = Fix(
                "use .noinc when the copying threads are in the count",
                "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [mbar];",
                "__pipeline_arrive_on(pipe, &bar);  // or count the copying threads and use .noinc",
            )
        else:
            cause = "noinc-not-counted"
            message = (
                f"{where} was initialised for {plural(expected, 'arrival')} a phase, which does not allow for those of "
                f"cp.async.mbarrier.arrive.noinc: {plural(arrivals, 'is', 'are')} made"
            )
            fix = Fix(
                "count the copying threads in mbarrier.init, or leave .noinc away",
                "mbarrier.init.shared::cta.b64 [mbar], copying_threads_and_others;",
                "mbarrier_init(&bar, copying_threads + others);",
            )
        found = Problem(
            problem.kind,
            arrival,
            problem.actor,
            init if isinstance(init, Event) else None,
            "",
            problem.forced,
            {**problem.facts, "cause": cause},
        )
        sure = Confidence.MEDIUM if cause == "counted-without-noinc" and not problem.forced else None
        notes = ("initialises the count", "arrives when its copies are done")
        return draft(self, context, found, message, fix, notes, sure=sure)
