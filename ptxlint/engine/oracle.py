"""Decides what the values leave open: comparisons on unknowns, loop trips, sides of branches.

A decision is made once and remembered by ``Unknowns``. What is preferred: the side of a branch from
which more events can be reached; staying in a loop for the trips of the scenario, then leaving it. At
the second visit of a loop's exit comparison its stride is known, and the unknown bound is fixed so
that the loop ends after that number of trips; remainders, look-ahead guards and other warps' loops are
then computed, not guessed.
"""

from enum import Enum

from ptxlint.engine.program import MEMORY_EVENTS, PIPELINE_EVENTS, Alu, Code, Event
from ptxlint.engine.values import (
    LANES,
    Linear,
    Offset,
    Scalar,
    Terms,
    Unknowns,
    Value,
    add_offsets,
    add_terms,
    canonical,
    lane_of,
    parts,
    settle,
)
from ptxlint.engine.warp import Fiber
from ptxlint.engine.wishes import Wish, wishes, wishes_at
from ptxlint.records import field, record

Form = tuple[Terms, Offset]


class LoopKind(Enum):
    """What a loop is there for; decides how often an open one is run."""

    PIPELINE = "has barriers or asynchronous operations of its own"
    OUTER = "holds a pipeline loop"
    ACCESSES = "only touches memory"
    SEARCH = "only computes"


@record
class Scenario:
    """How open choices are made: trips of event loops, of the loops around them, inverted branches.

    ``generous``: of the values that give the same trips the largest is taken, so that remainders occur.
    ``skip``: loops (function, header) that are not entered, because all in them has been run before, to
    get to what lies behind them; conflicts count only between events that are not ``known`` yet.
    """

    name: str
    trips: int = 6
    outer_trips: int = 3
    flips: frozenset[tuple[int, int]] = frozenset()
    preset: dict[object, int] = field(default_factory=dict)
    generous: bool = False
    skip: frozenset[tuple[int, int]] = frozenset()
    known: frozenset[tuple[int, int]] = frozenset()


