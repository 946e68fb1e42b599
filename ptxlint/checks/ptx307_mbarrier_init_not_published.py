"""PTX307: an mbarrier is used by a thread that its initialisation does not happen before."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.mbarriers import barrier_name, blurred, draft, problems
from ptxlint.engine.events import Problem
from ptxlint.model import effects as fx
from ptxlint.report.finding import Fix, Severity

CTA = Fix(
    "put a CTA barrier between the initialisation and the first use",
    "bar.sync 0;",
    "__syncthreads();",
)
WARP = Fix(
    "join the warp between the initialisation and the first use by another lane",
    "bar.warp.sync 0xffffffff;",
    "__syncwarp();",
)
INIT = Fix(
    "initialise it for the arrivals of one phase, and put a CTA barrier before its first use",
    "mbarrier.init.shared::cta.b64 [mbar], arrivals_per_phase;\nbar.sync 0;",
    "cuda::ptx::mbarrier_init(&bar, arrivals_per_phase);\n__syncthreads();",
)
CLUSTER = Fix(
    "fence the initialisation and put a cluster barrier between it and the first use by a peer",
    "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\n"
    "barrier.cluster.wait.acquire.aligned;",
    "cutlass::arch::fence_barrier_init();\ncluster_arrive_relaxed();\ncluster_wait();",
)


class MbarrierInitNotPublished(Check):
    """Any operation on an object whose init does not happen before it is undefined."""

    code = "PTX307"
    name = "mbarrier-init-not-published"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report the first use that is not covered: one missing barrier, one finding."""
        found: dict[object, list[Problem]] = {}
        for problem in problems(context, "mbarrier-init"):
            if problem.facts.get("cause") == "never" and not _all_inits_seen(context):
                continue
            found.setdefault(problem.facts.get("cause"), []).append(problem)
        for uses in found.values():
            uses.sort(key=lambda p: (p.forced, p.event.instruction.index))
            yield self._draft(context, uses[0])

    def _draft(self, context: Context, problem: Problem) -> Draft:
        cause = problem.facts.get("cause")
        if cause == "cluster":
            message = (
                f"{short_opcode(problem.event)} uses a peer's mbarrier, but no cluster barrier after its "
                "initialisation tells that the peer has initialised it"
            )
            return draft(self, context, problem, message, CLUSTER, ("initialises it", "uses the peer's"))
        if cause == "cluster-relaxed":
            message = (
                f"{short_opcode(problem.event)} uses a peer's mbarrier, and the cluster barrier after its "
                "initialisation does not publish it: the arrive is .relaxed, with no fence.mbarrier_init before it"
            )
            return draft(self, context, problem, message, CLUSTER, ("initialises it", "uses the peer's"))
        where = barrier_name(context, problem.facts["address"])
        if cause == "never":
            message = (
                f"{short_opcode(problem.event)} of {problem.actor} uses {where}, which nothing initialises"
            )
            return draft(self, context, problem, message, INIT, ("", "uses it"))
        by = problem.facts["other_actor"]
        if cause == "no-warp-sync":
            message = (
                f"{short_opcode(problem.event)} of {problem.actor} uses {where}, which {by} initialises, with no "
                "bar.warp.sync in between"
            )
            fix = WARP
        else:
            message = (
                f"{short_opcode(problem.event)} of {problem.actor} uses {where}, but nothing orders its "
                "initialisation "
                f"by {by} before that"
            )
            fix = CTA
        return draft(self, context, problem, message, fix, ("initialises it", "uses it"))


def _all_inits_seen(context: Context) -> bool:
    """Whether every ``mbarrier.init`` was run, and every mbarrier that is named is known."""
    executed = context.analysis.executed
    inits = [(code, e) for code, e in context.analysis.events() if isinstance(e.effect, fx.MbarrierInit)]
    return not blurred(context) and all((id(code), e.instruction.index) in executed for code, e in inits)
