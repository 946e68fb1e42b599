"""Edits of a PTX text: where, what goes, what comes; and where a line of the old text is in the new."""

from bisect import bisect_right
from collections.abc import Iterable

from ptxlint.records import record


@record
class Edit:
    """The characters [start, end) of a text become *text*; offsets are those of the text before all edits."""

    start: int
    end: int
    text: str


def insertion_before(text: str, offset: int, statement: str) -> Edit:
    """Put *statement* on a line of its own before what begins at *offset*."""
    return Edit(offset, offset, statement + "\n" + _indent(text, offset))


def insertion_after(text: str, offset: int, end: int, statement: str) -> Edit:
    """Put *statement* on a line of its own behind the statement [offset, end)."""
    return Edit(end, end, "\n" + _indent(text, offset) + statement)


def _indent(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    blanks = line[: len(line) - len(line.lstrip(" \t"))]
    return blanks or "\t"


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return *text* with *edits* made; of equal ones only one is.

    Raises:
        ValueError: two edits overlap.
    """
    pieces: list[str] = []
    at = 0
    for edit in ordered(edits):
        if edit.start < at:
            raise ValueError("two edits overlap")
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def ordered(edits: Iterable[Edit]) -> list[Edit]:
    """Return *edits* by place, each once."""
    return sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end))


class LineMap:
    """Leads the lines of the edited text back to those of the text before."""

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        self._starts: list[int] = []
        self._shifts: list[int] = []
        shift = 0
        for edit in ordered(edits):
            removed, added = text.count("\n", edit.start, edit.end), edit.text.count("\n")
            if removed == added:
                continue
            line = text.count("\n", 0, edit.start) + 1
            # What stood behind an insertion at a line's end stays; what stood at it moves down.
            first = line + 1 if edit.text.startswith("\n") else line
            shift += added - removed
            self._starts.append(first + shift)
            self._shifts.append(shift)

    def before(self, line: int) -> int:
        """Return which line of the text before is at *line* of the edited text."""
        at = bisect_right(self._starts, line)
        return line - self._shifts[at - 1] if at else line
