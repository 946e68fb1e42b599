"""Finds values of unknowns for which a function of them has the value wanted.

A loop's bound is often ``n - n % 4``, ``min(n, stages)`` or ``tiles(m) * tiles(n)``: to let the loop end after
some turns, the unknown underneath is solved for, by bisection, and one by one where the function does not grow.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxlint.engine.values import Atom, Terms, Unknowns

# How many functions of functions of unknowns are followed to evaluate one.
MAX_DEPTH = 80

# Among how many unknowns one is looked for that gives a combination its value.
MAX_LEAVES = 10
# Values for the unknowns that are not solved for: their least first; a product needs factors that are not 0, at best
# several turns of both loops; a length that clips another leaves no solution while it is small.
FILLINGS = (0, 2, 1, 1 << 16)
# No bound need be larger for a few turns of any loop; sums and small products do not overflow below it.
LARGE = 1 << 26
# How far from the target a value may be that is proposed when none reaches it.
NEAR = 8

Choice = dict["Atom", int]


class Solver:
    """Solves for one unknown; the answers are kept for as long as the unknowns of a kernel are."""

    def __init__(self, unknowns: "Unknowns") -> None:
        self._unknowns = unknowns
        self._found: dict[object, tuple[list[int], bool]] = {}

    def choices(self, unit: "Terms", target: int) -> "Iterator[Choice]":
        """Yield values of the unknowns behind *unit* with which it is *target*, or near it when there are none.

        One unknown is solved for, not the CTA's index if there is another; the others are small, or large.
        """
        leaves = unknowns_behind(unit)
        rest = [leaf for leaf in leaves if leaf.key[0] != "ctaid"] or leaves
        if len(rest) != 1 and len(leaves) > MAX_LEAVES:
            return
        near: list[Choice] = []
        solved = False
        for number, (filling, free) in enumerate((filling, free) for filling in FILLINGS for free in rest):
            others = {leaf: _filled(leaf, filling) for leaf in leaves if leaf is not free}
            if number and not any(leaf in rest for leaf in others):
                break
            values, exact = self._candidates(unit, free, others, target, thorough=not number)
            found = [{**others, free: value} for value in values]
            if exact:
                solved = True
                yield from found
            near = near or found
        if not solved:
            yield from near

    def _candidates(
        self, unit: "Terms", free: "Atom", rest: Choice, target: int, thorough: bool
    ) -> tuple[list[int], bool]:
        """Values of *free* for which the combination is *target*, or near it; whether it is reached."""
        choice = dict(rest)
        choice[free] = 0
        known: list[tuple[object, int]] = []
        plan = _plan(unit, choice, known)
        if plan is None:
            return [], False
        bound = self._unknowns.bounds.get((free.key, 1), (free.low, free.high))
        question = (
            tuple((atom.key, k) for atom, k in unit),
            free.key,
            tuple((atom.key, value) for atom, value in rest.items()),
            tuple(known),
            bound,
            target,
            thorough,
            self._unknowns.generous,
        )
        answer = self._found.get(question)
        if answer is None:
            answer = self._found[question] = self._search(unit, plan, free, choice, bound, target, thorough)
        return answer

    def _search(
        self,
        unit: "Terms",
        plan: "list[Atom]",
        free: "Atom",
        choice: Choice,
        bound: tuple[int, int],
        target: int,
        thorough: bool,
    ) -> tuple[list[int], bool]:
        def at(value: int) -> int:
            choice[free] = value
            return _evaluate(unit, plan, choice)

        found: list[int] = []
        low = crossing = max(bound[0], -(1 << 31))
        for first, last in _brackets(at, low, max(low, min(bound[1], LARGE)), target):
            crossing = _first(at, first, last, target)
            if self._unknowns.generous and at(crossing) == target:
                crossing = _last(at, crossing, min(bound[1], crossing + (1 << 20)), target)
            for distance in (0, 1, -1, 2, -2, 3, -3, 4, -4, 8, -8, 16, 32, 64):
                value = crossing + distance
                if bound[0] <= value <= bound[1] and at(value) == target:
                    found.append(value)
            if found:
                return found, True
        if not thorough:
            return [], False
        # Not monotone: look at the smallest values one by one, and where it steps over the target.
        nearest: list[tuple[int, int]] = []
        start = max(bound[0], 0)
        around = range(max(crossing, start) - NEAR, crossing + NEAR + 1)
        for value in (*range(start, start + 400), *around):
            if not bound[0] <= value <= bound[1]:
                continue
            reached = at(value)
            if reached == target:
                found.append(value)
                if len(found) >= 8:
                    break
            else:
                nearest.append((abs(reached - target), value))
        if found:
            return found, True
        return [value for distance, value in sorted(nearest)[:8] if distance <= NEAR], False


def _brackets(at: Callable[[int], int], low: int, high: int, target: int) -> Iterator[tuple[int, int]]:
    """Yield ranges, small values first, at whose ends *at* is on different sides of *target*.

    Near its least value an unsigned difference may be a huge number: it need not grow all the way.
    """
    before, value = low, at(low)
    step = 1
    if value == target:
        yield low, low
    while before < high:
        after = min(high, low + step)
        step *= 2
        reached = at(after)
        if (value < target) != (reached < target) or reached == target:
            yield before, after
        before, value = after, reached


def _first(at: Callable[[int], int], low: int, high: int, target: int) -> int:
    """Return where *at* reaches *target* in a range where it only grows, or only falls."""
    falling = at(high) < at(low)
    while low < high:
        middle = (low + high) // 2
        reached = at(middle)
        if (reached > target) if falling else (reached < target):
            low = middle + 1
        else:
            high = middle
    return low


def _last(at: Callable[[int], int], low: int, high: int, target: int) -> int:
    """Return the last value from *low* on, where *at* is *target*, for which it still is."""
    while low < high:
        middle = (low + high + 1) // 2
        if at(middle) == target:
            low = middle
        else:
            high = middle - 1
    return low


def _filled(leaf: "Atom", filling: int) -> int:
    """What an unknown that is not solved for is taken to be; an index stays the least."""
    least = max(leaf.low, 0)
    return least if leaf.key[0] == "ctaid" or leaf.high < filling else max(least, filling)


def unknowns_behind(terms: "Terms") -> "list[Atom]":
    """Return the unknowns that *terms* are made of, by functions of them too, in the order of their making."""
    from ptxlint.engine.values import Linear

    leaves: dict[int, Atom] = {}
    stack = [atom for atom, _ in terms]
    seen = set()
    while stack:
        node = stack.pop()
        if node.id in seen:
            continue
        seen.add(node.id)
        if node.evaluate is None:
            if node.value is None:
                leaves[node.id] = node
        else:
            for argument in node.arguments:
                if isinstance(argument, Linear):
                    stack.extend(a for a, _ in argument.terms)
    return [leaves[i] for i in sorted(leaves)]


def _plan(terms: "Terms", chosen: Choice, known: list[tuple[object, int]]) -> "list[Atom] | None":
    """The atoms to evaluate for *terms*, arguments first, when those of *chosen* are given values.

    What is known already goes to *known*. None when something else is unknown too, or the functions are
    nested too deeply.
    """
    from ptxlint.engine.values import Linear

    order: list[Atom] = []
    done: set[int] = set()

    def visit(atom: "Atom", depth: int) -> bool:
        if depth > MAX_DEPTH:
            return False
        if atom.id in done or atom in chosen:
            return True
        if atom.value is not None:
            done.add(atom.id)
            known.append((atom.key, atom.value))
            return True
        if atom.evaluate is None:
            return False
        for argument in atom.arguments:
            if isinstance(argument, Linear):
                for inner, _ in argument.terms:
                    if not visit(inner, depth + 1):
                        return False
        done.add(atom.id)
        order.append(atom)
        return True

    return order if all(visit(atom, 0) for atom, _ in terms) else None


def _evaluate(terms: "Terms", plan: "list[Atom]", choice: Choice) -> int:
    """The value of *terms* under *choice*, without keeping anything; *plan* is from ``_plan``."""
    values = dict(choice)
    for atom in plan:
        known: list[Any] = []
        for argument in atom.arguments:
            if argument.__class__ is int:
                known.append(argument)
                continue
            total = argument.offset  # type: ignore[union-attr]
            for inner, k in argument.terms:  # type: ignore[union-attr]
                v = values.get(inner)
                total += k * (inner.value if v is None else v)  # type: ignore[operator]
            known.append(total)
        assert atom.evaluate is not None
        values[atom] = atom.evaluate(*known)
    total = 0
    for atom, k in terms:
        v = values.get(atom)
        total += k * (atom.value if v is None else v)  # type: ignore[operator]
    return total
