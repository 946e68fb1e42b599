"""What the checks share that report hazards which are no two accesses of this CTA's shared memory."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.engine.events import Hazard, LogEntry, Point
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step


def hazards(context: Context, *kinds: str) -> Iterator[Hazard]:
    """Yield the hazards of *kinds* that the runs found; what no forced wait made first."""
    found = [h for h in context.analysis.hazards if h.kind in kinds]
    found.sort(key=lambda h: h.forced)
    return iter(found)


def between(hazard: Hazard, *kinds: str) -> list[LogEntry]:
    """Return the logged events of *kinds* between the two points, in order."""
    return [
        entry
        for entry in hazard.log
        if entry.event.kind in kinds and hazard.first.sequence < entry.sequence <= hazard.second.sequence
    ]


def step(point: Point, context: Context, note: str, role: str) -> Step:
    """Return the trace step of *point*."""
    return Step(str(point.actor), context.site(point.event), note, role)


def confidence(hazard: Hazard, context: Context, best: Confidence = Confidence.HIGH) -> Confidence:
    """Return how sure it is that *hazard* can happen, at most *best*."""
    if hazard.forced or best is Confidence.LOW:
        return Confidence.LOW
    if context.analysis.launch.assumed or context.analysis.forced:
        return Confidence.MEDIUM
    return best


def report(
    check: Check,
    hazard: Hazard,
    context: Context,
    *,
    cause: str | None,
    message: str,
    fix: Fix,
    notes: tuple[str, str],
    near: tuple[LogEntry, str] | None = None,
    severity: Severity | None = None,
    best: Confidence = Confidence.HIGH,
    at_first: bool = False,
    fold_first: bool = False,
) -> Draft:
    """Return the finding for *hazard*; its place is the second point, or the first when *at_first*.

    Findings about the same statement become one: about the same first statement when *fold_first*.
    """
    first, second = hazard.first, hazard.second
    primary = first if at_first else second
    steps = [step(first, context, notes[0], "first")]
    if near is not None:
        entry, note = near
        steps.append(Step(str(entry.actor), context.site(entry.event), note, "near-miss"))
    if notes[1]:
        steps.append(step(second, context, notes[1], "second"))
    finding = Finding(
        check.code,
        check.name,
        cause,
        severity or check.severity,
        confidence(hazard, context, best),
        message,
        context.site(primary.event),
        tuple(steps),
        fix,
    )
    key = context.fold_key(first.event if fold_first else primary.event)
    return Draft(finding, (check.code, key), first.event, None, hazard.count)
