"""Addresses and sizes of bulk copies as they were, for the check of their alignment.

Only values that the program fixes are kept: what was assumed about unknowns proves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxlint.engine.events import Actor
from ptxlint.engine.program import Event
from ptxlint.engine.values import LANES, Value, lane_of
from ptxlint.engine.warp import Fiber

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

RESIDUES = 128


def note(machine: Machine, fiber: Fiber, event: Event, mask: int, role: str, value: Value) -> None:
    """Keep one *value* of operand *role* for each remainder modulo 128."""
    if isinstance(value, int):
        values = [value]
    elif isinstance(value, tuple):
        lanes = (lane_of(value, lane) for lane in range(LANES) if mask >> lane & 1)
        values = [v for v in lanes if isinstance(v, int)]
    else:
        return
    kept = machine.outcome.operands.setdefault((id(event), role), {})
    for number in values:
        remainder = number % RESIDUES
        if remainder not in kept:
            actor = fiber.actor if mask == fiber.mask else Actor(fiber.warp.index, mask)
            kept[remainder] = (number, event, actor)
