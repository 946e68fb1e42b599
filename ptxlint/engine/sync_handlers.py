"""How the machine performs barriers, mbarriers, fences and warp collectives."""

from ptxlint.engine import mbarrier_rules, relaxed
from ptxlint.engine.barriers import CtaBarrierState, Mbarrier
from ptxlint.engine.machine import Machine
from ptxlint.engine.memory_handlers import concrete, peer_of, shared_offset
from ptxlint.engine.program import Event
from ptxlint.engine.values import FULL, LANES, Scalar, Value, lane_of, settle
from ptxlint.engine.warp import Fiber
from ptxlint.model import effects as fx


def scalar(machine: Machine, fiber: Fiber, slot: int, mask: int) -> Scalar:
    """Return the value of an operand in the first lane of *mask*."""
    return machine.unknowns.resolve(lane_of(fiber.regs[slot], (mask & -mask).bit_length() - 1))


def targets(
    machine: Machine, fiber: Fiber, event: Event, mask: int, bound: tuple[int, int]
) -> list[tuple[int, int]] | None:
    """Return (address, lanes) for the barriers that an operand names; None when unresolved."""
    points = concrete(machine, machine.address(fiber, bound), mask)
    site = (id(fiber.code), event.instruction.index)
    if points is None or not any(shared_offset(address) for _, address in points):
        # Unknown, or out of a register that nothing writes: no variable is at 0.
        machine.outcome.unresolved.add(site)
        return None
    machine.outcome.resolved.add(site)
    if len(points) == 1:
        return [(shared_offset(points[0][1]), mask)]
    groups: dict[int, int] = {}
    for lane, address in points:
        groups[shared_offset(address)] = groups.get(shared_offset(address), 0) | 1 << lane
    return list(groups.items())


def popcount(mask: int) -> int:
    """Return the number of lanes in *mask*."""
    return bin(mask).count("1")


