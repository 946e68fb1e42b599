"""The report as GitHub workflow commands: each finding becomes an annotation of its line.

Escapes are those of the runner: ``%``, CR and LF in the message; ``:`` and ``,`` too in properties.
"""

from collections.abc import Iterator

from ptxlint.report.finding import Report, Severity
from ptxlint.report.paths import shown_path
from ptxlint.report.printable import printable, printable_lines
from ptxlint.report.rows import Row, rows_of_file

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> Iterator[str]:
    """Yield a workflow command for each finding and for each file that was not checked."""
    for file in report.files:
        for row in rows_of_file(file):
            yield _command(row)
        if file.error is not None:
            properties = f"file={_property(shown_path(file.path))},title=ptxlint"
            yield f"::error {properties}::{_data(printable(file.error))}"


def _command(row: Row) -> str:
    finding, place = row.finding, row.place
    properties = {
        "file": place.file,
        "line": str(place.line),
        "col": str(place.column),
        "title": f"{finding.code} {finding.name}",
    }
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(_message(row))}"


def _message(row: Row) -> str:
    lines = [printable(row.finding.message), *printable_lines(row.help())]
    if row.kernel is not None:
        lines.append(printable(f"kernel: {row.kernel.title or row.kernel.name}"))
    if row.in_source:
        lines.append(printable(f"in the PTX: {row.ptx_place}"))
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
