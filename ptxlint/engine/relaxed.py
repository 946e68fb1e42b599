"""Relaxed mbarrier operations: they tell that a phase is over, and order nothing without a fence.

What a relaxed wait observes is put aside until the thread executes a fence (or a barrier); a relaxed
arrival gives what the thread knew at its last fence (PTX ISA 8.8: release and acquire patterns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxlint.engine.clocks import Clock
from ptxlint.engine.warp import Fiber

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine


def observe(machine: Machine, fiber: Fiber, released: Clock) -> None:
    """Put aside what a relaxed wait observed; completed tcgen05 operations are known at once (9.7.16.6)."""
    machine.deferred.setdefault(fiber.component, Clock.empty()).join(released)
    seen = fiber.clock.seen
    for component, time in released.seen.items():
        name = machine.components.name(component)
        if isinstance(name, tuple) and name[0] == "tcgen05" and seen.get(component, -1) < time:
            seen[component] = time


def acquire(machine: Machine, fiber: Fiber) -> None:
    """Let what relaxed waits of the fiber observed count from now on."""
    if machine.relaxed_open:
        machine.relaxed_open.pop(fiber.component, None)
    if not machine.deferred:
        return
    level: Fiber | None = fiber
    while level is not None:
        waiting = machine.deferred.get(level.component)
        if waiting is not None:
            fiber.clock.join(waiting)
        level = level.parent


def release(machine: Machine, fiber: Fiber, mask: int) -> None:
    """Keep what the fiber knows at a releasing fence."""
    machine.fenced_at[fiber.component] = machine.publish(fiber, mask)


def released(machine: Machine, fiber: Fiber) -> Clock:
    """Return what a relaxed arrival gives: what was known at the last fence."""
    known = Clock.empty()
    level: Fiber | None = fiber
    while level is not None:
        fenced = machine.fenced_at.get(level.component)
        if fenced is not None:
            known.join(fenced)
        level = level.parent
    return known
