"""How the machine performs generic accesses: which bytes, by whom, and the values that matter."""

from operator import itemgetter

from ptxlint.engine import mbarrier_rules, tensor_rules
from ptxlint.engine.events import Access, Actor, Family
from ptxlint.engine.machine import Machine
from ptxlint.engine.operations import LOCAL_WINDOW, SHARED_WINDOW, value_key
from ptxlint.engine.program import Event
from ptxlint.engine.values import LANES, Linear, Scalar, Value, lane_of, lanes_of, settle
from ptxlint.engine.warp import Fiber, lanes_in, merge
from ptxlint.model import effects as fx

PEER_SHIFT = 24
MOST_PLACES = 1024  # address vectors kept with their lanes: loops come back to the same ones
MAX_SHARED = 1 << 18
# Atoms of loaded data and of arithmetic that is not followed; loads of global memory have a number.
DATA = frozenset({"opaque", "load", "lds", "local"})


def shared_offset(value: int) -> int:
    """Return the shared-window address behind a generic or shared one."""
    return value & (SHARED_WINDOW - 1) if SHARED_WINDOW <= value < LOCAL_WINDOW else value


def peer_of(address: int) -> int:
    """Return the CTA rank that a shared::cluster address belongs to."""
    return address >> PEER_SHIFT & 0x7F


def concrete(machine: Machine, value: Value, mask: int) -> list[tuple[int, int]] | None:
    """Return (lane, address) for each lane of *mask*, one entry when uniform; None if unresolved."""
    if value.__class__ is int:
        return [((mask & -mask).bit_length() - 1, value)]
    found = []
    if isinstance(value, Linear) and not isinstance(value.offset, tuple):
        resolved = machine.unknowns.resolve(value)
        if isinstance(resolved, int):
            return [((mask & -mask).bit_length() - 1, resolved)]
        return None
    lanes = value if value.__class__ is tuple else lanes_of(value)
    for lane in lanes_in(mask):
        address = lanes[lane]
        if address.__class__ is not int:
            address = machine.unknowns.resolve(address)
            if not isinstance(address, int):
                return None
        found.append((lane, address))
    return found


