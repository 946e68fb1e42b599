"""Tensor maps in global memory that the kernel itself writes: fences before use, updates in flight.

A map is 128 bytes (PTX ISA 9.7.9.28). Copies read it through the tensormap proxy; a write to it is known
there after a ``fence.proxy.tensormap::generic.release`` that follows it, and an ``.acquire`` of the map on
the way to the use. A map in parameter or constant memory is set before the kernel starts, and so is one
that the kernel only reads.
"""

from typing import TYPE_CHECKING

from ptxlint.engine.clocks import Times
from ptxlint.engine.events import Hazard, Point
from ptxlint.engine.global_memory import Base, GlobalAccess, locate
from ptxlint.engine.program import Event
from ptxlint.engine.warp import Fiber
from ptxlint.model import effects as fx

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

MAP_BYTES = 128
_KEPT = 8


class TensorMaps:
    """What one run did to tensor maps."""

    def __init__(self, machine: "Machine") -> None:
        self.machine = machine
        self.uses: dict[Base, dict[object, GlobalAccess]] = {}
        self.finished: dict[int, list[tuple[int, int]]] = {}

    def _records(
        self, fiber: Fiber, event: Event, mask: int, bound: tuple[int, int], size: int, rw: fx.Rw
    ) -> list[GlobalAccess]:
        machine = self.machine
        return [
            GlobalAccess(event, fiber, mask, base, offsets, size, rw, machine.sequence)
            for base, offsets in locate(machine.unknowns, machine.address(fiber, bound), mask)
            if base
        ]

    def update(self, fiber: Fiber, event: Event, mask: int, bound: tuple[int, int], released: bool) -> None:
        """An instruction that writes a map: ``tensormap.replace``, or the copy of ``cp_fenceproxy``."""
        for made in self._records(fiber, event, mask, bound, MAP_BYTES, fx.Rw.WRITE):
            if released:
                made.released.append((fiber.component, fiber.time))
            self.overwritten(fiber, made)
            self.machine.global_memory.keep_write(made)

    def overwritten(self, fiber: Fiber, write: GlobalAccess) -> None:
        """Check a write against the copies whose map it may change under them."""
        seen = fiber.clock.seen
        for use in self.uses.get(write.base, {}).values():
            if seen.get(use.component, -1) < use.time or not use.meets(write):
                continue
            proofs = self.finished.get(id(use), [])
            if proofs and not any(seen.get(component, -1) >= time for component, time in proofs):
                self._report("map in flight", use, write, "")

    def use(self, fiber: Fiber, event: Event, mask: int, proofs: list[tuple[int, int]]) -> None:
        """A copy reads its map; *proofs* are the completions each of which tells that it has."""
        memory = self.machine.global_memory
        seen = fiber.clock.seen
        for made in self._records(fiber, event, mask, event.b.tensor_map, MAP_BYTES, fx.Rw.READ):
            for write in memory.writes.get(made.base, {}).values():
                if seen.get(write.component, -1) < write.time or not write.meets(made):
                    continue
                cause = _missing(write, seen)
                pair = (write.event.instruction.index, event.instruction.index)
                if cause:
                    self._report("map not fenced", write, made, cause)
                else:
                    self.machine.outcome.fenced_maps.add(pair)
            if proofs:
                self.uses.setdefault(made.base, {})[event.instruction.index, made.component, made.low] = made
                self.finished[id(made)] = proofs

    def fence(self, fiber: Fiber, event: Event, mask: int) -> None:
        """``fence.proxy.tensormap::generic``: its release half, or its acquire of one map."""
        effect: fx.ProxyFence = event.effect  # type: ignore[assignment]
        seen = fiber.clock.seen
        moment = (fiber.component, fiber.time)
        writes = self.machine.global_memory.writes
        if effect.half != "acquire":
            for records in writes.values():
                for write in records.values():
                    if seen.get(write.component, -1) >= write.time and len(write.released) < _KEPT:
                        write.released.append(moment)
        if effect.half != "release" and event.b.address is not None:
            for made in self._records(
                fiber, event, mask, event.b.address, effect.size or MAP_BYTES, fx.Rw.READ
            ):
                for write in writes.get(made.base, {}).values():
                    if write.meets(made) and any(seen.get(c, -1) >= t for c, t in write.released):
                        write.acquired.append(moment)
                        del write.acquired[:-_KEPT]

    def _report(self, kind: str, first: GlobalAccess, second: GlobalAccess, cause: str) -> None:
        self.machine.hazard(
            Hazard(
                kind,
                Point(first.event, first.actor, first.sequence),
                Point(second.event, second.actor, second.sequence),
                cause,
            )
        )


def _missing(write: GlobalAccess, seen: Times) -> str:
    """Return what is missing between *write* and a use by a thread that has *seen*; "" for nothing."""
    if any(seen.get(component, -1) >= time for component, time in write.acquired):
        return ""
    if not write.released:
        return "no-release"
    return "acquire-off-path" if write.acquired else "no-acquire"
