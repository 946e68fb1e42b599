"""Values of the abstract run: concrete integers, lane vectors and linear forms over unknowns.

A value is

* an ``int`` (unsigned, reduced modulo the width of the operation that made it), the same in each
  lane, or
* a ``Linear`` form: a sum of atoms times coefficients plus an offset (an int, or 32 ints, one a
  lane), or
* a tuple of 32 ints or linear forms, one a lane.

An atom is something that the program does not fix: a parameter, ``%ctaid``, a loaded value, or a
non-linear function of such (then it has an evaluator). Equal keys are the same atom, so all warps
share it. ``Unknowns`` holds what has been assumed about atoms; every comparison that the values do
not decide is decided here, once, and remembered, so that equivalent comparisons agree.
"""

from collections.abc import Callable, Sequence
from math import gcd
from typing import Union

from ptxlint.engine.solver import MAX_DEPTH, Solver, unknowns_behind

LANES = 32
FULL = (1 << LANES) - 1

Offset = Union[int, "tuple[int, ...]"]
Terms = tuple[tuple["Atom", int], ...]
Scalar = Union[int, "Linear"]
Value = Union[int, "Linear", "tuple[Scalar, ...]"]
Key = tuple[object, ...]


class Atom:
    """A named unknown; *evaluate* computes it from *arguments* when it is a function of others."""

    __slots__ = ("arguments", "checked", "evaluate", "high", "id", "key", "low", "value")

    def __init__(self, identity: int, key: Key, low: int, high: int) -> None:
        self.id = identity
        self.key = key
        self.low = low
        self.high = high
        self.value: int | None = None
        self.evaluate: Callable[..., int] | None = None
        self.arguments: tuple[Scalar, ...] = ()
        self.checked = -1

    def __repr__(self) -> str:
        return "/".join(str(part) for part in self.key[:3])


class Linear:
    """``sum(coefficient * atom) + offset``; terms sorted by atom, coefficients non-zero."""

    __slots__ = ("offset", "terms")

    def __init__(self, terms: Terms, offset: Offset) -> None:
        self.terms = terms
        self.offset = offset

    def __repr__(self) -> str:
        body = " + ".join(f"{k}*{a!r}" if k != 1 else repr(a) for a, k in self.terms)
        return f"<{body} + {self.offset}>"


def centre(value: int, bits: int) -> int:
    """Return *value* as a signed number of *bits* bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def settle(lanes: Sequence[Scalar]) -> Value:
    """Return a lane vector, as one value when all lanes agree."""
    first = lanes[0]
    if first.__class__ is int:
        for lane in lanes:
            if lane != first or lane.__class__ is not int:
                return tuple(lanes)
        return first
    terms = first.terms  # type: ignore[union-attr]
    offsets: list[int] = []
    for lane in lanes:
        if lane.__class__ is int or lane.terms != terms:  # type: ignore[union-attr]
            return tuple(lanes)
        offsets.append(lane.offset)  # type: ignore[union-attr,arg-type]
    if offsets.count(offsets[0]) == len(offsets):
        return first
    return Linear(terms, tuple(offsets))


def lane_of(value: Value, lane: int) -> Scalar:
    """Return what *value* is in *lane*."""
    if value.__class__ is int:
        return value
    if isinstance(value, tuple):
        return value[lane]
    if isinstance(value, Linear) and isinstance(value.offset, tuple):
        return Linear(value.terms, value.offset[lane])
    return value


def lanes_of(value: Value) -> tuple[Scalar, ...]:
    """Return the 32 lanes of *value*."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, Linear) and isinstance(value.offset, tuple):
        return tuple(Linear(value.terms, off) for off in value.offset)
    return (value,) * LANES


def combine(terms: Terms, offset: Offset, bits: int) -> Value:
    """Return terms plus offset as a value of *bits* bits."""
    if terms:
        return Linear(terms, offset)
    mask = (1 << bits) - 1
    if isinstance(offset, tuple):
        return settle([off & mask for off in offset])
    return offset & mask


def add_terms(a: Terms, b: Terms, factor: int = 1) -> Terms:
    """Return ``a + factor * b``."""
    if not b:
        return a
    if not a and factor == 1:
        return b
    total = {atom: k for atom, k in a}
    for atom, k in b:
        total[atom] = total.get(atom, 0) + factor * k
    return tuple(sorted(((atom, k) for atom, k in total.items() if k), key=lambda entry: entry[0].id))


