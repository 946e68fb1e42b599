"""How the machine performs asynchronous operations: copies, groups, wgmma, tcgen05, launch control."""

from ptxlint.engine import mbarrier_rules, operands
from ptxlint.engine.async_units import GroupQueue
from ptxlint.engine.barrier_rules import ALIGNED, is_aligned
from ptxlint.engine.events import Access, Actor, Family, Hazard, Point
from ptxlint.engine.machine import Handler, Machine
from ptxlint.engine.memory_handlers import (
    MAX_SHARED,
    bulk_zero,
    concrete,
    memory_access,
    peer_of,
    shared_offset,
)
from ptxlint.engine.program import Event
from ptxlint.engine.sync_handlers import (
    cluster_arrive,
    cluster_wait,
    collective,
    cta_barrier,
    grid_dependency,
    init_fence,
    mbarrier_arrive,
    mbarrier_complete,
    mbarrier_expect,
    mbarrier_init,
    mbarrier_invalidate,
    mbarrier_wait,
    popcount,
    proxy_fence,
    renew,
    scalar,
    settle_phase,
    targets,
    thread_fence,
    warp_barrier,
)
from ptxlint.engine.tensor_handlers import (
    tensor_alloc,
    tensor_component,
    tensor_core,
    tensor_dealloc,
    tensor_fence,
    tensor_loads_used,
    tensor_relinquish,
    tensor_shift,
    tensor_transfer,
    tensor_wait,
)
from ptxlint.engine.values import Linear, Scalar, Value
from ptxlint.engine.warp import Fiber, Frame
from ptxlint.model import effects as fx

DEFAULT_EXTENT = 16


def _site(fiber: Fiber, event: Event) -> tuple[int, int]:
    return id(fiber.code), event.instruction.index


def group_queue(
    machine: Machine, table: dict[tuple[int, int], GroupQueue], kind: str, fiber: Fiber, mask: int
) -> GroupQueue:
    """Return the async-groups of lanes *mask* of the fiber's warp."""
    key = (fiber.warp.index, mask)
    found = table.get(key)
    if found is None:
        number = machine.components.number
        found = table[key] = GroupQueue(
            fiber.warp.index, mask, number((kind, "full", *key)), number((kind, "read", *key))
        )
    return found


def _actor(fiber: Fiber, mask: int) -> Actor:
    return fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)


def make_access(
    machine: Machine, fiber: Fiber, event: Event, mask: int, low: int, size: int, write: bool, family: Family
) -> Access:
    """Return an asynchronous access of *size* bytes issued now."""
    clock = fiber.clock
    access = Access(
        event,
        _actor(fiber, mask),
        fiber.component,
        clock.seen[fiber.component],
        low,
        low + size,
        write,
        family,
        machine.sequence,
    )
    access.issue = dict(clock.seen)
    return access


def perform(machine: Machine, fiber: Fiber, access: Access) -> None:
    """Check and keep an asynchronous access."""
    clock = fiber.clock
    single = fiber.mask & (fiber.mask - 1) == 0
    machine.shadow.operation(access, clock.seen, clock.fenced_shared, single)


def _extent(machine: Machine, event: Event, size: int | None, most: int | None) -> int:
    if size is not None:
        return size
    return most if most is not None else machine.sizes.get(event.instruction.index, DEFAULT_EXTENT)


def _most(machine: Machine, amount: Scalar) -> int | None:
    """Return the largest value that an unknown size can have, if it is small enough to tell something."""
    assert isinstance(amount, Linear)
    assert isinstance(amount.offset, int)
    _, g, low, high = machine.unknowns.range_of(amount.terms)
    most = amount.offset + g * (high if g > 0 else low)
    return most if 0 < most <= MAX_SHARED else None


def gap_after(machine: Machine, address: int) -> int:
    """Return the bytes from *address* to the next known start of anything."""
    following = [start for start in machine.starts if start > address]
    return min(following) - address if following else 1 << 20


