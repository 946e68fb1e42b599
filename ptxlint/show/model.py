"""What every view of a pipeline shows: one structure for text, JSON, HTML, Mermaid and DOT.

Addresses are bytes in the CTA's shared memory as the analysis laid it out; *order* counts the items of one steady
turn in the order of the abstract run.
"""

from ptxlint.ptx.source import SourceLocation
from ptxlint.records import record

VERSION = 1


@record
class Role:
    """Threads that run the same part of the kernel: whole warps, or one lane of a warp."""

    id: str
    title: str
    threads: int
    lines: tuple[int, int]
    source: tuple[SourceLocation, ...] = ()


@record
class Use:
    """How a role uses a buffer: ``reads`` or ``writes``, through the ``generic`` or the ``async`` proxy."""

    role: str
    verb: str
    proxy: str
    opcode: str
    line: int


@record
class Buffer:
    """Bytes [low, high) of shared memory that are used as one piece: a stage, a tile, a slot."""

    id: str
    name: str
    low: int
    high: int
    uses: tuple[Use, ...]


@record
class Barrier:
    """An mbarrier: its count, who arrives and who waits, which buffers it tells about."""

    id: str
    name: str
    address: int
    count: int | None
    arrives: tuple[str, ...]
    waits: tuple[str, ...]
    buffers: tuple[str, ...]


@record
class Item:
    """One event of the turn: who, what, on which buffers and barrier, where in PTX and CUDA source."""

    id: str
    order: int
    role: str
    kind: str
    label: str
    line: int
    source: tuple[SourceLocation, ...]
    buffers: tuple[str, ...] = ()
    barrier: str = ""


def shown_line(source: tuple[SourceLocation, ...]) -> SourceLocation | None:
    """Return the line of a chain that an author would look at: where a wrapper of one instruction is called."""
    if not source:
        return None
    outer = source[-1].file
    mine = [number for number, link in enumerate(source) if link.file == outer]
    return source[mine[0] if mine[0] or len(source) == 1 else min(1, len(source) - 1)]


@record
class Arrow:
    """An order between two items: ``completion`` of an asynchronous operation, ``phase``, ``barrier`` or ``group``.

    *wraps*: the second item is that of the next turn.
    """

    start: str
    end: str
    kind: str
    wraps: bool = False


@record
class Hazard:
    """A finding: its two accesses, as items, with the steps between them that are items too."""

    code: str
    name: str
    severity: str
    message: str
    fingerprint: str
    first: str
    second: str
    path: tuple[str, ...]
    help: str


@record
class View:
    """The pipeline of one kernel; *notes* say what could not be analysed."""

    kernel: str
    target: str
    threads: int
    cluster: int
    roles: tuple[Role, ...]
    buffers: tuple[Buffer, ...]
    barriers: tuple[Barrier, ...]
    items: tuple[Item, ...]
    arrows: tuple[Arrow, ...]
    hazards: tuple[Hazard, ...]
    notes: tuple[str, ...] = ()

    def role(self, identity: str) -> Role:
        """Return the role called *identity*."""
        return next(role for role in self.roles if role.id == identity)
