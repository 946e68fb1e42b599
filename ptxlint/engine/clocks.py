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


class Clock:
    """What is known (``seen``) and what proxy fences on the way have covered, by state space."""

    __slots__ = ("fenced_global", "fenced_shared", "seen")

    def __init__(self, seen: Times, fenced_shared: Times, fenced_global: Times) -> None:
        self.seen = seen
        self.fenced_shared = fenced_shared
        self.fenced_global = fenced_global

    @staticmethod
    def empty() -> "Clock":
        """Return the clock that knows nothing."""
        return Clock({}, {}, {})

    def copy(self) -> "Clock":
        """Return a clock that knows the same and changes on its own."""
        return Clock(dict(self.seen), dict(self.fenced_shared), dict(self.fenced_global))

    def join(self, other: "Clock") -> None:
        """Learn all that *other* knows."""
        if other is self:
            return
        join(self.seen, other.seen)
        join(self.fenced_shared, other.fenced_shared)
        if other.fenced_global:
            join(self.fenced_global, other.fenced_global)


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
