"""Barriers of one CTA: mbarriers with their phases, CTA barriers, the cluster barrier."""

from ptxlint.engine.clocks import Clock
from ptxlint.engine.events import Access, Actor, Problem
from ptxlint.engine.program import Event

GENERATION = 1 << 24


class Mbarrier:
    """An mbarrier object (PTX ISA 9.7.13.15): expected arrivals, pending arrivals, tx-count, phase.

    ``gathered`` collects what arriving threads know; ``released`` is what the last completed phase
    gives to those who observe it. ``known`` is False for an object whose init was not seen.
    """

    __slots__ = (
        "address",
        "arrivals",
        "arrivers",
        "completed_with",
        "component",
        "copied",
        "copies",
        "copy_arrivals",
        "early",
        "end_actor",
        "end_event",
        "expected",
        "expects",
        "gathered",
        "generation",
        "history",
        "init_actor",
        "init_cluster",
        "init_component",
        "init_event",
        "init_time",
        "init_waits",
        "initialised",
        "known",
        "last_arrival",
        "observers",
        "passed",
        "peer",
        "pending",
        "phase",
        "released",
        "shared",
        "sites",
        "suspects",
        "tx",
        "tx_unknown",
        "unborn",
        "unknown_bytes",
        "unseen",
        "users",
        "watchers",
    )

    def __init__(self, address: int, component: int) -> None:
        self.address = address
        self.component = component
        self.generation = 0
        self.known = False
        self.initialised = False
        self.expected = 0
        self.pending = 0
        self.phase = 0
        self.tx = 0
        self.copied = 0
        self.unknown_bytes = False
        self.tx_unknown = False
        self.arrivals = 0
        self.copies: list[tuple[Event, int, Access | None, int]] = []
        self.gathered = Clock.empty()
        self.released = Clock.empty()
        self.observers: dict[int, tuple[int, int]] = {}
        self.watchers: dict[int, tuple[int, int, int, Event, Actor]] = {}
        self.passed: set[tuple[int, int]] = set()
        self.init_event: Event | None = None
        self.init_component = 0
        self.init_time = 0
        self.completed_with = 0
        self.peer = False
        self.history: list[tuple[int, int, list[tuple[Event, int, Access | None, int]], bool]] = []
        # What engine/mbarrier_rules.py keeps: uses before the init, users and arrivals by thread,
        # expect-tx and arrival sites, findings that wait for the end of the run.
        self.shared = False
        self.early: list[tuple[Event, Actor]] = []
        self.unborn: Problem | None = None
        self.users: dict[int, tuple[int, Event, Actor, int]] = {}
        self.arrivers: dict[int, tuple[int, Event, int]] = {}
        self.last_arrival: Event | None = None
        self.init_actor = Actor(0, 0)
        self.init_cluster = 0
        self.init_waits: dict[int, int] = {}
        self.end_event: Event | None = None
        self.end_actor = Actor(0, 0)
        self.sites: dict[int, Event] = {}
        self.expects: dict[int, Event] = {}
        self.suspects: list[Problem] = []
        self.unseen: list[Problem] = []
        self.copy_arrivals: dict[int, Event] = {}

    def start(self, count: int | None) -> None:
        """Initialise for *count* arrivals a phase (None: unknown)."""
        self.generation += 1
        self.initialised = True
        self.known = count is not None
        self.expected = self.pending = count or 0
        self.phase = 0
        self.tx = 0
        self.copied = 0
        self.unknown_bytes = False
        self.tx_unknown = False
        self.arrivals = 0
        self.copies = []
        self.expects = {}
        self.gathered = Clock.empty()
        self.released = Clock.empty()
        self.observers = {}
        self.watchers = {}
        self.passed = set()

    def stamp(self, phase: int) -> int:
        """Return the completion time of *phase* on this barrier's component."""
        return self.generation * GENERATION + phase + 1

    def ready(self) -> bool:
        """Return whether all expected arrivals are there."""
        return self.known and self.pending <= 0 and (self.arrivals > 0 or bool(self.copies))

    def balanced(self) -> bool:
        """Return whether the bytes copied are known to be the bytes expected."""
        return not self.unknown_bytes and self.copied == self.tx

    def complete(self) -> None:
        """End the phase: publish what was gathered, arm the next one."""
        self.history.append((self.phase, self.tx, self.copies, self.unknown_bytes))
        self.released = self.gathered.copy()
        self.released.seen[self.component] = self.stamp(self.phase)
        self.gathered.seen[self.component] = self.stamp(self.phase)
        self.phase += 1
        self.pending = self.expected
        self.tx = 0
        self.copied = 0
        self.unknown_bytes = False
        self.tx_unknown = False
        self.arrivals = 0
        self.copies = []
        self.expects = {}


class CtaBarrierState:
    """One of the CTA's sixteen barriers: which lanes have arrived, how often again, and what they know."""

    __slots__ = ("arrived", "clock", "count", "repeated", "waiting")

    def __init__(self) -> None:
        self.reset()

    def arrive(self, warp: int, lanes: int) -> None:
        """Count *lanes* of *warp*; who arrived for others may then arrive for itself, to wait."""
        before = self.arrived.get(warp, 0)
        self.repeated += bin(before & lanes).count("1")
        self.arrived[warp] = before | lanes

    def reset(self) -> None:
        """Forget the arrivals."""
        self.arrived: dict[int, int] = {}
        self.repeated = 0
        self.waiting: list[object] = []
        self.clock = Clock.empty()
        self.count: int | None = None


class ClusterBarrierState:
    """``barrier.cluster``: counted phases of arrive and wait; peers are taken to keep up."""

    __slots__ = ("arrived", "clock", "phase", "released")

    def __init__(self) -> None:
        self.arrived: dict[int, int] = {}
        self.clock = Clock.empty()
        self.released = Clock.empty()
        self.phase = 0
