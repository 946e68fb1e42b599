"""Vector clocks: what a thread knows to have happened, and what a proxy fence has covered.

A clock maps *components* to times. A component is one of

* a thread of the happens-before relation: a set of lanes of one warp that runs together. It has two
  components: an even one, raised by every edge, and the odd one after it, raised only by edges that
  the PTX ISA gives between lanes (``bar.warp.sync``, barriers, mbarriers), not by mere reconvergence;
* the completion of asynchronous operations: of an mbarrier's phases, a thread's bulk async-groups
  (all of it, or the source side only), a warpgroup's wgmma-groups, tcgen05 operations, cp.async groups.
  "Complete" is then a comparison like any other and travels along every edge.
"""

Times = dict[int, int]


class Part:
    """Lanes that arrived, each for itself, out of all that ran together up to *time*."""

    __slots__ = ("every", "lanes", "time")

    def __init__(self, time: int, lanes: int, every: int) -> None:
        self.time = time
        self.lanes = lanes
        self.every = every


class Clock:
    """What is known (``seen``) and what proxy fences on the way have covered, by state space.

    ``parts``: of components that some lanes only have arrived for; with the others' arrival the strict
    twin is known too.
    """

    __slots__ = ("fenced_global", "fenced_shared", "parts", "seen")

    def __init__(
        self, seen: Times, fenced_shared: Times, fenced_global: Times, parts: "dict[int, Part] | None" = None
    ) -> None:
        self.seen = seen
        self.fenced_shared = fenced_shared
        self.fenced_global = fenced_global
        self.parts = parts

    @staticmethod
    def empty() -> "Clock":
        """Return the clock that knows nothing."""
        return Clock({}, {}, {})

    def copy(self) -> "Clock":
        """Return a clock that knows the same and changes on its own."""
        parts = dict(self.parts) if self.parts else None
        return Clock(dict(self.seen), dict(self.fenced_shared), dict(self.fenced_global), parts)

    def arrived(self, component: int, part: Part) -> None:
        """Note the arrival of some lanes of *component*."""
        if self.parts is None:
            self.parts = {}
        known = self.parts.get(component)
        if known is not None and known.time > part.time:
            return
        if known is not None and known.time == part.time:
            part = Part(part.time, part.lanes | known.lanes, part.every)
        if part.every & ~part.lanes:
            self.parts[component] = part
            return
        self.parts.pop(component, None)
        if self.seen.get(component + 1, -1) < part.time:
            self.seen[component + 1] = part.time

    def join(self, other: "Clock") -> None:
        """Learn all that *other* knows."""
        if other is self:
            return
        join(self.seen, other.seen)
        join(self.fenced_shared, other.fenced_shared)
        if other.fenced_global:
            join(self.fenced_global, other.fenced_global)
        if other.parts:
            for component, part in other.parts.items():
                self.arrived(component, part)


def join(into: Times, other: Times) -> None:
    """Raise *into* to the pointwise maximum with *other*."""
    get = into.get
    for component, time in other.items():
        if get(component, -1) < time:
            into[component] = time


class Components:
    """Numbers for components, even ones; the odd number after each is its strict twin."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self.names: list[object] = []

    def number(self, name: object) -> int:
        """Return the number of *name*."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = 2 * len(self.names)
            self.names.append(name)
        return found

    def is_thread(self, number: int) -> bool:
        """Return whether *number* is a thread's component, not the completion of something."""
        name = self.names[number // 2]
        return isinstance(name, tuple) and len(name) == 2 and isinstance(name[0], int)

    def name(self, number: int) -> object:
        """Return the name behind *number*."""
        return self.names[number // 2]
