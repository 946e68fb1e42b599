"""The view as Mermaid and as DOT: roles as lanes, items in order, arrows for what orders them."""

from collections.abc import Iterator
from itertools import pairwise

from ptxlint.show.model import Item, View
from ptxlint.show.text import about, described

MOST = 60  # items: more would not be read in an issue


def chosen(view: View) -> list[Item]:
    """Return the items that are drawn: those of arrows and findings first, in order, at most ``MOST``."""
    ends = {end for arrow in view.arrows for end in (arrow.start, arrow.end)}
    ends |= {end for hazard in view.hazards for end in (hazard.first, hazard.second) if end}
    wanted = [item for item in view.items if item.id in ends] or list(view.items)
    marked = {end for hazard in view.hazards for end in (hazard.first, hazard.second)}
    while len(wanted) > MOST:
        least = next((item for item in reversed(wanted) if item.id not in marked), wanted[-1])
        wanted.remove(least)
    return wanted


def _text(item: Item) -> str:
    words = f"{item.order + 1}. {described(item)}{about(item)}"
    return "".join(c if c.isalnum() or c in " .,:[]-+_…" else "_" for c in words)


def mermaid(view: View) -> Iterator[str]:
    """Yield the lines of a Mermaid flowchart."""
    items = chosen(view)
    drawn = {item.id for item in items}
    yield "flowchart TB"
    for role in view.roles:
        mine = [item for item in items if item.role == role.id]
        if not mine:
            continue
        yield f'  subgraph {role.id}["{role.title}"]'
        yield "    direction TB"
        for item in mine:
            yield f'    {item.id}["{_text(item)}"]'
        for one, other in pairwise(mine):
            yield f"    {one.id} --- {other.id}"
        yield "  end"
    for arrow in view.arrows:
        if arrow.start in drawn and arrow.end in drawn:
            line = "-.->" if arrow.wraps else "-->"
            label = f"{arrow.kind}, next turn" if arrow.wraps else arrow.kind
            yield f'  {arrow.start} {line}|"{label}"| {arrow.end}'
    yield "  classDef hazard stroke:#c00,stroke-width:3px"
    for hazard in view.hazards:
        if hazard.first in drawn and hazard.second in drawn:
            yield f'  {hazard.first} x-. "{hazard.code}: no order" .-x {hazard.second}'
            yield f"  class {hazard.first},{hazard.second} hazard"


def dot(view: View) -> Iterator[str]:
    """Yield the lines of a DOT graph."""
    items = chosen(view)
    drawn = {item.id for item in items}
    yield "digraph pipeline {"
    yield '  rankdir=TB; node [shape=box, fontname="sans-serif", fontsize=10];'
    for role in view.roles:
        mine = [item for item in items if item.role == role.id]
        if not mine:
            continue
        yield f"  subgraph cluster_{role.id} {{"
        yield f'    label="{role.title}";'
        for item in mine:
            yield f'    {item.id} [label="{_text(item)}"];'
        for one, other in pairwise(mine):
            yield f"    {one.id} -> {other.id} [color=gray, arrowhead=none];"
        yield "  }"
    for arrow in view.arrows:
        if arrow.start in drawn and arrow.end in drawn:
            style = ", style=dashed, constraint=false" if arrow.wraps else ""
            yield f'  {arrow.start} -> {arrow.end} [label="{arrow.kind}"{style}];'
    for hazard in view.hazards:
        if hazard.first in drawn and hazard.second in drawn:
            yield (
                f"  {hazard.first} -> {hazard.second} "
                f'[label="{hazard.code}: no order", color=red, fontcolor=red, style=bold, constraint=false];'
            )
    yield "}"
