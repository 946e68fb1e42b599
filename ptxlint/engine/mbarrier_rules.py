"""What may be wrong about an mbarrier by itself: its start and end of life, its counts, its bytes.

The rules of PTX ISA 9.7.13.15: an object is initialised once before any other operation, and that
initialisation must happen before the operation; its bytes are not data while it lives; a phase gets the
arrivals it was initialised for, and completes when as many bytes were copied as were expected; nobody
arrives for a phase before somebody has seen the end of the phase before it.

What depends on the whole run (a peer of the cluster may add arrivals or bytes) is kept with the barrier
and told at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxlint.engine import phase_bytes
from ptxlint.engine.barriers import CtaBarrierState, Mbarrier
from ptxlint.engine.events import Actor, Problem
from ptxlint.engine.program import Event
from ptxlint.engine.values import LANES
from ptxlint.engine.warp import Fiber
from ptxlint.model.effects import Space

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

OBJECT_BYTES = 8
# What makes an asynchronous operation signal the barrier.
_SIGNALS = ("BulkCopy", "TensorCommit", "LaunchCancel", "CpAsyncArrive")


def actor_of(fiber: Fiber, lanes: int) -> Actor:
    """Return lanes *lanes* of the fiber's warp as an actor."""
    return fiber.actor if lanes == fiber.mask else Actor(fiber.warp.index, lanes)


def _problem(
    machine: Machine, kind: str, event: Event, actor: Actor, other: Event | None, **facts: object
) -> Problem:
    return Problem(kind, event, actor, other, "", machine.tainted, dict(facts))


def _add(machine: Machine, problem: Problem) -> None:
    other = problem.other.instruction.index if problem.other else -1
    key = (problem.kind, problem.event.instruction.index, other, problem.facts.get("cause"))
    machine.outcome.problems.setdefault(key, problem)


# -- life ---------------------------------------------------------------------------------------------


def used(
    machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int, remote: bool = False
) -> None:
    """Check that the init of *barrier* happens before this use, and that it still lives."""
    init = barrier.init_event
    if remote:
        phase = machine.cluster.phase
        told = machine.mbarrier_waits.get(fiber.warp.index, 0) != barrier.init_waits.get(fiber.warp.index, 0)
        if init is not None and phase and phase == barrier.init_cluster and not machine.tainted and not told:
            _add(
                machine,
                _problem(machine, "mbarrier-init", event, actor_of(fiber, lanes), init, cause="cluster"),
            )
        peer_used(machine, fiber, event, barrier, lanes)
        return
    if init is None:
        actor = actor_of(fiber, lanes)
        if not barrier.early:
            barrier.unborn = _problem(
                machine, "mbarrier-init", event, actor, None, cause="never", address=barrier.address
            )
        if len(barrier.early) < 16:
            barrier.early.append((event, actor))
        return
    barrier.users[fiber.component] = (fiber.time, event, actor_of(fiber, lanes), barrier.phase)
    if not barrier.initialised:
        if barrier.end_event is not None:
            problem = _problem(
                machine,
                "mbarrier-life",
                event,
                actor_of(fiber, lanes),
                barrier.end_event,
                cause="used-after-inval",
                address=barrier.address,
                other_actor=barrier.end_actor,
            )
            _add(machine, problem)
        return
    seen = fiber.clock.seen
    component, time = barrier.init_component, barrier.init_time
    if seen.get(component, -1) >= time and (
        fiber.warp.index != barrier.init_actor.warp
        or not lanes & ~barrier.init_actor.mask
        or seen.get(component + 1, -1) >= time
    ):
        return
    cause = "unordered" if seen.get(component, -1) < time else "no-warp-sync"
    _add(machine, _init_problem(machine, event, actor_of(fiber, lanes), barrier, cause))


def peer_used(machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int) -> None:
    """Check that a peer has released the init of its twin of *barrier* when it passed the cluster barrier.

    The peer does what this CTA does: an init behind a ``.relaxed`` arrive, with no fence, tells nobody.
    """
    init = barrier.init_event
    if init is None or machine.tainted or machine.cluster.phase <= barrier.init_cluster:
        return
    if machine.cluster_memory.knows_init(barrier.init_component, barrier.init_time):
        return
    actor = actor_of(fiber, lanes)
    _add(machine, _problem(machine, "mbarrier-init", event, actor, init, cause="cluster-relaxed"))


