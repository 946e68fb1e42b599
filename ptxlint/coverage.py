"""How much of a kernel a run looked at, and in words what it did not."""

from collections import Counter

from ptxlint.engine.program import Code, Event
from ptxlint.engine.run import ASYNC_EFFECTS, MBARRIER_EFFECTS, Analysis
from ptxlint.model import effects as fx
from ptxlint.report.finding import Coverage
from ptxlint.report.summary import plural

Pair = tuple[int, int]


def _pair(analysis: Analysis, events: list[tuple[Code, Event]]) -> Pair:
    done = 0
    for code, event in events:
        site = (id(code), event.instruction.index)
        if site in analysis.executed and site not in analysis.unresolved:
            done += 1
    return done, len(events)


def is_shared(event: Event) -> bool:
    """Return whether *event* is an ordinary access that names shared memory."""
    effect = event.effect
    return isinstance(effect, fx.MemoryAccess) and effect.space in (fx.Space.SHARED, fx.Space.CLUSTER)


def coverage_of(analysis: Analysis) -> Coverage:
    """Return the coverage of *analysis*; a kernel with nothing asynchronous is complete as it is."""
    unknown = sum(len(code.unknown) for code in analysis.codes)
    coverage = Coverage(unknown_instructions=unknown)
    coverage.unknown_opcodes = unknown_opcodes(analysis)
    coverage.step_budget_reached = bool(analysis.budget_stop)
    opaque = any(code.opaque_calls or code.lost_branches for code in analysis.codes)
    if analysis.is_idle:
        coverage.complete = unknown == 0 and not opaque
        coverage.notes = [note for note, _ in incomplete_notes(analysis, coverage)]
        return coverage
    events = analysis.events()
    coverage.async_ops = _pair(analysis, [e for e in events if isinstance(e[1].effect, ASYNC_EFFECTS)])
    coverage.shared_accesses = _pair(analysis, [e for e in events if is_shared(e[1])])
    coverage.mbarrier_ops = _pair(analysis, [e for e in events if isinstance(e[1].effect, MBARRIER_EFFECTS)])
    reached = sum((id(code), event.instruction.index) in analysis.executed for code, event in events)
    coverage.events_reached = (reached, len(events))
    coverage.forced_completions = analysis.forced
    pairs = (coverage.async_ops, coverage.shared_accesses, coverage.mbarrier_ops, coverage.events_reached)
    coverage.complete = (
        all(done == present for done, present in pairs)
        and not analysis.forced
        and not unknown
        and not analysis.budget_stop
        and not opaque
    )
    coverage.notes = [note for note, _ in incomplete_notes(analysis, coverage)]
    return coverage


def unknown_opcodes(analysis: Analysis) -> dict[str, int]:
    """Return how often each opcode, with its modifiers, stands in the kernel that the tables do not know."""
    return dict(Counter(instruction.opcode for code in analysis.codes for instruction, _ in code.unknown))


def incomplete_notes(analysis: Analysis, coverage: Coverage) -> list[tuple[str, Event | None]]:
    """Return in words, with a place, what was not analysed."""
    if coverage.complete:
        return []
    notes: list[tuple[str, Event | None]] = []
    calls = sum(len(code.opaque_calls) for code in analysis.codes)
    if calls:
        were = plural(calls, "call was", "calls were")
        notes.append((f"{were} not followed: their function is not in the file", None))
    lost = sum(len(code.lost_branches) for code in analysis.codes)
    if lost:
        were = plural(lost, "branch was", "branches were")
        notes.append((f"{were} not followed: no such label in the function", None))
    if analysis.is_idle:
        return notes
    missed = [
        event
        for code, event in analysis.events()
        if (id(code), event.instruction.index) not in analysis.executed
    ]
    if missed:
        notes.append((f"{len(missed)} of {coverage.events_reached[1]} events were not reached", missed[0]))
    opaque = [
        event
        for code, event in analysis.events()
        if (id(code), event.instruction.index) in analysis.unresolved
        and (isinstance(event.effect, ASYNC_EFFECTS + MBARRIER_EFFECTS) or is_shared(event))
    ]
    if opaque:
        notes.append((f"{plural(len(opaque), 'address is', 'addresses are')} not known", opaque[0]))
    if analysis.forced:
        notes.append((f"{plural(analysis.forced, 'wait was', 'waits were')} forced", None))
    if analysis.budget_stop:
        notes.append(("the step budget ended the run", None))
    return notes
