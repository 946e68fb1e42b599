"""Runs one CTA abstractly: schedules fibers, executes kept items, answers blocked waits.

Warps run until they block. A phase of an mbarrier completes when its arrivals are all there and either
its bytes are accounted for or nothing else can run. When nothing can run at all, what peers of a
cluster would have done is taken as done, waits outside spin loops answer False once, and at last the
oldest wait is forced: everything after that is marked.
"""

from collections import deque
from collections.abc import Callable

from ptxlint.engine import mbarrier_rules, tensor_rules
from ptxlint.engine.alu import NOWHERE, compile_alu
from ptxlint.engine.async_units import GroupQueue
from ptxlint.engine.barrier_rules import BarrierRules
from ptxlint.engine.barriers import GENERATION, ClusterBarrierState, CtaBarrierState, Mbarrier
from ptxlint.engine.clocks import Clock, Components, Part
from ptxlint.engine.cluster_rules import ClusterMemory
from ptxlint.engine.events import (
    Access,
    Actor,
    Conflict,
    Family,
    Gap,
    Hazard,
    LogEntry,
    PendingAtExit,
    Point,
    Problem,
)
from ptxlint.engine.global_memory import GlobalMemory
from ptxlint.engine.launch import Launch
from ptxlint.engine.oracle import Oracle, Scenario
from ptxlint.engine.phase_bytes import Phase
from ptxlint.engine.program import Alu, Code, Event
from ptxlint.engine.shadow import GRANULE, Shadow
from ptxlint.engine.store_sizes import StorePlaces
from ptxlint.engine.tensor_maps import TensorMaps
from ptxlint.engine.tensor_memory import TensorMemory
from ptxlint.engine.values import FULL, LANES, Scalar, Value, lane_of, lanes_of
from ptxlint.engine.warp import Fiber, Frame, Warp, merge, narrow
from ptxlint.engine.wishes import Wish
from ptxlint.model import effects as fx
from ptxlint.records import field, mutable_record

# Turns after which a loop is taken for one that never ends under the values assumed.
RUNAWAY = 1000

# What hands accesses before it to others: a fence before that is not one for accesses behind it.
PUBLISHING = (
    fx.CtaBarrier,
    fx.WarpBarrier,
    fx.MbarrierArrive,
    fx.ClusterArrive,
    fx.BulkCopy,
    fx.WgmmaOp,
    fx.TensorMma,
)

Handler = Callable[["Machine", Fiber, Event, int], bool]


@mutable_record
class Outcome:
    """What one scenario showed."""

    scenario: Scenario
    conflicts: dict[tuple[object, ...], Conflict] = field(default_factory=dict)
    exits: dict[tuple[object, ...], PendingAtExit] = field(default_factory=dict)
    executed: set[tuple[int, int]] = field(default_factory=set)
    resolved: set[tuple[int, int]] = field(default_factory=set)
    unresolved: set[tuple[int, int]] = field(default_factory=set)
    sides: set[tuple[int, int, int]] = field(default_factory=set)
    forced: int = 0
    forced_notes: list[str] = field(default_factory=list)
    peers: int = 0
    steps: int = 0
    budget_stop: bool = False
    cut_loops: int = 0
    learned: dict[object, int] = field(default_factory=dict)
    bad_fix: bool = False
    phases: list[tuple[int, int, list[tuple[Event, int, Access | None, int]], bool]] = field(
        default_factory=list
    )
    stages: int = 0
    operands: dict[tuple[int, str], dict[int, tuple[int, Event, Actor]]] = field(default_factory=dict)
    problems: dict[tuple[object, ...], Problem] = field(default_factory=dict)
    hazards: dict[tuple[object, ...], Hazard] = field(default_factory=dict)
    fences: dict[int, tuple[Event, bool, int]] = field(default_factory=dict)
    fenced_maps: set[tuple[int, int]] = field(default_factory=set)
    conflict_total: int = 0
    abandoned: set[int] = field(default_factory=set)