def memory_access(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``ld``, ``st``, ``atom``, ``red``, ``ldmatrix``, ``stmatrix``."""
    effect: fx.MemoryAccess = event.effect  # type: ignore[assignment]
    slot, offset = event.b.address
    base = fiber.regs[slot]
    places = machine.places
    vector = base.__class__ is tuple
    known = places.get((base, offset, mask)) if vector else None
    value = machine.address(fiber, event.b.address) if known is None else known[0]
    space = effect.space
    if space in (fx.Space.LOCAL, fx.Space.PARAM):
        _private(machine, fiber, event, mask, value)
        return False
    if space in (fx.Space.GLOBAL, fx.Space.CONST):
        _global(machine, fiber, event, mask, value)
        return False
    site = (id(fiber.code), event.instruction.index)
    points = concrete(machine, value, mask) if known is None else known[1]
    if vector and known is None and points is not None and all(lane.__class__ is int for lane in value):  # type: ignore[union-attr]
        if len(places) >= MOST_PLACES:
            places.clear()
        places[base, offset, mask] = value, points
    if points is None:
        if space is fx.Space.GENERIC and _is_foreign(value):
            _global(machine, fiber, event, mask, value)
            return False
        machine.outcome.unresolved.add(site)
        _somewhere(machine, fiber, event, mask, value)
        _unknown_result(machine, fiber, event, mask, value)
        return False
    machine.outcome.resolved.add(site)
    if space is fx.Space.GENERIC:
        first = points[0][1]
        if first >= LOCAL_WINDOW:
            _private(machine, fiber, event, mask, value)
            return False
        if first < SHARED_WINDOW and first >= 1 << 32:
            _global(machine, fiber, event, mask, value)
            return False
    addresses, at_peers = _offsets(points)
    if at_peers:
        theirs = [a for _, a in addresses if peer_of(a)]
        machine.cluster_memory.access(fiber, event, mask, theirs, effect.size, effect.rw)
        addresses = [(lane, a) for lane, a in addresses if not peer_of(a)]
        if not addresses:
            _unknown_result(machine, fiber, event, mask, value)
            return False
    elif effect.space is fx.Space.CLUSTER and effect.rw is not fx.Rw.READ:
        machine.cluster_memory.access(fiber, event, mask, [a for _, a in addresses], effect.size, effect.rw)
    if effect.matrix:
        limit = 8 * effect.matrix
        addresses = [(lane, a) for lane, a in addresses if lane < limit] or addresses
    _touch(machine, fiber, event, mask, [a for _, a in addresses], effect.size, effect.rw)
    _shared_values(machine, fiber, event, mask, addresses)
    return False


def _offsets(points: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], bool]:
    """Return the shared-window addresses behind generic or shared ones, and whether some are a peer's."""
    if max(points, key=_address)[1] < 1 << PEER_SHIFT:
        return points, False
    offsets = [(lane, shared_offset(address)) for lane, address in points]
    return offsets, any(peer_of(address) for _, address in offsets)


_address = itemgetter(1)


def _is_foreign(value: Value) -> bool:
    """Whether an unresolved generic address cannot be shared: it has a pointer that is no window."""
    sample = value[0] if isinstance(value, tuple) else value
    if isinstance(sample, int):
        return sample < SHARED_WINDOW
    offset = sample.offset[0] if isinstance(sample.offset, tuple) else sample.offset
    return not SHARED_WINDOW // 2 <= offset < LOCAL_WINDOW


def _somewhere(machine: Machine, fiber: Fiber, event: Event, mask: int, value: Value) -> None:
    """Perform an access of shared memory of which only the bounds are known: it meets what holds them all."""
    effect: fx.MemoryAccess = event.effect  # type: ignore[assignment]
    lowest, highest = 1 << 62, -1
    lanes = value if value.__class__ is tuple else lanes_of(value)
    for lane in lanes_in(mask):
        address = machine.unknowns.resolve(lanes[lane])
        if isinstance(address, Linear):
            assert isinstance(address.offset, int)
            _, g, low, high = machine.unknowns.range_of(address.terms)
            ends = address.offset + g * low, address.offset + g * high
        else:
            ends = address, address
        lowest, highest = min(lowest, *ends), max(highest, *ends)
    if effect.space is fx.Space.GENERIC:
        if not SHARED_WINDOW <= lowest <= highest < SHARED_WINDOW + MAX_SHARED:
            return
        lowest, highest = lowest - SHARED_WINDOW, highest - SHARED_WINDOW
    if effect.matrix or not 0 <= lowest <= highest < MAX_SHARED:
        return
    access = Access(
        event,
        fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask),
        fiber.component,
        fiber.clock.seen[fiber.component],
        lowest,
        highest + effect.size,
        effect.rw is not fx.Rw.READ,
        Family.GENERIC,
        machine.sequence,
    )
    access.exact = False
    access.vague = True
    machine.shadow.access(access, fiber.clock.seen, mask == fiber.mask)


def _touch(
    machine: Machine, fiber: Fiber, event: Event, mask: int, addresses: list[int], size: int, rw: fx.Rw
) -> None:
    unique = sorted(set(addresses))
    low, high = unique[0], unique[-1] + size
    if low in machine.alloc_slots:
        if rw is fx.Rw.READ:
            tensor_rules.address_read(machine, fiber, event, low)
        return
    actor = fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)
    clock = fiber.clock
    write = rw is not fx.Rw.READ
    access = Access(
        event,
        actor,
        fiber.component,
        clock.seen[fiber.component],
        low,
        high,
        write,
        Family.GENERIC,
        machine.sequence,
    )
    access.size = size
    if len(unique) > 1 and len(unique) * size < 0.8 * (high - low):
        access.points = tuple(unique)
    if machine.relaxed_open and not write and fiber.component in machine.relaxed_open:
        machine.problem("relaxed-read", fiber, event, machine.relaxed_open.pop(fiber.component))
    if low < machine.live_high and machine.live_low < high:
        points = tuple(unique) if len(unique) > 1 else None
        mbarrier_rules.touched(machine, fiber, event, mask, low, high, write, points, size)
    machine.shadow.access(access, clock.seen, mask == fiber.mask)
    if machine.barrier_rules.arrived:
        machine.barrier_rules.read(fiber, access)
    if machine.cluster_memory.suspects and rw is fx.Rw.READ:
        machine.cluster_memory.read(access)
    if write and machine.barrier_rules.reads:
        machine.barrier_rules.write(fiber, access)


