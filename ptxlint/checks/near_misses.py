"""Finds what looks like the missing ordering where the run did not pass it: on another path, or later."""

from collections.abc import Callable

from ptxlint.checks.base import Context
from ptxlint.engine.events import Access, LogEntry
from ptxlint.engine.program import Code, Event
from ptxlint.model import effects as fx


def orders_shared(event: Event) -> bool:
    """Return whether *event* is a fence between the generic and the async proxy that covers shared memory."""
    return isinstance(event.effect, fx.ProxyFence) and event.effect.orders_shared


def fence_between(first: Access, second: Event, context: Context) -> LogEntry | None:
    """Return a proxy fence on some path from *first* to *second*, as if executed by the first's thread."""
    return _between(first, second, context, orders_shared)


def wait_between(first: Access, second: Event, context: Context) -> LogEntry | None:
    """Return a wait for bulk async-groups on some path from *first* to *second*, as ``fence_between``."""
    return _between(first, second, context, lambda event: isinstance(event.effect, fx.BulkWait))


def passes(first: Access, second: Event, event: Event, context: Context) -> bool:
    """Return whether *event* is on some path from *first* to *second*."""
    return _between(first, second, context, lambda other: other is event) is not None


def wait_after(first: Access, context: Context) -> LogEntry | None:
    """Return the first wait for bulk async-groups behind *first* that its thread comes to."""
    code = _code_of(context, first.event)
    if code is None:
        return None
    start = first.event.instruction.index
    for event in code.events:
        at = event.instruction.index
        if isinstance(event.effect, fx.BulkWait) and at > start and _reaches(code, start, at, start):
            return _as_of(first, event)
    return None


def _between(
    first: Access, second: Event, context: Context, wanted: Callable[[Event], bool]
) -> LogEntry | None:
    """Return an event on some path from *first* to *second* that passes neither of them in between."""
    code = _code_of(context, first.event)
    if code is None or _code_of(context, second) is not code:
        return None
    start, end = first.event.instruction.index, second.instruction.index
    for event in code.events:
        at = event.instruction.index
        if wanted(event) and _reaches(code, start, at, end) and _reaches(code, at, end, start):
            return _as_of(first, event)
    return None


def _as_of(first: Access, event: Event) -> LogEntry:
    return LogEntry(first.sequence, first.actor, first.component, 0, event)


def _code_of(context: Context, event: Event) -> Code | None:
    for code in context.analysis.codes:
        if any(other is event for other in code.events):
            return code
    return None


def _reaches(code: Code, start: int, goal: int, barred: int) -> bool:
    """Return whether control can get from behind instruction *start* to *goal* without passing *barred*."""
    blocks = code.cfg.blocks
    home = next((b.index for b in blocks if b.start <= start < b.end), None)
    if home is None:
        return False
    seen: set[int] = set()
    ahead = [(home, start + 1)]
    while ahead:
        index, at = ahead.pop()
        block = blocks[index]
        if at <= goal < block.end and not at <= barred < goal:
            return True
        if at <= barred < block.end:
            continue
        for target in block.successors:
            if target != code.cfg.exit and target not in seen:
                seen.add(target)
                ahead.append((target, blocks[target].start))
    return False