def add_offsets(a: Offset, b: Offset, factor: int = 1) -> Offset:
    """Return ``a + factor * b`` by lane."""
    if isinstance(a, tuple):
        if isinstance(b, tuple):
            return tuple(x + factor * y for x, y in zip(a, b, strict=True))
        step = factor * b
        return tuple(x + step for x in a)
    if isinstance(b, tuple):
        return tuple(a + factor * y for y in b)
    return a + factor * b


def scale(value: Linear, factor: int) -> tuple[Terms, Offset]:
    """Return the parts of ``value * factor``."""
    terms = tuple((atom, k * factor) for atom, k in value.terms) if factor else ()
    if isinstance(value.offset, tuple):
        return terms, tuple(off * factor for off in value.offset)
    return terms, value.offset * factor


def parts(value: Value, bits: int) -> tuple[Terms, Offset] | None:
    """Return terms and signed offset of *value*; None for a vector whose lanes have terms."""
    if value.__class__ is int:
        return (), centre(value, bits)
    if isinstance(value, Linear):
        return value.terms, value.offset
    assert isinstance(value, tuple)
    offsets = []
    for lane in value:
        if lane.__class__ is not int:
            return None
        offsets.append(centre(lane, bits))
    return (), tuple(offsets)


class Decision:
    """A comparison that was decided by assumption: ``g*T + offset`` against zero."""

    __slots__ = ("less", "offset", "outcome", "terms")

    def __init__(self, terms: Terms, offset: int, less: bool, outcome: bool) -> None:
        self.terms = terms
        self.offset = offset
        self.less = less
        self.outcome = outcome


