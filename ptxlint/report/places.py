"""Which line of source stands for an access: the frame where the two accesses part.

The innermost link of a ``.loc`` chain is often a wrapper that both accesses went through (an inline
``asm`` in a header). The chains of the two accesses share their outer links; the link below those is
where they differ within one function, and that is what a reader recognises.
"""

from dataclasses import dataclass
from pathlib import Path

from ptxlint.ptx.source import SourceLocation
from ptxlint.report.finding import Finding, Site, Step

MAX_SOURCE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """A position to show, in the file of that name; lines and columns from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Sources:
    """The source files that one PTX file names, read at most once, as far as they are on disk."""

    def __init__(self, ptx_path: str, ptx_text: str) -> None:
        self.ptx_path = ptx_path
        self._ptx_text = ptx_text
        self._ptx_lines: list[str] | None = None
        self._files: dict[str, list[str] | None] = {}

    def ptx_line(self, number: int) -> str:
        """Return line *number* of the PTX, empty when there is none."""
        if self._ptx_lines is None:
            self._ptx_lines = self._ptx_text.split("\n")
        return _line(self._ptx_lines, number)

    def source_line(self, place: Place) -> str:
        """Return the line of CUDA source at *place*; empty when it is not on disk."""
        return _line(self._read(place.file) or [], place.line)

    def has(self, location: SourceLocation) -> bool:
        """Return whether *location* leads to a line that is there."""
        lines = self._read(location.file)
        return lines is not None and 1 <= location.line <= len(lines)

    def _read(self, file: str) -> list[str] | None:
        if file not in self._files:
            self._files[file] = self._load(file)
        return self._files[file]

    def _load(self, file: str) -> list[str] | None:
        if not file or "\0" in file:
            return None
        for folder in (Path(self.ptx_path).parent, Path()):
            path = folder / file
            try:
                if path.is_file() and path.stat().st_size <= MAX_SOURCE_BYTES:
                    return path.read_text("utf-8", errors="replace").split("\n")
            except OSError:
                continue
        return None


class Placer:
    """Chooses the place to show for each site of one finding."""

    def __init__(self, finding: Finding, sources: Sources) -> None:
        self._sources = sources
        self._trunk = _trunk(finding)
        self.in_source = all(any(sources.has(link) for link in site.source) for site in _ends(finding))

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
        """Return the CUDA position that stands for *site*, on disk where that is so for both ends."""
        shared = _common(site.source, self._trunk)
        start = max(0, len(site.source) - 1 - shared)
        outward = site.source[start:]
        for link in (*outward, *reversed(site.source[:start])):
            if not self.in_source or self._sources.has(link):
                return Place(link.file, link.line, max(1, link.column))
        return None

    def text(self, place: Place) -> str:
        """Return the line of text at *place*."""
        if place.file == self._sources.ptx_path:
            return self._sources.ptx_line(place.line)
        return self._sources.source_line(place)


def step_of(finding: Finding, role: str) -> Step | None:
    """Return the first step of *finding* that has *role*."""
    return next((step for step in finding.trace if step.role == role), None)


def _ends(finding: Finding) -> list[Site]:
    ends = [step.site for step in finding.trace if step.role in ("first", "second")]
    return [finding.site, *ends]


def _trunk(finding: Finding) -> tuple[SourceLocation, ...]:
    """Return the outer links that both accesses share, outermost last."""
    first, second = step_of(finding, "first"), step_of(finding, "second")
    if first is None or second is None or not first.site.source or not second.site.source:
        return ()
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


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1].rstrip("\r") if 1 <= number <= len(lines) else ""
