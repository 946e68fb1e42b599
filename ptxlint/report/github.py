"""The report as GitHub workflow commands: each finding becomes an annotation of its line.

Escapes are those of the runner: ``%``, CR and LF in the message; ``:`` and ``,`` too in properties.
"""

from collections.abc import Iterator

from ptxlint.report.finding import Report, Severity
from ptxlint.report.paths import shown_path
from ptxlint.report.printable import printable
from ptxlint.report.rows import Remark, failures, remarks

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> Iterator[str]:
    """Yield a workflow command for each finding and for each file that was not checked."""
    for remark in remarks(report):
        yield _command(remark)
    for path, error in failures(report):
        yield f"::error file={_property(shown_path(path))},title=ptxlint::{_data(printable(error))}"


def _command(remark: Remark) -> str:
    finding, place = remark.row.finding, remark.row.place
    properties = {
        "file": place.file,
        "line": str(place.line),
        "col": str(place.column),
        "title": f"{finding.code} {finding.name}",
    }
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(remark.text())}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