class Machine:
    """One run of one kernel under one scenario."""

    def __init__(
        self,
        kernel: Code,
        functions: dict[str, Code],
        launch: Launch,
        oracle: Oracle,
        handlers: dict[str, Handler],
        sizes: dict[int, int],
        max_steps: int,
    ) -> None:
        self.kernel = kernel
        self.functions = functions
        self.launch = launch
        self.oracle = oracle
        self.unknowns = oracle.unknowns
        self.handlers = handlers
        self.sizes = sizes
        self.max_steps = max_steps
        self.outcome = Outcome(oracle.scenario)
        self.components = Components()
        self.shadow = Shadow(self.conflict)
        self.mbarriers: dict[int, Mbarrier] = {}
        self.cta_barriers: dict[int, CtaBarrierState] = {}
        self.cluster = ClusterBarrierState()
        self.bulk: dict[tuple[int, int], GroupQueue] = {}
        self.cp_async: dict[tuple[int, int], GroupQueue] = {}
        self.wgmma: dict[int, GroupQueue] = {}
        self.tcgen05: dict[int, int] = {}
        self.shared_values: dict[int, tuple[Value, int]] = {}
        self.places: dict[tuple[Value, int, int], tuple[Value, list[tuple[int, int]]]] = {}
        self.value_alignment = 0  # all their addresses, or'ed: the lowest bit divides each
        self.starts: set[int] = set(launch.symbol_starts)
        self.global_memory = GlobalMemory(self)
        self.tensor_maps = TensorMaps(self)
        self.cluster_memory = ClusterMemory(self)
        self.barrier_rules = BarrierRules(self)
        self.remote_copies: dict[int, int] = {}
        self.tensor_columns = 0
        self.tensor = TensorMemory()
        self.multiplies = any(
            event.kind == "TensorMma" for code in (kernel, *functions.values()) for event in code.events
        )
        self.commits = any(
            event.kind in ("TensorCommit", "TensorMma", "TensorCopy")
            for code in (kernel, *functions.values())
            for event in code.events
        )
        self.alloc_slots: set[int] = set()
        self.responses = 0
        self.store_places = StorePlaces()
        self.last_load: dict[int, int] = {}
        self.tracks_values = any(code.tracks_values for code in (kernel, *functions.values()))
        self.denies = oracle.scenario.name == "denied waits"
        self.denied: dict[tuple[int, ...], int] = {}
        self.fibers: list[Fiber] = []
        self.warp_components: dict[int, list[tuple[int, int]]] = {}
        self.skips = oracle.scenario.skip
        self.return_links: dict[int, int] = {}
        self.stage_sets: dict[tuple[int, int], set[int]] = {}
        self.ready: deque[Fiber] = deque()
        self.blocked: list[Fiber] = []
        self.warps: list[Warp] = []
        self.sequence = 0
        self.logs: dict[int, list[LogEntry]] = {}
        self.tainted = False
        self.live_low, self.live_high = 1 << 60, 0
        self.touched: set[tuple[int, int, int]] = set()
        self.starved: list[Problem] = []
        self.phases: list[Phase] = []
        self.deferred: dict[int, Clock] = {}
        self.waits: dict[int, int] = {}
        self.mbarrier_waits: dict[int, int] = {}
        self.relaxed_open: dict[int, Event] = {}
        self.has_relaxed = any(
            getattr(event.effect, "order", None) is fx.Order.RELAXED
            for code in (kernel, *functions.values())
            for event in code.events
            if event.kind == "MbarrierArrive"
        )
        self.fenced_at: dict[int, Clock] = {}
        self.exit_event: Event | None = None
        self.vectors: dict[tuple[int, int], tuple[int, ...]] = {}
        self.templates: dict[tuple[int, int], list[Value]] = {}
        self._falses: dict[tuple[int, int], int] = {}
        self._times: dict[int, int] = {}

    # -- set-up -----------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run to the end, to the step limit, or to a standstill."""
        codes = [self.kernel, *self.functions.values()]
        for code in codes:
            self.oracle.prepare(code)
            for block in code.blocks:
                if len(block.steps) != len(block.items):
                    block.steps = [
                        compile_alu(item, code, self.oracle) if isinstance(item, Alu) else item
                        for item in block.items
                    ]
        threads = self.launch.threads
        start = Clock.empty()
        for index in range((threads + LANES - 1) // LANES):
            count = min(LANES, threads - index * LANES)
            mask = FULL if count == LANES else (1 << count) - 1
            warp = Warp(index, mask)
            self.warps.append(warp)
            fiber = Fiber(warp, mask, self.kernel, self.registers(self.kernel, warp), start.copy(), 0, None)
            self._adopt(fiber)
            fiber.join = self.kernel.cfg.exit
            self.ready.append(fiber)
        while True:
            while self.ready:
                self._advance(self.ready.popleft())
                if self.outcome.steps >= self.max_steps:
                    self.outcome.budget_stop = True
                    return self._finish()
            if not self.blocked:
                return self._finish()
            if not self._quiesce():
                return self._finish()

    def _finish(self) -> Outcome:
        self.cluster_memory.finish()
        outcome = self.outcome
        outcome.fences = self.barrier_rules.fences
        outcome.learned = dict(self.unknowns.learned)  # type: ignore[arg-type]
        outcome.bad_fix = self.oracle.bad_fix
        mbarrier_rules.finish(self)
        tensor_rules.at_end(self)
        if self.multiplies:
            tensor_rules.without_unused(self)
        for barrier in self.mbarriers.values():
            outcome.phases.extend(barrier.history)
            # Copies whose phase nobody has waited for.
            outcome.abandoned.update(copy[0].instruction.index for copy in barrier.copies)
        return outcome

    def registers(self, code: Code, warp: Warp) -> list[Value]:
        """Return a register list for *code*: zeros, then the constants from the end."""
        template = self.templates.get((id(code), warp.index))
        if template is None:
            constants = [
                self.launch.constant(code, code.constants[slot], warp.index, self.unknowns)
                for slot in sorted(code.constants)
            ]
            zeros: list[Value] = [0] * (code.slot_count - len(constants))
            template = self.templates[id(code), warp.index] = zeros + constants
            first = len(zeros)
            self.vectors[id(code), warp.index] = tuple(
                first + i for i, value in enumerate(constants) if value.__class__ is not int
            )
        return template.copy()

    def _adopt(self, fiber: Fiber) -> None:
        component = self.components.number((fiber.warp.index, fiber.mask))
        fiber.component = component
        known = self.warp_components.setdefault(fiber.warp.index, [])
        if (fiber.mask, component) not in known:
            known.append((fiber.mask, component))
        seen = fiber.clock.seen
        seen[component] = self._last_time(component) + 1
        self.fibers = [f for f in self.fibers if not f.done] if len(self.fibers) > 256 else self.fibers
        self.fibers.append(fiber)
        single = fiber.mask & (fiber.mask - 1) == 0
        if single:
            seen[component + 1] = seen[component]
        self._times[component] = seen[component]

    def _last_time(self, component: int) -> int:
        return self._times.get(component, 0)

    # -- running ----------------------------------------------------------------------------------

    def _advance(self, fiber: Fiber) -> None:
        """Run *fiber* until it blocks, parts, or ends."""
        outcome = self.outcome
        handlers = self.handlers
        executed = outcome.executed
        self.running = fiber
        while True:
            code = fiber.code
            if fiber.block == code.cfg.exit:
                if self._leave(fiber):
                    continue
                return
            block = code.blocks[fiber.block]
            steps = block.steps
            at = fiber.at
            regs = fiber.regs
            count = len(steps)
            outcome.steps += count - at + 1
            while at < count:
                step = steps[at]
                if step.__class__ is not Event:
                    step(regs, fiber)
                    at += 1
                    continue
                guard = step.guard
                mask = fiber.mask
                if guard is not None:
                    value = regs[guard[0]]
                    if value.__class__ is int:
                        if bool(value) == bool(guard[1]):
                            at += 1
                            continue
                    else:
                        wish = self.oracle.wishes[id(code)].get(guard[0])
                        mask = self.oracle.mask_of(value, bool(guard[1]), fiber, wish)
                        if not mask:
                            at += 1
                            continue
                executed.add((id(code), step.instruction.index))
                fiber.at = at
                self.sequence += 1
                if handlers[step.kind](self, fiber, step, mask):
                    if fiber.blocked is not None:
                        self.blocked.append(fiber)
                        return
                    if fiber.code is not code or fiber.block != block.index or fiber.at != at:
                        break  # control went elsewhere (a call)
                at += 1
            else:
                fiber.at = 0
                if outcome.steps >= self.max_steps:
                    self.ready.appendleft(fiber)
                    return
                if not self._transfer(fiber, block.index):
                    return
                parent = fiber.parent
                if (
                    parent is not None
                    and fiber.block == fiber.join
                    and fiber.block != code.cfg.exit
                    and len(fiber.frames) == len(parent.frames)
                ):
                    self._arrive_at_join(fiber)
                    return
                continue
            if outcome.steps >= self.max_steps:
                self.ready.appendleft(fiber)
                return

    def _goto(self, fiber: Fiber, source: int, target: int) -> None:
        code = fiber.code
        if self.skips and (id(code), target) in self.skips and (source, target) not in code.back_edges:
            target = code.after_loop(target)
        elif self.skips and target in code.side_entries:
            for loop in code.side_entries[target]:
                if source not in loop.blocks and (id(code), loop.header) in self.skips:
                    target = code.after_loop(loop.header)
        if target in code.headers:
            key = (id(code), target)
            fiber.loops[key] = fiber.loops.get(key, 0) + 1 if (source, target) in code.back_edges else 0
        if target in code.side_entries:
            for loop in code.side_entries[target]:
                if source not in loop.blocks:
                    fiber.loops[id(code), loop.header] = -1  # its header is still to come, by a back edge
        fiber.block = target
        fiber.at = 0

    def _transfer(self, fiber: Fiber, index: int) -> bool:
        """Take the exit of block *index*; False when the fiber parted into children."""
        code = fiber.code
        exit_ = code.blocks[index].exit
        if exit_.kind == "jump":
            self._goto(fiber, index, exit_.targets[0])
            return True
        if exit_.kind == "end":
            fiber.block = code.cfg.exit
            return True
        if exit_.kind == "branch":
            taken, fall = exit_.targets
            assert exit_.guard is not None
            slot, negated = exit_.guard
            value = fiber.regs[slot]
            sides = self.outcome.sides
            if value.__class__ is int:
                side = 0 if bool(value) != bool(negated) else 1
                loop = code.exit_of.get(index)
                if loop is not None and fiber.loops.get((id(code), loop.header), 0) > RUNAWAY:
                    side = 0 if exit_.targets[1] in loop.blocks else 1
                    self.outcome.cut_loops += 1
                sides.add((id(code), index, side))
                self._goto(fiber, index, exit_.targets[side])
                return True
            wish = self.oracle.wishes[id(code)].get(slot)
            mask = self.oracle.mask_of(value, bool(negated), fiber, wish)
            if mask == fiber.mask or not mask:
                side = 0 if mask else 1
                sides.add((id(code), index, side))
                self._goto(fiber, index, exit_.targets[side])
                return True
            sides.add((id(code), index, 0))
            sides.add((id(code), index, 1))
            self._part(fiber, index, exit_.join, [(mask, taken), (fiber.mask & ~mask, fall)])
            return False
        # indirect
        value = fiber.regs[exit_.index]
        groups: dict[int, int] = {}
        for lane in fiber.lanes:
            chosen = self.unknowns.resolve(lane_of(value, lane))
            at = chosen if isinstance(chosen, int) else 0
            target = exit_.targets[at] if 0 <= at < len(exit_.targets) else exit_.targets[-1]
            groups[target] = groups.get(target, 0) | 1 << lane
        if len(groups) == 1:
            self._goto(fiber, index, next(iter(groups)))
            return True
        self._part(fiber, index, exit_.join, [(m, t) for t, m in groups.items()])
        return False

    # -- divergence -------------------------------------------------------------------------------

    def _part(self, fiber: Fiber, source: int, join: int, sides: list[tuple[int, int]]) -> None:
        """Suspend *fiber* and start a child for each side; lanes already at *join* just wait."""
        fiber.tick()
        fiber.children = []
        code = fiber.code
        vectors = self.vectors.get((id(code), fiber.warp.index), ())
        for mask, target in sides:
            live = code.live_in.get(target, ())
            regs = narrow(fiber.regs, mask, live, vectors)
            child = Fiber(fiber.warp, mask, fiber.code, regs, fiber.clock.copy(), 0, fiber)
            child.loops = dict(fiber.loops)
            child.frames = fiber.frames
            child.join = join
            self._adopt(child)
            self._goto(child, source, target)
            fiber.children.append(child)
        fiber.pending = len(fiber.children)
        fiber.block = join
        fiber.at = 0
        # The side with fewer lanes first: elected lanes issue, the rest wait for them.
        order = sorted(fiber.children, key=lambda c: len(c.lanes))
        for child in order:
            if child.block == join:
                self._end_child(child)
            else:
                self.ready.append(child)
        self._resume_if_joined(fiber)

    def _arrive_at_join(self, fiber: Fiber) -> None:
        assert fiber.parent is not None
        self._end_child(fiber)
        self._resume_if_joined(fiber.parent)

    @staticmethod
    def _end_child(child: Fiber) -> None:
        if not child.done:
            child.done = True
            assert child.parent is not None
            child.parent.pending -= 1

    def _resume_if_joined(self, parent: Fiber) -> None:
        if parent.pending or not parent.children:
            return
        children = parent.children
        parent.children = []
        live = parent.code.live_in.get(parent.block, ())
        first = children[0]
        regs = parent.regs
        mine = parent.component
        for slot in live:
            value = first.regs[slot]
            mask = first.mask
            for other in children[1:]:
                v = other.regs[slot]
                if v is not value:
                    value = merge(value, mask, v, other.mask)
                mask |= other.mask
            regs[slot] = value
        # Each child began with what the parent knows, which has not run since.
        parent.clock = first.clock
        for child in children[1:]:
            parent.clock.join(child.clock)
        gone = 0
        for child in children:
            gone |= child.mask & ~child.warp.alive
        parent.clock.seen[mine] = max(parent.clock.seen[mine], self._last_time(mine)) + 1
        self._times[mine] = parent.clock.seen[mine]
        if gone:
            remaining = parent.mask & ~gone
            if not remaining:
                parent.block = parent.code.cfg.exit
                parent.frames = []
            elif remaining != parent.mask:
                parent.mask = remaining
                parent.lanes = tuple(i for i in range(LANES) if remaining >> i & 1)
                parent.actor = Actor(parent.warp.index, remaining)
        upper = parent.parent
        if (
            upper is not None
            and parent.block == parent.join
            and parent.block != parent.code.cfg.exit
            and len(parent.frames) == len(upper.frames)
        ):
            self._arrive_at_join(parent)
        else:
            self.ready.append(parent)

    def _leave(self, fiber: Fiber) -> bool:
        """Handle the end of a function; True when the fiber goes on (in its caller)."""
        parent = fiber.parent
        if parent is not None and len(fiber.frames) == len(parent.frames):
            if not fiber.frames:
                self._exit_lanes(fiber)
            self._arrive_at_join(fiber)
            return False
        if fiber.frames:
            frame = fiber.frames[-1]
            fiber.frames = fiber.frames[:-1]
            fiber.code, fiber.block, fiber.at = frame.code, frame.block, frame.at
            fiber.regs, fiber.join = frame.regs, frame.rpc
            return True
        self._exit_lanes(fiber)
        return False

    def _exit_lanes(self, fiber: Fiber) -> None:
        mask = fiber.mask & fiber.warp.alive
        if not mask:
            return
        fiber.warp.alive &= ~mask
        if fiber.mask == mask or fiber.parent is None:
            self._check_exit(fiber, mask)
            tensor_rules.at_exit(self, fiber)
        for number, state in self.cta_barriers.items():
            self.settle_cta_barrier(number, state, False)
        self.settle_cluster()

    def _check_exit(self, fiber: Fiber, mask: int) -> None:
        seen = fiber.clock.seen
        for queue in self.bulk.values():
            if queue.warp != fiber.warp.index or not queue.mask & mask:
                continue
            done = seen.get(queue.read, 0)
            for number, access in queue.operations:
                if number > done:
                    committed = number <= queue.committed
                    key = (access.event.instruction.index, committed)
                    found = self.outcome.exits.get(key)
                    if found is not None and not (found.forced and not self.tainted):
                        continue
                    waits = [
                        (index != fiber.warp.index, -entry.sequence, entry)
                        for index, log in self.logs.items()
                        for entry in log
                        if entry.event.kind == "BulkWait"
                        and entry.sequence > access.sequence
                        and not (index == fiber.warp.index and entry.actor.mask & queue.mask)
                    ]
                    foreign = min(waits, key=lambda wait: wait[:2])[2] if waits else None
                    self.outcome.exits[key] = PendingAtExit(
                        access,
                        fiber.actor,
                        committed,
                        self.exit_event,
                        self.tainted,
                        self.oracle.scenario.name,
                        self.log_since(access),
                        foreign,
                    )

    # -- standstill -------------------------------------------------------------------------------

    def wake(self, fiber: Fiber, skip: bool = False) -> None:
        """Let a blocked fiber run again, past its item when *skip*."""
        fiber.blocked = None
        if skip:
            fiber.at += 1
        if fiber in self.blocked:
            self.blocked.remove(fiber)
        self.ready.append(fiber)

    def wake_waiters(self, barrier: Mbarrier) -> None:
        """Wake the fibers whose wait on *barrier* is over."""
        for fiber in list(self.blocked):
            state = fiber.blocked
            if state is not None and state[0] == "mbarrier" and state[1] is barrier:
                if (barrier.phase & 1) != state[2]:
                    self.wake(fiber)

    def complete(self, barrier: Mbarrier) -> None:
        """End the phase of *barrier* and wake its waiters."""
        mbarrier_rules.completing(self, barrier)
        mbarrier_rules.lapping(self, barrier)
        barrier.complete()
        self.wake_waiters(barrier)

    def _quiesce(self) -> bool:
        """Make something runnable; False when nothing can be done."""
        waited = self._waited()
        progress = False
        for barrier in waited:
            if barrier.ready() and (barrier.unknown_bytes or barrier.balanced()):
                self.complete(barrier)
                progress = True
        if progress:
            return True
        for number, state in list(self.cta_barriers.items()):
            if state.arrived and self.settle_cta_barrier(number, state, True):
                return True
        if self.settle_cluster(True):
            return True
        for barrier in waited:
            if barrier.ready():
                self.complete(barrier)
                return True
        for barrier in waited:
            if not barrier.initialised and (barrier.arrivals or barrier.copies or barrier.tx):
                self.complete(barrier)
                progress = True
        if progress:
            return True
        size = self.launch.cluster_size
        if size > 1:
            begun = [barrier for barrier in waited if barrier.arrivals or barrier.copies or barrier.tx]
            # First where this CTA has done its share, and only the peers' is missing.
            for barrier in sorted(begun or waited, key=lambda b: b.arrivals * size < b.expected):
                if begun or barrier.peer:
                    self.outcome.peers += 1
                    self.cluster_memory.hear()
                    self.cluster_memory.listen(barrier.gathered)
                    self.complete(barrier)
                    return True
        for fiber in self.blocked:
            blocked = fiber.blocked
            if blocked is not None and blocked[0] == "mbarrier":
                event: Event = blocked[3]  # type: ignore[assignment]
                key = (id(fiber), event.instruction.index)
                if not event.spin and self._falses.get(key, 0) < 1:
                    self._falses[key] = self._falses.get(key, 0) + 1
                    self.write(fiber, event.b.dst, 0, blocked[4])  # type: ignore[arg-type]
                    self.wake(fiber, skip=True)
                    return True
        return self._force()

    def _waited(self) -> list[Mbarrier]:
        found: list[Mbarrier] = []
        for fiber in self.blocked:
            state = fiber.blocked
            if state is not None and state[0] == "mbarrier" and state[1] not in found:
                found.append(state[1])  # type: ignore[arg-type]
        return found

    def _force(self) -> bool:
        outcome = self.outcome
        if outcome.forced >= 40:
            return False
        mbarrier_rules.starved(self)
        for fiber in self.blocked:
            state = fiber.blocked
            if state is None:
                continue
            outcome.forced += 1
            self.tainted = True
            if state[0] == "mbarrier":
                barrier: Mbarrier = state[1]  # type: ignore[assignment]
                event: Event = state[3]  # type: ignore[assignment]
                outcome.forced_notes.append(
                    f"wait at instruction {event.instruction.index} on mbarrier 0x{barrier.address:x} "
                    f"phase {barrier.phase}: {barrier.expected - barrier.pending} of "
                    f"{barrier.expected if barrier.known else '?'} arrivals"
                )
                self._trust(barrier.gathered)
                self.complete(barrier)
                return True
            if state[0] == "barrier":
                number: int = state[1]  # type: ignore[assignment]
                outcome.forced_notes.append(f"barrier {number}: arrivals {self.cta_barriers[number].arrived}")
                self._trust(self.cta_barriers[number].clock)
                self._release_cta_barrier(self.cta_barriers[number])
                return True
            if state[0] == "cluster":
                self._release_cluster()
                return True
        return False

    def _trust(self, clock: Clock) -> None:
        """Let *clock* know all that any thread knows: who would have arrived is not known."""
        for fiber in self.fibers:
            if not fiber.done:
                known = fiber.clock.copy()
                for component, time in fiber.clock.seen.items():
                    if not component & 1 and self.components.is_thread(component):
                        known.seen[component + 1] = time
                clock.join(known)
                fiber.tick()
                self._times[fiber.component] = fiber.time
        clock.fenced_shared = dict(clock.seen)
        clock.fenced_global = dict(clock.seen)

    # -- CTA and cluster barriers -----------------------------------------------------------------

    def settle_cta_barrier(self, number: int, state: CtaBarrierState, partial: bool) -> bool:
        """Complete barrier *number* if its arrivals are there; *partial*: any lane counts its warp."""
        if not state.arrived:
            return False
        total = state.repeated
        for index, mask in state.arrived.items():
            warp = self.warps[index]
            rest = warp.alive & ~mask
            if partial or not rest:
                total += LANES
            else:
                total += bin(mask).count("1")
        needed = sum(LANES for warp in self.warps if warp.alive) if state.count is None else state.count
        if total < needed:
            return False
        self._release_cta_barrier(state)
        return True

    def _release_cta_barrier(self, state: CtaBarrierState) -> None:
        clock = state.clock
        waiting: list[Fiber] = list(state.waiting)  # type: ignore[arg-type]
        state.reset()
        for fiber in waiting:
            # It published all that it knew when it arrived; only its own time has gone on.
            own = fiber.clock.seen
            fiber.clock = clock.copy()
            for component in (fiber.component, *self.remote_copies):
                if component in own:
                    fiber.clock.seen[component] = max(own[component], clock.seen.get(component, -1))
            self.wake(fiber, skip=True)

    def settle_cluster(self, partial: bool = False) -> bool:
        """Complete the cluster barrier when all live threads have arrived."""
        state = self.cluster
        if not state.arrived:
            return False
        missing = False
        for warp in self.warps:
            if warp.alive & ~state.arrived.get(warp.index, 0):
                if not partial:
                    return False
                missing = True
        if partial and not any(f.blocked and f.blocked[0] == "cluster" for f in self.blocked):
            return False
        self.tensor.loose = self.tensor.loose or missing
        self._release_cluster()
        return True

    def _release_cluster(self) -> None:
        state = self.cluster
        state.released = state.clock.copy()
        self.cluster_memory.listen(state.released)
        state.arrived = {}
        state.phase += 1
        for fiber in list(self.blocked):
            if fiber.blocked is not None and fiber.blocked[0] == "cluster":
                self.wake(fiber)

    # -- services for handlers --------------------------------------------------------------------

    def write(self, fiber: Fiber, slot: int | None, value: Value, mask: int) -> None:
        """Write *value* to a register in lanes *mask*."""
        if slot is None or slot == NOWHERE or slot < 0:
            return
        regs = fiber.regs
        if mask == fiber.mask:
            regs[slot] = value
        else:
            regs[slot] = merge(value, mask, regs[slot], fiber.mask & ~mask)

    def publish(self, fiber: Fiber, mask: int) -> Clock:
        """Return what an arrival by lanes *mask* of *fiber* makes known, and start a new moment."""
        clock = fiber.clock.copy()
        component = fiber.component
        if mask == fiber.mask:
            # Each lane arrives itself, after its own accesses, those in divergent code included.
            for lanes, other in self.warp_components.get(fiber.warp.index, ()):
                if other not in clock.seen:
                    continue
                if not lanes & ~mask:
                    clock.seen[other + 1] = clock.seen[other]
                elif mask & (mask - 1) and mask & lanes == mask:
                    clock.arrived(other, Part(clock.seen[other], mask, lanes))
        fiber.tick()
        self._times[component] = fiber.clock.seen[component]
        return clock

    def new_moment(self, fiber: Fiber) -> None:
        """Start a new moment of *fiber*: what is known of it so far does not cover what follows."""
        fiber.tick()
        self._times[fiber.component] = fiber.clock.seen[fiber.component]

    def warp_sync(self, fiber: Fiber) -> None:
        """Order all lanes of *fiber* with each other, as ``bar.warp.sync`` does."""
        seen = fiber.clock.seen
        for _, component in self.warp_components.get(fiber.warp.index, ()):
            if component in seen:
                seen[component + 1] = seen[component]
        fiber.tick()
        self._times[fiber.component] = fiber.clock.seen[fiber.component]

    def fence(self, fiber: Fiber, shared: bool, everything: bool) -> None:
        """Perform a proxy fence by *fiber*: all that it knows of is covered."""
        clock = fiber.clock
        if shared:
            clock.fenced_shared = dict(clock.seen)
        if everything:
            clock.fenced_global = dict(clock.seen)
        fiber.tick()
        self._times[fiber.component] = clock.seen[fiber.component]

    def address(self, fiber: Fiber, bound: tuple[int, int]) -> Value:
        """Return the value of an address operand."""
        value = fiber.regs[bound[0]]
        offset = bound[1]
        if value.__class__ is int:
            return value + offset
        if not offset:
            return value
        if isinstance(value, tuple):
            return tuple(_shift(v, offset) for v in value)
        return _shift(value, offset)

    def log(self, fiber: Fiber, event: Event, mask: int, detail: str = "", number: int = 0) -> None:
        """Keep a synchronising event for traces."""
        actor = fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)
        self.logs.setdefault(fiber.warp.index, []).append(
            LogEntry(
                self.sequence,
                actor,
                fiber.component,
                fiber.clock.seen[fiber.component],
                event,
                detail,
                number,
            )
        )

    def log_since(self, first: Access | Point) -> list[LogEntry]:
        """Return what was logged since the first access."""
        found: list[LogEntry] = []
        for log in self.logs.values():
            at = len(log)
            while at and log[at - 1].sequence >= first.sequence and len(log) - at < 200:
                at -= 1
            found.extend(log[at:])
        found.sort(key=lambda entry: entry.sequence)
        return found

    def conflict(self, gap: Gap, first: Access, second: Access) -> None:
        """Record a conflict; the first evidence of a pair of instructions is kept."""
        outcome = self.outcome
        if first.vague and not (second.low <= first.low and first.high <= second.high):
            return
        if second.vague and not (first.low <= second.low and second.high <= first.high):
            return
        known = self.oracle.scenario.known
        if known and self.running is not None:
            code = id(self.running.code)
            if (code, first.event.instruction.index) in known or (
                code,
                second.event.instruction.index,
            ) in known:
                return
        outcome.conflict_total += 1
        key = (
            gap,
            first.event.instruction.index,
            second.event.instruction.index,
            first.write,
            second.write,
        )
        count = 1
        found = outcome.conflicts.get(key)
        if found is not None:
            found.count += 1
            if first.event.kind == "TensorCopy":
                found.others.append((first, second))
            better = _may_miss(found.first, found.second) and not _may_miss(first, second)
            if not better or self.tainted:
                return
            count = found.count  # the same, and now it is sure that they meet
        assert self.running is not None
        conflict = Conflict(
            gap,
            first,
            second,
            dict(self.running.clock.seen),
            self.tainted,
            self.oracle.scenario.name,
            count,
            log=self.log_since(first),
        )
        self._facts(conflict)
        outcome.conflicts[key] = conflict

    running: Fiber | None = None

    def _facts(self, conflict: Conflict) -> None:
        """Add what the checks need to tell causes apart, as it is at this moment."""
        first, second = conflict.first, conflict.second
        facts = conflict.facts
        queue = first.queue
        if isinstance(queue, GroupQueue) and first.completion is not None:
            number = first.completion[1]
            facts["committed"] = queue.committed >= number
            facts["newer"] = queue.committed - number
            facts["waited"] = queue.waited >= number
            facts["foreign_wait"] = self._foreign_wait(first.actor)
        barrier = self._tracking(first)
        if barrier is not None:
            assert first.completion is not None
            facts["barrier"] = barrier.address
            facts["tracked_phase"] = first.completion[1] % GENERATION - 1
            seen = conflict.seen.get(barrier.component, -1)
            facts["observed_phase"] = seen % GENERATION - 1 if seen >= 0 else -1
        # The thread that should have been synchronised with, and what the issuer knew of it.
        if first.family is Family.GENERIC:
            other, known = first, conflict.seen.get(first.component, -1)
        else:
            other, known = second, first.issue.get(second.component, -1)
        facts["known"] = known
        facts["earlier_known"] = 0 <= first.previous <= known or any(
            record.component == first.component
            and record.write == first.write
            and record.time <= known
            and record.overlaps(first.low, first.high)
            for record in self.shadow.generic.get(first.low >> GRANULE, {}).values()
        )
        waits = [
            e
            for e in self.logs.get(other.actor.warp, ())
            if e.event.kind == "MbarrierWait"
            and e.component == other.component
            and e.sequence <= other.sequence
        ]
        if barrier is not None:
            on_it = [e for e in waits if e.number == barrier.address]
            facts["waited_since"] = any(e.sequence > first.sequence for e in on_it)
            facts["observed_at"] = barrier.observers.get(other.component, (0, None))[1]
        last = max((e.sequence for e in waits), default=-1)
        clock = conflict.seen if other is first else first.issue
        arrivals = [
            e
            for e in self.logs.get(other.actor.warp, ())
            if e.event.kind == "MbarrierArrive"
            and last < e.sequence <= other.sequence
            and clock.get(e.component, -1) >= e.time
        ]
        facts["released_before"] = arrivals[-1] if arrivals else None
        facts["stale_wait"] = waits[-1] if waits and waits[-1].detail == "stale" else None
        issuer = second if other is first else first
        own = [
            e
            for e in self.logs.get(issuer.actor.warp, ())
            if e.event.kind == "MbarrierWait"
            and e.component == issuer.component
            and e.sequence <= issuer.sequence
        ]
        facts["issuer_stale"] = own[-1] if own and own[-1].detail == "stale" else None
        unused = [
            e
            for e in self.logs.get(second.actor.warp, ())
            if e.detail == "unused" and e.sequence <= second.sequence
        ]
        facts["unused_wait"] = unused[-1] if unused else None
        if conflict.gap is Gap.ORDER and not first.write:
            facts["first_fill"] = not self.shadow.is_written(first, second)
        if conflict.gap is Gap.PROXY_FENCE:
            facts["fence_before"] = self._fence_before(first)

    def _fence_before(self, access: Access) -> LogEntry | None:
        """The last fence of the async proxy by the thread of *access*, with nothing that publishes in between."""
        for entry in reversed(self.logs.get(access.actor.warp, ())):
            if entry.sequence > access.sequence or access.actor.mask & ~entry.actor.mask:
                continue
            effect = entry.event.effect
            if isinstance(effect, fx.ProxyFence) and effect.orders_shared:
                return entry
            if isinstance(effect, PUBLISHING):
                return None
        return None

    def _foreign_wait(self, issuer: Actor) -> LogEntry | None:
        """The last wait for bulk groups by a thread that had none, other than *issuer*."""
        found: LogEntry | None = None
        for log in self.logs.values():
            for entry in reversed(log):
                if entry.event.kind != "BulkWait":
                    continue
                mine = entry.actor.warp == issuer.warp and entry.actor.mask & issuer.mask
                if not mine and entry.detail and (found is None or entry.sequence > found.sequence):
                    found = entry
                    break
        return found

    def _tracking(self, access: Access) -> Mbarrier | None:
        if access.completion is None:
            return None
        for barrier in self.mbarriers.values():
            if barrier.component == access.completion[0]:
                return barrier
        return None

    def outcome_stage(self, site: tuple[int, int], address: int) -> None:
        """Note where a load site writes: the number of different places is its number of stages."""
        places = self.stage_sets.setdefault(site, set())
        places.add(address)
        if len(places) > self.outcome.stages:
            self.outcome.stages = len(places)

    def forget_values(self, low: int, high: int) -> None:
        """Drop remembered scalars in bytes [low, high)."""
        values = self.shared_values
        if not values:
            return
        step = self.value_alignment & -self.value_alignment or high
        if (high - low) // step < len(values):
            for address in range(-(-low // step) * step, high, step):
                if address in values:
                    del values[address]
        else:
            for address in [a for a in values if low <= a < high]:
                del values[address]

    def remote_completion(self, fiber: Fiber) -> tuple[int, int] | None:
        """Completion of a copy to a peer: taken as known after the next mbarrier wait or cluster barrier."""
        component = self.components.number(("remote", fiber.warp.index))
        number = self.remote_copies[component] = self.remote_copies.get(component, 0) + 1
        return component, number

    def synchronised(self, fiber: Fiber) -> None:
        """*fiber* has waited for others: it may know of its copies to peers, and may read what they wrote."""
        self.barrier_rules.acquire(fiber)
        for component, number in self.remote_copies.items():
            fiber.clock.seen[component] = number

    def mbarrier(self, address: int) -> Mbarrier:
        """Return the mbarrier at shared address *address*."""
        found = self.mbarriers.get(address)
        if found is None:
            found = self.mbarriers[address] = Mbarrier(address, self.components.number(("mbarrier", address)))
            self.starts.add(address)
        return found

    def hazard(self, hazard: Hazard) -> None:
        """Record a hazard; the first evidence of a pair of instructions is kept."""
        key = (hazard.kind, hazard.first.event.instruction.index, hazard.second.event.instruction.index)
        found = self.outcome.hazards.get(key)
        if found is not None:
            found.count += 1
            return
        hazard.forced = self.tainted
        hazard.scenario = self.oracle.scenario.name
        hazard.log = self.log_since(hazard.first)
        self.outcome.hazards[key] = hazard

    def problem(
        self, kind: str, fiber: Fiber, event: Event, other: Event | None = None, detail: str = ""
    ) -> None:
        """Record something that is wrong by itself."""
        key = (kind, event.instruction.index, other.instruction.index if other else -1)
        if key not in self.outcome.problems:
            self.outcome.problems[key] = Problem(kind, event, fiber.actor, other, detail, self.tainted)


def _may_miss(first: Access, second: Access) -> bool:
    """Return whether two accesses that meet as far as is known need not, one's size being unknown."""
    return not (first.exact and second.exact) and first.low != second.low


def _shift(value: Scalar, offset: int) -> Scalar:
    if isinstance(value, int):
        return value + offset
    from ptxlint.engine.values import Linear, add_offsets

    return Linear(value.terms, add_offsets(value.offset, offset))


__all__ = ["Frame", "Handler", "Machine", "Outcome", "Problem", "Wish", "lanes_of"]
