"""Global memory: which bytes bulk copies and generic accesses share, and who knows what of them.

An address is a sum of unknowns plus an offset. Two accesses are compared when their unknowns agree: then
the offsets tell whether they overlap. Nothing is said about addresses with different unknowns. Data that
this kernel does not write needs no ordering here: the kernel boundary orders it (PTX ISA 8.9.4).
"""

from typing import TYPE_CHECKING

from ptxlint.engine.async_units import GroupQueue
from ptxlint.engine.clocks import Times
from ptxlint.engine.events import Access, Actor, Family, Hazard, LogEntry, Point
from ptxlint.engine.program import Code, Event
from ptxlint.engine.values import LANES, Linear, Scalar, Unknowns, Value, lane_of
from ptxlint.engine.warp import Fiber
from ptxlint.model import effects as fx
from ptxlint.model import semantics

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

Base = tuple[tuple[int, int], ...]
WIDE_SCOPES = frozenset({"cluster", "gpu", "sys"})
_RELEASING = frozenset({fx.Order.RELEASE, fx.Order.ACQ_REL, fx.Order.SC})
_RECORDS = 4096


class GlobalAccess(Access):
    """An access of bytes ``low`` to ``high`` after *base*, a sum of unknowns."""

    __slots__ = ("acquired", "base", "group", "handed_on", "released", "rw")

    def __init__(
        self,
        event: Event,
        fiber: Fiber,
        mask: int,
        base: Base,
        offsets: list[int],
        size: int,
        rw: fx.Rw,
        sequence: int,
    ) -> None:
        actor = fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)
        super().__init__(
            event,
            actor,
            fiber.component,
            fiber.time,
            offsets[0],
            offsets[-1] + size,
            rw is not fx.Rw.READ,
            Family.GENERIC,
            sequence,
        )
        self.size = size
        if len(offsets) > 1 and len(offsets) * size < 0.8 * (self.high - self.low):
            self.points = tuple(offsets)
        self.base = base
        self.rw = rw
        self.group = 0
        self.handed_on = False
        self.released: list[tuple[int, int]] = []
        self.acquired: list[tuple[int, int]] = []

    def meets(self, other: "GlobalAccess") -> bool:
        """Return whether the two touch a common byte."""
        if self.low >= other.high or other.low >= self.high:
            return False
        if self.points is not None:
            return any(other.overlaps(point, point + self.size) for point in self.points)
        return other.overlaps(self.low, self.high)


def locate(unknowns: Unknowns, value: Value, mask: int) -> list[tuple[Base, list[int]]]:
    """Return the addresses of the lanes in *mask* by base: offsets sorted, each once."""
    if value.__class__ is int:
        return [((), [value])]
    if isinstance(value, Linear):
        terms, offset = unknowns.reduce(value.terms, value.offset)
        base = tuple((atom.id, k) for atom, k in terms)
        if isinstance(offset, tuple):
            return [(base, sorted({offset[i] for i in range(LANES) if mask >> i & 1}))]
        return [(base, [offset])]
    found: dict[Base, set[int]] = {}
    for lane in range(LANES):
        if not mask >> lane & 1:
            continue
        resolved: Scalar = unknowns.resolve(lane_of(value, lane))
        if isinstance(resolved, int):
            found.setdefault((), set()).add(resolved)
        else:
            assert isinstance(resolved.offset, int)
            found.setdefault(tuple((atom.id, k) for atom, k in resolved.terms), set()).add(resolved.offset)
    return [(base, sorted(offsets)) for base, offsets in found.items()]


def polls(code: Code) -> set[int]:
    """Return the instructions that read a fixed global address in a loop that does nothing else."""
    found: set[int] = set()
    for loop in code.loops:
        reads: list[Event] = []
        other = False
        for index in loop.blocks:
            for item in code.blocks[index].items:
                if not isinstance(item, Event):
                    continue
                effect = item.effect
                if isinstance(effect, fx.MemoryAccess) and effect.rw is not fx.Rw.WRITE:
                    if effect.order is not fx.Order.WEAK and effect.space in (
                        fx.Space.GLOBAL,
                        fx.Space.GENERIC,
                    ):
                        reads.append(item)
                    elif effect.space not in (fx.Space.LOCAL, fx.Space.PARAM, fx.Space.CONST):
                        other = True
                elif not isinstance(effect, (fx.ThreadFence, fx.Collective, fx.WarpBarrier)):
                    other = True
        if other or not reads:
            continue
        defined: set[str] = set()
        for index in loop.blocks:
            block = code.cfg.blocks[index]
            for at in range(block.start, block.end):
                defined.update(semantics.definitions(code.function.instructions[at]))
        for item in reads:
            assert isinstance(item.effect, fx.MemoryAccess)
            base = getattr(item.effect.address.base, "text", "")
            if base not in defined:
                found.add(item.instruction.index)
    return found


