"""Rules of barriers and collectives: who may read after an arrive, whole warps, fences that cover nothing."""

from typing import TYPE_CHECKING

from ptxlint.engine.events import Access, Actor, Family, Hazard, Point
from ptxlint.engine.program import Event
from ptxlint.engine.shadow import GRANULE
from ptxlint.engine.warp import Fiber
from ptxlint.model import effects as fx

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

_LOOKS = 8
_ALWAYS = frozenset(
    {"WgmmaFence", "WgmmaOp", "WgmmaCommit", "WgmmaWait", "TensorAlloc", "TensorDealloc", "TensorRelinquish"}
    | {"TensorLoad", "TensorStore", "TensorWait", "TensormapCopyFence"}
)
ALIGNED = _ALWAYS | {"CtaBarrier", "ClusterArrive", "ClusterWait"}


class BarrierRules:
    """What one run showed of barriers and collectives."""

    def __init__(self, machine: "Machine") -> None:
        self.machine = machine
        self.arrived: dict[int, Point] = {}
        self.acquired: set[int] = set()
        self.reads: list[tuple[Access, Point]] = []
        self.fences: dict[int, tuple[Event, bool, int]] = {}

    # -- bar.arrive -------------------------------------------------------------------------------

    def arrive_only(self, fiber: Fiber, event: Event, mask: int) -> None:
        """``bar.arrive``: nothing of the others' accesses follows for the arriving thread."""
        actor = fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)
        self.arrived[fiber.warp.index] = Point(event, actor, self.machine.sequence)

    def acquire(self, fiber: Fiber) -> None:
        """Any wait that gives the thread an order after others."""
        self.arrived.pop(fiber.warp.index, None)
        self.acquired.add(fiber.warp.index)

    def read(self, fiber: Fiber, access: Access) -> None:
        """A shared access of a warp that has only arrived."""
        arrive = self.arrived.get(fiber.warp.index)
        if arrive is None or access.write:
            return
        point = Point(access.event, access.actor, access.sequence)
        mine = False
        for granule in range(access.low >> GRANULE, (access.high - 1 >> GRANULE) + 1):
            for other in self.machine.shadow.generic.get(granule, {}).values():
                if not other.write or not other.overlaps(access.low, access.high):
                    continue
                if other.actor.warp == fiber.warp.index:
                    mine = True
                elif fiber.clock.seen.get(other.component, -1) < other.time:
                    self.machine.hazard(Hazard("arrive as acquire", arrive, point, "written-by-others"))
                    return
        if mine:
            return
        if fiber.warp.index not in self.acquired:
            self.machine.hazard(Hazard("arrive as acquire", arrive, point, "never-synchronised"))
        elif len(self.reads) < 64:
            self.reads.append((access, arrive))

    def write(self, fiber: Fiber, access: Access) -> None:
        """A shared write, after reads by warps that had only arrived."""
        seen = fiber.clock.seen
        for read, arrive in self.reads:
            if read.actor.warp == fiber.warp.index or not read.overlaps(access.low, access.high):
                continue
            if seen.get(read.component, -1) < read.time:
                point = Point(read.event, read.actor, read.sequence)
                self.machine.hazard(Hazard("arrive as acquire", arrive, point, "written-by-others"))

    # -- collectives ------------------------------------------------------------------------------

    def aligned(self, fiber: Fiber, event: Event, mask: int) -> None:
        """A ``.aligned`` instruction: all threads of the warp must execute it (PTX ISA 9.7.13, 9.7.15)."""
        alive = fiber.warp.alive
        if mask != alive and mask & (mask - 1) == 0 and alive & (alive - 1):
            actor = Actor(fiber.warp.index, mask)
            point = Point(event, actor, self.machine.sequence)
            self.machine.hazard(Hazard("divergent collective", point, point))

    # -- fences -----------------------------------------------------------------------------------

    def fence(self, fiber: Fiber, event: Event) -> None:
        """A proxy fence for shared memory: whether it covers any generic access not covered yet."""
        index = event.instruction.index
        _, useful, count = self.fences.get(index, (event, False, 0))
        if useful or count >= _LOOKS:
            return
        clock = fiber.clock
        seen, fenced = clock.seen, clock.fenced_shared
        useful = any(
            seen.get(record.component, -1) >= record.time > fenced.get(record.component, -1)
            for records in self.machine.shadow.generic.values()
            for record in records.values()
            if record.family in (Family.GENERIC, Family.CP_ASYNC)
        )
        self.fences[index] = (event, useful, count + 1)


def is_aligned(effect: fx.Effect) -> bool:
    """Return whether *effect* is that of a collective that whole warps must execute."""
    if isinstance(effect, (fx.CtaBarrier, fx.ClusterArrive, fx.ClusterWait)):
        return effect.aligned
    return type(effect).__name__ in _ALWAYS
