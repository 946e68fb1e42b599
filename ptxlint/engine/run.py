"""Runs a kernel under several scenarios and adds up what they showed.

A first run learns: how many stages there are, which values make its loops end after a few turns, and how
many bytes each tensor copy moves. The main run uses that. Further runs leave loops at once or after one
turn, let waits outside spin loops answer False first, and invert branches while that reaches new events or
leaves out a fence or a wait.
"""

from collections.abc import Iterable

from ptxlint.engine.async_handlers import HANDLERS
from ptxlint.engine.events import Conflict, Family, Gap, Hazard, PendingAtExit
from ptxlint.engine.launch import Launch, thread_count
from ptxlint.engine.machine import Machine, Outcome, Problem
from ptxlint.engine.omissions import PAST, is_evidence, next_omission
from ptxlint.engine.oracle import Oracle, Scenario
from ptxlint.engine.program import Code, Event, Lowering
from ptxlint.engine.tensor_rules import NEVER_FREED
from ptxlint.engine.values import Unknowns, centre
from ptxlint.flow.dominators import region
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import Function, Module, Name
from ptxlint.records import field, mutable_record, replace

MAX_STEPS = 240_000
# The part of it that a run beside the main one gets.
SIDE = 3
MAX_FLIPS = 4
MAX_FLIPS_IN_LARGE = 2
MAX_OMISSIONS = 2
MAX_SKIPS = 3
MAIN = "many trips"
DENIED = "denied waits"
NO_TRIP = "no trip"
TENSOR_MAP_BYTES = 128

ASYNC_EFFECTS = (
    fx.BulkCopy,
    fx.CpAsync,
    fx.WgmmaOp,
    fx.TensorMma,
    fx.TensorCopy,
    fx.LaunchCancel,
    fx.StoreAsync,
)
MBARRIER_EFFECTS = (
    fx.MbarrierInit,
    fx.MbarrierArrive,
    fx.MbarrierExpect,
    fx.MbarrierWait,
    fx.MbarrierComplete,
    fx.MbarrierInvalidate,
    fx.CpAsyncArrive,
    fx.TensorCommit,
)
TENSOR_EFFECTS = (fx.TensorAlloc, fx.TensorLoad, fx.TensorStore)

BARRIER_EFFECTS = (fx.ClusterArrive, fx.ClusterWait, fx.WgmmaCommit, fx.WgmmaWait, fx.TensormapReplace)


def _concerns_others(effect: fx.Effect) -> bool:
    """Whether *effect* reaches a peer's memory, or is an arrive with no wait."""
    if isinstance(effect, fx.MemoryAccess):
        return effect.space is fx.Space.CLUSTER
    return isinstance(effect, fx.CtaBarrier) and effect.arrive_only


@mutable_record
class Analysis:
    """Everything the checks may ask about one kernel."""

    module: Module
    function: Function
    kernel: Code
    functions: dict[str, Code]
    launch: Launch
    conflicts: list[Conflict] = field(default_factory=list)
    exits: list[PendingAtExit] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    hazards: list[Hazard] = field(default_factory=list)
    executed: set[tuple[int, int]] = field(default_factory=set)
    resolved: set[tuple[int, int]] = field(default_factory=set)
    unresolved: set[tuple[int, int]] = field(default_factory=set)
    forced: int = 0
    forced_notes: list[str] = field(default_factory=list)
    peers: int = 0
    steps: int = 0
    budget_stop: bool = False
    invariant_loops: bool = False
    scenarios: list[str] = field(default_factory=list)
    main: Scenario | None = None
    sizes: dict[int, int] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def codes(self) -> list[Code]:
        """The kernel and the functions it may call."""
        return [self.kernel, *self.functions.values()]

    def events(self) -> list[tuple[Code, Event]]:
        """All kept events, each with its function."""
        return [(code, event) for code in self.codes for event in code.events]

    @property
    def is_idle(self) -> bool:
        """Whether the kernel has no asynchronous operation, no mbarrier and no peer."""
        wanted = ASYNC_EFFECTS + MBARRIER_EFFECTS + TENSOR_EFFECTS
        return not any(
            isinstance(event.effect, wanted + BARRIER_EFFECTS) or _concerns_others(event.effect)
            for _, event in self.events()
        )


def decode(function: Function) -> list[tuple[fx.Effect, ...]]:
    """Return the effects of each instruction."""
    return [semantics.decode(instruction) for instruction in function.instructions]