def mbarrier_init(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``mbarrier.init``."""
    found = targets(machine, fiber, event, mask, event.b.address)
    if found is None:
        return False
    for address, lanes in found:
        count = scalar(machine, fiber, event.b.count, lanes)
        barrier = machine.mbarrier(address)
        known = count if isinstance(count, int) else None
        mbarrier_rules.initialised(machine, fiber, event, barrier, lanes, known)
        machine.log(fiber, event, mask, number=address)
    return False


def mbarrier_invalidate(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``mbarrier.inval``."""
    found = targets(machine, fiber, event, mask, event.b.address)
    for address, lanes in found or ():
        barrier = machine.mbarrier(address)
        mbarrier_rules.invalidated(machine, fiber, event, barrier, lanes)
    return False


def settle_phase(machine: Machine, barrier: Mbarrier) -> None:
    """End the phase of *barrier* if only arrivals were missing.

    A phase that tracks copies ends as late as possible, when somebody waits for it or uses the barrier
    for the next phase: until then a wait on the parity before it succeeds.
    """
    if barrier.ready() and not barrier.copies and barrier.balanced():
        machine.complete(barrier)


def renew(machine: Machine, barrier: Mbarrier) -> None:
    """End a phase whose arrivals are all there before something counts towards the next."""
    if barrier.known and barrier.initialised and barrier.expected and barrier.pending <= 0 and barrier.copies:
        machine.complete(barrier)


def mbarrier_arrive(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``mbarrier.arrive`` and its forms."""
    effect: fx.MbarrierArrive = event.effect  # type: ignore[assignment]
    found = targets(machine, fiber, event, mask, event.b.address)
    if found is None:
        if event.b.dst is not None:
            machine.write(fiber, event.b.dst, 0, mask)
        return False
    for address, lanes in found:
        count: Scalar = 1
        if event.b.count is not None:
            count = scalar(machine, fiber, event.b.count, lanes)
        arrivals = (count if isinstance(count, int) else 1) * popcount(lanes)
        remote = peer_of(address) != 0
        barrier = machine.mbarrier(address & 0xFFFFFF)
        mbarrier_rules.used(machine, fiber, event, barrier, lanes, remote)
        renew(machine, barrier)
        if not remote and effect.space is fx.Space.CLUSTER:
            _peers_arrived(machine, fiber, event, barrier)
        if not remote:
            mbarrier_rules.unseen(machine, fiber, event, barrier, lanes)
            mbarrier_rules.arriving(machine, fiber, event, barrier, lanes, arrivals)
            barrier.last_arrival = event
        if event.b.dst is not None:
            machine.write(fiber, event.b.dst, barrier.phase, lanes)
        if event.b.expect is not None:
            # What we let a peer expect of us, it lets us expect of it.
            barrier.expects[event.instruction.index] = event
            _expect(machine, fiber, barrier, event.b.expect, lanes)
        machine.log(fiber, event, lanes, number=barrier.address)
        if remote:
            # A symmetric peer does the same to us; it knows nothing of this CTA's accesses.
            machine.cluster_memory.arrive(fiber, event, lanes, address, barrier.phase)
            barrier.peer = True
            barrier.pending -= arrivals
            barrier.arrivals += arrivals
            settle_phase(machine, barrier)
            continue
        if effect.order is fx.Order.RELAXED:
            barrier.gathered.join(relaxed.released(machine, fiber))
        else:
            machine.cluster_memory.release(fiber, effect.scope)
            barrier.gathered.join(machine.publish(fiber, lanes))
        barrier.pending -= arrivals
        barrier.arrivals += arrivals
        if effect.drop:
            barrier.expected -= arrivals
        settle_phase(machine, barrier)
    return False


def _peers_arrived(machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier) -> None:
    """End a phase to which peers of the cluster have added what this CTA has.

    All CTAs of a pair arrive at their leader's barrier, which is this one's. Who arrives again for the next
    phase has reason to take the one before to be over.
    """
    before = barrier.arrivers.get(fiber.component)
    again = before is not None and before[0] == barrier.phase and before[1] is event
    if not again or machine.launch.cluster_size < 2 or not barrier.known or barrier.pending <= 0:
        return
    if barrier.arrivals * machine.launch.cluster_size >= barrier.expected:
        machine.outcome.peers += 1
        machine.cluster_memory.hear()
        machine.complete(barrier)


def _expect(machine: Machine, fiber: Fiber, barrier: Mbarrier, slot: int, lanes: int) -> None:
    amount = scalar(machine, fiber, slot, lanes)
    if isinstance(amount, int):
        barrier.tx += amount * popcount(lanes)
    else:
        barrier.tx += 1
        barrier.unknown_bytes = True
        barrier.tx_unknown = True


def mbarrier_expect(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``mbarrier.expect_tx``."""
    found = targets(machine, fiber, event, mask, event.b.address)
    for address, lanes in found or ():
        if not peer_of(address):
            barrier = machine.mbarrier(address)
            mbarrier_rules.used(machine, fiber, event, barrier, lanes)
            renew(machine, barrier)
            mbarrier_rules.expecting(machine, fiber, event, barrier, lanes)
            _expect(machine, fiber, barrier, event.b.bytes, lanes)
    return False


def mbarrier_complete(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``mbarrier.complete_tx``."""
    found = targets(machine, fiber, event, mask, event.b.address)
    for address, lanes in found or ():
        barrier = machine.mbarrier(address & 0xFFFFFF)
        mbarrier_rules.used(machine, fiber, event, barrier, lanes, peer_of(address) != 0)
        amount = scalar(machine, fiber, event.b.bytes, lanes)
        if isinstance(amount, int):
            barrier.copied += amount * popcount(lanes)
        else:
            barrier.unknown_bytes = True
            barrier.tx_unknown = True
        settle_phase(machine, barrier)
    return False


def mbarrier_wait(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``mbarrier.try_wait`` / ``test_wait``: blocks the fiber until the phase is over."""
    effect: fx.MbarrierWait = event.effect  # type: ignore[assignment]
    found = targets(machine, fiber, event, mask, event.b.address)
    if found is None:
        machine.write(fiber, event.b.dst, 1, mask)
        return False
    for address, lanes in found:
        barrier = machine.mbarrier(address & 0xFFFFFF)
        mbarrier_rules.used(machine, fiber, event, barrier, lanes)
        if event.b.parity is not None:
            parity = scalar(machine, fiber, event.b.parity, lanes)
        elif event.b.state is not None:
            parity = scalar(machine, fiber, event.b.state, lanes)
        else:
            parity = 0
        if not isinstance(parity, int):
            # The parity follows the phase that is awaited next: the one that blocked this wait, if any did.
            awaited = ("parity", event.instruction.index, mask)
            parity = fiber.warp.executions.setdefault(awaited, barrier.phase)
            machine.outcome.unresolved.add((id(fiber.code), -1 - event.instruction.index))
        parity &= 1
        if event.unused:
            machine.log(fiber, event, mask, "unused", barrier.address)
            continue
        if machine.denies and not event.spin:
            key = (fiber.component, event.instruction.index, barrier.address, barrier.phase)
            times = machine.denied.get(key, 0)
            if times < event.denials:
                machine.denied[key] = times + 1
                machine.log(fiber, event, mask, "denied", barrier.address)
                machine.write(fiber, event.b.dst, 0, mask)
                return False
        if (barrier.phase & 1) == parity and not (barrier.ready() and barrier.balanced()):
            fiber.blocked = ("mbarrier", barrier, parity, event, mask)
            return True
        if (barrier.phase & 1) == parity:
            machine.complete(barrier)
        fiber.warp.executions.pop(("parity", event.instruction.index, mask), None)
        warp = fiber.warp.index
        machine.waits[warp] = machine.waits.get(warp, 0) + 1
        machine.mbarrier_waits[warp] = machine.mbarrier_waits.get(warp, 0) + 1
        machine.synchronised(fiber)
        if barrier.peer or not barrier.known:
            machine.cluster_memory.hear()
            machine.cluster_memory.listen(fiber.clock, barrier.address)
        known = fiber.clock.seen.get(barrier.component, -1)
        if effect.order is fx.Order.RELAXED:
            relaxed.observe(machine, fiber, barrier.released)
            machine.tensor.observe_relaxed(warp, barrier.released.seen)
            if barrier.init_event is None:
                machine.relaxed_open[fiber.component] = event
        else:
            fiber.clock.join(barrier.released)
        fresh = fiber.clock.seen.get(barrier.component, -1) > known
        if fresh:
            barrier.observers[fiber.component] = (barrier.phase - 1, fiber.time)
            actor = mbarrier_rules.actor_of(fiber, mask)
            watch = (barrier.phase - 1, fiber.time, machine.sequence, event, actor)
            barrier.watchers[fiber.component] = watch
        elif barrier.phase == 0 and (fiber.component, -1) not in barrier.passed:
            fresh = True
            barrier.passed.add((fiber.component, -1))
        machine.log(fiber, event, mask, "" if fresh else "stale", barrier.address)
    machine.write(fiber, event.b.dst, 1, mask)
    return False


def cta_barrier(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``bar.sync``, ``bar.arrive``, ``bar.red`` and the ``barrier.cta`` forms."""
    effect: fx.CtaBarrier = event.effect  # type: ignore[assignment]
    number = scalar(machine, fiber, event.b.barrier, mask)
    count: Scalar | None = None
    if event.b.count is not None:
        count = scalar(machine, fiber, event.b.count, mask)
        if not isinstance(count, int):
            count = None
    key = number if isinstance(number, int) else 0
    state = machine.cta_barriers.setdefault(key, CtaBarrierState())
    machine.log(fiber, event, mask, number=key)
    if event.b.dst is not None:
        machine.write(
            fiber, event.b.dst, machine.oracle.fresh(("bar.red", event.instruction.index), fiber, 0, 1), mask
        )
    machine.waits[fiber.warp.index] = machine.waits.get(fiber.warp.index, 0) + 1
    relaxed.acquire(machine, fiber)
    state.count = count if isinstance(count, int) else None
    state.arrive(fiber.warp.index, mask)
    state.clock.join(machine.publish(fiber, mask))
    if effect.arrive_only:
        machine.barrier_rules.arrive_only(fiber, event, mask)
        machine.settle_cta_barrier(key, state, False)
        return False
    machine.synchronised(fiber)
    state.waiting.append(fiber)
    fiber.blocked = ("barrier", key)
    machine.blocked.append(fiber)
    machine.settle_cta_barrier(key, state, False)
    if fiber in machine.blocked:
        machine.blocked.remove(fiber)
        return True
    # It was the last to arrive: woken already, and queued.
    machine.ready.remove(fiber)
    fiber.at -= 1
    return False


def init_fence(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``fence.mbarrier_init``."""
    machine.log(fiber, event, mask)
    machine.cluster_memory.init_fence(fiber)
    return False


def cluster_arrive(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``barrier.cluster.arrive``."""
    state = machine.cluster
    machine.log(fiber, event, mask)
    machine.cluster_memory.barrier_arrive(fiber, event, mask)
    state.arrived[fiber.warp.index] = state.arrived.get(fiber.warp.index, 0) | mask
    state.clock.join(machine.publish(fiber, mask))
    fiber.warp.executions[("cluster", mask)] = state.phase + 1
    fiber.warp.executions["cluster"] = state.phase + 1
    machine.settle_cluster()
    return False


def cluster_wait(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``barrier.cluster.wait``."""
    state = machine.cluster
    awaited = fiber.warp.executions.get("cluster", 0)
    if state.phase < awaited:
        fiber.blocked = ("cluster",)
        return True
    machine.log(fiber, event, mask)
    fiber.clock.join(state.released)
    machine.synchronised(fiber)
    machine.cluster_memory.barrier_wait(fiber, event, mask)
    return False


def warp_barrier(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``bar.warp.sync``."""
    machine.warp_sync(fiber)
    machine.log(fiber, event, mask)
    return False


def proxy_fence(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``fence.proxy.async`` and its relatives."""
    effect: fx.ProxyFence = event.effect  # type: ignore[assignment]
    machine.log(fiber, event, mask)
    if effect.kind == "async":
        shared = bool(effect.spaces & {"shared", "cluster"})
        if "global" not in effect.spaces:
            machine.barrier_rules.fence(fiber, event)
        machine.fence(fiber, shared, "global" in effect.spaces)
    elif effect.kind == "tensormap":
        machine.tensor_maps.fence(fiber, event, mask)
    return False


def thread_fence(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``fence.acq_rel`` and its relatives, ``membar``."""
    machine.log(fiber, event, mask)
    machine.global_memory.fence(fiber, event)
    effect: fx.ThreadFence = event.effect  # type: ignore[assignment]
    if effect.order is not fx.Order.RELEASE:
        relaxed.acquire(machine, fiber)
    if effect.order is not fx.Order.ACQUIRE and machine.has_relaxed:
        relaxed.release(machine, fiber, mask)
    machine.cluster_memory.fence(fiber, event)
    return False


def grid_dependency(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``griddepcontrol``."""
    effect: fx.GridDependency = event.effect  # type: ignore[assignment]
    machine.log(fiber, event, mask)
    if not effect.wait:
        machine.global_memory.launch_dependents(fiber, event, mask)
    return False


def logged(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """Anything that only leaves a mark for traces."""
    machine.log(fiber, event, mask)
    return False


def collective(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``shfl``, ``vote``, ``match``, ``redux``, ``elect``, ``activemask``."""
    effect: fx.Collective = event.effect  # type: ignore[assignment]
    op = effect.op
    dsts = event.b.dsts
    value_slot = dsts[0] if dsts else None
    predicate_slot = dsts[1] if len(dsts) > 1 else None
    if op not in ("elect", "activemask"):
        machine.warp_sync(fiber)
    member = FULL
    if event.b.membermask is not None:
        m = scalar(machine, fiber, event.b.membermask, mask)
        if isinstance(m, int):
            member = m & FULL
    if op == "elect":
        candidates = (member & mask) or mask
        leader = candidates & -candidates
        machine.write(fiber, value_slot, leader.bit_length() - 1, mask)
        picked: Value = 1
        if fiber.mask & (fiber.mask - 1):
            picked = settle([leader >> i & 1 if fiber.mask >> i & 1 else 0 for i in range(LANES)])
        machine.write(fiber, predicate_slot, picked, mask)
        return False
    if op == "activemask":
        machine.write(fiber, value_slot, fiber.mask, mask)
        return False
    if not dsts:
        return False  # nothing kept reads what they exchange
    sources = [fiber.regs[slot] for slot in event.b.srcs]
    if op.startswith("shfl"):
        machine.write(fiber, value_slot, _shuffle(machine, op, sources, fiber), mask)
        machine.write(fiber, predicate_slot, 1, mask)
        return False
    machine.write(fiber, value_slot, _combine(machine, event, op, effect, sources, fiber), mask)
    machine.write(
        fiber, predicate_slot, machine.oracle.fresh(("match", event.instruction.index), fiber, 0, 1), mask
    )
    return False


def _shuffle(machine: Machine, op: str, sources: list[Value], fiber: Fiber) -> Value:
    value = sources[0]
    control = sources[1] if len(sources) > 1 else 0
    clamp = sources[2] if len(sources) > 2 else 0x1F
    if value.__class__ is int:
        return value
    result: list[Scalar] = []
    for lane in range(LANES):
        if not fiber.mask >> lane & 1:
            result.append(0)
            continue
        b = machine.unknowns.resolve(lane_of(control, lane))
        c = machine.unknowns.resolve(lane_of(clamp, lane))
        if not isinstance(b, int) or not isinstance(c, int):
            b, c = 0, 0x1F
        segment = c >> 8 & 0x1F
        top = c & 0x1F
        base = lane & segment
        maximum = base | (top & ~segment)
        source = lane
        if op == "shfl_idx":
            source = base | (b & 0x1F & ~segment)
            valid = source <= maximum
        elif op == "shfl_up":
            source = lane - (b & 0x1F)
            valid = source >= maximum
        elif op == "shfl_down":
            source = lane + (b & 0x1F)
            valid = source <= maximum
        else:
            source = lane ^ (b & 0x1F)
            valid = source <= maximum
        if not valid or not 0 <= source < LANES:
            source = lane
        result.append(lane_of(value, source))
    first = result[fiber.lanes[0]]
    if fiber.mask != FULL:
        result = [v if fiber.mask >> i & 1 else first for i, v in enumerate(result)]
    return settle(result)


def _combine(
    machine: Machine, event: Event, op: str, effect: fx.Collective, sources: list[Value], fiber: Fiber
) -> Value:
    value = sources[0]
    if op.startswith("vote"):
        bits = machine.oracle.mask_of(value, False, fiber, None)
        if op == "vote_all":
            return int(bits == fiber.mask)
        if op == "vote_any":
            return int(bits != 0)
        if op == "vote_uni":
            return int(bits in (0, fiber.mask))
        return bits
    lanes = [machine.unknowns.resolve(lane_of(value, lane)) for lane in fiber.lanes]
    if all(isinstance(v, int) for v in lanes):
        numbers: list[int] = lanes  # type: ignore[assignment]
        if op == "redux":
            kind = effect.extra[0] if effect.extra else "add"
            total = numbers[0]
            for n in numbers[1:]:
                if kind == "add":
                    total += n
                elif kind == "min":
                    total = min(total, n)
                elif kind == "max":
                    total = max(total, n)
                elif kind == "and":
                    total &= n
                elif kind == "or":
                    total |= n
                else:
                    total ^= n
            return total & 0xFFFFFFFF
        if op == "match_all":
            return fiber.mask if len(set(numbers)) == 1 else 0
        if op == "match_any":
            groups: dict[int, int] = {}
            for lane, n in zip(fiber.lanes, numbers, strict=True):
                groups[n] = groups.get(n, 0) | 1 << lane
            result: list[Scalar] = [0] * LANES
            for lane, n in zip(fiber.lanes, numbers, strict=True):
                result[lane] = groups[n]
            return settle(result)
    if op.startswith("match"):
        return fiber.mask
    if op == "redux" and all(v is lanes[0] for v in lanes) and effect.extra and effect.extra[0] != "add":
        return lanes[0]
    return machine.oracle.fresh((op, event.instruction.index), fiber, 0, (1 << 31) - 1)
