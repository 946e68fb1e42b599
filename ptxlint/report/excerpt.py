"""Excerpts of source in the manner of rustc: the lines, and under each what happens there."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rich.text import Text

from ptxlint.report.places import Place
from ptxlint.report.printable import expand, printable

GUTTER = "bold blue"

_WORD = re.compile(r"[\w:.$%]+(?:<[\w, ]*>)?")
_GUARD = re.compile(r"@!?[\w%$]+\s+")


@dataclass(frozen=True, slots=True)
class Label:
    """What to say at a place; the primary one is underlined with ``^``."""

    place: Place
    text: str
    style: str
    primary: bool = False


def excerpt(labels: list[Label], line_at: Callable[[Place], str], width: int) -> Iterator[Text]:
    """Yield the lines of an excerpt; *width* is that of the largest line number.

    The file of the primary label comes first, under ``-->``; others follow under ``:::``.
    """
    primary = next((label for label in labels if label.primary), labels[0])
    files = list(dict.fromkeys([primary.place.file, *(label.place.file for label in labels)]))
    for file in files:
        mine = [label for label in labels if label.place.file == file]
        head = primary if file == primary.place.file else mine[0]
        arrow = "-->" if head is primary else ":::"
        yield Text.assemble((f"{'':{width}}{arrow} ", GUTTER), printable(str(head.place)))
        yield rule(width)
        yield from _lines(mine, line_at, width)
    yield rule(width)


def rule(width: int) -> Text:
    """Return an empty line with its bar."""
    return Text(f"{'':{width}} |", GUTTER)


def number_width(labels: Iterable[Label]) -> int:
    """Return the width of the largest line number."""
    return max(len(str(label.place.line)) for label in labels)


def _lines(labels: list[Label], line_at: Callable[[Place], str], width: int) -> Iterator[Text]:
    previous = 0
    for number in sorted({label.place.line for label in labels}):
        here = [label for label in labels if label.place.line == number]
        if previous and number == previous + 2:
            place = Place(here[0].place.file, previous + 1, 1)
            yield _row(str(previous + 1), expand(line_at(place))[0], width)
        elif previous and number > previous + 2:
            yield Text(f"{'...':{width}}", GUTTER)
        line = line_at(here[0].place)
        yield _row(str(number), expand(line)[0], width)
        for label in here:
            yield _mark(label, line, width)
        previous = number


def _row(number: str, line: str, width: int) -> Text:
    row = Text.assemble((f"{number:>{width}} |", GUTTER))
    if line.strip():
        row.append(" " + line.rstrip())
    return row


def _mark(label: Label, line: str, width: int) -> Text:
    start, end = _extent(line, label.place.column)
    places = expand(line)[1]
    blank = " " * places[start]
    mark = ("^" if label.primary else "-") * max(1, places[end] - places[start])
    row = Text.assemble((f"{'':{width}} |", GUTTER), f" {blank}")
    row.append(f"{mark} {printable(label.text)}".rstrip(), label.style)
    return row


def _extent(line: str, column: int) -> tuple[int, int]:
    """Return which characters to underline for a position: the word that starts there.

    A column that leads outside of the text (a compiler gave none) means the whole line.
    """
    start = column - 1
    if not line[start : start + 1].strip():
        stripped = line.strip()
        start = len(line) - len(line.lstrip())
        return (start, start + len(stripped)) if stripped else (0, 0)
    guard = _GUARD.match(line, start)
    word = _WORD.match(line, guard.end() if guard else start)
    return start, word.end() if word else start + 1