class GlobalMemory:
    """What one run did to global memory."""

    def __init__(self, machine: "Machine") -> None:
        self.machine = machine
        self.writes: dict[Base, dict[object, GlobalAccess]] = {}
        self.stores: dict[Base, dict[object, GlobalAccess]] = {}
        self.groups: dict[object, GlobalAccess] = {}
        self.polled: dict[object, GlobalAccess] = {}
        self.fences: dict[int, Times] = {}
        self.triggers: dict[int, tuple[int, LogEntry]] = {}
        self._polls: dict[int, set[int]] = {}
        self._count = 0

    # -- generic accesses -------------------------------------------------------------------------

    def access(self, fiber: Fiber, event: Event, mask: int, value: Value) -> None:
        """A ``ld``, ``st``, ``atom`` or ``red`` of global memory."""
        effect: fx.MemoryAccess = event.effect  # type: ignore[assignment]
        strong = effect.order is not fx.Order.WEAK
        if not strong and not self.machine.kernel.global_events:
            return
        seen = fiber.clock.seen
        sequence = self.machine.sequence
        for base, offsets in locate(self.machine.unknowns, value, mask):
            made = GlobalAccess(event, fiber, mask, base, offsets, effect.size, effect.rw, sequence)
            for store in self.stores.get(base, {}).values():
                if seen.get(store.component, -1) >= store.time and store.meets(made):
                    self._use(fiber, store, made)
            if effect.rw is not fx.Rw.READ:
                self.machine.tensor_maps.overwritten(fiber, made)
                self.keep_write(made)
        if not strong:
            return
        if effect.rw is not fx.Rw.WRITE:
            known = self._polls.get(id(fiber.code))
            if known is None:
                known = self._polls[id(fiber.code)] = polls(fiber.code)
            if event.instruction.index in known:
                made = GlobalAccess(event, fiber, mask, (), [0], effect.size, effect.rw, sequence)
                self.polled[event.instruction.index, fiber.component] = made
        if effect.rw is not fx.Rw.READ and self.groups:
            self._published(fiber, event, mask, effect)

    def keep_write(self, write: GlobalAccess) -> None:
        """Keep a generic write for the bulk copies that may read it."""
        records = self.writes.setdefault(write.base, {})
        key = (write.event.instruction.index, write.component, write.low)
        if key in records or self._count < _RECORDS:
            self._count += key not in records
            records[key] = write

    def _use(self, fiber: Fiber, store: GlobalAccess, use: GlobalAccess) -> None:
        """A thread that is ordered after the issue of *store* touches its destination."""
        seen = fiber.clock.seen
        effect = use.event.effect
        assert store.completion is not None
        queue: GroupQueue = store.queue  # type: ignore[assignment]
        pending = seen.get(queue.full, 0) < store.completion[1]
        if isinstance(effect, fx.MemoryAccess) and effect.noncoherent and not pending:
            self._report("noncoherent", store, use, "")
            return
        if not pending:
            return
        stored = store.event.effect
        reduces = isinstance(stored, fx.BulkCopy) and stored.kind in (
            fx.BulkKind.REDUCE,
            fx.BulkKind.TENSOR_REDUCE,
        )
        if reduces and use.rw is fx.Rw.ATOMIC:
            self._report("mixed atomics", store, use, self._wait_cause(seen, store))
        elif use.rw is not fx.Rw.WRITE:
            self._report("destination read", store, use, self._wait_cause(seen, store))

    @staticmethod
    def _wait_cause(seen: Times, store: GlobalAccess) -> str:
        queue: GroupQueue = store.queue  # type: ignore[assignment]
        if store.group > queue.committed:
            return "no-commit"
        if seen.get(queue.read, 0) >= store.group:
            return "read-wait"
        return "wait-too-weak" if seen.get(queue.read, 0) else "no-wait"

    # -- publication ------------------------------------------------------------------------------

    def fence(self, fiber: Fiber, event: Event) -> None:
        """A thread fence: with a later strong write it is a release pattern (PTX ISA 8.8)."""
        effect: fx.ThreadFence = event.effect  # type: ignore[assignment]
        if self.groups and effect.scope in WIDE_SCOPES and effect.order is not fx.Order.ACQUIRE:
            self.fences[fiber.component] = dict(fiber.clock.seen)

    def _published(self, fiber: Fiber, event: Event, mask: int, effect: fx.MemoryAccess) -> None:
        known: Times | None = None
        if effect.order in _RELEASING and effect.scope in WIDE_SCOPES:
            known = fiber.clock.seen
        else:
            walk: Fiber | None = fiber
            while walk is not None and known is None:
                known = self.fences.get(walk.component)
                walk = walk.parent
        if known is not None:
            self._handed_on("published", fiber, event, mask, known)

    def launch_dependents(self, fiber: Fiber, event: Event, mask: int) -> None:
        """``griddepcontrol.launch_dependents``: the dependent grid may start and read."""
        if self.groups:
            self._handed_on("dependents", fiber, event, mask, fiber.clock.seen)

    def _handed_on(self, kind: str, fiber: Fiber, event: Event, mask: int, known: Times) -> None:
        for store in self.groups.values():
            if known.get(store.component, -1) < store.time:
                continue
            queue: GroupQueue = store.queue  # type: ignore[assignment]
            if known.get(queue.full, 0) >= store.group:
                continue
            made = GlobalAccess(event, fiber, mask, (), [0], 0, fx.Rw.WRITE, self.machine.sequence)
            self._report(kind, store, made, self._wait_cause(known, store))

    # -- bulk copies ------------------------------------------------------------------------------

    def bulk_store(
        self, fiber: Fiber, event: Event, mask: int, queue: GroupQueue, number: int, size: int | None
    ) -> None:
        """A bulk store or reduction to global memory, in group *number* of *queue*."""
        effect: fx.BulkCopy = event.effect  # type: ignore[assignment]
        places: list[tuple[Base, list[int]]] = [((), [0])]
        exact = effect.destination is not None and size is not None
        if exact:
            places = locate(self.machine.unknowns, self.machine.address(fiber, event.b.destination), mask)
        for base, offsets in places:
            made = GlobalAccess(
                event, fiber, mask, base, offsets, size or 1, fx.Rw.WRITE, self.machine.sequence
            )
            made.family = Family.BULK_STORE
            made.queue = queue
            made.group = number
            made.completion = (queue.full, number)
            self.groups[event.instruction.index, fiber.component] = made
            if exact:
                records = self.stores.setdefault(base, {})
                if len(records) < 64:
                    records[event.instruction.index, fiber.component, made.low] = made

    def bulk_load(self, fiber: Fiber, event: Event, mask: int, size: int | None) -> None:
        """A bulk load from global memory: what it reads must be known to the async proxy."""
        effect: fx.BulkCopy = event.effect  # type: ignore[assignment]
        clock = fiber.clock
        seen, fenced = clock.seen, clock.fenced_global
        for poll in self.polled.values():
            if seen.get(poll.component, -1) >= poll.time > fenced.get(poll.component, -1):
                made = GlobalAccess(event, fiber, mask, (), [0], 0, fx.Rw.READ, self.machine.sequence)
                self._report("polled", poll, made, "")
        if effect.source is None or size is None or not (self.writes or self.stores):
            return
        for base, offsets in locate(self.machine.unknowns, self.machine.address(fiber, event.b.source), mask):
            made = GlobalAccess(event, fiber, mask, base, offsets, size, fx.Rw.READ, self.machine.sequence)
            for write in self.writes.get(base, {}).values():
                if seen.get(write.component, -1) >= write.time > fenced.get(
                    write.component, -1
                ) and write.meets(made):
                    self._report("unfenced load", write, made, "")
            for store in self.stores.get(base, {}).values():
                if seen.get(store.component, -1) >= store.time and store.meets(made):
                    self._use(fiber, store, made)

    def _report(self, kind: str, first: GlobalAccess, second: GlobalAccess, cause: str) -> None:
        self.machine.hazard(
            Hazard(
                kind,
                Point(first.event, first.actor, first.sequence),
                Point(second.event, second.actor, second.sequence),
                cause,
                facts={
                    "bytes": (max(first.low, second.low), min(first.high, second.high)),
                    "write": second.write,
                },
            )
        )
