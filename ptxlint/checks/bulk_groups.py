"""What the PTX2xx checks share: how a bulk store's source came to be overwritten too early."""

from dataclasses import dataclass

from ptxlint.checks.base import by_issuer, entries_of
from ptxlint.engine.async_units import GroupQueue
from ptxlint.engine.events import Conflict, Family, LogEntry


@dataclass(frozen=True, slots=True)
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
    return SourceReuse(
        bool(conflict.facts.get("committed")),
        int(str(conflict.facts.get("newer", 0))),
        bool(conflict.facts.get("waited")),
        tuple(e for e in waits if by_issuer(e, issuer)),
        tuple(e for e in waits if not by_issuer(e, issuer) and e.detail == "nothing issued"),
        tuple(e for e in entries_of(conflict, "CpAsyncWait") if by_issuer(e, issuer)),
        tuple(entries_of(conflict, "ProxyFence")),
    )