def _init_problem(machine: Machine, event: Event, actor: Actor, barrier: Mbarrier, cause: str) -> Problem:
    return _problem(
        machine,
        "mbarrier-init",
        event,
        actor,
        barrier.init_event,
        cause=cause,
        address=barrier.address,
        other_actor=barrier.init_actor,
    )


def initialised(
    machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int, count: int | None
) -> None:
    """Start the life of *barrier*; report a start over a living object and uses that came before."""
    before = barrier.init_event
    if before is not None and barrier.initialised:
        busy = barrier.phase or barrier.arrivals or barrier.copies or barrier.tx or barrier.users
        if busy or before.instruction.index != event.instruction.index:
            problem = _problem(
                machine,
                "mbarrier-life",
                event,
                actor_of(fiber, lanes),
                before,
                cause="reinit",
                address=barrier.address,
                other_actor=barrier.init_actor,
            )
            _add(machine, problem)
    early = barrier.early if before is None else []
    kept = (barrier.arrivals, barrier.gathered, barrier.tx, barrier.copied)
    kept_copies = (barrier.copies, barrier.unknown_bytes)
    fresh = before is None and not barrier.phase
    # A moment of its own: what other lanes know of the thread up to now does not tell them of it.
    machine.new_moment(fiber)
    barrier.start(count)
    barrier.init_event = event
    barrier.init_component = fiber.component
    barrier.init_time = fiber.time
    barrier.init_actor = actor_of(fiber, lanes)
    barrier.init_cluster = machine.cluster.phase
    barrier.init_waits = dict(machine.mbarrier_waits)
    barrier.early = []
    barrier.users = {}
    barrier.arrivers = {}
    low = barrier.address
    machine.live_low = min(machine.live_low, low)
    machine.live_high = max(machine.live_high, low + OBJECT_BYTES)
    machine.touched.clear()
    if early and fresh:
        # Go on as if the init had come first, so that the run does not hang.
        barrier.arrivals, barrier.gathered, barrier.tx, barrier.copied = kept
        barrier.copies, barrier.unknown_bytes = kept_copies
        barrier.pending -= barrier.arrivals
    for user, actor in early:
        _add(machine, _init_problem(machine, user, actor, barrier, "unordered"))


def invalidated(machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int) -> None:
    """End the life of *barrier*; report users that are not known to be done."""
    if barrier.initialised and not machine.tainted:
        seen = fiber.clock.seen
        ended = seen.get(barrier.component, -1)
        for component, (time, user, actor, phase) in barrier.users.items():
            if user.kind in _SIGNALS and ended >= barrier.stamp(phase):
                continue  # its part in the phase, that of an asynchronous operation, is over
            if seen.get(component, -1) < time:
                problem = _problem(
                    machine,
                    "mbarrier-life",
                    event,
                    actor_of(fiber, lanes),
                    user,
                    cause="inval-in-use",
                    address=barrier.address,
                    other_actor=actor,
                )
                _add(machine, problem)
                break
    barrier.initialised = False
    barrier.end_event = event
    barrier.end_actor = actor_of(fiber, lanes)
    machine.touched.clear()


def touched(
    machine: Machine,
    fiber: Fiber,
    event: Event,
    lanes: int,
    low: int,
    high: int,
    write: bool,
    points: tuple[int, ...] | None = None,
    size: int = 0,
) -> None:
    """Check that bytes [low, high), or *size* bytes at each of *points*, are no living mbarrier."""
    key = (event.instruction.index, low, high)
    if key in machine.touched:
        return
    machine.touched.add(key)
    for address, barrier in machine.mbarriers.items():
        if not barrier.initialised or address >= high or address + OBJECT_BYTES <= low:
            continue
        if points is not None and not any(p < address + OBJECT_BYTES and address < p + size for p in points):
            continue
        problem = _problem(
            machine,
            "mbarrier-life",
            event,
            actor_of(fiber, lanes),
            barrier.init_event,
            cause="data-over-barrier",
            address=address,
            write=write,
            other_actor=barrier.init_actor,
        )
        _add(machine, problem)
        return


# -- counts -------------------------------------------------------------------------------------------


