"""What a run produces for the checks: accesses, conflicts, and what happened around them."""

from enum import Enum

from ptxlint.engine.clocks import Times
from ptxlint.engine.program import Event
from ptxlint.records import field, mutable_record, record


class Family(str, Enum):
    """Which asynchronous unit performs an access, and so how its completion is learnt."""

    GENERIC = "generic"
    BULK_LOAD = "bulk load"
    BULK_STORE = "bulk store"
    WGMMA = "wgmma"
    TCGEN05 = "tcgen05"
    CANCEL = "clusterlaunchcontrol"
    CP_ASYNC = "cp.async"
    REMOTE = "remote"


@record
class Actor:
    """A thread of the happens-before relation: lanes *mask* of warp *warp*."""

    warp: int
    mask: int

    def __str__(self) -> str:
        if self.mask == 0xFFFFFFFF:
            return f"warp {self.warp}"
        lanes = [i for i in range(32) if self.mask >> i & 1]
        if len(lanes) == 1:
            return f"warp {self.warp} lane {lanes[0]}"
        if lanes == list(range(lanes[0], lanes[-1] + 1)):
            return f"warp {self.warp} lanes {lanes[0]}-{lanes[-1]}"
        return f"warp {self.warp} ({len(lanes)} lanes)"


class Access:
    """One access of bytes ``low`` to ``high`` (exclusive) of this CTA's shared memory.

    ``points`` lists the lanes' addresses when they leave gaps. For an asynchronous access
    ``completion`` is (component, time): complete for those whose clock has reached it; ``issue`` is
    what its issuer knew. ``previous`` is the time of the access of the same kind that this one replaced.
    ``box`` tells which tensor map, and so which size, a tensor copy has.
    ``unused``: what it reads goes where nothing looks at it before it is written again.
    """

    __slots__ = (
        "actor",
        "box",
        "completion",
        "component",
        "event",
        "exact",
        "family",
        "high",
        "issue",
        "low",
        "points",
        "previous",
        "queue",
        "sequence",
        "size",
        "time",
        "unused",
        "vague",
        "write",
    )

    def __init__(
        self,
        event: Event,
        actor: Actor,
        component: int,
        time: int,
        low: int,
        high: int,
        write: bool,
        family: Family,
        sequence: int,
    ) -> None:
        self.event = event
        self.actor = actor
        self.component = component
        self.time = time
        self.low = low
        self.high = high
        self.write = write
        self.family = family
        self.sequence = sequence
        self.points: tuple[int, ...] | None = None
        self.size = high - low
        self.completion: tuple[int, int] | None = None
        self.issue: Times = {}
        self.queue: object = None
        self.box: object = None
        self.previous = -1
        self.exact = True
        self.vague = False
        self.unused = False

    def overlaps(self, low: int, high: int) -> bool:
        """Return whether any byte of [low, high) is touched."""
        if self.low >= high or low >= self.high:
            return False
        if self.points is None:
            return True
        size = self.size
        return any(point < high and low < point + size for point in self.points)


class Gap(str, Enum):
    """What is missing between two conflicting accesses."""

    ORDER = "order"  # the second is not ordered after the first
    COMPLETION = "completion"  # the asynchronous first is not known to be complete
    PROXY_FENCE = "proxy fence"  # ordered, but no proxy fence on the way
    WARP_SYNC = "warp sync"  # ordered only by reconvergence within a warp


@mutable_record
class LogEntry:
    """A synchronising event of one thread, kept for traces and causes."""

    sequence: int
    actor: Actor
    component: int
    time: int
    event: Event
    detail: str = ""
    number: int = 0


@mutable_record
class Conflict:
    """Two accesses of the same bytes, at least one asynchronous and one a write, with a gap."""

    gap: Gap
    first: Access
    second: Access
    seen: Times
    forced: bool
    scenario: str
    count: int = 1
    log: list[LogEntry] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)
    others: list[tuple[Access, Access]] = field(default_factory=list)


@mutable_record
class PendingAtExit:
    """A bulk copy whose source may still be being read when its issuer exits."""

    access: Access
    actor: Actor
    committed: bool
    exit_event: Event | None
    forced: bool
    scenario: str
    log: list[LogEntry] = field(default_factory=list)
    waited_by_others: LogEntry | None = None


@mutable_record
class IgnoredWait:
    """A wait on an mbarrier whose False outcome is not looked at."""

    event: Event
    access: Event


@record
class Point:
    """An instruction that a thread executed, at *sequence* in the run."""

    event: Event
    actor: Actor
    sequence: int


@mutable_record
class Hazard:
    """Two things in the wrong order, or without an order, other than two accesses of this CTA's bytes.

    ``kind`` is what the checks look for; ``cause`` and ``facts`` are the kind's own.
    """

    kind: str
    first: Point
    second: Point
    cause: str = ""
    forced: bool = False
    scenario: str = ""
    count: int = 1
    log: list[LogEntry] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)


@mutable_record
class Problem:
    """Something that is wrong by itself: a kind, the event, and another event it refers to."""

    kind: str
    event: Event
    actor: Actor
    other: Event | None = None
    detail: str = ""
    forced: bool = False
    facts: dict[str, object] = field(default_factory=dict)
