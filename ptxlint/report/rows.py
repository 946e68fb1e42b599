"""Findings with where they are shown, in the order of the report; what all formats but the full text use.

A finding is shown where the full report shows it: in the CUDA source when the source of both its ends
is on disk, else in the PTX. The position in the PTX is always known too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ptxlint.report.finding import FileReport, Finding, Hidden, KernelReport, Report, Site
from ptxlint.report.paths import shown_path
from ptxlint.report.places import Place, Placer, Sources
from ptxlint.report.printable import printable, printable_lines

_MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class Row:
    """A finding, its file and kernel, and the chooser of places; *kernel* is None for a syntax problem."""

    file: FileReport
    kernel: KernelReport | None
    finding: Finding
    placer: Placer

    @property
    def place(self) -> Place:
        """Where the finding is shown."""
        return self.place_of(self.finding.site)

    @property
    def ptx_place(self) -> Place:
        """Where the finding is in the PTX."""
        return _shown(self.placer.ptx_place(self.finding.site))

    @property
    def in_source(self) -> bool:
        """Whether the finding is shown in CUDA source."""
        return self.placer.in_source

    def place_of(self, site: Site) -> Place:
        """Return where *site* is shown."""
        return _shown(self.placer.place(site))

    def help(self) -> str:
        """Return the repair as lines of text; empty when there is none."""
        fix = self.finding.fix
        if fix is None:
            return ""
        lines = [f"help: {fix.summary}"]
        for language, text in (("ptx", fix.ptx), ("cuda", fix.cuda)):
            if text:
                lines.append(f"{language}: {text}")
        return "\n".join(lines)


def hidden_rows_of_file(file: FileReport) -> Iterator[tuple[Row, Hidden]]:
    """Yield what is not reported of one file, each with what hides it."""
    sources = Sources.of(file)
    for hidden in file.hidden:
        yield Row(file, None, hidden.finding, Placer(hidden.finding, sources)), hidden
    for kernel in file.kernels:
        for hidden in kernel.hidden:
            yield Row(file, kernel, hidden.finding, Placer(hidden.finding, sources)), hidden


def rows(report: Report) -> Iterator[Row]:
    """Yield the findings of *report*, those of syntax problems first in each file."""
    for file in report.files:
        yield from rows_of_file(file)


@dataclass(frozen=True, slots=True)
class Remark:
    """What one line of source gets: a finding, and all places in PTX where the same was found.

    One statement may be compiled for several targets, or in several kernels.
    """

    row: Row
    ptx_places: list[Place]
    kernels: list[str]

    def text(self) -> str:
        """Return the message with the repair, the kernels and the places in the PTX, as printable lines."""
        lines = [self.row.finding.message, *printable_lines(self.row.help())]
        if self.kernels:
            lines.append(f"{'kernel' if len(self.kernels) == 1 else 'kernels'}: {_listed(self.kernels)}")
        if self.row.in_source:
            lines.append(f"in the PTX: {_listed(list(map(str, self.ptx_places)))}")
        return "\n".join(map(printable, lines))


def remarks(report: Report) -> list[Remark]:
    """Return the findings of *report* for those who read by lines of source: each said once a line."""
    found: dict[tuple[object, ...], Remark] = {}
    for row in rows(report):
        finding = row.finding
        key = (finding.code, finding.severity, finding.message, row.place, row.in_source or row.file.path)
        remark = found.setdefault(key, Remark(row, [], []))
        remark.ptx_places.append(row.ptx_place)
        name = None if row.kernel is None else row.kernel.title or row.kernel.name
        if name is not None and name not in remark.kernels:
            remark.kernels.append(name)
    return list(found.values())


def failures(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the path and the error of each file that was not checked and of which no finding tells."""
    for file in report.files:
        if file.error is not None and not file.problems:
            yield file.path, file.error


def _listed(values: list[str]) -> str:
    more = f" and {len(values) - _MOST_LISTED} more" if len(values) > _MOST_LISTED else ""
    return ", ".join(values[:_MOST_LISTED]) + more


def rows_of_file(file: FileReport) -> Iterator[Row]:
    """Yield the findings of one file."""
    sources = Sources.of(file)
    for problem in file.problems:
        yield Row(file, None, problem, Placer(problem, sources))
    for kernel in file.kernels:
        for finding in kernel.findings:
            yield Row(file, kernel, finding, Placer(finding, sources))


def _shown(place: Place) -> Place:
    return Place(shown_path(place.file), place.line, place.column)