def arriving(
    machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int, arrivals: int
) -> None:
    """Check an arrival, not yet counted: the phase has room for it, and the one before was seen to end."""
    index = event.instruction.index
    barrier.sites.setdefault(index, event)
    if machine.launch.cluster_size > 1 and getattr(event.effect, "space", None) is Space.CLUSTER:
        barrier.shared = True  # peers arrive here as we arrive there
    previous = barrier.arrivers.get(fiber.component)
    waits = machine.waits.get(fiber.warp.index, 0)
    barrier.arrivers[fiber.component] = (barrier.phase, event, waits)
    if not barrier.known or not barrier.initialised or machine.tainted or machine.denies:
        return
    cause = ""
    # Whoever waits in between, but not for this, may have been told on a way that is not seen here.
    again = barrier.phase and previous is not None and previous[2] == waits
    if arrivals > barrier.pending:
        cause = "too-many"
    elif again and knows(machine, fiber, barrier) < barrier.stamp(barrier.phase - 1):
        cause = "arrives-again"
    if not cause:
        return
    other = previous[1] if previous is not None and cause != "too-many" else barrier.last_arrival
    barrier.suspects.append(
        _problem(
            machine,
            "mbarrier-count",
            event,
            actor_of(fiber, lanes),
            other if other is not None else barrier.init_event,
            cause=cause,
            address=barrier.address,
            expected=barrier.expected,
            arrivals=barrier.arrivals + arrivals,
            whole_warp=lanes == fiber.warp.mask,
            init=barrier.init_event,
        )
    )


def unseen(machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int) -> None:
    """Note what one lane publishes on a barrier whose other side this kernel may not show.

    Told only when nothing in the kernel initialises the barrier: then its users are elsewhere, and the
    other lanes' accesses must be joined before one lane speaks for the warp.
    """
    if barrier.init_event is not None or lanes == fiber.warp.mask:
        return
    seen = fiber.clock.seen
    for records in machine.shadow.generic.values():
        for access in records.values():
            apart = access.actor.warp == fiber.warp.index and access.actor.mask & ~lanes
            if apart and seen.get(access.component + 1, -1) < access.time:
                problem = _problem(
                    machine,
                    "mbarrier-elected",
                    event,
                    actor_of(fiber, lanes),
                    access.event,
                    cause="no-warp-sync",
                    address=barrier.address,
                    other_actor=access.actor,
                    known=False,
                )
                barrier.unseen.append(problem)
                return


def many_lanes(machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int) -> None:
    """Note the same copy issued by several lanes, on a barrier whose count this kernel does not show."""
    if barrier.init_event is None and lanes & (lanes - 1):
        barrier.unseen.append(
            _problem(
                machine,
                "mbarrier-count",
                event,
                actor_of(fiber, lanes),
                None,
                cause="all-lanes",
                address=barrier.address,
                expected="?",
                arrivals=bin(lanes).count("1"),
                known=False,
            )
        )


def knows(machine: Machine, fiber: Fiber, barrier: Mbarrier) -> int:
    """Return up to which phase of *barrier* the fiber has seen the end, by relaxed waits too."""
    known = fiber.clock.seen.get(barrier.component, -1)
    level: Fiber | None = fiber
    while level is not None and machine.deferred:
        waiting = machine.deferred.get(level.component)
        if waiting is not None:
            known = max(known, waiting.seen.get(barrier.component, -1))
        level = level.parent
    return known


