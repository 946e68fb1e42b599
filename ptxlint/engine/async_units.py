"""Groups of asynchronous operations: bulk async-groups, cp.async groups, wgmma-groups, tcgen05."""

from ptxlint.engine.events import Access


class GroupQueue:
    """The async-groups of one thread (PTX ISA 9.7.9.25.3, 9.7.9.27.2), or of one warpgroup.

    Operations issued since the last commit belong to group ``committed + 1``. ``full`` and ``read``
    are the clock components on which "groups up to n are complete" is kept.
    """

    __slots__ = ("actor", "committed", "full", "mask", "operations", "read", "waited", "warp")

    def __init__(self, warp: int, mask: int, full: int, read: int) -> None:
        self.warp = warp
        self.mask = mask
        self.full = full
        self.read = read
        self.committed = 0
        self.waited = 0
        self.operations: list[tuple[int, Access]] = []

    def issue(self, access: Access | None) -> int:
        """Add an operation to the open group and return the group's number."""
        number = self.committed + 1
        if access is not None:
            self.operations.append((number, access))
            if len(self.operations) > 256:
                del self.operations[:128]
        return number

    def commit(self) -> None:
        """Close the open group."""
        self.committed += 1

    def done(self, pending: int) -> int:
        """Return up to which group all are complete when at most *pending* newest are not."""
        return self.committed - pending
