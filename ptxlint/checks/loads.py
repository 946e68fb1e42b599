"""What the PTX3xx checks share: which side of a load's hand-over went wrong.

A load fills a stage for phase *q* of its (full) mbarrier. When another thread touches the stage while the
load may be pending, either the thread did not wait for phase *q* (PTX301, PTX304, PTX306), or the load was
issued too early, while the thread was still using phase *q - 1* (PTX302, PTX303). What the issuer knew of
the thread at the issue tells: if it knew of the thread's last successful wait, the thread had let go.
"""

from enum import Enum

from ptxlint.engine.events import Conflict, Family, Gap, LogEntry
from ptxlint.records import record

LOADS = (Family.BULK_LOAD, Family.CANCEL)


class Fault(str, Enum):
    """Which side of the hand-over is wrong."""

    NO_WAIT = "no wait"
    WRONG_PHASE = "wrong phase"
    EARLY_REFILL = "early refill"
    EARLY_RELEASE = "early release"


@record
class HandOver:
    """A classified conflict between a load and another thread's use of its stage.

    ``by_issuer``: the wait that an earlier phase satisfied is that of the load's issuer.
    """

    fault: Fault
    release: LogEntry | None
    observed: int
    tracked: int
    by_issuer: bool = False


def hand_over(conflict: Conflict) -> HandOver | None:
    """Classify *conflict* when one side is an async load into shared memory."""
    first, second = conflict.first, conflict.second
    facts = conflict.facts
    release = facts.get("released_before")
    entry = release if isinstance(release, LogEntry) else None
    if (
        conflict.gap is Gap.ORDER
        and first.family is Family.GENERIC
        and not first.write
        and second.family in LOADS
        and second.write
    ):
        stale = facts.get("stale_wait")
        if isinstance(stale, LogEntry):
            return HandOver(Fault.WRONG_PHASE, stale, -1, -1)
        stale = facts.get("issuer_stale")
        if isinstance(stale, LogEntry):
            return HandOver(Fault.WRONG_PHASE, stale, -1, -1, by_issuer=True)
        if facts.get("first_fill"):
            # Nothing else was there to be read: the reader means this load, and did not wait for it.
            return HandOver(Fault.NO_WAIT, None, -1, -1)
        return HandOver(Fault.EARLY_RELEASE if entry else Fault.EARLY_REFILL, entry, -1, -1)
    if conflict.gap is not Gap.COMPLETION or first.family not in LOADS or not first.write:
        return None
    if second.family in LOADS and second.write:
        if first.event is second.event:
            return HandOver(Fault.EARLY_REFILL, None, -1, -1)
        return None
    if second.family is Family.BULK_STORE:
        return None
    observed = int(str(facts.get("observed_phase", -1)))
    tracked = int(str(facts.get("tracked_phase", -1)))
    known = int(str(facts.get("known", -1)))
    at = facts.get("observed_at")
    waited_since = bool(facts.get("waited_since"))
    if observed < 0:
        fault = Fault.WRONG_PHASE if waited_since else Fault.NO_WAIT
        return HandOver(fault, entry, observed, tracked)
    if isinstance(at, int):
        if known < at:
            stale = facts.get("issuer_stale")
            if isinstance(stale, LogEntry):
                return HandOver(Fault.WRONG_PHASE, stale, -1, -1, by_issuer=True)
            return HandOver(Fault.EARLY_REFILL, entry, observed, tracked)
        if waited_since:
            return HandOver(Fault.WRONG_PHASE, entry, observed, tracked)
        return HandOver(Fault.EARLY_RELEASE if entry else Fault.NO_WAIT, entry, observed, tracked)
    if known < 0:
        return HandOver(Fault.EARLY_REFILL, entry, observed, tracked)
    return HandOver(Fault.WRONG_PHASE if waited_since else Fault.NO_WAIT, entry, observed, tracked)
