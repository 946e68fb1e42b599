"""How many bytes the tensor stores of a run read: told by the places that one tensor map takes in turn.

A store's box is in its map, which PTX does not show. Stores through one map move boxes of one size, so
that the least distance of two of their sources bounds it: the slots of a ring lie side by side.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from ptxlint.engine.operations import value_key
from ptxlint.engine.program import Event
from ptxlint.engine.values import lane_of
from ptxlint.engine.warp import Fiber

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

LARGEST = 1 << 16


class StorePlaces:
    """The shared addresses that tensor stores read, by tensor map."""

    def __init__(self) -> None:
        self.places: dict[object, set[int]] = {}
        self.sites: dict[int, object] = {}

    def note(self, machine: "Machine", fiber: Fiber, event: Event, address: int) -> None:
        """Note one store of the box at *address*."""
        value = lane_of(machine.address(fiber, event.b.tensor_map), fiber.lanes[0])
        key = value_key(machine.unknowns.resolve(value))
        self.places.setdefault(key, set()).add(address)
        self.sites[event.instruction.index] = key

    def sizes(self) -> dict[int, int]:
        """Return a size for each store instruction whose map was used at two places or more."""
        least: dict[object, int] = {}
        for key, places in self.places.items():
            order = sorted(places)
            steps = [after - before for before, after in pairwise(order)]
            if steps and min(steps) <= LARGEST:
                least[key] = min(steps)
        return {site: least[key] for site, key in self.sites.items() if key in least}
