"""PTX310: bytes are expected of a phase that could already have completed."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.mbarriers import barrier_name, draft, problems
from ptxlint.engine.events import Conflict
from ptxlint.report.finding import Fix, Severity


class ExpectTxAfterCompletion(Check):
    """An expect-tx after the last arrival comes too late: the phase may be over."""

    code = "PTX310"
    name = "expect-tx-after-completion"
    severity = Severity.ERROR

    def explains(self, conflict: Conflict, context: Context) -> bool:
        """Return whether *conflict* follows from bytes that count for the next phase."""
        late = {p.facts["address"] for p in problems(context, "mbarrier-late-expect")}
        return bool(late) and conflict.facts.get("barrier") in late

    def run(self, context: Context) -> Iterator[Draft]:
        """Report an expect-tx whose own thread has arrived before it."""
        for problem in problems(context, "mbarrier-late-expect"):
            where = barrier_name(context, problem.facts["address"])
            message = (
                f"the bytes are expected of {where} after the arrival that may complete its phase: they may "
                "count for "
                "the next phase"
            )
            fix = Fix(
                "expect the bytes before the arrival, or with it",
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mbar], bytes;",
                "cuda::ptx::mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &bar, bytes);",
            )
            yield draft(
                self, context, problem, message, fix, ("arrives: the phase may complete", "expects bytes")
            )
