"""PTX308: bytes of a living mbarrier are used as data, or it is initialised or ended too early."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.mbarriers import barrier_name, by_barrier, draft, problems
from ptxlint.engine.events import Problem
from ptxlint.report.finding import Fix, Severity

INVALIDATE = Fix(
    "invalidate the mbarrier when all its users are done, before its bytes serve anything else",
    "bar.sync 0;\nmbarrier.inval.shared::cta.b64 [mbar];  // one thread\nbar.sync 0;",
    "__syncthreads();\nif (threadIdx.x == 0) cuda::ptx::mbarrier_inval(&bar);\n__syncthreads();",
)
# Causes that tell of one mistake.
_KINDS = {"data-over-barrier": 0, "reinit": 1, "inval-in-use": 2, "used-after-inval": 2}


class MbarrierMemoryReuse(Check):
    """Between its init and its inval the object's bytes belong to mbarrier operations alone."""

    code = "PTX308"
    name = "mbarrier-memory-reuse"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report accesses and lifetimes that collide."""
        found: dict[object, list[Problem]] = {}
        for problem in problems(context, "mbarrier-life"):
            if context.analysis.forced and problem.facts.get("cause") in ("inval-in-use", "used-after-inval"):
                continue  # who would have been done by then is not known
            found.setdefault(_KINDS.get(str(problem.facts.get("cause"))), []).append(problem)
        for group in found.values():
            for problem in by_barrier(group):
                yield self._draft(context, problem)

    def _draft(self, context: Context, problem: Problem) -> Draft:
        where = barrier_name(context, problem.facts["address"])
        cause = problem.facts.get("cause")
        name = short_opcode(problem.event)
        if cause == "data-over-barrier":
            verb = "writes" if problem.facts.get("write") else "reads"
            message = f"{name} {verb} the bytes of {where} while it is in use as a barrier"
            return draft(self, context, problem, message, INVALIDATE, ("initialises it", f"{verb} its bytes"))
        if cause == "reinit":
            message = f"{name} initialises {where} a second time, with no mbarrier.inval in between"
            return draft(self, context, problem, message, INVALIDATE, ("initialised", "initialised again"))
        if cause == "inval-in-use":
            message = f"{name} ends {where} while {problem.facts.get('other_actor')} may still use it"
            return draft(self, context, problem, message, INVALIDATE, ("uses it", "invalidates it"))
        message = f"{name} uses {where} after mbarrier.inval ended it"
        return draft(self, context, problem, message, INVALIDATE, ("invalidates it", "uses it"))