class Oracle:
    """Answers for one run."""

    def __init__(self, unknowns: Unknowns) -> None:
        self.unknowns = unknowns
        self.scenario = Scenario("main")
        self.wishes: dict[int, dict[int, Wish]] = {}
        self.wishes_at: dict[int, dict[Alu, Wish]] = {}
        self.kinds: dict[int, dict[int, LoopKind]] = {}
        self.around: dict[int, dict[int, list[int]]] = {}
        self.visits: dict[tuple[object, ...], tuple[Terms, int]] = {}
        self.responses: dict[object, int] = {}
        self.decided_blocks: set[tuple[int, int, bool]] = set()
        self.bad_fix = False
        self.invariant_exits = 0

    def start(self, scenario: Scenario) -> None:
        """Forget the previous run."""
        self.scenario = scenario
        self.unknowns.reset(scenario.preset)  # type: ignore[arg-type]
        self.unknowns.generous = scenario.generous
        self.visits = {}
        self.responses = {}
        self.bad_fix = False
        self.invariant_exits = 0

    def cancelled(self, response: object) -> bool:
        """Return whether launch-control *response* brings another tile: those of all turns but the last do."""
        return self.responses.setdefault(response, len(self.responses)) + 1 < self.scenario.outer_trips

    def prepare(self, code: Code) -> None:
        """Work out what each predicate of *code* should be."""
        if id(code) in self.wishes:
            return
        self.wishes_at[id(code)] = wishes_at(code)
        self.wishes[id(code)] = wishes(code, self.wishes_at[id(code)])
        pipelines = [loop for loop in code.loops if any(_has_events(code, b) for b in loop.blocks)]
        kinds: dict[int, LoopKind] = {}
        for loop in code.loops:
            if loop not in pipelines:
                touches = any(_touches(code, b) for b in loop.blocks)
                kinds[loop.header] = LoopKind.ACCESSES if touches else LoopKind.SEARCH
            elif any(other.header != loop.header and other.blocks < loop.blocks for other in pipelines):
                kinds[loop.header] = LoopKind.OUTER
            else:
                kinds[loop.header] = LoopKind.PIPELINE
        self.kinds[id(code)] = kinds
        around: dict[int, list[int]] = {}
        for loop in code.loops:
            for block in loop.blocks:
                around.setdefault(block, []).append(loop.header)
        self.around[id(code)] = around

    # -- fresh unknowns ---------------------------------------------------------------------------

    def fresh(self, site: tuple[object, ...], fiber: Fiber, low: int, high: int) -> Value:
        """Return a new unknown: of this site, this warp, this execution."""
        executions = fiber.warp.executions
        count = executions[site] = executions.get(site, 0) + 1
        return self.unknowns.atom((*site, fiber.warp.index, count), low, high)

    # -- predicates -------------------------------------------------------------------------------

    def mask_of(self, value: Value, negated: bool, fiber: Fiber, wish: Wish | None) -> int:
        """Return the lanes of *fiber* in which predicate *value* (negated: not) holds."""
        mask = fiber.mask
        if value.__class__ is int:
            return mask if bool(value) != negated else 0
        if isinstance(value, tuple):
            result = 0
            for lane in fiber.lanes:
                v = value[lane]
                if v.__class__ is not int:
                    v = self._predicate(v, wish, not negated, fiber)
                if bool(v) != negated:
                    result |= 1 << lane
            return result
        v = self._predicate(value, wish, not negated, fiber)
        return mask if bool(v) != negated else 0

    def _predicate(self, value: Scalar, wish: Wish | None, prefer: bool, fiber: Fiber) -> int:
        resolved = self.unknowns.resolve(
            Linear(value.terms, value.offset[0])
            if isinstance(value, Linear) and isinstance(value.offset, tuple)
            else value
        )
        if isinstance(resolved, int):
            return int(resolved != 0)
        assert isinstance(resolved.offset, int)
        truth = self.unknowns.truth(resolved.terms, resolved.offset, False)
        if truth is None:
            wanted = wish.value if wish else prefer
            if wish is not None:
                flipped = (id(fiber.code), wish.block) in self.scenario.flips
                if wish.header >= 0:
                    turn = fiber.loops.get((id(fiber.code), wish.header), 0)
                    limit = 0 if flipped else self._limit(fiber.code, wish.header)
                    if turn >= limit:
                        wanted = not wanted
                elif flipped:
                    wanted = not wanted
            truth = not wanted
            self.unknowns.assume(resolved.terms, resolved.offset, False, truth)
        return int(not truth)

    # -- comparisons ------------------------------------------------------------------------------

    def compare(
        self, alu: Alu, code: Code, relation: str, x: Value, y: Value, bits: int, signed: bool, fiber: Fiber
    ) -> Value:
        """Decide ``x relation y`` where the operands are not both concrete."""
        a, b = parts(x, bits), parts(y, bits)
        wish = self.wishes_at[id(code)].get(alu)
        if wish is None and alu.dsts:
            wish = self.wishes[id(code)].get(alu.dsts[0])
        if a is None or b is None:
            lanes = [0] * LANES
            shared: int | None = None
            for lane in fiber.lanes:
                la, lb = parts(lane_of(x, lane), bits), parts(lane_of(y, lane), bits)
                assert la is not None
                assert lb is not None
                if la[0] or lb[0]:
                    # Unknown data in several lanes: taken to be alike.
                    if shared is None:
                        shared = self._decide(alu, code, relation, la, lb, fiber, wish)
                    lanes[lane] = shared
                else:
                    lanes[lane] = self._decide(alu, code, relation, la, lb, fiber, wish)
            agreed = {lanes[lane] for lane in fiber.lanes}
            return agreed.pop() if len(agreed) == 1 else settle(lanes)
        return self._decide_lanes(alu, code, relation, a, b, fiber, wish)

    def _decide_lanes(
        self, alu: Alu, code: Code, relation: str, a: Form, b: Form, fiber: Fiber, wish: Wish | None
    ) -> Value:
        if not isinstance(a[1], tuple) and not isinstance(b[1], tuple):
            return self._decide(alu, code, relation, a, b, fiber, wish)
        terms, less, flip, offset = _normalise(relation, a, b)
        terms, offset = self.unknowns.reduce(terms, offset)
        if not isinstance(offset, tuple):
            offset = (offset,) * LANES
        desired = (wish.value != flip) if wish else less
        if wish is not None and wish.header >= 0:
            # A loop's exit: the first lane decides, by the turns taken.
            first = offset[fiber.lanes[0]]
            left = self._reduced(terms, first)
            known = self.unknowns.truth(*left, less)
            desired = self._follow(alu, code, *left, less, flip, fiber, wish, known)
            terms, reduced = self.unknowns.reduce(terms, offset)
            offset = reduced if isinstance(reduced, tuple) else (reduced,) * LANES
        elif wish is not None and (
            (id(code), wish.block) in self.scenario.flips or (wish.guards and not self.scenario.trips)
        ):
            desired = not desired
        active = [offset[lane] for lane in fiber.lanes]
        # Let all lanes agree if they can: the hardest lane decides.
        extreme = (max(active) if desired else min(active)) if less else active[0]
        if terms and self.unknowns.truth(terms, extreme, less) is None:
            self.unknowns.assume(terms, extreme, less, desired)
        unknowns = self.unknowns
        result = 0
        ask = unknowns.asker(terms, less)
        for lane in fiber.lanes:
            truth = ask(offset[lane])
            if truth is None:
                truth = desired if less else False
                unknowns.assume(terms, offset[lane], less, truth)
                ask = unknowns.asker(terms, less)
            if truth != flip:
                result |= 1 << lane
        if result == fiber.mask:
            return 1
        if not result:
            return 0
        return settle([result >> i & 1 for i in range(LANES)])

    def _reduced(self, terms: Terms, offset: int) -> tuple[Terms, int]:
        return self.unknowns.reduce(terms, offset)  # type: ignore[return-value]

    def _decide(
        self, alu: Alu, code: Code, relation: str, a: Form, b: Form, fiber: Fiber, wish: Wish | None
    ) -> int:
        terms, less, flip, offset = _normalise(relation, a, b)
        full_terms, full_offset = terms, offset
        terms, offset = self._reduced(terms, offset)  # type: ignore[arg-type]
        truth = self.unknowns.truth(terms, offset, less)
        if truth is None:
            truth = self._choose(alu, code, terms, offset, less, flip, fiber, wish)
        elif wish is not None and wish.header >= 0 and full_terms:
            # Decided, but it may be an endless loop by an earlier assumption.
            stays = (truth != flip) == wish.value
            if stays and terms:
                truth = self._follow(alu, code, terms, offset, less, flip, fiber, wish, truth)
        del full_offset
        return int(truth != flip)

    def _limit(self, code: Code, header: int) -> int:
        kind = self.kinds[id(code)].get(header, LoopKind.PIPELINE)
        if kind is LoopKind.PIPELINE:
            return self.scenario.trips
        if kind is LoopKind.OUTER:
            return self.scenario.outer_trips
        return min(self.scenario.trips, 2 if kind is LoopKind.ACCESSES else 1)

    def _weary(self, code: Code, fiber: Fiber, block: int, wish: Wish | None) -> bool:
        """Whether a loop around the decision has run long enough that it should be left.

        Its own exit may be decided by values that only another outcome here lets grow, as in a search
        for the next work item.
        """
        identity = id(code)
        for header in self.around[identity].get(block, ()):
            if wish is None or header != wish.header:
                turns = fiber.loops.get((identity, header), 0)
                if turns > self._limit(code, header) + 2:
                    return True
        return False

    def _choose(
        self,
        alu: Alu,
        code: Code,
        terms: Terms,
        offset: int,
        less: bool,
        flip: bool,
        fiber: Fiber,
        wish: Wish | None,
    ) -> bool:
        unknowns = self.unknowns
        if wish is not None and wish.header >= 0:
            return self._follow(alu, code, terms, offset, less, flip, fiber, wish, None)
        # With nothing to prefer, an unknown value is not the one it is compared with.
        value = (less or flip) if wish is None else wish.value
        if (wish is not None and wish.block >= 0 and (id(code), wish.block) in self.scenario.flips) or (
            wish is not None and wish.guards and not self.scenario.trips
        ):
            value = not value
        block = wish.block if wish is not None and wish.block >= 0 else fiber.block
        if self._weary(code, fiber, block, wish):
            value = not value
        truth = value != flip
        unknowns.assume(terms, offset, less, truth)
        return truth

    def _follow(
        self,
        alu: Alu,
        code: Code,
        terms: Terms,
        offset: int,
        less: bool,
        flip: bool,
        fiber: Fiber,
        wish: Wish,
        decided: bool | None,
    ) -> bool:
        """Decide the exit comparison of a loop."""
        unknowns = self.unknowns
        stay = wish.value != flip
        turn = fiber.loops.get((id(code), wish.header), 0)
        limit = self._limit(code, wish.header)
        if (id(code), wish.block) in self.scenario.flips:
            limit = 0
        key = (fiber.warp.index, id(code), alu.instruction.index)
        last = self.visits.get(key)
        self.visits[key] = (terms, offset)
        if terms and turn >= 1 and last is not None and last[0] == terms and last[1] != offset:
            stride = offset - last[1]
            at_exit = offset + stride * max(0, limit - turn)
            _, g, _ = canonical(terms)
            if less:
                # d < 0 as long as the loop goes on (or stops): let d be 0, or -1, at the exit.
                edge = 0 if stay else -1
                target = (edge - at_exit) / g
            else:
                target = -at_exit / g
            rounded = -int(-target // 1) if (stride > 0) == (g > 0) else int(target // 1)
            if not unknowns.fix(terms, rounded):
                self.bad_fix = True
            left, rest = self._reduced(terms, offset)
            truth = unknowns.truth(left, rest, less)
            if truth is not None:
                return truth
        if decided is not None:
            if turn <= limit + 2:
                return decided
            self.invariant_exits += 1
            return not decided
        if self._weary(code, fiber, wish.block, wish):
            limit = 64
        truth = stay if turn < limit else not stay
        if last is not None and last[0] == terms and last[1] == offset and turn > limit:
            self.invariant_exits += 1
        unknowns.assume(terms, offset, less, truth)
        return truth


def _normalise(relation: str, a: Form, b: Form) -> tuple[Terms, bool, bool, Offset]:
    """Return (terms, less, flip, offset): the relation is ``(terms+offset < 0 or == 0) != flip``."""
    if relation in ("eq", "ne"):
        return add_terms(a[0], b[0], -1), False, relation == "ne", add_offsets(a[1], b[1], -1)
    if relation in ("lt", "lo"):
        return add_terms(a[0], b[0], -1), True, False, add_offsets(a[1], b[1], -1)
    if relation in ("ge", "hs"):
        return add_terms(a[0], b[0], -1), True, True, add_offsets(a[1], b[1], -1)
    if relation in ("gt", "hi"):
        return add_terms(b[0], a[0], -1), True, False, add_offsets(b[1], a[1], -1)
    return add_terms(b[0], a[0], -1), True, True, add_offsets(b[1], a[1], -1)


def _has_events(code: Code, block: int) -> bool:
    return any(
        isinstance(item, Event) and isinstance(item.effect, PIPELINE_EVENTS) and not item.spin
        for item in code.blocks[block].items
    )


def _touches(code: Code, block: int) -> bool:
    return any(
        isinstance(item, Event) and isinstance(item.effect, MEMORY_EVENTS)
        for item in code.blocks[block].items
    )
