"""What the PTX2xx checks share: how a bulk store's source came to be overwritten too early."""

from ptxlint.checks.base import by_issuer, entries_of
from ptxlint.engine.async_units import GroupQueue
from ptxlint.engine.events import Conflict, Family, Gap, LogEntry
from ptxlint.records import record, replace


@record
class SourceReuse:
    """Facts about a bulk store and the access that overwrites its source."""

    committed: bool
    newer: int
    waited: bool
    own_waits: tuple[LogEntry, ...]
    foreign_waits: tuple[LogEntry, ...]
    other_family: tuple[LogEntry, ...]
    fences: tuple[LogEntry, ...]


def source_reuse(conflict: Conflict) -> SourceReuse | None:
    """Return the facts when *conflict* is the early reuse of a bulk store's source."""
    first, second = conflict.first, conflict.second
    if first.family is not Family.BULK_STORE or not isinstance(first.queue, GroupQueue):
        return None
    if first.write or not second.write:
        return None
    issuer = first.actor
    waits = entries_of(conflict, "BulkWait")
    foreign = conflict.facts.get("foreign_wait")
    return SourceReuse(
        bool(conflict.facts.get("committed")),
        int(str(conflict.facts.get("newer", 0))),
        bool(conflict.facts.get("waited")),
        tuple(e for e in waits if by_issuer(e, issuer)),
        (foreign,) if isinstance(foreign, LogEntry) else (),
        tuple(e for e in entries_of(conflict, "CpAsyncWait") if by_issuer(e, issuer)),
        tuple(entries_of(conflict, "ProxyFence")),
    )


def is_overwritten_before_issue(conflict: Conflict) -> bool:
    """Return whether a thread went on to write the next data before this data's store was issued.

    The write is not ordered with the store, but the store's issuer knows of the write before it: what is
    missing is the order from the store to the write, not from the write to the store.
    """
    return (
        conflict.gap is Gap.ORDER
        and conflict.first.family is Family.GENERIC
        and conflict.first.write
        and conflict.second.family is Family.BULK_STORE
        and bool(conflict.facts.get("earlier_known"))
    )


def swapped(conflict: Conflict) -> Conflict:
    """Return *conflict* with the store first, as the program means it."""
    facts = {**conflict.facts, "committed": True, "waited": True, "newer": 0}
    return replace(conflict, first=conflict.second, second=conflict.first, facts=facts)