def _dsts(event: Event) -> tuple[int | None, ...]:
    return event.b.dsts  # type: ignore[no-any-return]


def _unknown_result(machine: Machine, fiber: Fiber, event: Event, mask: int, value: Value) -> None:
    for number, dst in enumerate(_dsts(event)):
        if dst is not None:
            fresh = machine.oracle.fresh(("load", event.instruction.index, number), fiber, -1, (1 << 31) - 1)
            machine.write(fiber, dst, fresh, mask)


def _shared_values(
    machine: Machine, fiber: Fiber, event: Event, mask: int, addresses: list[tuple[int, int]]
) -> None:
    """Remember scalars stored to shared memory, and give them back to loads."""
    effect: fx.MemoryAccess = event.effect  # type: ignore[assignment]
    element = effect.element or effect.size
    memory = machine.shared_values
    if effect.rw is fx.Rw.WRITE:
        if effect.matrix:
            return
        data = event.b.data
        if not data or (not memory and not machine.tracks_values):
            return
        for number, slot in enumerate(data):
            if slot is None:
                continue
            value = fiber.regs[slot]
            if len(addresses) > 1 and _is_data(value, addresses[0][0]):
                for _, address in addresses if memory else ():
                    memory.pop(address + number * element, None)
                continue
            for lane, address in addresses:
                place = address + number * element
                machine.value_alignment |= place
                memory[place] = (lane_of(value, lane), element)
        return
    dsts = _dsts(event)
    if effect.rw is fx.Rw.ATOMIC:
        for _, address in addresses:
            memory.pop(address, None)
        _unknown_result(machine, fiber, event, mask, 0)
        return
    if not any(dst is not None for dst in dsts):
        return
    if effect.matrix:
        _unknown_result(machine, fiber, event, mask, 0)
        return
    uniform = len(addresses) == 1
    for number, dst in enumerate(dsts):
        if dst is None:
            continue
        if uniform:
            machine.write(
                fiber, dst, _load(machine, fiber, event, addresses[0][1] + number * element, element), mask
            )
            continue
        known = [compose(memory, address + number * element, element) for _, address in addresses]
        if all(entry is not None for entry in known):
            lanes: list[Scalar] = [0] * LANES
            for (lane, _), entry in zip(addresses, known, strict=True):
                lanes[lane] = entry  # type: ignore[assignment]
            machine.write(fiber, dst, settle(lanes), mask)
        else:
            fresh = machine.oracle.fresh(("lds", event.instruction.index, number), fiber, -1, (1 << 31) - 1)
            machine.write(fiber, dst, fresh, mask)


def _is_data(value: Value, lane: int) -> bool:
    """Whether *value* is nothing that addresses or counts are made of, by what it is in *lane*."""
    if value.__class__ is int:
        return False
    sample = value[lane] if isinstance(value, tuple) else value
    return isinstance(sample, Linear) and all(
        atom.evaluate is None and (atom.key[0].__class__ is int or atom.key[0] in DATA)
        for atom, _ in sample.terms
    )


def compose(memory: dict[int, tuple[Value, int]], address: int, size: int) -> Value | None:
    """Return the remembered *size* bytes at *address*: as stored, out of a wider store, or of pieces."""
    if not memory:
        return None
    entry = memory.get(address)
    if entry is not None:
        if entry[1] == size:
            return entry[0]
        if entry[1] > size:
            return entry[0] & ((1 << 8 * size) - 1) if isinstance(entry[0], int) else None
        low, covered = entry
        if not isinstance(low, int):
            return None
        while covered < size:
            piece = memory.get(address + covered)
            if piece is None or not isinstance(piece[0], int):
                return None
            low |= piece[0] << (8 * covered)
            covered += piece[1]
        return low & ((1 << 8 * size) - 1)
    for aligned in (3, 7, 15):
        back = address & aligned
        wide = memory.get(address - back) if back else None
        if wide is not None:
            if wide[1] >= back + size and isinstance(wide[0], int):
                return wide[0] >> (8 * back) & ((1 << 8 * size) - 1)
            return None
    return None


def _load(machine: Machine, fiber: Fiber, event: Event, address: int, size: int) -> Value:
    known = compose(machine.shared_values, address, size)
    if known is not None:
        return known
    executions = fiber.warp.executions
    key = ("lds", address, size)
    count = executions[key] = executions.get(key, 0) + 1
    return machine.unknowns.atom((*key, count), -1, (1 << 31) - 1)


