"""The report in the Reviewdog Diagnostic Format (rdjson): a ``DiagnosticResult`` as JSON."""

import json
from typing import Any

from ptxlint.report.finding import Report, Severity
from ptxlint.report.paths import shown_path
from ptxlint.report.printable import printable
from ptxlint.report.rows import Remark, Row, failures, remarks

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def render(report: Report) -> str:
    """Return the result as JSON text, indented by two, in ASCII."""
    diagnostics = [_diagnostic(remark) for remark in remarks(report)]
    diagnostics += [_failure(path, error) for path, error in failures(report)]
    return json.dumps({"source": {"name": "ptxlint"}, "diagnostics": diagnostics}, indent=2)


def _diagnostic(remark: Remark) -> dict[str, Any]:
    finding, place = remark.row.finding, remark.row.place
    return {
        "message": remark.text(),
        "location": {
            "path": place.file,
            "range": {"start": {"line": place.line, "column": _bytes_before(remark.row) + 1}},
        },
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }


def _failure(path: str, error: str) -> dict[str, Any]:
    return {
        "message": printable(error),
        "location": {"path": shown_path(path)},
        "severity": "ERROR",
        "code": {"value": "ptxlint"},
    }


def _bytes_before(row: Row) -> int:
    """Return how many bytes of UTF-8 stand before the finding in its line; so the format counts columns."""
    place = row.placer.place(row.finding.site)
    before = row.placer.text(place)[: place.column - 1]
    missing = place.column - 1 - len(before)  # a column past the end of the line
    return len(before.encode("utf-8", "surrogatepass")) + missing
