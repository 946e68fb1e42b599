"""Warps and fibers: lanes that run together, their registers, and how they part and rejoin."""

from functools import cache

from ptxlint.engine.clocks import Clock
from ptxlint.engine.events import Actor
from ptxlint.engine.program import Code
from ptxlint.engine.values import FULL, LANES, Scalar, Value, lane_of, lanes_of, settle


class Warp:
    """One warp: its index, the lanes that exist, its local memory."""

    __slots__ = ("alive", "executions", "index", "local", "mask", "parameters", "unsynced")

    def __init__(self, index: int, mask: int) -> None:
        self.index = index
        self.mask = mask
        self.alive = mask
        self.local: dict[int, tuple[Value, int]] = {}
        self.parameters: dict[object, tuple[Value, int]] = {}
        self.executions: dict[object, int] = {}


class Frame:
    """Where a call returns to."""

    __slots__ = ("at", "block", "code", "regs", "returns", "rpc")

    def __init__(
        self, code: Code, block: int, at: int, regs: list[Value], rpc: int, returns: tuple[object, ...]
    ) -> None:
        self.code = code
        self.block = block
        self.at = at
        self.regs = regs
        self.rpc = rpc
        self.returns = returns


class Fiber:
    """Lanes *mask* of a warp that run together: a thread of the happens-before relation.

    A divergent branch suspends a fiber and makes one child a side; when all children have reached
    the join block the fiber goes on there, knowing what they know.
    """

    __slots__ = (
        "actor",
        "at",
        "block",
        "blocked",
        "children",
        "clock",
        "code",
        "component",
        "done",
        "frames",
        "join",
        "lanes",
        "last_join",
        "loops",
        "mask",
        "parent",
        "pending",
        "regs",
        "warp",
    )

    def __init__(
        self,
        warp: Warp,
        mask: int,
        code: Code,
        regs: list[Value],
        clock: Clock,
        component: int,
        parent: "Fiber | None",
    ) -> None:
        self.warp = warp
        self.mask = mask
        self.lanes = lanes_in(mask)
        self.code = code
        self.regs = regs
        self.clock = clock
        self.component = component
        self.parent = parent
        self.block = 0
        self.at = 0
        self.join = -1
        self.children: list[Fiber] = []
        self.pending = 0
        self.blocked: tuple[object, ...] | None = None
        self.done = False
        self.frames: list[Frame] = []
        self.loops: dict[tuple[int, int], int] = {}
        self.actor = Actor(warp.index, mask)

    @property
    def time(self) -> int:
        """The fiber's own time."""
        return self.clock.seen[self.component]

    def tick(self) -> None:
        """Start a new moment: what happens from now on is not covered by what was published."""
        self.clock.seen[self.component] += 1


@cache
def lanes_in(mask: int) -> tuple[int, ...]:
    """Return the lanes of *mask*."""
    return tuple([i for i in range(LANES) if mask >> i & 1])


def narrow(regs: list[Value], mask: int, live: tuple[int, ...], vectors: tuple[int, ...]) -> list[Value]:
    """Return *regs* for lanes *mask*: one value a register when a single lane is left.

    Only the *live* registers and the constants that are *vectors* are looked at.
    """
    narrowed = regs.copy()
    if mask & (mask - 1):
        return narrowed
    lane = mask.bit_length() - 1
    for slot in live:
        value = narrowed[slot]
        if value.__class__ is not int:
            narrowed[slot] = lane_of(value, lane)
    for slot in vectors:
        narrowed[slot] = lane_of(narrowed[slot], lane)
    return narrowed


def merge(a: Value, mask_a: int, b: Value, mask_b: int) -> Value:
    """Return the value that is *a* in lanes *mask_a* and *b* in lanes *mask_b*."""
    if a is b or (a.__class__ is int and b.__class__ is int and a == b):
        return a
    if not mask_a:
        return b
    if not mask_b:
        return a
    either = mask_a | mask_b
    in_b = bits_of(mask_b)
    if a.__class__ is int and b.__class__ is int:
        if either == FULL:
            return tuple([b if bit else a for bit in in_b])
        lanes: list[Scalar] = [b if bit else a for bit in in_b]
    else:
        lanes = [y if bit else x for x, y, bit in zip(lanes_of(a), lanes_of(b), in_b)]  # noqa: B905
    if either != FULL:
        # Lanes that take no part hold anything: let them agree.
        first = lanes[(either & -either).bit_length() - 1]
        lanes = [v if bit else first for v, bit in zip(lanes, bits_of(either))]  # noqa: B905
    return settle(lanes)


@cache
def bits_of(mask: int) -> tuple[int, ...]:
    """Return the 32 bits of *mask*, lane 0 first."""
    return tuple([mask >> i & 1 for i in range(LANES)])
