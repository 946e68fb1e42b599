"""The view as one HTML file: swim lanes drawn as SVG here, a few lines of script for choosing and filtering.

Nothing is loaded from elsewhere. Every name and text is escaped.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from ptxlint.report.printable import printable
from ptxlint.show.drawing import BAR_WIDTH, BOX_HEIGHT, HEAD, LANE_WIDTH, UNIT, Drawing, draw
from ptxlint.show.model import Hazard, Item, View, shown_line
from ptxlint.show.text import about, described

COLOURS = 8
_ASSETS = Path(__file__).parent / "assets"


class Lines:
    """What is written at a place, if it can be shown: PTX lines, and lines of the source files on disk."""

    def ptx(self, number: int) -> str:
        """Return line *number* of the PTX."""
        return ""

    def source(self, item: Item) -> str:
        """Return the author's line behind *item*."""
        return ""


def page(views: list[View], lines: Lines, title: str) -> str:
    """Return the whole page for *views*."""
    body = "\n".join("\n".join(_kernel(number, view, lines)) for number, view in enumerate(views))
    return (
        page_text("page.html")
        .replace("{{title}}", _e(title))
        .replace("{{style}}", page_text("page.css"))
        .replace("{{script}}", page_text("page.js"))
        .replace("{{body}}", body)
    )


def page_text(name: str) -> str:
    """Return the text of one of the page's own files."""
    return (_ASSETS / name).read_text("utf-8").rstrip("\n")


def _e(text: str) -> str:
    return escape(printable(text), quote=True)


def _kernel(number: int, view: View, lines: Lines) -> Iterator[str]:
    prefix = f"k{number}"
    drawing = draw(view)
    yield f'<section class="kernel" id="{prefix}" aria-label="{_e(view.kernel)}">'
    yield f"<h2>{_e(view.kernel)} <small>{_e(view.target)}, {view.threads} threads</small></h2>"
    yield from _hazards(prefix, view, lines)
    yield from _filters(prefix, view)
    yield from _memory(view)
    yield '<div class="scroll" tabindex="0" aria-label="one steady turn, time goes down">'
    yield from _picture(prefix, view, drawing)
    yield "</div>"
    yield f'<pre class="detail" id="{prefix}-detail" aria-live="polite">Choose an item or a finding.</pre>'
    for note in view.notes:
        yield f'<p class="note">{_e(note)}</p>'
    yield "</section>"


def _hazards(prefix: str, view: View, lines: Lines) -> Iterator[str]:
    if not view.hazards:
        yield '<p class="quiet">No finding.</p>'
        return
    items = {item.id: item for item in view.items}
    yield '<ul class="hazards">'
    for number, hazard in enumerate(view.hazards):
        shown = [_sited(name, items.get(identity), lines) for name, identity in _ends(hazard)]
        yield (
            f'<li><button type="button" class="hazard {_e(hazard.severity)}" data-hazard="{prefix}-h{number}" '
            f'data-code="{_e(hazard.code)}" data-first="{prefix}-{hazard.first}" '
            f'data-second="{prefix}-{hazard.second}" data-path="{" ".join(f"{prefix}-{p}" for p in hazard.path)}" '
            f'aria-pressed="false"><b>{_e(hazard.code)}</b> {_e(hazard.message)}</button>'
            f'<div class="trace" hidden>{"".join(shown)}<p>Missing between (1) and (2): {_e(hazard.help)}</p></div></li>'
        )
    yield "</ul>"


def _ends(hazard: Hazard) -> list[tuple[str, str]]:
    path = [("", identity) for identity in hazard.path]
    return [("(1)", hazard.first), *path, ("(2)", hazard.second)]


def _sited(name: str, item: Item | None, lines: Lines) -> str:
    if item is None:
        return ""
    link = shown_line(item.source)
    where = (
        f"PTX {item.line}" if link is None else f"{link.file.rsplit('/', 1)[-1]}:{link.line}, PTX {item.line}"
    )
    code = "\n".join(filter(None, [lines.source(item).strip(), lines.ptx(item.line).strip()]))
    return (
        f"<p><b>{name}</b> {item.order + 1}. {_e(item.role)} {_e(described(item))}{_e(about(item))} "
        f"<small>{_e(where)}</small></p>" + (f"<pre>{_e_lines(code)}</pre>" if code else "")
    )


def _e_lines(text: str) -> str:
    return "\n".join(_e(line) for line in text.split("\n"))


def _filters(prefix: str, view: View) -> Iterator[str]:
    yield '<details class="filters"><summary>Filter</summary>'
    for kind, entries in (
        ("role", [(role.id, role.title) for role in view.roles]),
        ("buffer", [(buffer.id, buffer.name) for buffer in view.buffers]),
        ("rule", [(code, code) for code in dict.fromkeys(h.code for h in view.hazards)]),
    ):
        if not entries:
            continue
        yield f"<fieldset><legend>{kind}</legend>"
        for identity, title in entries:
            yield (
                f'<label><input type="checkbox" checked data-filter="{kind}" data-of="{prefix}" '
                f'value="{_e(identity)}"> {_e(identity)} {_e(title) if title != identity else ""}</label>'
            )
        yield "</fieldset>"
    yield "</details>"


