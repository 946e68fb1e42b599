"""What the checks on mbarriers themselves share: problems of the run made into findings."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.engine.events import Problem
from ptxlint.engine.run import MBARRIER_EFFECTS
from ptxlint.flow.cfg import Cfg
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step


def problems(context: Context, kind: str) -> list[Problem]:
    """Return the problems of *kind*, one for each cause and pair of instructions, the surest."""
    best: dict[tuple[object, ...], Problem] = {}
    for problem in context.analysis.problems:
        if problem.kind != kind:
            continue
        other = problem.other.instruction.offset if problem.other else -1
        key = (problem.facts.get("cause"), problem.event.instruction.offset, other)
        found = best.get(key)
        if found is None or (found.forced and not problem.forced):
            best[key] = problem
    return list(best.values())


def barrier_name(context: Context, address: object) -> str:
    """Return an mbarrier in words."""
    return f"the mbarrier at {context.analysis.launch.symbol_at(int(str(address)))}"


def blurred(context: Context) -> bool:
    """Whether some mbarrier operation or counted copy names a barrier that is not known."""
    unresolved = context.analysis.unresolved
    for code, event in context.analysis.events():
        counted = isinstance(event.effect, MBARRIER_EFFECTS)
        counted = counted or (isinstance(event.effect, fx.BulkCopy) and event.effect.mbarrier is not None)
        if counted and (id(code), event.instruction.index) in unresolved:
            return True
    return False


def unreached(context: Context, stopped: frozenset[int] = frozenset()) -> bool:
    """Whether some operation that adds arrivals or bytes was never executed.

    What can only be reached by passing one of the instructions *stopped* of the kernel does not count.
    """
    kinds = (fx.MbarrierArrive, fx.MbarrierExpect, fx.MbarrierComplete, fx.CpAsyncArrive, fx.TensorCommit)
    executed = context.analysis.executed
    for code, event in context.analysis.events():
        counted = isinstance(event.effect, kinds)
        counted = counted or (isinstance(event.effect, fx.BulkCopy) and event.effect.mbarrier is not None)
        if counted and (id(code), event.instruction.index) not in executed:
            if code is not context.analysis.kernel or not behind(code.cfg, event.instruction.index, stopped):
                return True
    return False


def behind(cfg: Cfg, instruction: int, stopped: frozenset[int]) -> bool:
    """Whether every way from the entry to *instruction* passes one of *stopped*."""
    if not stopped:
        return False
    blocks = {block.index: (block.start, block.end) for block in cfg.blocks}
    work, seen = [0], {0}
    while work:
        index = work.pop()
        if index == cfg.exit:
            continue
        start, end = blocks[index]
        first = min((at for at in stopped if start <= at < end), default=end)
        if start <= instruction < first:
            return False
        if first < end:
            continue
        for target in cfg.blocks[index].successors:
            if target not in seen:
                seen.add(target)
                work.append(target)
    return True


def confidence(context: Context, problem: Problem) -> Confidence:
    """Return how sure *problem* is."""
    analysis = context.analysis
    if problem.forced or problem.facts.get("known") is False:
        return Confidence.LOW
    # Waits that are forced after a wrong count are its consequence, and say nothing against it.
    forced = analysis.forced and problem.kind != "mbarrier-count"
    if forced or analysis.peers or analysis.launch.assumed:
        return Confidence.MEDIUM
    return Confidence.HIGH


def draft(
    check: Check,
    context: Context,
    problem: Problem,
    message: str,
    fix: Fix,
    notes: tuple[str, str],
    severity: Severity | None = None,
    sure: Confidence | None = None,
) -> Draft:
    """Return a finding at the problem's event; *notes* tell the other event and this one."""
    steps = []
    if problem.other is not None:
        actor = problem.facts.get("other_actor", problem.actor)
        steps.append(Step(str(actor), context.site(problem.other), notes[0], "first"))
    site = context.site(problem.event)
    steps.append(Step(str(problem.actor), site, notes[1], "second"))
    finding = Finding(
        check.code,
        check.name,
        str(problem.facts.get("cause")),
        severity or check.severity,
        sure or confidence(context, problem),
        message,
        site,
        tuple(steps),
        fix,
    )
    return Draft(finding, (check.code, context.fold_key(problem.event)), problem.event)


def by_barrier(found: list[Problem]) -> Iterator[Problem]:
    """Yield one problem for each barrier: the first in program order."""
    seen: set[object] = set()
    for problem in sorted(found, key=lambda p: (p.forced, p.event.instruction.index)):
        address = problem.facts.get("address")
        if address not in seen:
            seen.add(address)
            yield problem
