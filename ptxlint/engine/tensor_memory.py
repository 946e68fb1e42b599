"""Shadow of tensor memory: who touched which columns, and what is allocated (PTX ISA 9.7.16).

An address holds the column in bits 0-15 and the lane in bits 16-31. Addresses that share an unknown base
are compared by their offsets from it; those of different bases never meet. Lanes count in quarters of 32,
which is what one warp can reach.
"""

from collections.abc import Callable
from enum import Enum

from ptxlint.engine.clocks import Times, join
from ptxlint.engine.events import Access, Actor
from ptxlint.engine.program import Event

BUCKET = 6
ALL_LANES = -1


class Unit(str, Enum):
    """What kind of operation touches tensor memory, and so how its completion is learnt."""

    TENSOR_CORE = "tensor core"  # mma, cp, shift: a commit, observed
    LOAD = "load"  # ld: wait::ld by the warp
    STORE = "store"  # st: wait::st by the warp
    DEALLOC = "dealloc"


class TensorGap(str, Enum):
    """What is missing between two accesses of the same tensor memory, or around one."""

    COMPLETION = "completion"  # the first is ordered before, but not known to be complete
    ORDER = "order"  # the second is not ordered after the first
    REFILL = "refill"  # the first was issued before the second, which it should have waited for, ran
    THREAD_FENCE = "thread fence"  # complete and ordered, no tcgen05.fence on the way
    UNKNOWN_PRODUCER = "unknown producer"  # a load after a wait, no fence, nothing that commits
    RELEASED = "released"  # never waited for, and its thread arrived somewhere after it
    USE_AFTER_DEALLOC = "use after dealloc"
    NOT_PUBLISHED = "not published"
    NOT_DEALLOCATED = "not deallocated"
    AFTER_RELINQUISH = "after relinquish"
    PEER_NOT_DONE = "peer not done"  # freed for the pair, and no peer has told since the last use


class TensorAccess:
    """One access of columns ``low`` to ``high`` (exclusive) in a quarter of the lanes, or in all.

    ``base`` names the unknown part of the address, None for none. ``completion`` is (component,
    number): complete for those whose clock has reached it.
    """

    __slots__ = (
        "actor",
        "base",
        "completion",
        "component",
        "event",
        "high",
        "low",
        "quarter",
        "sequence",
        "time",
        "unit",
        "write",
    )

    def __init__(
        self,
        event: Event,
        actor: Actor,
        unit: Unit,
        write: bool,
        place: tuple[object, int, int, int],
        issued: tuple[int, int, int],
        completion: tuple[int, int] | None,
    ) -> None:
        self.event = event
        self.actor = actor
        self.unit = unit
        self.write = write
        self.base, self.low, self.high, self.quarter = place
        self.component, self.time, self.sequence = issued
        self.completion = completion

    def meets(self, other: "TensorAccess") -> bool:
        """Return whether both touch some cell."""
        return (
            self.low < other.high
            and other.low < self.high
            and (self.quarter == other.quarter or self.quarter == ALL_LANES or other.quarter == ALL_LANES)
        )

    def complete_for(self, seen: Times) -> bool:
        """Return whether who has *seen* this knows the access to be complete."""
        done = self.completion
        return done is not None and seen.get(done[0], -1) >= done[1]

    @property
    def columns(self) -> str:
        """The columns in words."""
        base = "" if self.base is None else " (from an unknown base)"
        if self.high - self.low == 1:
            return f"tensor memory column{base} {self.low}"
        return f"tensor memory columns{base} {self.low}-{self.high - 1}"


class Allocation:
    """What one ``tcgen05.alloc`` gave."""

    __slots__ = ("actor", "component", "event", "freed", "high", "low", "sequence", "time")

    def __init__(
        self, event: Event, actor: Actor, low: int, high: int, component: int, time: int, sequence: int
    ) -> None:
        self.event = event
        self.actor = actor
        self.low = low
        self.high = high
        self.component = component
        self.time = time
        self.sequence = sequence
        self.freed: TensorAccess | None = None


Report = Callable[[TensorGap, "TensorAccess | Allocation | None", "TensorAccess"], None]