def _global(machine: Machine, fiber: Fiber, event: Event, mask: int, value: Value) -> None:
    effect: fx.MemoryAccess = event.effect  # type: ignore[assignment]
    machine.global_memory.access(fiber, event, mask, value)
    dsts = _dsts(event)
    if not any(dst is not None for dst in dsts):
        return
    lane = (mask & -mask).bit_length() - 1
    sample = machine.unknowns.resolve(lane_of(value, lane))
    place = value_key(sample)
    key: tuple[object, ...] = ("ldg", place)
    if not (effect.noncoherent or effect.space is fx.Space.CONST):
        executions = fiber.warp.executions
        count = executions[key] = executions.get(key, 0) + 1
        key = (*key, count)
    width = effect.element or effect.size
    top = (1 << (8 * min(width, 4) - 1)) - 1 if width >= 4 else (1 << 8 * width) - 1
    low = -1 if width >= 4 and effect.rw is fx.Rw.READ else 0
    for number, dst in enumerate(dsts):
        if dst is not None:
            bound = top if width < 8 else 1 << 47
            machine.write(fiber, dst, machine.unknowns.atom((hash(key), number), low, bound), mask)


def _private(machine: Machine, fiber: Fiber, event: Event, mask: int, value: Value) -> None:
    """Local and parameter memory: kept by warp, merged by lane."""
    effect: fx.MemoryAccess = event.effect  # type: ignore[assignment]
    element = effect.element or effect.size
    memory = fiber.warp.local
    points = concrete(machine, value, mask)
    if effect.rw is not fx.Rw.READ:
        if points is None:
            return
        data = event.b.data
        for number, slot in enumerate(data):
            if slot is None:
                continue
            stored = fiber.regs[slot]
            if len(points) == 1:
                address = points[0][1] + number * element
                old = memory.get(address)
                if mask != fiber.warp.mask and old is not None and old[1] == element:
                    stored = merge(stored, mask, old[0], fiber.warp.mask & ~mask)
                memory[address] = (stored, element)
            else:
                for lane, base in points:
                    address = base + number * element
                    old = memory.get(address)
                    rest = fiber.warp.mask & ~(1 << lane)
                    piece = merge(stored, 1 << lane, old[0] if old else 0, rest)
                    memory[address] = (piece, element)
        return
    for number, dst in enumerate(_dsts(event)):
        if dst is None:
            continue
        if points is None:
            fresh = machine.oracle.fresh(("local", event.instruction.index, number), fiber, -1, (1 << 31) - 1)
            machine.write(fiber, dst, fresh, mask)
        elif len(points) == 1:
            machine.write(
                fiber, dst, _private_load(machine, fiber, points[0][1] + number * element, element), mask
            )
        else:
            lanes: list[Scalar] = [0] * LANES
            for lane, base in points:
                lanes[lane] = lane_of(_private_load(machine, fiber, base + number * element, element), lane)
            machine.write(fiber, dst, settle(lanes), mask)


def _private_load(machine: Machine, fiber: Fiber, address: int, size: int) -> Value:
    known = compose(fiber.warp.local, address, size)
    if known is None and address in machine.return_links:
        known = compose(fiber.warp.local, machine.return_links[address], size)
    if known is not None:
        return known
    top = (1 << 31) - 1 if size < 8 else 1 << 47
    if size < 4:
        top = (1 << 8 * size) - 1
    return machine.unknowns.atom(("param", address, size), 0, top)


def bulk_zero(machine: Machine, fiber: Fiber, event: Event, mask: int) -> bool:
    """``st.bulk``: a generic write of *size* bytes."""
    points = concrete(machine, machine.address(fiber, event.b.address), mask)
    size = machine.unknowns.resolve(lane_of(fiber.regs[event.b.size], 0))
    site = (id(fiber.code), event.instruction.index)
    if points is None or not isinstance(size, int) or size <= 0:
        machine.outcome.unresolved.add(site)
        return False
    machine.outcome.resolved.add(site)
    for _, address in points:
        _touch(machine, fiber, event, mask, [shared_offset(address)], size, fx.Rw.WRITE)
    return False
