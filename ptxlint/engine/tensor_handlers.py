"""How the machine performs ``tcgen05``: tensor memory, its allocation, waits, commits and fences."""

from ptxlint.engine.clocks import join
from ptxlint.engine.events import Actor
from ptxlint.engine.machine import Machine
from ptxlint.engine.memory_handlers import concrete, shared_offset
from ptxlint.engine.program import Event, LoadsUsed
from ptxlint.engine.shadow import GRANULE
from ptxlint.engine.sync_handlers import scalar
from ptxlint.engine.tensor_memory import ALL_LANES, Allocation, TensorAccess, TensorGap, Unit
from ptxlint.engine.tensor_rules import note, peer_done
from ptxlint.engine.values import Linear
from ptxlint.engine.warp import Fiber
from ptxlint.model import effects as fx

DEFAULT_COLUMNS = 64
COLUMN_BYTES = 4  # of a lane in a column of tensor memory (9.7.16.2)
A_COLUMNS = 8  # 32 bytes of K in each row


def tensor_component(machine: Machine, fiber: Fiber) -> int:
    """Return the component on which the thread's mma, cp and shift complete."""
    return machine.components.number(("tcgen05", fiber.warp.index))


def _transfer_component(machine: Machine, warp: int, unit: Unit) -> int:
    """Return the component on which a warp's ld or st complete; its twin: what a fence came after."""
    return machine.components.number(("tcgen05", unit.value, warp))


def _address(machine: Machine, fiber: Fiber, bound: object, mask: int) -> tuple[object, int] | None:
    """Return (base, column) of a tensor-memory address; None when it says nothing."""
    lane = (mask & -mask).bit_length() - 1
    if isinstance(bound, tuple):
        value = machine.address(fiber, bound)
    elif isinstance(bound, int):
        value = fiber.regs[bound]
    else:
        return None
    if isinstance(value, tuple):
        value = value[lane]
    base: object = None
    resolved = machine.unknowns.resolve(value)
    if isinstance(resolved, Linear):
        offset = resolved.offset[lane] if isinstance(resolved.offset, tuple) else resolved.offset
        base = resolved.terms
    else:
        offset = resolved
    offset &= 0xFFFFFFFF
    column = offset & 0xFFFF
    if column >= 0x8000 and base is not None:
        column -= 0x10000
    return base, column


def _issue(
    machine: Machine,
    fiber: Fiber,
    event: Event,
    mask: int,
    unit: Unit,
    write: bool,
    place: tuple[object, int, int, int],
    completion: tuple[int, int] | None,
) -> TensorAccess:
    actor = fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)
    clock = fiber.clock
    issued = (fiber.component, clock.seen[fiber.component], machine.sequence)
    access = TensorAccess(event, actor, unit, write, place, issued, completion)

    def report(gap: TensorGap, first: TensorAccess | Allocation | None, second: TensorAccess) -> None:
        note(machine, gap, first, second)

    machine.tensor.check(access, machine.tensor.known(fiber.warp.index, clock.seen), report)
    return access


