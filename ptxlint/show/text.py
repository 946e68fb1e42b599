"""The view on the terminal: memory, barriers, roles, one steady turn, and what is missing an order."""

from collections.abc import Iterator

from ptxlint.report.printable import printable
from ptxlint.show.model import Barrier, Buffer, Item, Role, View, shown_line


def render(view: View) -> Iterator[str]:
    """Yield the lines of the text."""
    yield printable(
        f"kernel {view.kernel} ({view.target}): {view.threads} threads, cluster of {view.cluster}"
    )
    yield ""
    yield "roles"
    for role in view.roles:
        yield f"  {role.id:4} {role.title:28} {_span(role)}"
    yield ""
    yield "shared memory"
    for buffer in view.buffers:
        yield f"  {buffer.id:4} {_bytes(buffer)} {printable(buffer.name)}"
        for use in _uses(buffer):
            yield f"         {use}"
    if view.barriers:
        yield ""
        yield "mbarriers"
        for barrier in view.barriers:
            yield f"  {barrier.id:4} {_barrier(barrier)}"
    yield ""
    yield "one steady turn"
    hazardous = {h.first: f"(1) {h.code}" for h in view.hazards if h.first}
    hazardous |= {h.second: f"(2) {h.code}" for h in view.hazards if h.second}
    names = {item.id: item for item in view.items}
    incoming: dict[str, list[str]] = {}
    for arrow in view.arrows:
        start = names[arrow.start]
        when = " of the turn before" if arrow.wraps else ""
        incoming.setdefault(arrow.end, []).append(f"{start.order + 1}{when}")
    for item in view.items:
        after = incoming.get(item.id, [])
        order = f"  after {', '.join(after[:4])}{', …' if len(after) > 4 else ''}" if after else ""
        mark = f"  <-- {hazardous[item.id]}" if item.id in hazardous else ""
        yield f"  {item.order + 1:3} {item.role:4} {printable(_what(item)):56} {_where(item)}{order}{mark}"
    for hazard in view.hazards:
        yield ""
        yield printable(f"{hazard.severity}[{hazard.code}]: {hazard.message}")
        if hazard.help:
            yield printable(f"  missing between (1) and (2): {hazard.help}")
    for note in view.notes:
        yield printable(f"note: {note}")


def _span(role: Role) -> str:
    low, high = role.lines
    return f"PTX lines {low}-{high}" if low != high else f"PTX line {low}"


def _bytes(buffer: Buffer) -> str:
    return f"[{buffer.low:6}, {buffer.high:6})"


def _uses(buffer: Buffer) -> list[str]:
    """Return how roles use a buffer, each way once."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for use in buffer.uses:
        roles = found.setdefault((use.verb, use.proxy, use.opcode), [])
        if use.role not in roles:
            roles.append(use.role)
    return [
        f"{', '.join(roles)} {verb} through the {proxy} proxy ({opcode})"
        for (verb, proxy, opcode), roles in found.items()
    ]


def _barrier(barrier: Barrier) -> str:
    count = "?" if barrier.count is None else barrier.count
    tracks = f", tracks {', '.join(barrier.buffers)}" if barrier.buffers else ""
    arrives = ", ".join(barrier.arrives) or "nobody seen"
    waits = ", ".join(barrier.waits) or "nobody"
    return printable(f"{barrier.name}, count {count}: {arrives} arrives; {waits} waits{tracks}")


def _what(item: Item) -> str:
    return f"{described(item)}{about(item)}"


def about(item: Item) -> str:
    """Return which buffers and barrier an item is about, in brackets."""
    parts = [
        *item.buffers[:3],
        *(["…"] if len(item.buffers) > 3 else []),
        *([item.barrier] if item.barrier else []),
    ]
    return f" [{' '.join(parts)}]" if parts else ""


def described(item: Item) -> str:
    """Return what an item is, in words."""
    return f"{item.kind} {item.label}" if item.kind in _ACCESSES else item.label


_ACCESSES = ("load", "store", "read", "write", "copy", "multiply")


def _where(item: Item) -> str:
    """Return the author's line of source, else that of the PTX."""
    link = shown_line(item.source)
    if link is None:
        return f"PTX:{item.line}"
    return f"{link.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{link.line}"