def called(module: Module, function: Function) -> dict[str, Function]:
    """Return the functions with a body that *function* may reach by direct calls."""
    bodies = {f.name: f for f in module.functions if not f.is_declaration and not f.is_entry}
    if not bodies:
        return {}
    found: dict[str, Function] = {}
    work = [function]
    while work:
        current = work.pop()
        for instruction in current.instructions:
            for effect in semantics.decode(instruction):
                name = effect.function if isinstance(effect, fx.Call) else None
                if name in bodies and name not in found:
                    found[name] = bodies[name]
                    work.append(bodies[name])
    return found


def assumed_block(function: Function, effects: list[tuple[fx.Effect, ...]]) -> tuple[int, int, int]:
    """Return a block shape guessed from barrier counts and comparisons with the thread's index."""
    threads = unit = 32
    # Registers that hold ``tid.x / scale + offset``.
    origin: dict[str, tuple[int, int]] = {}
    for instruction_effects in effects:
        for effect in instruction_effects:
            if isinstance(effect, fx.CtaBarrier):
                count = effect.count
                value = getattr(count, "value", None)
                threads = max(threads, value if isinstance(value, int) else 128)
            if isinstance(effect, fx.WgmmaOp):
                unit = 128  # performed by whole warpgroups
            if not isinstance(effect, fx.Compute) or not effect.dsts or not isinstance(effect.dsts[0], Name):
                continue
            dst = effect.dsts[0].text
            first = effect.srcs[0] if effect.srcs else None
            name = first.text if isinstance(first, Name) else ""
            if effect.op == "mov" and name == "%tid.x":
                origin[dst] = 1, 0
            elif name in origin:
                scale, offset = origin[name]
                second = getattr(effect.srcs[1], "value", None) if len(effect.srcs) > 1 else None
                if effect.op == "shr" and isinstance(second, int) and second < 10 and not offset:
                    origin[dst] = scale << second, 0
                elif effect.op == "add" and isinstance(second, int):
                    origin[dst] = scale, offset + centre(second, 32)
                elif effect.op in ("mov", "cvt"):
                    origin[dst] = origin[name]
                elif effect.op == "setp" and isinstance(second, int) and 0 <= second <= 1024:
                    bound = (second - offset) * scale
                    if effect.extra[0] in ("eq", "ne", "gt") or scale > 1:
                        bound += scale  # of warps there is one for the other side of the branch
                    if bound <= 1024:
                        threads = max(threads, bound)
    threads = min((threads + unit - 1) // unit * unit, 1024)
    return (threads + 31) // 32 * 32, 1, 1


def watches_global(function: Function, decoded: Iterable[list[tuple[fx.Effect, ...]]]) -> bool:
    """Return whether generic accesses of global memory matter to a bulk copy, or to a tensor map in memory."""
    given = any((p.size or 0) >= TENSOR_MAP_BYTES for p in function.parameters)
    copies = accesses = False
    for effects in decoded:
        for instruction_effects in effects:
            for effect in instruction_effects:
                if isinstance(effect, (fx.TensormapReplace, fx.TensormapCopyFence)):
                    return True
                if isinstance(effect, fx.ProxyFence) and effect.kind == "tensormap":
                    return True
                if isinstance(effect, fx.BulkCopy):
                    copies = copies or (
                        (effect.source_space is fx.Space.GLOBAL and effect.source is not None)
                        or (effect.destination_space is fx.Space.GLOBAL and effect.destination is not None)
                        or (effect.tensor_map is not None and not given)
                    )
                elif isinstance(effect, fx.MemoryAccess):
                    accesses = accesses or effect.space in (fx.Space.GLOBAL, fx.Space.GENERIC)
    return copies and accesses


def cluster_shape(function: Function, effects: list[tuple[fx.Effect, ...]]) -> tuple[int, int, int]:
    """Return the cluster shape: declared, or two CTAs when the code speaks to peers, or one."""
    shape = function.directives.get("reqnctapercluster")
    if shape:
        padded = (*shape, 1, 1)[:3]
        return padded[0], padded[1], padded[2]
    for instruction_effects in effects:
        for effect in instruction_effects:
            if isinstance(effect, (fx.ClusterArrive, fx.StoreAsync)):
                return 2, 1, 1
            if isinstance(effect, fx.Compute) and effect.op == "mapa":
                return 2, 1, 1
            if isinstance(effect, fx.BulkCopy) and (effect.multicast is not None or effect.cta_group == 2):
                return 2, 1, 1
    return 1, 1, 1


def prepare(
    module: Module,
    function: Function,
    block: tuple[int, int, int] | None = None,
    cluster: tuple[int, int, int] | None = None,
) -> Analysis:
    """Decode and slice *function* and what it calls; assume a launch."""
    others = called(module, function)
    names = set(others)
    effects = decode(function)
    decoded = {name: decode(other) for name, other in others.items()}
    watched = watches_global(function, (effects, *decoded.values()))
    kernel = Lowering(function, effects, names.__contains__, watched).run()
    functions = {
        name: Lowering(other, decoded[name], names.__contains__, watched).run()
        for name, other in others.items()
    }
    shape = block or thread_count(function.directives)
    launch = Launch(
        shape or assumed_block(function, effects),
        cluster or cluster_shape(function, effects),
        assumed=shape is None,
    )
    variables = list(module.variables)
    for owner in (function, *others.values()):
        variables += [*owner.parameters, *owner.returns, *owner.variables]
    used = _used_names(function, others.values())
    launch.place([v for v in variables if v.space != "shared" or v.name in used])
    return Analysis(module, function, kernel, functions, launch)


def _used_names(function: Function, others: object) -> set[str]:
    from ptxlint.engine.program import operands_of
    from ptxlint.ptx.syntax import Symbolic

    found: set[str] = set()
    for owner in (function, *others):  # type: ignore[misc]
        for instruction in owner.instructions:
            for operand in operands_of(instruction.operands):
                if isinstance(operand, Name):
                    found.add(operand.text)
                elif isinstance(operand, Symbolic):
                    found.add(operand.base.text)
    return found


def analyse(analysis: Analysis, max_steps: int = MAX_STEPS) -> Analysis:
    """Run all scenarios of a prepared kernel."""
    if analysis.is_idle:
        return analysis
    oracle = Oracle(Unknowns())
    sizes = analysis.sizes

    def once(scenario: Scenario, keep: bool = True) -> Outcome:
        for attempt in range(3):
            oracle.start(scenario)
            steps = max_steps if scenario.name == MAIN else max_steps // SIDE
            machine = Machine(
                analysis.kernel, analysis.functions, analysis.launch, oracle, HANDLERS, sizes, steps
            )
            outcome = machine.run()
            seen = learn_sizes(machine)
            fresh = {site: size for site, size in seen.items() if site not in sizes}
            sizes.update(fresh)
            if attempt == (1 if outcome.budget_stop else 2) or not (
                outcome.bad_fix or (fresh and is_main(outcome))
            ):
                break
            # A bound was wanted that earlier decisions exclude: know it from the start.
            scenario = replace(scenario, preset={**scenario.preset, **outcome.learned})
        if keep:
            _add(analysis, outcome)
        if is_main(outcome):
            analysis.main = scenario
        return outcome

    learned = once(Scenario("learn", trips=4), keep=False)
    trips = min(18, max(6, 2 * learned.stages + 2)) if learned.stages else 6
    main = Scenario(MAIN, trips=trips)
    outcome = once(main)
    new = True
    has_loops = any(code.exit_of for code in analysis.codes)
    if outcome.budget_stop and has_loops:
        # Fewer turns of the loops around it, and one more than there are stages, may get to the end.
        shorter = replace(main, trips=min(trips, learned.stages + 1 if learned.stages else 2), outer_trips=1)
        outcome = once(shorter)
        if not outcome.budget_stop:
            analysis.budget_stop = False
            main = shorter
    if has_loops:
        once(Scenario("one trip", trips=1, outer_trips=1))
        once(Scenario(NO_TRIP, trips=0, outer_trips=1))
        if not outcome.budget_stop:
            once(Scenario("odd trips", trips=trips - 1, outer_trips=2, generous=True))
        for more in (1, 4, 2):
            if outcome.budget_stop or not _unreached(analysis):
                break
            once(
                Scenario(
                    f"{trips + more} trips",
                    trips=trips + more,
                    outer_trips=min(4, 1 + more),
                    generous=more != 1,
                )
            )
    if any(event.kind == "MbarrierWait" and not event.spin for _, event in analysis.events()):
        once(replace(main, name=DENIED))
    flips: frozenset[tuple[int, int]] = frozenset()
    tried: set[tuple[int, int]] = set()
    if outcome.budget_stop:
        # What is left out leads to the next turn of an outer loop the sooner.
        base, most = replace(main, trips=1, outer_trips=2), MAX_FLIPS_IN_LARGE
    else:
        base, most = main, MAX_FLIPS
    for _ in range(most):
        flip = _next_flip(analysis, tried)
        if flip is None:
            break
        tried.add(flip)
        before = len(analysis.executed)
        once(replace(base, name="other branch", flips=frozenset({flip}), preset={}))
        new = len(analysis.executed) > before
        if new:
            flips |= {flip}
    for _ in range(0 if outcome.budget_stop else MAX_OMISSIONS):
        flip = next_omission(analysis.codes, _sides(analysis), tried)
        if flip is None:
            break
        tried.add(flip)
        once(replace(main, name=PAST, flips=frozenset({flip}), preset={}))
    for number in range(MAX_SKIPS):
        before = len(analysis.executed)
        skip = _covered_loops(analysis)
        if not skip or not _unreached(analysis):
            break
        known = frozenset(analysis.executed)
        once(
            Scenario(f"behind loops {number + 1}", trips=min(trips, 8), outer_trips=3, skip=skip, known=known)
        )
        if len(analysis.executed) == before:
            break
    return analysis


def main_machine(analysis: Analysis, max_steps: int = MAX_STEPS) -> Machine:
    """Return a machine that will run the main scenario of an analysed kernel once more, the same way.

    Raises:
        ValueError: the kernel was not analysed, or there was nothing to run.
    """
    if analysis.main is None:
        raise ValueError("there is no main run")
    oracle = Oracle(Unknowns())
    oracle.start(analysis.main)
    return Machine(
        analysis.kernel, analysis.functions, analysis.launch, oracle, HANDLERS, analysis.sizes, max_steps
    )


def _covered_loops(analysis: Analysis) -> frozenset[tuple[int, int]]:
    """Return the loops in which every event has been run."""
    found = set()
    for code in analysis.codes:
        events: dict[int, list[bool]] = {}
        at = {block.index: (block.start, block.end) for block in code.cfg.blocks}
        for block in code.blocks:
            low, high = at[block.index]
            events[block.index] = [
                (id(code), event.instruction.index) in analysis.executed
                for event in code.events
                if low <= event.instruction.index < high
            ]
        for loop in code.loops:
            inside = [done for index in loop.blocks for done in events[index]]
            if inside and all(inside):
                found.add((id(code), loop.header))
    return frozenset(found)


def _unreached(analysis: Analysis) -> bool:
    return any(
        (id(code), event.instruction.index) not in analysis.executed for code, event in analysis.events()
    )


def _sides(analysis: Analysis) -> set[tuple[int, int, int]]:
    """Return the sides of branches that some run has taken."""
    sides: set[tuple[int, int, int]] = set()
    for outcome in analysis.outcomes:
        sides |= outcome.sides
    return sides


def _next_flip(analysis: Analysis, tried: set[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the undecided branch whose other side leads to an event not yet reached."""
    sides = _sides(analysis)
    for code in analysis.codes:
        missing = {
            event.instruction.index
            for event in code.events
            if (id(code), event.instruction.index) not in analysis.executed
        }
        if not missing:
            continue
        blocks = {
            block.index for block in code.cfg.blocks if any(block.start <= at < block.end for at in missing)
        }
        for block in code.blocks:
            if block.exit.kind != "branch" or (id(code), block.index) in tried:
                continue
            taken = [(id(code), block.index, side) in sides for side in (0, 1)]
            if not any(taken) or all(taken):
                continue
            target = block.exit.targets[0 if not taken[0] else 1]
            if target == code.cfg.exit:
                continue
            if region(code.cfg, target, block.exit.join) & blocks:
                return id(code), block.index
    return None


def _add(analysis: Analysis, outcome: Outcome) -> None:
    analysis.outcomes.append(outcome)
    analysis.scenarios.append(outcome.scenario.name)
    analysis.executed |= outcome.executed
    analysis.resolved |= outcome.resolved
    analysis.unresolved |= outcome.unresolved
    analysis.steps += outcome.steps
    known = {_conflict_key(c): i for i, c in enumerate(analysis.conflicts)}
    for conflict in outcome.conflicts.values():
        if conflict.forced and not is_main(outcome):
            continue  # the side scenario went wrong, not the kernel
        if outcome.scenario.skip and not _holds_behind_loops(conflict):
            continue
        if _not_launched_so(outcome, conflict):
            continue
        if outcome.scenario.name == PAST and not is_evidence(conflict):
            continue
        key = _conflict_key(conflict)
        at = known.get(key)
        if at is None:
            known[key] = len(analysis.conflicts)
            analysis.conflicts.append(conflict)
        elif analysis.conflicts[at].forced and not conflict.forced:
            analysis.conflicts[at] = conflict
    exits = {(e.access.event.instruction.index, e.committed): i for i, e in enumerate(analysis.exits)}
    ordinary = outcome.scenario.name != DENIED and not outcome.scenario.skip
    for pending in outcome.exits.values():
        if not ordinary or (pending.forced and not is_main(outcome)):
            continue
        key2 = (pending.access.event.instruction.index, pending.committed)
        at = exits.get(key2)
        if at is None:
            exits[key2] = len(analysis.exits)
            analysis.exits.append(pending)
        elif analysis.exits[at].forced and not pending.forced:
            analysis.exits[at] = pending
    if ordinary:
        past = outcome.scenario.name == PAST
        analysis.problems.extend(
            p for p in outcome.problems.values() if not past and (not p.forced or is_main(outcome))
        )
        analysis.hazards.extend(
            h
            for h in outcome.hazards.values()
            if (not past or h.kind == NEVER_FREED) and (not h.forced or is_main(outcome))
        )
    if is_main(outcome):
        analysis.forced += outcome.forced
        analysis.forced_notes += outcome.forced_notes
        analysis.budget_stop = analysis.budget_stop or outcome.budget_stop
    analysis.peers += outcome.peers


def _not_launched_so(outcome: Outcome, conflict: Conflict) -> bool:
    """Return whether *conflict* is about a load that a run with no turns leaves alone and writes over.

    Such a load is issued regardless, and the loop that is left out waits for it: a kernel of that kind is
    launched so that there is a turn. One that reads the destination is not written with that in mind.
    """
    if outcome.scenario.name != NO_TRIP or not outcome.abandoned:
        return False
    if conflict.second.event.instruction.index in outcome.abandoned:
        return True
    load = conflict.first.event.instruction.index
    return load in outcome.abandoned and any(
        other.first.event.instruction.index == load and other.second.write
        for other in outcome.conflicts.values()
    )


def _holds_behind_loops(conflict: Conflict) -> bool:
    """Return whether *conflict* does not depend on what skipped loops would have waited for."""
    if conflict.gap in (Gap.PROXY_FENCE, Gap.WARP_SYNC):
        return True
    same_warp = conflict.first.actor.warp == conflict.second.actor.warp
    return same_warp and conflict.first.family is Family.BULK_STORE


def is_main(outcome: Outcome) -> bool:
    """Return whether *outcome* is that of the scenario that stands for the ordinary run."""
    return outcome.scenario.name == MAIN


def _conflict_key(conflict: Conflict) -> tuple[object, ...]:
    return (
        conflict.gap,
        conflict.first.event.instruction.offset,
        conflict.second.event.instruction.offset,
        conflict.first.write,
        conflict.second.write,
    )


def learn_sizes(machine: Machine) -> dict[int, int]:
    """Return the bytes that each tensor-copy instruction moves, from the bytes its barriers expect.

    A size never crosses the next known start of another buffer or barrier: too large a size would find
    hazards that are not there, one too small loses nothing where readers touch the tile's start.
    """
    votes: dict[int, list[int]] = {}
    starts = sorted(machine.starts)
    for barrier in machine.mbarriers.values():
        for _, expected, copies, _ in barrier.history:
            tensor = [(event, address) for event, address, _, size in copies if size < 0]
            if not tensor or expected <= 1:
                continue
            left = expected - sum(size for _, _, _, size in copies if size > 0)
            if all(getattr(event.effect, "cta_group", None) == 2 for event, _ in tensor):
                left //= 2  # the leader of a pair expects what its peer copies too
            gaps = [_gap(starts, address) for _, address in tensor]
            if left <= 0:
                continue
            if len(tensor) == 1:
                sizes = [min(left, gaps[0])]
            elif sum(gaps) == left:
                sizes = gaps
            else:
                largest = max(range(len(gaps)), key=gaps.__getitem__)
                rest = left - (sum(gaps) - gaps[largest])
                if 0 < rest <= gaps[largest]:
                    sizes = [rest if i == largest else gap for i, gap in enumerate(gaps)]
                else:
                    share = left // len(tensor)
                    sizes = [share if share <= gap else 16 for gap in gaps]
            for (event, _), size in zip(tensor, sizes, strict=True):
                votes.setdefault(event.instruction.index, []).append(size)
    found = machine.store_places.sizes()
    found.update({site: min(values) for site, values in votes.items()})
    return found


def _gap(starts: list[int], address: int) -> int:
    from bisect import bisect_right

    at = bisect_right(starts, address)
    return starts[at] - address if at < len(starts) else 1 << 20