def bulk_copy(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """Bulk copies and reductions, tensor or not."""
    effect: fx.BulkCopy = event.effect  # type: ignore[assignment]
    site = _site(fiber, event)
    if effect.kind in (fx.BulkKind.PREFETCH, fx.BulkKind.TENSOR_PREFETCH):
        machine.outcome.resolved.add(site)
        if effect.tensor_map is not None:
            machine.tensor_maps.use(fiber, event, mask, [])
        return False
    shared = (fx.Space.SHARED, fx.Space.CLUSTER)
    into = effect.destination_space in shared and effect.destination is not None
    out_of = effect.source_space in shared and effect.source is not None
    size: int | None = None
    most: int | None = None
    if event.b.size is not None:
        amount = scalar(machine, fiber, event.b.size, mask)
        size = amount if isinstance(amount, int) else None
        if not isinstance(amount, int):
            most = _most(machine, amount)
            if most is None:
                machine.outcome.unresolved.add(site)
    barrier = None
    if effect.mbarrier is not None:
        found = targets(machine, fiber, event, mask, event.b.mbarrier)
        if found is None:
            return False
        if len(found) > 1:
            # Lanes that signal barriers of their own are copies of their own.
            for _, lanes in found:
                bulk_copy(machine, fiber, event, lanes)
            return False
        remote_barrier = peer_of(found[0][0]) != 0
        barrier = machine.mbarrier(found[0][0] & 0xFFFFFF)
        barrier.shared = barrier.shared or effect.multicast is not None
        for at, lanes in found:
            signalled = machine.mbarrier(at & 0xFFFFFF)
            mbarrier_rules.used(machine, fiber, event, signalled, lanes, remote_barrier)
            if effect.multicast is not None and reaches_peers(machine, fiber, event, mask):
                mbarrier_rules.peer_used(machine, fiber, event, signalled, lanes)
            if event.b.size is not None:
                mbarrier_rules.many_lanes(machine, fiber, event, signalled, lanes)
    operands.note(machine, fiber, event, mask, "size", fiber.regs[event.b.size] if size is not None else 0)
    if into:
        operands.note(machine, fiber, event, mask, "destination", machine.address(fiber, event.b.destination))
    if out_of:
        operands.note(machine, fiber, event, mask, "source", machine.address(fiber, event.b.source))
    if barrier is not None:
        operands.note(machine, fiber, event, mask, "mbarrier", machine.address(fiber, event.b.mbarrier))
    queue = group_queue(machine, machine.bulk, "bulk", fiber, mask) if effect.bulk_group else None
    if effect.tensor_map is not None and machine.kernel.global_events:
        # Of lanes that issue together, the wait of the first is taken for the wait of all.
        tracked = queue or group_queue(machine, machine.bulk, "bulk", fiber, mask & -mask)
        proofs = [(tracked.read, tracked.committed + 1)]
        if barrier is not None:
            proofs.append((barrier.component, barrier.stamp(barrier.phase)))
        machine.tensor_maps.use(fiber, event, mask, proofs)
    if into and out_of:
        machine.cluster_memory.copy(fiber, event, mask)
    if into:
        machine.last_load[fiber.warp.index] = machine.sequence
        points = concrete(machine, machine.address(fiber, event.b.destination), mask)
        if points is None:
            machine.outcome.unresolved.add(site)
            if barrier is not None:
                barrier.unknown_bytes = True
                barrier.tx_unknown = True
                barrier.tx += 1
            return False
        machine.outcome.resolved.add(site)
        machine.outcome_stage(site, shared_offset(points[0][1]))
        for number, (_, address) in enumerate(points):
            address = shared_offset(address)
            if peer_of(address):
                machine.cluster_memory.remote(fiber, event, mask)
                if barrier is not None and remote_barrier:
                    # A symmetric peer sends the same to us.
                    barrier.peer = True
                    if size is None:
                        barrier.unknown_bytes = True
                    else:
                        barrier.copied += size
                    if not number:
                        barrier.copies.append((event, address & 0xFFFFFF, None, size or 0))
                continue
            if effect.multicast is not None and reaches_peers(machine, fiber, event, mask):
                machine.cluster_memory.multicast(fiber, event, mask, address)
            machine.starts.add(address)
            extent = _extent(machine, event, size, most)
            if size is None:
                extent = max(1, min(extent, gap_after(machine, address)))
            access = make_access(machine, fiber, event, mask, address, max(extent, 1), True, Family.BULK_LOAD)
            access.exact = size is not None
            if size is not None and address < machine.live_high and machine.live_low < address + size:
                mbarrier_rules.touched(machine, fiber, event, mask, address, address + size, True)
            if barrier is not None:
                access.completion = (barrier.component, barrier.stamp(barrier.phase))
                if effect.tensor_map is not None:
                    access.box = event.instruction.opcode, machine.address(fiber, event.b.tensor_map)
                elif size is None:
                    barrier.tx_unknown = True
                barrier.copies.append((event, address, access, size if size is not None else -1))
            perform(machine, fiber, access)
            machine.forget_values(address, address + extent)
        if barrier is not None and not remote_barrier:
            if size is None:
                barrier.unknown_bytes = True
            else:
                barrier.copied += size * (popcount(mask) if len(points) == 1 else len(points))
    if out_of:
        points = concrete(machine, machine.address(fiber, event.b.source), mask)
        if points is None:
            machine.outcome.unresolved.add(site)
            return False
        machine.outcome.resolved.add(site)
        for _, address in points:
            address = shared_offset(address)
            if effect.tensor_map is not None and len(points) == 1:
                machine.store_places.note(machine, fiber, event, address)
            extent = _extent(machine, event, size, most)
            if size is None and extent > DEFAULT_EXTENT:
                extent = max(1, min(extent, gap_after(machine, address)))
            access = make_access(
                machine, fiber, event, mask, address, max(extent, 1), False, Family.BULK_STORE
            )
            access.exact = size is not None
            if size is not None and address < machine.live_high and machine.live_low < address + size:
                mbarrier_rules.touched(machine, fiber, event, mask, address, address + size, False)
            if queue is not None:
                number = queue.issue(access)
                access.completion = (queue.read, number)
                access.queue = queue
            elif effect.destination_space in shared:
                # Shared to a peer's shared memory: completion is signalled there, not here.
                access.family = Family.REMOTE
                access.completion = machine.remote_completion(fiber)
            perform(machine, fiber, access)
        if queue is not None and effect.destination_space is fx.Space.GLOBAL:
            machine.global_memory.bulk_store(fiber, event, mask, queue, queue.committed + 1, size)
    if into and effect.source_space is fx.Space.GLOBAL:
        machine.global_memory.bulk_load(fiber, event, mask, size)
    machine.log(fiber, event, mask)
    return False


def reaches_peers(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """Return whether the CTA mask of a multicast names a CTA other than this one."""
    named = scalar(machine, fiber, event.b.multicast, mask)
    return machine.launch.cluster_size > 1 and (not isinstance(named, int) or named & ~1 != 0)


def bulk_commit(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``cp.async.bulk.commit_group``."""
    for queue in machine.bulk.values():
        if queue.warp == fiber.warp.index and not queue.mask & ~mask:
            queue.commit()
    machine.log(fiber, event, mask)
    return False


def bulk_wait(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``cp.async.bulk.wait_group``."""
    effect: fx.BulkWait = event.effect  # type: ignore[assignment]
    seen = fiber.clock.seen
    detail = "nothing issued"
    for queue in machine.bulk.values():
        if queue.warp == fiber.warp.index and not queue.mask & ~mask:
            if queue.waited < queue.committed:
                detail = ""
            done = queue.done(effect.pending)
            queue.waited = max(queue.waited, done)
            if seen.get(queue.read, 0) < done:
                seen[queue.read] = done
            if not effect.read and seen.get(queue.full, 0) < done:
                seen[queue.full] = done
    machine.log(fiber, event, mask, detail, effect.pending)
    return False


def cp_async(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``cp.async``: a generic write that completes later."""
    effect: fx.CpAsync = event.effect  # type: ignore[assignment]
    site = _site(fiber, event)
    points = concrete(machine, machine.address(fiber, event.b.destination), mask)
    if points is None:
        machine.outcome.unresolved.add(site)
        return False
    machine.outcome.resolved.add(site)
    queue = group_queue(machine, machine.cp_async, "cp.async", fiber, mask)
    unique = sorted({shared_offset(address) for _, address in points})
    access = make_access(
        machine, fiber, event, mask, unique[0], unique[-1] + effect.size - unique[0], True, Family.CP_ASYNC
    )
    access.size = effect.size
    if len(unique) > 1 and len(unique) * effect.size != access.high - access.low:
        access.points = tuple(unique)
    if access.low < machine.live_high and machine.live_low < access.high:
        mbarrier_rules.touched(
            machine, fiber, event, mask, access.low, access.high, True, access.points, effect.size
        )
    number = queue.issue(None)
    access.completion = (queue.full, number)
    access.queue = queue
    machine.shadow.access(access, fiber.clock.seen, mask == fiber.mask)
    return False


def cp_async_commit(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``cp.async.commit_group``."""
    for queue in machine.cp_async.values():
        if queue.warp == fiber.warp.index and queue.mask & mask:
            queue.commit()
    machine.log(fiber, event, mask)
    return False


def cp_async_wait(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``cp.async.wait_group`` and ``wait_all``."""
    effect: fx.CpAsyncWait = event.effect  # type: ignore[assignment]
    seen = fiber.clock.seen
    for queue in machine.cp_async.values():
        if queue.warp == fiber.warp.index and queue.mask & mask:
            if effect.everything:
                queue.commit()
            done = queue.done(0 if effect.everything else effect.pending)
            queue.waited = max(queue.waited, done)
            if seen.get(queue.full, 0) < done:
                seen[queue.full] = done
    machine.log(fiber, event, mask, number=effect.pending)
    return False


def cp_async_arrive(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``cp.async.mbarrier.arrive``: arrives when the thread's prior copies are complete."""
    effect: fx.CpAsyncArrive = event.effect  # type: ignore[assignment]
    found = targets(machine, fiber, event, mask, event.b.address)
    for address, lanes in found or ():
        barrier = machine.mbarrier(address & 0xFFFFFF)
        mbarrier_rules.used(machine, fiber, event, barrier, lanes, peer_of(address) != 0)
        barrier.copy_arrivals.setdefault(event.instruction.index, event)
        if effect.no_increment:
            renew(machine, barrier)
            mbarrier_rules.arriving(machine, fiber, event, barrier, lanes, popcount(lanes))
            barrier.last_arrival = event
        clock = machine.publish(fiber, lanes)
        for queue in machine.cp_async.values():
            if queue.warp == fiber.warp.index and queue.mask & lanes:
                clock.seen[queue.full] = max(clock.seen.get(queue.full, 0), queue.committed + 1)
        barrier.gathered.join(clock)
        machine.log(fiber, event, lanes, number=address)
        if effect.no_increment:
            barrier.pending -= popcount(lanes)
            barrier.arrivals += popcount(lanes)
            settle_phase(machine, barrier)
    return False


def descriptor_address(machine: Machine, fiber: Fiber, slot: int | None, mask: int) -> int | None:
    """Return the shared address in a matrix descriptor (bits 0-13, in units of 16 bytes)."""
    if slot is None:
        return None
    value = scalar(machine, fiber, slot, mask)
    return (value & 0x3FFF) << 4 if isinstance(value, int) else None


def copied_extent(machine: Machine, fiber: Fiber, event: Event, slot: int, mask: int) -> int | None:
    """Return the bytes from the start of what a ``tcgen05.cp`` reads: known for 32 rows that are not swizzled.

    Such rows are 16 bytes wide, eight of them together, and the eights a stride apart (9.7.16.5.1, bits 32-45).
    """
    effect: fx.TensorCopy = event.effect  # type: ignore[assignment]
    value = scalar(machine, fiber, slot, mask)
    if (effect.rows, effect.row_bytes) != (32, 16) or not isinstance(value, int) or value >> 61:
        return None
    return 3 * ((value >> 32 & 0x3FFF) << 4) + 128


def _wgmma_queue(machine: Machine, fiber: Fiber) -> GroupQueue:
    index = fiber.warp.index
    found = machine.wgmma.get(index)
    if found is None:
        component = machine.components.number(("wgmma", index // 4))
        found = machine.wgmma[index] = GroupQueue(index, fiber.mask, component, component)
    return found


def wgmma_op(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``wgmma.mma_async``: recorded once a warpgroup, by its first warp."""
    effect: fx.WgmmaOp = event.effect  # type: ignore[assignment]
    queue = _wgmma_queue(machine, fiber)
    site = _site(fiber, event)
    addresses = [descriptor_address(machine, fiber, event.b.b, mask)]
    if effect.a is not None:
        addresses.append(descriptor_address(machine, fiber, event.b.a, mask))
    if any(address is None for address in addresses):
        machine.outcome.unresolved.add(site)
    else:
        machine.outcome.resolved.add(site)
    if fiber.warp.index % 4:
        return False
    for address in addresses:
        if address is None:
            continue
        access = make_access(machine, fiber, event, mask, address, DEFAULT_EXTENT, False, Family.WGMMA)
        access.exact = False
        access.completion = (queue.full, queue.issue(access))
        access.queue = queue
        perform(machine, fiber, access)
    return False


def wgmma_commit(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``wgmma.commit_group``."""
    _wgmma_queue(machine, fiber).commit()
    machine.log(fiber, event, mask)
    return False


def wgmma_wait(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``wgmma.wait_group``."""
    effect: fx.WgmmaWait = event.effect  # type: ignore[assignment]
    queue = _wgmma_queue(machine, fiber)
    done = queue.done(effect.pending)
    queue.waited = max(queue.waited, done)
    seen = fiber.clock.seen
    if seen.get(queue.full, 0) < done:
        seen[queue.full] = done
    machine.log(fiber, event, mask, number=effect.pending)
    return False


def tensor_op(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.mma`` and ``tcgen05.cp``: shared operands by descriptor."""
    effect = event.effect
    component = tensor_component(machine, fiber)
    number = machine.tcgen05[component] = machine.tcgen05.get(component, 0) + 1
    tensor_core(machine, fiber, event, mask, component, number)
    slots: list[int] = []
    if isinstance(effect, fx.TensorMma):
        slots.append(event.b.b)
        if not effect.a_tensor:
            slots.append(event.b.a)
    else:
        slots.append(event.b.descriptor)
    site = _site(fiber, event)
    for slot in slots:
        address = descriptor_address(machine, fiber, slot, mask)
        if address is None:
            machine.outcome.unresolved.add(site)
            continue
        machine.outcome.resolved.add(site)
        known = None
        if isinstance(effect, fx.TensorCopy):
            known = copied_extent(machine, fiber, event, slot, mask)
        extent = DEFAULT_EXTENT if known is None else min(known, gap_after(machine, address))
        access = make_access(machine, fiber, event, mask, address, extent, False, Family.TCGEN05)
        access.exact = known is not None
        access.completion = (component, number)
        if isinstance(effect, fx.TensorCopy):
            machine.tensor.copied(access)
        perform(machine, fiber, access)
    if isinstance(effect, fx.TensorMma):
        machine.tensor.multiplied(fiber.warp.index)
    return False


def tensor_commit(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tcgen05.commit``: its arrival carries the completion of the thread's operations."""
    effect: fx.TensorCommit = event.effect  # type: ignore[assignment]
    component = tensor_component(machine, fiber)
    found = targets(machine, fiber, event, mask, event.b.address)
    if found is None and component in machine.tcgen05:
        # Who waits for the mbarrier that was not found must not be told that it waits for nothing.
        fiber.clock.seen[component] = machine.tcgen05[component]
    for address, lanes in found or ():
        barrier = machine.mbarrier(address & 0xFFFFFF)
        barrier.shared = barrier.shared or effect.multicast is not None
        mbarrier_rules.used(machine, fiber, event, barrier, lanes, peer_of(address) != 0)
        renew(machine, barrier)
        mbarrier_rules.arriving(machine, fiber, event, barrier, lanes, 1)
        if effect.cta_group == 2 or effect.multicast is not None:
            machine.cluster_memory.hear()  # of the pair's multiplications, or as a symmetric peer tells us
        barrier.last_arrival = event
        clock = machine.publish(fiber, lanes)
        if component in machine.tcgen05:
            clock.seen[component] = machine.tcgen05[component]
        barrier.gathered.join(clock)
        barrier.pending -= 1
        barrier.arrivals += 1
        machine.log(fiber, event, lanes, number=address)
        settle_phase(machine, barrier)
    return False


def launch_cancel(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``clusterlaunchcontrol.try_cancel``: a 16-byte asynchronous write."""
    effect: fx.LaunchCancel = event.effect  # type: ignore[assignment]
    found = targets(machine, fiber, event, mask, event.b.mbarrier)
    points = concrete(machine, machine.address(fiber, event.b.address), mask)
    if found is None or points is None:
        return False
    barrier = machine.mbarrier(found[0][0] & 0xFFFFFF)
    barrier.shared = barrier.shared or effect.multicast
    mbarrier_rules.used(machine, fiber, event, barrier, found[0][1])
    address = shared_offset(points[0][1]) & 0xFFFFFF
    access = make_access(machine, fiber, event, mask, address, 16, True, Family.CANCEL)
    access.completion = (barrier.component, barrier.stamp(barrier.phase))
    barrier.copies.append((event, address, access, 16))
    barrier.copied += 16
    perform(machine, fiber, access)
    machine.forget_values(address, address + 16)
    machine.responses += 1
    response = machine.unknowns.atom(("response", machine.responses), 0, (1 << 31) - 1)
    machine.value_alignment |= address
    machine.shared_values[address] = (response, 16)
    machine.log(fiber, event, mask)
    return False


def store_async(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``st.async`` / ``red.async``: to a peer; a symmetric peer does the same to us."""
    effect: fx.StoreAsync = event.effect  # type: ignore[assignment]
    if effect.mbarrier is None:
        return False
    found = targets(machine, fiber, event, mask, event.b.mbarrier)
    data = concrete(machine, machine.address(fiber, event.b.address), mask)
    if found is not None and data is not None:
        _check_target(machine, fiber, event, mask, peer_of(shared_offset(data[0][1])), peer_of(found[0][0]))
    for address, lanes in found or ():
        barrier = machine.mbarrier(address & 0xFFFFFF)
        barrier.peer = True
        barrier.copied += effect.size * popcount(lanes)
        barrier.copies.append((event, -1, None, effect.size))
        settle_phase(machine, barrier)
    machine.log(fiber, event, mask)
    return False


def _check_target(machine: Machine, fiber: Fiber, event: Event, mask: int, data: int, barrier: int) -> None:
    """``st.async`` / ``red.async``: data and mbarrier in one CTA, and for ``red.async`` not this one."""
    effect: fx.StoreAsync = event.effect  # type: ignore[assignment]
    point = Point(event, _actor(fiber, mask), machine.sequence)
    if data != barrier:
        machine.hazard(Hazard("async store target", point, point, "mbarrier-elsewhere"))
    elif not data and effect.reduction:
        machine.hazard(Hazard("async store target", point, point, "own-cta"))
    elif data:
        machine.cluster_memory.remote(fiber, event, mask)


def call(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``call`` of a function with a body."""
    effect: fx.Call = event.effect  # type: ignore[assignment]
    code = machine.functions.get(effect.function or "")
    if code is None or len(fiber.frames) > 24:
        machine.outcome.unresolved.add(_site(fiber, event))
        return False
    memory = fiber.warp.local
    moved: list[tuple[int, Value, int]] = []
    for number, parameter in enumerate(code.function.parameters):
        if number >= len(event.b.arguments):
            break
        target = machine.launch.symbols.get(parameter.name)
        slot = event.b.arguments[number]
        if target is None or slot is None:
            continue
        source = fiber.regs[slot]
        if isinstance(source, int):
            for offset in range(0, parameter.size or 8):
                entry = memory.get(source + offset)
                if entry is not None:
                    moved.append((target + offset, entry[0], entry[1]))
    for address, value, size in moved:
        memory[address] = (value, size)
    fiber.frames = [
        *fiber.frames,
        Frame(fiber.code, fiber.block, fiber.at + 1, fiber.regs, fiber.join, ()),
    ]
    for number, parameter in enumerate(code.function.returns):
        if number < len(event.b.returns) and event.b.returns[number] is not None:
            target = fiber.regs[event.b.returns[number]]
            source = machine.launch.symbols.get(parameter.name)
            if isinstance(target, int) and source is not None:
                machine.return_links[target] = source
                memory.pop(target, None)
    fiber.code = code
    fiber.regs = machine.registers(code, fiber.warp)
    fiber.block = 0
    fiber.at = 0
    fiber.join = code.cfg.exit
    return True


def tensormap_replace(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tensormap.replace``: a generic write of a map, in global memory or in a shared copy of it."""
    machine.tensor_maps.update(fiber, event, mask, event.b.address, False)
    return False


def tensormap_copy(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``tensormap.cp_fenceproxy``: a copy to global memory with the release fence in it."""
    machine.tensor_maps.update(fiber, event, mask, event.b.destination, True)
    return False


def ignored(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """Effects that this engine gives no meaning to."""
    return False


HANDLERS: dict[str, Handler] = {
    "MemoryAccess": memory_access,
    "BulkZero": bulk_zero,
    "BulkCopy": bulk_copy,
    "BulkCommit": bulk_commit,
    "BulkWait": bulk_wait,
    "CpAsync": cp_async,
    "CpAsyncCommit": cp_async_commit,
    "CpAsyncWait": cp_async_wait,
    "CpAsyncArrive": cp_async_arrive,
    "StoreAsync": store_async,
    "MbarrierInit": mbarrier_init,
    "MbarrierInvalidate": mbarrier_invalidate,
    "MbarrierArrive": mbarrier_arrive,
    "MbarrierExpect": mbarrier_expect,
    "MbarrierComplete": mbarrier_complete,
    "MbarrierWait": mbarrier_wait,
    "ProxyFence": proxy_fence,
    "ThreadFence": thread_fence,
    "MbarrierInitFence": init_fence,
    "CtaBarrier": cta_barrier,
    "WarpBarrier": warp_barrier,
    "ClusterArrive": cluster_arrive,
    "ClusterWait": cluster_wait,
    "Collective": collective,
    "WgmmaFence": ignored,
    "WgmmaOp": wgmma_op,
    "WgmmaCommit": wgmma_commit,
    "WgmmaWait": wgmma_wait,
    "TensorAlloc": tensor_alloc,
    "TensorDealloc": tensor_dealloc,
    "TensorRelinquish": tensor_relinquish,
    "TensorMma": tensor_op,
    "TensorCopy": tensor_op,
    "TensorShift": tensor_shift,
    "TensorLoad": tensor_transfer,
    "TensorStore": tensor_transfer,
    "TensorWait": tensor_wait,
    "TensorCommit": tensor_commit,
    "TensorFence": tensor_fence,
    "TensormapReplace": tensormap_replace,
    "TensormapCopyFence": tensormap_copy,
    "LaunchCancel": launch_cancel,
    "GridDependency": grid_dependency,
    "Call": call,
    "LoadsUsed": tensor_loads_used,
    "Unknown": ignored,
}


def whole_warps(handler: Handler) -> Handler:
    """Return *handler* with a look at who executes the collective."""

    def checked(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
        if mask != fiber.warp.alive and is_aligned(event.effect):
            machine.barrier_rules.aligned(fiber, event, mask)
        return handler(machine, fiber, event, mask)

    return checked


HANDLERS.update({kind: whole_warps(HANDLERS[kind]) for kind in ALIGNED if kind in HANDLERS})
