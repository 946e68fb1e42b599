"""What one CTA of a cluster shows of the rules between CTAs.

The CTA that runs is rank 0, and its peers do to it what it does to them. So a remote arrive on a peer's
mbarrier is also an arrival of a peer on ours, and bytes that we read from a peer are bytes that a peer
reads from us.
"""

from typing import TYPE_CHECKING

from ptxlint.engine.clocks import Clock, Times, join
from ptxlint.engine.events import Access, Actor, Family, Hazard, Point
from ptxlint.engine.program import Event
from ptxlint.engine.warp import Fiber
from ptxlint.model import effects as fx

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

WIDE_SCOPES = frozenset({"cluster", "gpu", "sys"})
_LOOKS = 4
_SUSPECTS = 512


class ClusterMemory:
    """What one run did to the shared memory of peers, and to its own for peers."""

    def __init__(self, machine: "Machine") -> None:
        self.machine = machine
        self.started = machine.components.number(("cluster", "started"))
        self.told = machine.components.number(("cluster", "told"))
        self.writes: dict[object, Access] = {}
        self.reads: list[tuple[int, int]] = []
        self.released: Times = {}
        self.initialised: Times = {}
        self.windows: dict[int, int] = {}
        self.suspects: dict[object, tuple[str, Access, Point, bool]] = {}
        self.last_plain: Point | None = None
        self.last_barrier = 0
        self.arrivals: dict[int, tuple[int, Point]] = {}
        self.loads: dict[object, int] = {}
        self.heard = 0
        self._looks: dict[int, int] = {}

    def _point(self, fiber: Fiber, event: Event, mask: int) -> Point:
        actor = fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)
        return Point(event, actor, self.machine.sequence)

    # -- operations on peers ----------------------------------------------------------------------

    def remote(self, fiber: Fiber, event: Event, mask: int) -> Point:
        """Any operation on a peer's shared memory: the peer must be known to run (PTX ISA 2.2.2)."""
        point = self._point(fiber, event, mask)
        if fiber.clock.seen.get(self.started, 0) < 1 and not self.heard:
            self.machine.hazard(Hazard("peer not started", point, point))
        return point

    def access(
        self, fiber: Fiber, event: Event, mask: int, addresses: list[int], size: int, rw: fx.Rw
    ) -> None:
        """``ld``, ``st``, ``atom``, ``red`` of a peer's shared memory."""
        point = self._point(fiber, event, mask)
        if max(addresses) >> 24:
            self.last_plain = self.remote(fiber, event, mask)
        low, high = min(addresses) & 0xFFFFFF, (max(addresses) & 0xFFFFFF) + size
        if rw is fx.Rw.READ:
            self._confirm(low, high, False)
            if len(self.reads) < 256 and (low, high) not in self.reads:
                self.reads.append((low, high))
            return
        made = Access(
            event,
            point.actor,
            fiber.component,
            fiber.time,
            low,
            high,
            True,
            Family.REMOTE,
            self.machine.sequence,
        )
        self.writes[event.instruction.index, fiber.component] = made

    def read(self, access: Access) -> None:
        """A generic read of this CTA's own bytes: a peer reads its own so, to which we may have written."""
        self._confirm(access.low, access.high, True)

    def _confirm(self, low: int, high: int, remote: bool) -> None:
        """Report the suspects whose bytes are read, by us or a peer, while nothing has released them."""
        for key, (kind, write, point, is_remote) in list(self.suspects.items()):
            if is_remote is not remote or not write.overlaps(low, high):
                continue
            if self.released.get(write.component, -1) < write.time:
                del self.suspects[key]
                self.machine.hazard(Hazard(kind, Point(write.event, write.actor, write.sequence), point))

    def arrive(self, fiber: Fiber, event: Event, mask: int, address: int, phase: int) -> None:
        """``mbarrier.arrive`` on a peer's mbarrier, whose twin here is in *phase*."""
        effect: fx.MbarrierArrive = event.effect  # type: ignore[assignment]
        point = self.remote(fiber, event, mask)
        self.arrivals[address & 0xFFFFFF] = (phase, point)
        if effect.order in (fx.Order.RELEASE, fx.Order.ACQ_REL):
            if effect.scope in WIDE_SCOPES:
                join(self.released, fiber.clock.seen)
            else:
                self._unreleased("arrive scope", fiber, point)

    def release(self, fiber: Fiber, scope: str) -> None:
        """A release by *fiber*; at cluster scope or wider it publishes what the thread knows."""
        if scope in WIDE_SCOPES:
            join(self.released, fiber.clock.seen)

    def copy(self, fiber: Fiber, event: Event, mask: int) -> None:
        """A bulk copy to another CTA: its complete-tx publishes nothing of its issuer's past (8.9.1.1)."""
        point = self._point(fiber, event, mask)
        for write in self._known(fiber):
            self.suspects["history", write.event.instruction.index, write.component] = (
                "issuer history",
                write,
                point,
                True,
            )

    def multicast(self, fiber: Fiber, event: Event, mask: int, address: int) -> None:
        """A multicast load: it overwrites the stage in the peers too."""
        point = self.remote(fiber, event, mask)
        key = (event.instruction.index, address)
        before = self.loads.get(key)
        self.loads[key] = self.machine.sequence
        if before is not None and self.heard <= before and self.last_barrier <= before:
            self.machine.hazard(Hazard("multicast refill", point, point))

    def hear(self) -> None:
        """An mbarrier phase needed a peer's arrival: peers run, and told something."""
        self.heard = self.machine.sequence

    def listen(self, clock: Clock, address: int | None = None) -> None:
        """Let *clock* know when a peer told something: when this CTA told the peer the same, or now."""
        sent = self.arrivals.get(address) if address is not None else None
        at = sent[1].sequence if sent is not None else self.machine.sequence
        clock.seen[self.told] = max(clock.seen.get(self.told, 0), at)

    def heard_at(self, fiber: Fiber) -> int:
        """Return up to which moment of this run *fiber* knows what its peers have done."""
        return fiber.clock.seen.get(self.told, 0)

    # -- publication ------------------------------------------------------------------------------

    def fence(self, fiber: Fiber, event: Event) -> None:
        """A thread fence; at cluster scope it releases what came before."""
        effect: fx.ThreadFence = event.effect  # type: ignore[assignment]
        if effect.scope in WIDE_SCOPES and effect.order is not fx.Order.ACQUIRE:
            join(self.released, fiber.clock.seen)

    def init_fence(self, fiber: Fiber) -> None:
        """``fence.mbarrier_init``: releases the initialisations that the thread knows of, and only those."""
        join(self.initialised, fiber.clock.seen)

    def knows_init(self, component: int, time: int) -> bool:
        """Whether an ``mbarrier.init`` at *time* of thread *component* has been released to the cluster.

        A ``.relaxed`` arrive orders nothing by itself (9.7.13.4): a fence before it must.
        """
        released, initialised = self.released.get(component, -1), self.initialised.get(component, -1)
        return max(released, initialised) >= time

    def barrier_arrive(self, fiber: Fiber, event: Event, mask: int) -> None:
        """``barrier.cluster.arrive``."""
        effect: fx.ClusterArrive = event.effect  # type: ignore[assignment]
        self.windows[fiber.warp.index] = self.machine.sequence
        if effect.relaxed:
            self._unreleased("relaxed arrive", fiber, self._point(fiber, event, mask))
        else:
            join(self.released, fiber.clock.seen)

    def barrier_wait(self, fiber: Fiber, event: Event, mask: int) -> None:
        """``barrier.cluster.wait``: what the thread wrote since its arrive is not ordered by the barrier."""
        seen = fiber.clock.seen
        seen[self.started] = 1
        self.last_barrier = self.machine.sequence
        opened = self.windows.pop(fiber.warp.index, None)
        if opened is None or not self._look(event):
            return
        point = self._point(fiber, event, mask)
        for write in [*self.writes.values(), *self._own()]:
            if write.actor.warp == fiber.warp.index and write.sequence > opened:
                remote = write.family is Family.REMOTE
                self.suspects["window", write.event.instruction.index, write.component] = (
                    "write in window",
                    write,
                    point,
                    remote,
                )

    def _unreleased(self, kind: str, fiber: Fiber, point: Point) -> None:
        if not self._look(point.event):
            return
        seen = fiber.clock.seen
        for write in [*self._known(fiber), *self._own()]:
            if (
                seen.get(write.component, -1) < write.time
                or self.released.get(write.component, -1) >= write.time
            ):
                continue
            if len(self.suspects) >= _SUSPECTS:
                break
            key = (kind, write.event.instruction.index, write.component)
            self.suspects.setdefault(key, (kind, write, point, write.family is Family.REMOTE))

    def _look(self, event: Event) -> bool:
        count = self._looks[event.instruction.index] = self._looks.get(event.instruction.index, 0) + 1
        return count <= _LOOKS

    def _known(self, fiber: Fiber) -> list[Access]:
        """The writes to peers that *fiber* knows of and nobody has released."""
        seen = fiber.clock.seen
        return [
            write
            for write in self.writes.values()
            if seen.get(write.component, -1) >= write.time > self.released.get(write.component, -1)
        ]

    def _own(self) -> list[Access]:
        found: dict[int, Access] = {}
        for records in self.machine.shadow.generic.values():
            for record in records.values():
                if record.write and record.family is Family.GENERIC:
                    found[id(record)] = record
        return list(found.values())

    # -- the end ----------------------------------------------------------------------------------

    def finish(self) -> None:
        """Judge what only the whole run shows."""
        machine = self.machine
        outcome = machine.outcome
        if outcome.budget_stop:
            return
        for kind, write, point, remote in self.suspects.values():
            if not remote and not self._for_peers(write):
                continue
            if kind != "arrive scope" and self.released.get(write.component, -1) >= write.time:
                continue
            first = Point(write.event, write.actor, write.sequence)
            machine.hazard(Hazard(kind, first, point))
        if machine.tainted or outcome.unresolved:
            return
        for address, (phase, point) in self.arrivals.items():
            barrier = machine.mbarriers.get(address)
            if barrier is None or self.last_barrier > point.sequence:
                continue
            observed = max((seen for seen, _ in barrier.observers.values()), default=-1)
            if observed < phase:
                machine.hazard(Hazard("exits early", point, point, "arrival-not-observed"))
        plain = self.last_plain
        if plain is not None and self.last_barrier <= plain.sequence and self.heard <= plain.sequence:
            machine.hazard(Hazard("exits early", plain, plain, "no-cluster-barrier"))

    def _for_peers(self, write: Access) -> bool:
        """Whether peers read what this CTA wrote: it reads theirs, or nobody here reads it."""
        if self.reads:
            return any(low < write.high and write.low < high for low, high in self.reads)
        shadow = self.machine.shadow
        if self.machine.outcome.unresolved or self.writes:
            return False
        for table in (shadow.generic, shadow.asynchronous):
            for records in table.values():
                for record in records.values():
                    if record.write:
                        continue
                    if not record.exact or (record.low < write.high and write.low < record.high):
                        return False
        return True
