"""Which line of source stands for an access: the frame where the two accesses part.

The innermost link of a ``.loc`` chain is often a wrapper that both accesses went through (an inline
``asm`` in a header). The chains of the two accesses share their outer links; the link below those is
where they differ within one function, and that is what a reader recognises.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ptxlint.ptx.source import SourceLocation
from ptxlint.report.finding import FileReport, Finding, Site, Step
from ptxlint.report.paths import shown_path
from ptxlint.report.source_files import SourceFiles

_ASM = re.compile(r"\b(?:asm|__asm__)\b")


@dataclass(frozen=True, slots=True)
class Place:
    """A position to show, in the file of that path; lines and columns from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{shown_path(self.file)}:{self.line}:{self.column}"


class Sources:
    """The source files that one PTX file names, read at most once, as far as they are on disk."""

    def __init__(self, ptx_path: str, ptx_text: str, roots: Iterable[str] = ()) -> None:
        self._files = SourceFiles(ptx_path, roots)
        self.ptx_path = ptx_path
        self._ptx_text = ptx_text
        self._ptx_lines: list[str] | None = None
        self._paths: dict[str, str | None] = {}
        self._texts: dict[str, list[str]] = {}

    @classmethod
    def of(cls, file: FileReport) -> "Sources":
        """Return the sources of what was checked."""
        return cls(file.path, file.text, file.source_roots)

    def ptx_line(self, number: int) -> str:
        """Return line *number* of the PTX, empty when there is none."""
        if self._ptx_lines is None:
            self._ptx_lines = self._ptx_text.split("\n")
        return _line(self._ptx_lines, number)

    def source_line(self, place: Place) -> str:
        """Return the line of CUDA source at *place*, one that :meth:`find` gave."""
        return _line(self._texts.get(place.file, []), place.line)

    def has_file(self, location: SourceLocation) -> bool:
        """Return whether the file of *location* is on disk."""
        return self._path(location.file) is not None

    def find(self, location: SourceLocation) -> Place | None:
        """Return where *location* is on disk, or None when there is no such file or line.

        Compilers count columns in bytes; those of a place are characters, as in the PTX.
        """
        path = self._path(location.file)
        if path is None or not 1 <= location.line <= len(self._texts[path]):
            return None
        line = self._texts[path][location.line - 1]
        return Place(path, location.line, _characters(line, location.column))

    def lines(self, file: str) -> tuple[str, list[str]] | None:
        """Return the path and the lines of a source file by the name that ``.file`` gives it, if on disk."""
        path = self._path(file)
        return None if path is None else (path, self._texts[path])

    def _path(self, file: str) -> str | None:
        if file not in self._paths:
            self._paths[file] = self._load(file)
        return self._paths[file]

    def _load(self, file: str) -> str | None:
        """Read *file*, as the PTX names it; return its path."""
        found = self._files.read(file)
        if found is None:
            return None
        path, text = found
        self._texts[path] = text.split("\n")
        return path


class Placer:
    """Chooses the place to show for each site of one finding."""

    def __init__(self, finding: Finding, sources: Sources) -> None:
        self._sources = sources
        self._trunk = _trunk(finding)
        self.in_source = all(self._is_found(site) for site in _ends(finding))

    def _is_found(self, site: Site) -> bool:
        """Return whether some link is on disk and none leads past the end of a file (changed since)."""
        found = [self._sources.find(link) for link in site.source if self._sources.has_file(link)]
        return bool(found) and None not in found

    def place(self, site: Site) -> Place:
        """Return where to show *site*: in the CUDA source when both ends are found there, else PTX."""
        if self.in_source:
            found = self.source_place(site)
            if found is not None:
                return found
        return self.ptx_place(site)

    def ptx_place(self, site: Site) -> Place:
        """Return the position of *site* in the PTX."""
        return Place(self._sources.ptx_path, site.line, site.column)

    def source_place(self, site: Site) -> Place | None:
        """Return the CUDA position that stands for *site*, on disk where that is so for both ends.

        A finding with one end has no frame where accesses part; its place is the innermost line that is
        not a mere ``asm`` statement, if there is one.
        """
        shared = len(site.source) if self._trunk is None else _common(site.source, self._trunk)
        start = max(0, len(site.source) - 1 - shared)
        outward = site.source[start:]
        wrapper: Place | None = None
        for link in (*outward, *reversed(site.source[:start])):
            place = self._sources.find(link) if self.in_source else _as_written(link)
            if place is None:
                continue
            if self._trunk is not None or not self.in_source or not _ASM.search(self.text(place)):
                return place
            wrapper = wrapper or place
        return wrapper

    def text(self, place: Place) -> str:
        """Return the line of text at *place*."""
        if place.file == self._sources.ptx_path:
            return self._sources.ptx_line(place.line)
        return self._sources.source_line(place)


def _as_written(link: SourceLocation) -> Place:
    return Place(link.file, link.line, max(1, link.column))


def step_of(finding: Finding, role: str) -> Step | None:
    """Return the first step of *finding* that has *role*."""
    return next((step for step in finding.trace if step.role == role), None)


def _ends(finding: Finding) -> list[Site]:
    ends = [step.site for step in finding.trace if step.role in ("first", "second")]
    return [finding.site, *ends]


def _trunk(finding: Finding) -> tuple[SourceLocation, ...] | None:
    """Return the outer links that both accesses share, outermost last; None without two accesses."""
    first, second = step_of(finding, "first"), step_of(finding, "second")
    if first is None or second is None or not first.site.source or not second.site.source:
        return None
    one, other = first.site.source, second.site.source
    shared = min(_common(one, other), len(one) - 1, len(other) - 1)
    return one[len(one) - shared :]


def _common(one: tuple[SourceLocation, ...], other: tuple[SourceLocation, ...]) -> int:
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _characters(line: str, column: int) -> int:
    """Return *column* of *line*, counted in bytes of UTF-8, in characters; from 1."""
    before = line.encode("utf-8")[: max(0, column - 1)]
    return max(1, column) - len(before) + len(before.decode("utf-8", "ignore"))


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1].rstrip("\r") if 1 <= number <= len(lines) else ""