def starved(machine: Machine) -> None:
    """Note, at a standstill, the phases that lack arrivals which nobody is left to make.

    A phase that got some of its arrivals is at fault before those that got none: whoever would arrive
    for them waits as well. Among the latter it is one that nobody ever arrives for; ``finish`` tells.
    """
    if machine.tainted or machine.denies or machine.launch.cluster_size > 1 or machine.outcome.peers:
        return
    waits: list[tuple[Mbarrier, Event, Fiber]] = []
    for fiber in machine.blocked:
        state = fiber.blocked
        if state is not None and state[0] == "mbarrier":
            waits.append((state[1], state[3], fiber))  # type: ignore[arg-type]
    if any(not b.known or not b.initialised or b.pending <= 0 for b, _, _ in waits):
        return
    stopped = {fiber.warp.index for _, _, fiber in waits}
    if any(_wants_others(machine, state, stopped) for state in machine.cta_barriers.values()):
        return
    begun = [wait for wait in waits if _begun(wait[0])]
    if len({id(barrier) for barrier, _, _ in begun}) > 1:
        # Who has arrived at each waits for it itself: that nobody comes is not the others' doing.
        begun = [wait for wait in begun if _alone(wait[0], waits)]
        if not begun:
            return
    if not begun and any(_outrun(barrier, stopped) for barrier, _, _ in waits):
        return
    places = frozenset(event.instruction.index for _, event, fiber in waits if fiber.code is machine.kernel)
    for barrier, event, fiber in begun or waits:
        machine.starved.append(
            _problem(
                machine,
                "mbarrier-count",
                event,
                fiber.actor,
                barrier.last_arrival or barrier.init_event,
                cause="too-few",
                address=barrier.address,
                expected=barrier.expected,
                arrivals=barrier.arrivals,
                init=barrier.init_event,
                scenario=machine.oracle.scenario.name,
                stopped=places,
                begun=bool(begun),
            )
        )


def _begun(barrier: Mbarrier) -> bool:
    """Whether the phase of *barrier* has arrivals, or some that do not count, or copies signal it."""
    copies = barrier.copy_arrivals.values()
    return (
        bool(barrier.arrivals)
        or bool(barrier.copies)
        or any(not getattr(e.effect, "no_increment", True) for e in copies)
    )


def _alone(barrier: Mbarrier, waits: list[tuple[Mbarrier, Event, Fiber]]) -> bool:
    """Whether all who arrived at *barrier* before wait for it now."""
    waiting = {fiber.warp.index for other, _, fiber in waits if other is barrier}
    return _arriving_warps(barrier) <= waiting


def _arriving_warps(barrier: Mbarrier) -> set[int]:
    return {
        actor.warp for component, (_, _, actor, _) in barrier.users.items() if component in barrier.arrivers
    }


def _outrun(barrier: Mbarrier, stopped: set[int]) -> bool:
    """Whether those who arrived at *barrier* before are done: the waiting thread may have turned too often."""
    warps = _arriving_warps(barrier)
    return bool(warps) and not warps & stopped


def _wants_others(machine: Machine, state: CtaBarrierState, stopped: set[int]) -> bool:
    """Whether a CTA barrier would not complete even if the warps *stopped* at mbarriers came to it."""
    if not state.arrived:
        return False
    alive = [warp for warp in machine.warps if warp.alive]
    if state.count is not None and state.count < LANES * len(alive):
        return True  # whom it waits for is not known
    return any(warp.index not in stopped and warp.index not in state.arrived for warp in alive)


def _at_fault(machine: Machine) -> list[Problem]:
    """Return which of the phases that lack arrivals to tell of.

    A phase without any arrival is no fault when those who would make them end in the same run: the
    waiting thread may be one turn ahead under the values assumed. It is one when nobody arrives at this
    barrier at all, or when the threads wait for each other.
    """
    found = machine.starved
    if not found or found[0].facts["begun"]:
        return found
    never = [p for p in found if not machine.mbarriers[_address(p)].sites]
    if never:
        return never[:1]
    return found[:1] if len({_address(p) for p in found}) > 1 else []


def _address(problem: Problem) -> int:
    return int(str(problem.facts["address"]))


# -- bytes --------------------------------------------------------------------------------------------


def expecting(machine: Machine, fiber: Fiber, event: Event, barrier: Mbarrier, lanes: int) -> None:
    """Check an expect-tx that is no arrival: the phase must not have been able to complete already."""
    barrier.expects[event.instruction.index] = event
    last = barrier.arrivers.get(fiber.component)
    if last is None:
        return
    phase, arrival, _ = last
    over = barrier.phase > phase or not barrier.known or barrier.pending <= 0
    if over and knows(machine, fiber, barrier) < barrier.stamp(phase):
        barrier.suspects.append(
            _problem(
                machine,
                "mbarrier-late-expect",
                event,
                actor_of(fiber, lanes),
                arrival,
                cause="after-arrival",
                address=barrier.address,
                known=barrier.known,
            )
        )