def _memory(view: View) -> Iterator[str]:
    yield '<div class="memory" role="list" aria-label="shared memory">'
    for number, buffer in enumerate(view.buffers):
        size = buffer.high - buffer.low
        yield (
            f'<span role="listitem" class="c{number % COLOURS}" title="bytes {buffer.low} to {buffer.high}">'
            f"{buffer.id} {_e(buffer.name)} <small>{size} B</small></span>"
        )
    yield "</div>"


def _picture(prefix: str, view: View, drawing: Drawing) -> Iterator[str]:
    colour = {buffer.id: f"c{number % COLOURS}" for number, buffer in enumerate(view.buffers)}
    yield (
        f'<svg width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'role="img" aria-label="swim lanes of {_e(view.kernel)}">'
    )
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>'
    )
    for identity, title, x in drawing.lanes:
        width = LANE_WIDTH - 6 if identity != UNIT else drawing.width - x - 12
        yield f'<g class="lane" data-role="{identity}"><rect x="{x}" y="4" width="{width}" height="{drawing.height - 8}" rx="6"/>'
        yield f'<text x="{x + 8}" y="24" class="head">{_e(_cut(title, 34))}</text></g>'
    for bar in drawing.bars:
        first = bar.item.buffers[0] if bar.item.buffers else ""
        open_ = " open" if bar.is_open else ""
        yield (
            f'<rect class="bar {colour.get(first, "")}{open_}" data-role="{bar.item.role}" '
            f'data-buffers="{" ".join(bar.item.buffers)}" x="{bar.x}" y="{bar.top}" width="{BAR_WIDTH}" '
            f'height="{bar.bottom - bar.top}" rx="4"><title>{_e(described(bar.item))} in flight</title></rect>'
        )
    yield from _arrows(prefix, view, drawing)
    for box in drawing.boxes:
        item = box.item
        first = item.buffers[0] if item.buffers else ""
        yield (
            f'<g class="item k-{item.kind}" id="{prefix}-{item.id}" tabindex="0" role="button" data-role="{item.role}" '
            f'data-buffers="{" ".join(item.buffers)}" data-line="{item.line}" '
            f'data-text="{_e(_sentence(item))}">'
        )
        yield f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{BOX_HEIGHT}" rx="4"/>'
        if first:
            yield (
                f'<rect class="stage {colour[first]}" x="{box.x}" y="{box.y}" width="6" height="{BOX_HEIGHT}" rx="2"/>'
            )
        label = f"{item.order + 1} {described(item)}{about(item)}"
        yield f'<text x="{box.x + 12}" y="{box.y + 16}">{_e(_cut(label, 34))}<title>{_e(label)}</title></text></g>'
    yield from _gaps(prefix, view, drawing)
    yield "</svg>"


def _sentence(item: Item) -> str:
    link = shown_line(item.source)
    where = f", {link.file.rsplit('/', 1)[-1]}:{link.line}" if link is not None else ""
    return f"{item.order + 1}. {item.role}: {described(item)}{about(item)}{where}, PTX line {item.line}"


def _arrows(prefix: str, view: View, drawing: Drawing) -> Iterator[str]:
    for arrow in view.arrows:
        start, end = drawing.box(arrow.start), drawing.box(arrow.end)
        if start is None or end is None:
            continue
        wraps = " wraps" if arrow.wraps else ""
        yield (
            f'<path class="arrow {arrow.kind}{wraps}" data-from="{prefix}-{arrow.start}" data-to="{prefix}-{arrow.end}" '
            f'd="{_curve(start.x + start.width, start.y, end.x + (0 if end.x > start.x else end.width), end.y)}" '
            f'marker-end="url(#tip)"><title>{arrow.kind}{", next turn" if arrow.wraps else ""}</title></path>'
        )


def _gaps(prefix: str, view: View, drawing: Drawing) -> Iterator[str]:
    for number, hazard in enumerate(view.hazards):
        start, end = drawing.box(hazard.first), drawing.box(hazard.second)
        if start is not None and end is not None:
            yield (
                f'<path class="gap" id="{prefix}-h{number}" '
                f'd="{_curve(start.x + start.width, start.y, end.x + end.width, end.y, 64)}" marker-end="url(#tip)">'
                f"<title>{_e(hazard.code)}: no order</title></path>"
            )


def _curve(x1: int, y1: int, x2: int, y2: int, bend: int = 24) -> str:
    half = BOX_HEIGHT // 2
    return f"M{x1} {y1 + half}C{x1 + bend} {y1 + half} {x2 + (bend if x2 <= x1 else -bend)} {y2 + half} {x2} {y2 + half}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


__all__ = ["HEAD", "Lines", "page"]
