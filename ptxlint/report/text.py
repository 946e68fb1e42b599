"""The report for people: each finding with both ends, the path, the repair; coverage; a last line."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from rich.text import Text

from ptxlint.report import statistics
from ptxlint.report.excerpt import GUTTER, Label, excerpt, number_width
from ptxlint.report.finding import (
    Confidence,
    Coverage,
    FileReport,
    Finding,
    KernelReport,
    Report,
    Severity,
    Site,
)
from ptxlint.report.paths import shown_path
from ptxlint.report.places import Place, Placer, Sources
from ptxlint.report.printable import printable, printable_lines
from ptxlint.report.summary import Summary, plural

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_SECONDARY = "bold blue"
_ENDS = {"first": "(1)", "second": "(2)"}


def render(report: Report, with_statistics: bool = False) -> Iterator[Text]:
    """Yield the lines of the report, styled; ``.plain`` of each is the text without colours."""
    several = len(report.files) > 1
    for file in report.files:
        yield from _file(file, several)
    if with_statistics:
        yield from (Text(line) for line in statistics.render(report))
    yield Text(str(Summary.of(report)), "bold")


def _file(file: FileReport, several: bool) -> Iterator[Text]:
    sources = Sources.of(file)
    for problem in file.problems:
        yield from finding_lines(problem, sources)
    for kernel in file.kernels:
        for finding in kernel.findings:
            yield from finding_lines(finding, sources)
        yield Text(f"{printable(shown_path(file.path))}: " if several else "").append(coverage_line(kernel))
    if not file.kernels and not file.problems and file.error is None:
        yield Text(f"{printable(shown_path(file.path))}: no kernel (.entry) to analyse")


def finding_lines(finding: Finding, sources: Sources) -> Iterator[Text]:
    """Yield the lines for one finding, an empty one at the end."""
    placer = Placer(finding, sources)
    labels = _labels(finding, placer)
    width = number_width(labels)
    yield Text.assemble(
        (f"{finding.severity.value}[{printable(finding.code)}]", _STYLES[finding.severity]),
        (f": {printable(finding.message)}", "bold"),
    )
    yield from excerpt(labels, placer.text, width)
    for remark in _remarks(finding, placer):
        yield Text.assemble((f"{'':{width}} = ", GUTTER), (remark.title, "bold"), f": {remark.text}".rstrip())
        for line in remark.lines:
            yield Text(f"{'':{width}}   {line}".rstrip())
    yield Text()


def _labels(finding: Finding, placer: Placer) -> list[Label]:
    """Return what the excerpt shows: the two ends, and orderings that are there and do not do."""
    shown = [step for step in finding.trace if step.role in (*_ENDS, "near-miss")]
    labels = []
    found_primary = False
    for step in shown:
        primary = step.site == finding.site and step.role in _ENDS and not found_primary
        found_primary = found_primary or primary
        style = _STYLES[finding.severity] if primary else _SECONDARY
        text = f"{_ENDS.get(step.role, '')} {step.note}".strip()
        labels.append(Label(placer.place(step.site), text, style, primary))
    if not found_primary:
        labels.append(Label(placer.place(finding.site), "", _STYLES[finding.severity], True))
    return labels


@dataclass(frozen=True, slots=True)
class _Remark:
    title: str
    text: str
    lines: tuple[str, ...] = ()


def _remarks(finding: Finding, placer: Placer) -> Iterator[_Remark]:
    """Yield what follows the excerpt, after ``=``."""
    if finding.trace:
        own = all(step.actor == "ptxlint" for step in finding.trace)
        yield _Remark("where" if own else "path", "", tuple((_where if own else _path)(finding, placer)))
    if finding.fix is not None:
        repair = (*_repair("ptx", finding.fix.ptx), *_repair("cuda", finding.fix.cuda))
        yield _Remark("help", printable(finding.fix.summary), repair)
    notes = []
    if finding.cause is not None:
        notes.append(f"cause: {printable(finding.cause)}")
    if finding.confidence is not Confidence.HIGH:
        notes.append(f"confidence: {finding.confidence.value}")
    if finding.count > 1:
        notes.append(f"met {finding.count} times")
    if notes:
        yield _Remark("note", ", ".join(notes))
    if placer.in_source:
        yield _Remark("ptx", _ends_at(finding, placer.ptx_place))
    elif finding.site.source:
        yield _Remark("source", _ends_at(finding, placer.source_place))


def _path(finding: Finding, placer: Placer) -> Iterator[str]:
    for number, step in enumerate(finding.trace, 1):
        place = placer.place(step.site)
        file = PurePath(place.file).name
        what = f"access {_ENDS[step.role]}" if step.role in _ENDS else step.note
        yield printable(f"{number}. {step.actor}: {what}, at {file}:{place.line}")


def _where(finding: Finding, placer: Placer) -> Iterator[str]:
    """Yield what was not analysed, each with the first place; no events of threads, so not numbered."""
    for step in finding.trace:
        place = placer.place(step.site)
        yield printable(f"{step.note}, at {PurePath(place.file).name}:{place.line}")


def _ends_at(finding: Finding, place_of: Callable[[Site], Place | None]) -> str:
    """Return where both ends are: ``(1) k.ptx:217:2, (2) k.ptx:253:2``."""
    ends = [(f"{_ENDS[step.role]} ", step.site) for step in finding.trace if step.role in _ENDS]
    found = [(tag, place_of(site)) for tag, site in ends or [("", finding.site)]]
    return printable(", ".join(f"{tag}{place}" for tag, place in found if place is not None))


def _repair(language: str, text: str) -> tuple[str, ...]:
    lines = printable_lines(text)
    return tuple(f"{language + ':' if at == 0 else '':5} {line}" for at, line in enumerate(lines))


def coverage_line(kernel: KernelReport) -> Text:
    """Return what was analysed of *kernel*."""
    coverage = kernel.coverage
    counts = ", ".join(
        f"{analysed}/{present} {what}"
        for (analysed, present), what in (
            (coverage.async_ops, "async ops"),
            (coverage.shared_accesses, "shared accesses"),
            (coverage.mbarrier_ops, "mbarrier ops"),
            (coverage.events_reached, "events"),
        )
    )
    name = printable(kernel.title or kernel.name)
    target = f" ({printable(kernel.target)})" if kernel.target else ""
    line = Text.assemble("kernel ", (name, "bold"), f"{target}: analysed {counts}; ")
    if coverage.complete:
        return line.append("complete", "green")
    return line.append("incomplete", "bold yellow").append(f": {_why_incomplete(coverage)}")


def _why_incomplete(coverage: Coverage) -> str:
    reasons = [printable(note) for note in coverage.notes]
    if coverage.unknown_instructions:
        reasons.append(plural(coverage.unknown_instructions, "unknown instruction"))
    if coverage.forced_completions and not reasons:
        reasons.append(plural(coverage.forced_completions, "forced mbarrier completion"))
    return "; ".join(reasons) or "not every operation was reached"