def tensor_core(machine: Machine, fiber: Fiber, event: Event, mask: int, component: int, number: int) -> None:
    """The tensor-memory side of ``tcgen05.mma``, ``cp`` and ``shift``."""
    effect = event.effect
    completion = (component, number)
    places: list[tuple[object, int, bool]] = []  # operand, columns, write
    if isinstance(effect, fx.TensorMma):
        places += [(scale, 1, False) for scale in event.b.scales]
        if effect.a_tensor:
            places.append((event.b.a, A_COLUMNS, False))
        places.append((event.b.d, _result_columns(machine, fiber, event, mask), True))
    elif isinstance(effect, fx.TensorCopy):
        places.append((event.b.tensor, effect.row_bytes // COLUMN_BYTES, True))
    else:
        places.append((event.b.tensor, 8, True))
    for bound, columns, write in places:
        found = _address(machine, fiber, bound, mask)
        if found is not None:
            base, column = found
            place = (base, column, column + columns, ALL_LANES)
            _issue(machine, fiber, event, mask, Unit.TENSOR_CORE, write, place, completion)


def _result_columns(machine: Machine, fiber: Fiber, event: Event, mask: int) -> int:
    """Return how many columns D has: N of the instruction descriptor, halved where two CTAs share it."""
    effect: fx.TensorMma = event.effect  # type: ignore[assignment]
    if event.b.idesc is None:
        return 1
    value = scalar(machine, fiber, event.b.idesc, mask)
    if not isinstance(value, int):
        return 1
    columns = (value >> 17 & 0x3F) * 8
    if effect.cta_group == 2 and (value >> 24 & 0x1F) <= 8:
        columns //= 2
    return max(columns, 1)


def tensor_shift(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.shift``."""
    component = tensor_component(machine, fiber)
    number = machine.tcgen05[component] = machine.tcgen05.get(component, 0) + 1
    tensor_core(machine, fiber, event, mask, component, number)
    return False


def tensor_transfer(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.ld`` and ``tcgen05.st``."""
    effect: fx.TensorLoad | fx.TensorStore = event.effect  # type: ignore[assignment]
    unit = Unit.LOAD if isinstance(effect, fx.TensorLoad) else Unit.STORE
    memory = machine.tensor
    warp = fiber.warp.index
    component = _transfer_component(machine, warp, unit)
    number = memory.issued[unit, warp] = memory.issued.get((unit, warp), 0) + 1
    if unit is Unit.LOAD:
        memory.sites[warp, event.instruction.index] = number
    found = _address(machine, fiber, event.b.tensor, mask)
    if found is None:
        return False
    base, column = found
    # A warp reaches one quarter of the lanes, whatever lane the address names (9.7.16.8.1).
    place = (base, column, column + effect.columns, warp % 4)
    access = _issue(machine, fiber, event, mask, unit, unit is Unit.STORE, place, (component, number))
    memory.newest[unit, warp] = access
    if unit is Unit.LOAD and not machine.commits and base not in memory.written:
        _unknown_producer(machine, access)
    return False


def _unknown_producer(machine: Machine, access: TensorAccess) -> None:
    """Report a load of what another thread handed over by a plain mbarrier, with no fence after the wait."""
    for entry in reversed(machine.logs.get(access.actor.warp, ())):
        if entry.event.kind == "TensorFence":
            return
        if entry.event.kind == "MbarrierWait":
            note(machine, TensorGap.UNKNOWN_PRODUCER, None, access)
            return


def tensor_loads_used(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """All registers of some loads have been used: they are complete."""
    effect: LoadsUsed = event.effect  # type: ignore[assignment]
    warp = fiber.warp.index
    done = max((machine.tensor.sites.get((warp, site), 0) for site in effect.sites), default=0)
    component = _transfer_component(machine, warp, Unit.LOAD)
    if fiber.clock.seen.get(component, 0) < done:
        fiber.clock.seen[component] = done
    return False


def tensor_wait(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.wait::ld`` and ``::st``."""
    effect: fx.TensorWait = event.effect  # type: ignore[assignment]
    unit = Unit.LOAD if effect.loads else Unit.STORE
    warp = fiber.warp.index
    component = _transfer_component(machine, warp, unit)
    fiber.clock.seen[component] = machine.tensor.issued.get((unit, warp), 0)
    machine.log(fiber, event, mask)
    return False


def tensor_fence(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.fence::before_thread_sync`` and ``::after_thread_sync``."""
    effect: fx.TensorFence = event.effect  # type: ignore[assignment]
    seen = fiber.clock.seen
    warp = fiber.warp.index
    if effect.before:
        for unit in (Unit.LOAD, Unit.STORE):
            component = _transfer_component(machine, warp, unit)
            if component in seen:
                seen[component + 1] = seen[component]
    else:
        for component, time in machine.tensor.relaxed.get(warp, {}).items():
            # What completes by tcgen05 rules is known from here on, and may be passed on.
            name = machine.components.name(component)
            if isinstance(name, tuple) and name[0] == "tcgen05" and seen.get(component, -1) < time:
                seen[component] = time
        machine.tensor.fenced_after[warp] = dict(seen)
    machine.log(fiber, event, mask)
    return False


def tensor_alloc(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.alloc``: the slot receives an address; uses of the slot are not judged."""
    memory = machine.tensor
    effect: fx.TensorAlloc = event.effect  # type: ignore[assignment]
    if effect.cta_group == 2:
        machine.cluster_memory.remote(fiber, event, mask)
    points = concrete(machine, machine.address(fiber, event.b.address), mask)
    columns = scalar(machine, fiber, event.b.columns, mask)
    count = columns if isinstance(columns, int) else DEFAULT_COLUMNS
    low = machine.tensor_columns
    if points is not None:
        address = shared_offset(points[0][1])
        held = memory.slots.get(address)
        if held is not None and held.freed is None and held.event is event and machine.launch.assumed:
            # All warps of a block of unknown size seem to allocate: it may have one warp only.
            machine.log(fiber, event, mask)
            return False
        machine.alloc_slots.add(address)
        machine.value_alignment |= address
        machine.shared_values[address] = (low, 4)
    machine.tensor_columns += count
    fiber.tick()
    holder = Allocation(event, fiber.actor, low, low + count, fiber.component, fiber.time, machine.sequence)
    memory.allocations.append(holder)
    if points is not None:
        _read_already(machine, fiber, address, holder)
        memory.slots[address] = holder
    machine.log(fiber, event, mask)
    if memory.relinquished is not None:
        note(machine, TensorGap.AFTER_RELINQUISH, None, holder)
    return False


def _read_already(machine: Machine, fiber: Fiber, slot: int, holder: Allocation) -> None:
    """Report reads of the address by threads that did not wait for the allocation: they came first here."""
    seen = fiber.clock.seen
    for read in machine.shadow.generic.get(slot >> GRANULE, {}).values():
        if read.write or read.actor.warp == fiber.warp.index or not read.overlaps(slot, slot + 4):
            continue
        if seen.get(read.component, -1) < read.time:
            place = (None, holder.low, holder.high, ALL_LANES)
            issued = (read.component, read.time, machine.sequence)
            second = TensorAccess(read.event, read.actor, Unit.LOAD, False, place, issued, None)
            note(machine, TensorGap.NOT_PUBLISHED, holder, second)


def tensor_relinquish(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.relinquish_alloc_permit``."""
    machine.tensor.relinquished = event
    return False


def tensor_dealloc(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.dealloc``."""
    memory = machine.tensor
    machine.log(fiber, event, mask)
    found = _address(machine, fiber, event.b.tensor, mask)
    if found is None or found[0] is not None:
        memory.unknown_dealloc = True
        return False
    column = found[1]
    again = [a.freed for a in memory.allocations if a.low == column]
    if again and again[-1] is not None and again[-1].event is event and machine.launch.assumed:
        return False
    columns = scalar(machine, fiber, event.b.columns, mask)
    count = columns if isinstance(columns, int) and columns > 0 else 1
    if any(entry.event.kind in ("ClusterWait", "CtaBarrier") for entry in machine.logs[fiber.warp.index]):
        # A barrier waits for the threads that have not exited; those that have are done.
        join(fiber.clock.seen, memory.exited)
    access = _issue(
        machine, fiber, event, mask, Unit.DEALLOC, True, (None, column, column + count, ALL_LANES), None
    )
    effect: fx.TensorDealloc = event.effect  # type: ignore[assignment]
    if effect.cta_group == 2:
        peer_done(machine, fiber, access)
    held = [a for a in memory.allocations if a.low == column]
    if not held:
        memory.unknown_dealloc = True
    for holder in held[-1:]:
        holder.freed = access
    return False