class Unknowns:
    """The atoms of one run and everything assumed about them.

    ``preset`` maps the key of a term combination to a value found by an earlier run.
    """

    def __init__(self) -> None:
        self.solver = Solver(self)
        self.reset({})

    def reset(self, preset: dict[Key, int]) -> None:
        """Forget everything but *preset*."""
        self.atoms: dict[Key, Atom] = {}
        self.bounds: dict[Key, tuple[int, int]] = {}
        self.excluded: dict[Key, set[int]] = {}
        self.decisions: list[Decision] = []
        self.preset: dict[Key, int] = dict(preset)
        self.learned: dict[Key, int] = {}
        self.generous = False
        self.version = 0
        self._depth = 0
        self._trail: list[tuple[Atom, int | None]] | None = None
        self._canonical: dict[Terms, tuple[Key, int, Terms]] = {}

    def canonical(self, terms: Terms) -> tuple[Key, int, Terms]:
        """Return ``canonical(terms)``, remembered."""
        found = self._canonical.get(terms)
        if found is None:
            found = self._canonical[terms] = canonical(terms)
        return found

    # -- atoms ----------------------------------------------------------------------------------

    def atom(self, key: Key, low: int = 0, high: int = (1 << 31) - 1) -> Linear:
        """Return the unknown named *key*, made at its first mention."""
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = Atom(len(self.atoms), key, low, high)
            found.value = self.preset.get((key, 1))
        return Linear(((found, 1),), 0)

    def function(
        self, key: Key, evaluate: Callable[..., int], arguments: tuple[Scalar, ...], low: int, high: int
    ) -> Scalar:
        """Return ``evaluate(*arguments)`` as an atom, or its value when the arguments are known."""
        known = [self.resolve(argument) for argument in arguments]
        if all(value.__class__ is int for value in known):
            return evaluate(*known)
        key = (key[0], hash(key))
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = Atom(len(self.atoms), key, low, high)
            found.evaluate = evaluate
            found.arguments = arguments
            found.value = self.preset.get((key, 1))
        return found.value if found.value is not None else Linear(((found, 1),), 0)

    def value_of(self, atom: Atom) -> int | None:
        """Return the value of *atom* if what is assumed fixes it."""
        if atom.value is None and atom.evaluate is not None and atom.checked != self.version:
            if self._depth > MAX_DEPTH:
                return None
            atom.checked = self.version
            self._depth += 1
            known = [self.resolve(argument) for argument in atom.arguments]
            self._depth -= 1
            if all(value.__class__ is int for value in known):
                self._set(atom, atom.evaluate(*known))
        return atom.value

    def _set(self, atom: Atom, value: int | None) -> None:
        """Give *atom* a value; on trial, keep what it had."""
        if self._trail is not None:
            self._trail.append((atom, atom.value))
        atom.value = value

    def _undo(self, trail: list[tuple[Atom, int | None]]) -> None:
        """Give the atoms of *trail* back what they had before it."""
        for atom, old in reversed(trail):
            atom.value = old
        self.version += 1

    def resolve(self, value: Scalar) -> Scalar:
        """Return *value* with the known atoms replaced; an int (mathematical) when all are known."""
        if value.__class__ is int:
            return value
        assert isinstance(value, Linear)
        assert not isinstance(value.offset, tuple)
        terms, offset = self.reduce(value.terms, value.offset)
        if not terms:
            return offset  # type: ignore[return-value]
        return Linear(terms, offset)

    def reduce(self, terms: Terms, offset: Offset) -> tuple[Terms, Offset]:
        """Return *terms* and *offset* with the known atoms moved into the offset."""
        left = []
        moved = 0
        for atom, k in terms:
            known = self.value_of(atom)
            if known is None:
                left.append((atom, k))
            else:
                moved += k * known
        if left:
            key, g, _ = self.canonical(tuple(left))
            bound = self.bounds.get(key)
            if bound is not None and bound[0] == bound[1]:
                moved += g * bound[0]
                left = []
        return tuple(left), add_offsets(offset, moved) if moved else offset

    # -- comparisons ----------------------------------------------------------------------------

    def range_of(self, terms: Terms) -> tuple[Key, int, int, int]:
        """Return key, common factor and the bounds of the canonical combination of *terms*."""
        key, g, unit = self.canonical(terms)
        low = high = 0
        for atom, k in unit:
            if k > 0:
                low += k * atom.low
                high += k * atom.high
            else:
                low += k * atom.high
                high += k * atom.low
        bound = self.bounds.get(key)
        if bound is None and key in self.preset:
            bound = self.bounds[key] = (self.preset[key], self.preset[key])
        if bound is not None:
            low, high = max(low, bound[0]), min(high, bound[1])
        return key, g, low, high

    def truth(self, terms: Terms, offset: int, less: bool) -> bool | None:
        """Return whether ``terms + offset`` is ``< 0`` (*less*) or ``== 0``; None when open."""
        if not terms:
            return offset < 0 if less else offset == 0
        key, g, low, high = self.range_of(terms)
        least, most = (g * low, g * high) if g > 0 else (g * high, g * low)
        least, most = least + offset, most + offset
        if less:
            if most < 0:
                return True
            return False if least >= 0 else None
        if least > 0 or most < 0 or offset % g:
            return False
        if least == most:
            return True
        return False if -offset // g in self.excluded.get(key, ()) else None

    def asker(self, terms: Terms, less: bool) -> "Callable[[int], bool | None]":
        """Return ``truth`` of many offsets to *terms*, for as long as nothing new is assumed."""
        left, moved = self.reduce(terms, 0)
        assert isinstance(moved, int)
        shift = moved
        if not left:
            return (lambda offset: offset + shift < 0) if less else (lambda offset: offset + shift == 0)
        key, g, low, high = self.range_of(left)
        least, most = (g * low + shift, g * high + shift) if g > 0 else (g * high + shift, g * low + shift)
        excluded = self.excluded.get(key, ())

        def less_than(offset: int) -> bool | None:
            if most + offset < 0:
                return True
            return False if least + offset >= 0 else None

        def equal(offset: int) -> bool | None:
            if least + offset > 0 or most + offset < 0 or (offset + shift) % g:
                return False
            if least == most:
                return True
            return False if -(offset + shift) // g in excluded else None

        return less_than if less else equal

    def assume(self, terms: Terms, offset: int, less: bool, outcome: bool) -> None:
        """Record that ``terms + offset < 0`` (or ``== 0``) has *outcome*."""
        key, g, low, high = self.range_of(terms)
        self.decisions.append(Decision(terms, offset, less, outcome))
        if not less:
            if outcome:
                self.version += 1
                self.bounds[key] = (-offset // g, -offset // g)
                self._fix_single(terms, -offset // g)
            else:
                self.excluded.setdefault(key, set()).add(-offset // g)
            return
        # g*T + offset < 0
        if (g > 0) == outcome:
            edge = (-offset - 1) // g if g > 0 else -((-offset) // -g)
            if not outcome:  # g < 0: g*T + offset >= 0  ->  T <= offset / -g
                edge = offset // -g
            self.bounds[key] = (low, min(high, edge))
        else:
            if g > 0:  # g*T + offset >= 0 -> T >= ceil(-offset / g)
                edge = -(offset // g)
            else:  # g*T < -offset -> T > offset / -g
                edge = offset // -g + 1
            self.bounds[key] = (max(low, edge), high)
        bound = self.bounds[key]
        if bound[0] == bound[1]:
            self._fix_single(terms, bound[0])

    def fix(self, terms: Terms, target: int) -> bool:
        """Make the canonical combination of *terms* equal *target* if no decision contradicts it.

        When the combination is a function of one unknown, that unknown is chosen. Neighbours are tried
        when a decision contradicts. Returns False, and changes nothing, when none fits.
        """
        key, _, low, high = self.range_of(terms)
        unit = canonical(terms)[2]
        if any(atom.evaluate is not None for atom, _ in unit):
            wanted: dict[Atom, int] | None = None
            for choice in self.solver.choices(unit, target):
                if self._try_values(choice):
                    self._learn(choice)
                    return True
                wanted = wanted or choice
            if wanted is not None:
                # For another run, which knows it from the start.
                self._learn(wanted)
                return False
        tried = [target]
        if self.generous:  # after a loop unrolled by four, at best three turns are left
            tried += [value for value in range(target + 1, target + 8) if value % 4 == 3]
        for distance in range(1, 9):
            tried += [target + distance, target - distance]
        for value in tried:
            if not low <= value <= high or value in self.excluded.get(key, ()):
                continue
            if self._try(terms, key, value):
                self.learned[key] = value
                return True
        self.learned[key] = target
        return False

    def _learn(self, choice: "dict[Atom, int]") -> None:
        for leaf, chosen in choice.items():
            self.learned[canonical(((leaf, 1),))[0]] = chosen

    def _try_values(self, choice: "dict[Atom, int]") -> bool:
        trail = self._trail = []
        for atom, value in choice.items():
            self._set(atom, value)
        wrong = self._contradicted()
        self._trail = None
        if wrong:
            self._undo(trail)
        return not wrong

    def _contradicted(self) -> bool:
        self.version += 1
        for decision in self.decisions:
            left, offset = self.reduce(decision.terms, decision.offset)
            if left:
                continue
            assert isinstance(offset, int)
            actual = offset < 0 if decision.less else offset == 0
            if actual != decision.outcome:
                return True
        return False

    def _try(self, terms: Terms, key: Key, value: int) -> bool:
        saved_bounds = dict(self.bounds)
        trail = self._trail = []
        self.bounds[key] = (value, value)
        self._fix_single(terms, value)
        wrong = self._contradicted()
        self._trail = None
        if wrong:
            self.bounds = saved_bounds
            self._undo(trail)
        return not wrong

    def _fix_single(self, terms: Terms, value: int) -> None:
        self.version += 1
        if len(terms) != 1:
            return
        atom = terms[0][0]
        if atom.value is not None:
            return
        if atom.evaluate is not None:
            self._invert(atom, value, 0)
        if atom.value is None:
            self._set(atom, value)

    def _invert(self, atom: Atom, value: int, depth: int) -> None:
        """Choose a value for the one unknown that *atom* is a growing function of."""
        if depth > 4 or atom.evaluate is None:
            return
        leaves = unknowns_behind(((atom, 1),))
        if len(leaves) != 1 or leaves[0] is atom:
            return
        leaf = leaves[0]
        low, high = max(leaf.low, -(1 << 31)), min(leaf.high, 1 << 31)
        bound = self.bounds.get(canonical(((leaf, 1),))[0])
        if bound is not None:
            low, high = max(low, bound[0]), min(high, bound[1])
        family = self._family(atom)

        def at(guess: int) -> int | None:
            for member in family:
                self._set(member, None)
            self._set(leaf, guess)
            self.version += 1
            result = self.value_of(atom)
            self.version += 1
            for member in family:
                self._set(member, None)
            self._set(leaf, None)
            return result

        while low < high:
            middle = (low + high) // 2
            result = at(middle)
            if result is None:
                return
            if result < value:
                low = middle + 1
            else:
                high = middle
        if at(low) == value:
            self._set(leaf, low)

    def _family(self, atom: Atom) -> list[Atom]:
        family = []
        stack = [atom]
        seen = set()
        while stack:
            node = stack.pop()
            if node.id in seen or node.evaluate is None:
                continue
            seen.add(node.id)
            family.append(node)
            for argument in node.arguments:
                if isinstance(argument, Linear):
                    stack.extend(a for a, _ in argument.terms)
        return family


def canonical(terms: Terms) -> tuple[Key, int, Terms]:
    """Return a key, the factor g and the unit terms with ``terms == g * unit``."""
    if len(terms) == 1:
        atom, k = terms[0]
        return (atom.key, 1), k, ((atom, 1),)
    g = 0
    for _, k in terms:
        g = gcd(g, k)
    if terms[0][1] < 0:
        g = -g
    unit = tuple((atom, k // g) for atom, k in terms)
    return tuple((atom.key, k) for atom, k in unit), g, unit
