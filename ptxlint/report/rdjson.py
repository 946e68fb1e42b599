"""The report in the Reviewdog Diagnostic Format (rdjson): a ``DiagnosticResult`` as JSON."""

import json
from typing import Any

from ptxlint.report.finding import Report, Severity
from ptxlint.report.paths import shown_path
from ptxlint.report.printable import printable, printable_lines
from ptxlint.report.rows import Row, rows_of_file

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def render(report: Report) -> str:
    """Return the result as JSON text, indented by two, in ASCII."""
    diagnostics: list[dict[str, Any]] = []
    for file in report.files:
        diagnostics += [_diagnostic(row) for row in rows_of_file(file)]
        if file.error is not None and not file.problems:
            diagnostics.append(
                {
                    "message": printable(file.error),
                    "location": {"path": shown_path(file.path)},
                    "severity": "ERROR",
                    "code": {"value": "ptxlint"},
                }
            )
    return json.dumps({"source": {"name": "ptxlint"}, "diagnostics": diagnostics}, indent=2)


def _diagnostic(row: Row) -> dict[str, Any]:
    finding, place = row.finding, row.place
    lines = [printable(finding.message), *printable_lines(row.help())]
    if row.in_source:
        lines.append(printable(f"in the PTX: {row.ptx_place}"))
    return {
        "message": "\n".join(lines),
        "location": {
            "path": place.file,
            "range": {"start": {"line": place.line, "column": _bytes_before(row) + 1}},
        },
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }


def _bytes_before(row: Row) -> int:
    """Return how many bytes of UTF-8 stand before the finding in its line; so the format counts columns."""
    place = row.placer.place(row.finding.site)
    before = row.placer.text(place)[: place.column - 1]
    missing = place.column - 1 - len(before)  # a column past the end of the line
    return len(before.encode("utf-8", "surrogatepass")) + missing
