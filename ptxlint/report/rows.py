"""Findings with where they are shown, in the order of the report; what all formats but the full text use.

A finding is shown where the full report shows it: in the CUDA source when the source of both its ends
is on disk, else in the PTX. The position in the PTX is always known too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ptxlint.report.finding import FileReport, Finding, Hidden, KernelReport, Report, Site
from ptxlint.report.paths import shown_path
from ptxlint.report.places import Place, Placer, Sources


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
