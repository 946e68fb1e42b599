"""The formats of a report, by the names that ``--output-format`` takes.

Each is a module beside this one, imported when it is used. All give the same text for the same report,
but for the times that ``--statistics`` adds.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ptxlint.report.finding import Report


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What some formats ask for.

    *statistics* adds totals to texts and JSON; *hidden* puts findings that comments or the baseline hide
    into SARIF, as suppressed.
    """

    statistics: bool = False
    hidden: bool = True


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, what it is for, and its text for a report, with no newline at the end."""

    name: str
    what: str
    render: Callable[[Report, FormatOptions], str]


def render(report: Report, name: str, options: FormatOptions | None = None) -> str:
    """Return *report* in the format called *name*, ending with a newline unless it is empty.

    Raises:
        KeyError: there is no such format.
    """
    text = FORMATS[name].render(report, options or FormatOptions())
    return f"{text}\n" if text else ""


def _full(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import text

    return _joined(line.plain for line in text.render(report, options.statistics))


def _concise(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import concise, statistics

    lines = [*concise.render(report)]
    if options.statistics:
        lines += statistics.render(report)
    return _joined(lines)


def _json(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import json

    return json.render(report, options.statistics)


def _sarif(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import sarif

    return sarif.render(report, options.hidden)


def _github(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import github

    return _joined(github.render(report))


def _gitlab(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import gitlab

    return gitlab.render(report)


def _junit(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import junit

    return junit.render(report)


def _rdjson(report: Report, options: FormatOptions) -> str:
    from ptxlint.report import rdjson

    return rdjson.render(report)


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines)


FORMATS = {
    known.name: known
    for known in (
        Format("full", "for people", _full),
        Format("concise", "one line a finding, for editors and grep", _concise),
        Format("json", "everything, as one object", _json),
        Format("sarif", "SARIF 2.1.0, for code scanning", _sarif),
        Format("github", "annotations of a GitHub workflow", _github),
        Format("gitlab", "a GitLab code quality report", _gitlab),
        Format("junit", "JUnit XML, a test case a kernel", _junit),
        Format("rdjson", "Reviewdog Diagnostic Format", _rdjson),
    )
}
