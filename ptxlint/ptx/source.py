"""PTX source text, positions in it, and the CUDA positions that ``.loc`` leads to."""

from bisect import bisect_right

from ptxlint.records import record


@record
class SourceLocation:
    """A position in the high-level source (PTX ISA 11.5.3, ``.loc``); lines and columns from 1."""

    file: str
    line: int
    column: int


@record
class Position:
    """A position in the PTX text; line and column from 1."""

    line: int
    column: int


class Source:
    """One PTX text with its name; turns character offsets into lines and columns."""

    __slots__ = ("_starts", "path", "text")

    def __init__(self, text: str, path: str = "<stdin>") -> None:
        self.text = text
        self.path = path
        self._starts: list[int] | None = None

    def position(self, offset: int) -> Position:
        """Return the line and column of the character at *offset*."""
        starts = self._line_starts()
        row = bisect_right(starts, offset)
        return Position(row, offset - starts[row - 1] + 1)

    def line(self, number: int) -> str:
        """Return line *number* (from 1) without its end; empty when there is none."""
        starts = self._line_starts()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts
