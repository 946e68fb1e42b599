"""Shadow memory: the latest access of each kind to each part of the CTA's shared memory.

Kept in granules of 1 KiB. In a granule a newer access replaces an older one of the same instruction,
thread and place: clocks only grow, so what orders the newer orders the older.
"""

from collections.abc import Callable

from ptxlint.engine.clocks import Times
from ptxlint.engine.events import Access, Family, Gap

GRANULE = 10

Report = Callable[[Gap, Access, Access], None]


class Shadow:
    """All accesses that may still matter, generic and asynchronous apart."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.generic: dict[int, dict[object, Access]] = {}
        self.asynchronous: dict[int, dict[object, Access]] = {}
        self.copies: dict[int, dict[object, Access]] = {}

    def is_written(self, read: Access, by: Access) -> bool:
        """Return whether anything but *by* has written what *read* reads."""
        return any(
            other.write and other is not by and other.overlaps(read.low, read.high)
            for granule in range(read.low >> GRANULE, ((read.high - 1) >> GRANULE) + 1)
            for table in (self.generic, self.asynchronous)
            for other in table.get(granule, {}).values()
        )

    def access(self, access: Access, seen: Times, lanes_all: bool) -> None:
        """Check a generic access by a thread that has *seen*, and keep it."""
        first, last = access.low >> GRANULE, (access.high - 1) >> GRANULE
        key = (access.event.instruction.index, access.component, access.low, access.write)
        low, high = access.low, access.high
        checked: set[int] = set()
        for granule in range(first, last + 1):
            records = self.asynchronous.get(granule)
            if records:
                for other in records.values():
                    if not (other.write or access.write) or other.low >= high or low >= other.high:
                        continue
                    done = other.completion
                    if done is not None and seen.get(done[0], -1) >= done[1]:
                        continue
                    if id(other) in checked:
                        continue
                    checked.add(id(other))
                    if access.points is not None and not access.overlaps(other.low, other.high):
                        continue
                    self.report(Gap.COMPLETION, other, access)
            if self.copies:
                self._copies(granule, access, seen, checked)
            if access.family is Family.CP_ASYNC:
                self.copies.setdefault(granule, {})[key] = access
            mine = self.generic.setdefault(granule, {})
            before = mine.get(key)
            if before is not None and before is not access:
                access.previous = before.time
            mine[key] = access

    def _copies(self, granule: int, access: Access, seen: Times, checked: set[int]) -> None:
        """Check a generic access against non-bulk copies that may be under way."""
        for other in self.copies.get(granule, {}).values():
            done = other.completion
            if done is None or (
                seen.get(done[0], -1) >= done[1] and seen.get(other.component, -1) >= other.time
            ):
                continue
            if id(other) in checked or not other.overlaps(access.low, access.high):
                continue
            if access.points is not None and not access.overlaps(other.low, other.high):
                continue
            if access.family is Family.CP_ASYNC and other.event is access.event:
                # Warps that write the same value; a thread that comes back to the copy is another matter.
                if other.component != access.component:
                    continue
            checked.add(id(other))
            self.report(Gap.COMPLETION, other, access)

    def operation(self, access: Access, seen: Times, fenced: Times, strict: bool) -> None:
        """Check an asynchronous access that a thread with clock *seen*/*fenced* issues, and keep it.

        *strict* tells that only some lanes of the thread issue it, so that reconvergence alone does
        not order the other lanes' accesses before it.
        """
        first, last = access.low >> GRANULE, (access.high - 1) >> GRANULE
        key = (
            access.event.instruction.index,
            access.component,
            access.low,
            access.write,
            access.completion[0] if access.completion else None,
        )
        low, high, write = access.low, access.high, access.write
        checked: set[int] = set()
        for granule in range(first, last + 1):
            records = self.generic.get(granule)
            if records:
                for other in records.values():
                    if not (other.write or write) or other.low >= high or low >= other.high:
                        continue
                    component, time = other.component, other.time
                    if seen.get(component, -1) < time:
                        gap = Gap.ORDER
                    elif (
                        other.family is Family.CP_ASYNC
                        and other.completion is not None
                        and (seen.get(other.completion[0], -1) < other.completion[1])
                    ):
                        gap = Gap.COMPLETION
                    elif fenced.get(component, -1) < time:
                        gap = Gap.PROXY_FENCE
                    elif seen.get(component + 1, -1) < time and self._strictly_apart(other, access, strict):
                        gap = Gap.WARP_SYNC
                    else:
                        continue
                    if id(other) in checked:
                        continue
                    checked.add(id(other))
                    if other.points is not None and not other.overlaps(low, high):
                        continue
                    self.report(gap, other, access)
            mine = self.asynchronous.setdefault(granule, {})
            for other in mine.values():
                if not (other.write or write) or other.low >= high or low >= other.high:
                    continue
                done = other.completion
                if done is not None and seen.get(done[0], -1) >= done[1]:
                    continue
                if id(other) in checked or (
                    other.event is access.event and other.sequence == access.sequence
                ):
                    continue
                checked.add(id(other))
                self.report(Gap.COMPLETION, other, access)
            mine[key] = access

    @staticmethod
    def _strictly_apart(first: Access, second: Access, strict: bool) -> bool:
        """Whether some lane of *first* is not a lane of *second* (in the same warp), or of its issuer."""
        if first.actor.warp == second.actor.warp:
            return bool(first.actor.mask & ~second.actor.mask)
        return True