class TensorMemory:
    """The tensor memory of one CTA, for one run."""

    def __init__(self) -> None:
        self.records: dict[Unit, dict[tuple[object, int], dict[object, TensorAccess]]] = {
            unit: {} for unit in Unit
        }
        self.allocations: list[Allocation] = []
        self.slots: dict[int, Allocation] = {}
        self.unknown_dealloc = False
        self.relinquished: Event | None = None
        self.exited: Times = {}
        self.relaxed: dict[int, Times] = {}
        self.loose = False
        self.issued: dict[tuple[Unit, int], int] = {}
        self.newest: dict[tuple[Unit, int], TensorAccess] = {}
        self.sites: dict[tuple[int, int], int] = {}
        self.fenced_after: dict[int, Times] = {}
        self.written: set[object] = set()
        self.unmultiplied: dict[int, dict[int, Access]] = {}

    def copied(self, access: Access) -> None:
        """Note a copy out of shared memory; one of the same instruction that nothing multiplied was for nothing."""
        waiting = self.unmultiplied.setdefault(access.actor.warp, {})
        before = waiting.get(access.event.instruction.index)
        if before is not None:
            before.unused = True
        waiting[access.event.instruction.index] = access

    def multiplied(self, warp: int) -> None:
        """Note a multiplication by *warp*: it uses what was copied before."""
        self.unmultiplied.pop(warp, None)

    def observe_relaxed(self, warp: int, released: Times) -> None:
        """Note what a relaxed wait by *warp* observed: enough for tcgen05, whose fences order the rest."""
        join(self.relaxed.setdefault(warp, {}), released)

    def known(self, warp: int, seen: Times) -> Times:
        """Return what a thread of *warp* that has *seen* knows of tensor memory."""
        more = self.relaxed.get(warp)
        if not more:
            return seen
        both = dict(seen)
        join(both, more)
        return both

    def buckets(self, access: TensorAccess) -> range:
        """Return the numbers of the buckets that *access* touches."""
        return range(access.low >> BUCKET, ((access.high - 1) >> BUCKET) + 1)

    def overlapping(self, unit: Unit, access: TensorAccess) -> list[TensorAccess]:
        """Return the kept accesses by *unit* that meet *access*, each once."""
        table = self.records[unit]
        found: dict[int, TensorAccess] = {}
        for bucket in self.buckets(access):
            for other in table.get((access.base, bucket), {}).values():
                if other.meets(access):
                    found[id(other)] = other
        return list(found.values())

    def keep(self, access: TensorAccess) -> None:
        """Keep *access*; it replaces an older one of the same instruction, thread and place."""
        key = (access.event.instruction.index, access.component, access.low, access.quarter, access.write)
        table = self.records[access.unit]
        for bucket in self.buckets(access):
            table.setdefault((access.base, bucket), {})[key] = access
        if access.write:
            self.written.add(access.base)

    def allocation(self, access: TensorAccess) -> Allocation | None:
        """Return the newest allocation that holds the first column of *access*."""
        if access.base is None:
            for found in reversed(self.allocations):
                if found.low <= access.low < found.high:
                    return found
        return None

    def check(self, access: TensorAccess, seen: Times, report: Report) -> None:
        """Report what is wrong when a thread that has *seen* issues *access*, then keep it."""
        holder = self.allocation(access)
        if holder is not None:
            if holder.freed is not None:
                report(TensorGap.USE_AFTER_DEALLOC, holder.freed, access)
                return
            if seen.get(holder.component, -1) < holder.time:
                report(TensorGap.NOT_PUBLISHED, holder, access)
        for unit in Unit:
            if unit is Unit.DEALLOC or access.unit is unit is Unit.LOAD:
                continue
            for first in self.overlapping(unit, access):
                if (first.write or access.write) and not self._pipelined(first, access):
                    gap = self._gap(first, access, seen)
                    if gap is not None:
                        report(gap, first, access)
        if access.unit is not Unit.DEALLOC:
            self.keep(access)

    @staticmethod
    def _pipelined(first: TensorAccess, second: TensorAccess) -> bool:
        """Whether the two are ordered by being issued in that order (9.7.16.6.2)."""
        if first.actor.warp != second.actor.warp:
            return False
        if first.unit is Unit.TENSOR_CORE:
            return second.unit is Unit.TENSOR_CORE
        if first.unit is second.unit:
            return True
        # The registers that are stored come out of the load, or do not depend on it.
        return first.unit is Unit.LOAD and second.unit is Unit.STORE

    def _gap(self, first: TensorAccess, second: TensorAccess, seen: Times) -> TensorGap | None:
        mine = first.actor.warp == second.actor.warp
        if first.complete_for(seen):
            if mine or first.unit is Unit.TENSOR_CORE or second.unit is Unit.DEALLOC:
                return None
            return None if self._fenced(first, second, seen) else TensorGap.THREAD_FENCE
        if mine or seen.get(first.component, -1) >= first.time:
            return TensorGap.COMPLETION
        if first.unit is Unit.TENSOR_CORE and second.unit in (Unit.LOAD, Unit.STORE):
            assert first.completion is not None
            if seen.get(first.completion[0], 0) > 0:
                return TensorGap.REFILL
        return TensorGap.ORDER

    def _fenced(self, first: TensorAccess, second: TensorAccess, seen: Times) -> bool:
        assert first.completion is not None
        component, number = first.completion
        if seen.get(component + 1, -1) < number:
            return False
        return self.fenced_after.get(second.actor.warp, {}).get(component, -1) >= number