def completing(machine: Machine, barrier: Mbarrier) -> None:
    """Compare the bytes of a phase that ends."""
    phase_bytes.note(machine, barrier)
    if machine.denies or barrier.unknown_bytes or barrier.copied == barrier.tx:
        return
    if not barrier.copies or any(size <= 0 for _, _, _, size in barrier.copies):
        return
    event = barrier.copies[-1][0]
    access = barrier.copies[-1][2]
    expect = list(barrier.expects.values())
    barrier.suspects.append(
        _problem(
            machine,
            "mbarrier-bytes",
            event,
            access.actor if access is not None else Actor(0, 1),
            expect[-1] if expect else barrier.init_event,
            cause="more-copied" if barrier.copied > barrier.tx else "more-expected",
            address=barrier.address,
            expected=barrier.tx,
            copied=barrier.copied,
            known=barrier.known,
            expects=tuple(expect),
            copies=tuple(dict.fromkeys(e.instruction.index for e, _, _, _ in barrier.copies)),
        )
    )


def lapping(machine: Machine, barrier: Mbarrier) -> None:
    """Check that all who waited for the phase before know it to be over before this phase ends too.

    A wait by parity tells a phase only from the next (9.7.13.15.16): whoever is two phases behind takes
    the one for the other. Only where all arrivals are this CTA's own, so that what they know is known,
    and a tcgen05.commit ends the phase; whoever has issued a load since its wait may be known by the data.
    """
    if machine.tainted or machine.denies or barrier.peer or not barrier.known or not barrier.phase:
        return
    last = barrier.last_arrival
    if barrier.arrivals < barrier.expected or last is None or last.kind != "TensorCommit":
        return
    known = barrier.gathered.seen
    for component, (phase, time, sequence, event, actor) in barrier.watchers.items():
        if machine.last_load.get(actor.warp, -1) > sequence:
            continue
        if phase == barrier.phase - 1 and known.get(component, -1) < time:
            problem = _problem(
                machine,
                "mbarrier-lapped",
                event,
                actor,
                last,
                cause="lapped",
                address=barrier.address,
                by=machine.running.warp.index if machine.running is not None else -1,
            )
            barrier.suspects.append(problem)
            return


def finish(machine: Machine) -> None:
    """Tell what was kept, of barriers that no peer adds to, or that are wrong whatever a peer adds."""
    outcome = machine.outcome
    for problem in _at_fault(machine):
        machine.mbarriers[_address(problem)].suspects.append(problem)
    whole = not machine.tainted and not outcome.budget_stop
    for barrier in machine.mbarriers.values():
        if whole and _left_over(barrier) and not barrier.peer and not barrier.shared:
            completing(machine, barrier)
    for problem in phase_bytes.disagreements(machine):
        machine.mbarriers[_address(problem)].suspects.append(problem)
    some = any(barrier.init_event is not None for barrier in machine.mbarriers.values())
    for barrier in machine.mbarriers.values():
        if barrier.peer or barrier.shared:
            for problem in barrier.suspects:
                if _too_many_alone(barrier, problem):
                    _add(machine, problem)
            continue
        if barrier.init_event is None:
            for problem in barrier.unseen:
                _add(machine, problem)
            if barrier.unborn is not None and some:
                _add(machine, barrier.unborn)  # the kernel is not a part that is given its barriers
        for problem in barrier.suspects:
            if problem.kind == "mbarrier-count":
                problem.facts["copy_arrival"] = next(iter(barrier.copy_arrivals.values()), None)
                if machine.launch.assumed and problem.facts.get("whole_warp") and not _uneven(barrier):
                    continue
            _add(machine, problem)


def _left_over(barrier: Mbarrier) -> bool:
    """Whether the last phase has all its arrivals, or copies signal it that nothing expects."""
    if not barrier.tx:
        return barrier.known and barrier.phase > 0 and not barrier.arrivals and bool(barrier.copies)
    return barrier.pending <= 0 or not barrier.known


def _too_many_alone(barrier: Mbarrier, problem: Problem) -> bool:
    """Whether one thread arrives twice, waiting for nothing in between, where one arrival ends a phase."""
    if problem.kind == "mbarrier-lapped":
        return not barrier.peer
    alone = barrier.expected == 1 and not barrier.peer
    return alone and problem.facts.get("cause") == "arrives-again"


def _uneven(barrier: Mbarrier) -> bool:
    """Whether no number of threads that each arrive once at each site gives the expected count."""
    return bool(barrier.expected % max(1, len(barrier.sites)))
