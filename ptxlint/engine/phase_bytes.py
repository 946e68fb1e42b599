"""Whether the bytes expected of phases and their tensor copies agree, as far as PTX tells.

The size of a tensor copy is its tensor map's box, which PTX does not show. But a map has one box: phases with
the same copies take the same bytes; a copy brings something; and it does not reach into the next buffer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from ptxlint.engine.events import Access, Problem
from ptxlint.engine.program import Event

if TYPE_CHECKING:
    from ptxlint.engine.barriers import Mbarrier
    from ptxlint.engine.machine import Machine

# No box is smaller (PTX ISA 5.5.3: its inner dimension is a multiple of 16 bytes).
LEAST = 16


@dataclass(frozen=True, slots=True)
class Phase:
    """A completed phase that tensor copies signalled: the bytes expected of them and what they are."""

    address: int
    left: int
    tx: int
    copies: tuple[tuple[Event, int, Access], ...]
    expects: tuple[Event, ...]

    @property
    def boxes(self) -> tuple[tuple[str, int], ...]:
        """Which maps the copies use, how often each for one use of the one that is used least."""
        counts = Counter(str(access.box) for _, _, access in self.copies)
        rounds = gcd(*counts.values())
        return tuple(sorted((box, number // rounds) for box, number in counts.items()))

    @property
    def rounds(self) -> int:
        """How often the set of copies told by ``boxes`` is made."""
        return len(self.copies) // sum(number for _, number in self.boxes)


def note(machine: Machine, barrier: Mbarrier) -> None:
    """Keep the phase of *barrier* that ends, if tensor copies of known destinations signalled it."""
    if barrier.tx_unknown or barrier.peer or barrier.shared or machine.tainted or machine.denies:
        return
    tensor = [(event, at, access) for event, at, access, size in barrier.copies if size < 0]
    if not tensor or any(
        a is None or a.box is None or a.actor.mask & (a.actor.mask - 1) for _, _, a in tensor
    ):
        return
    copies = tuple((event, at, access) for event, at, access in tensor if access is not None)
    expects = tuple(barrier.expects.values())
    machine.phases.append(Phase(barrier.address, barrier.tx - barrier.copied, barrier.tx, copies, expects))


def disagreements(machine: Machine) -> list[Problem]:
    """Return a problem for each phase whose expected bytes cannot be those of its copies."""
    if machine.launch.cluster_size > 1:
        return []
    usual: dict[object, Counter[Fraction]] = {}
    for phase in machine.phases:
        usual.setdefault(phase.boxes, Counter())[Fraction(phase.left, phase.rounds)] += 1
    starts = sorted(machine.starts)
    found = []
    for phase in machine.phases:
        least = LEAST * len(phase.copies)
        most = sum(_room(starts, at) for _, at, _ in phase.copies)
        common = usual[phase.boxes].most_common(1)[0][0] * phase.rounds
        if phase.left < least:
            found.append(_problem(machine, phase, "more-copied", least))
        elif phase.left != common:
            found.append(_problem(machine, phase, "other-phases", int(common)))
        elif phase.left > most:
            found.append(_problem(machine, phase, "no-room", most))
    return found


def _room(starts: list[int], address: int) -> int:
    from bisect import bisect_right

    at = bisect_right(starts, address)
    return starts[at] - address if at < len(starts) else 1 << 20


def _problem(machine: Machine, phase: Phase, cause: str, other: int) -> Problem:
    event, _, access = phase.copies[-1]
    return Problem(
        "mbarrier-bytes",
        event,
        access.actor,
        phase.expects[-1] if phase.expects else machine.mbarriers[phase.address].init_event,
        "",
        False,
        {
            "cause": cause,
            "address": phase.address,
            "expected": phase.tx,
            "copied": other + phase.tx - phase.left,
            "known": machine.mbarriers[phase.address].known,
            "expects": phase.expects,
            "least": other if cause == "more-copied" else None,
        },
    )
