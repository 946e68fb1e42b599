"""The report as a GitLab code quality report: a JSON list of violations.

Fingerprints differ within a report, as GitLab asks; they are those of the findings with the path.
"""

import hashlib
import json
from typing import Any

from ptxlint.report.finding import Report, Severity
from ptxlint.report.paths import shown_path
from ptxlint.report.printable import printable
from ptxlint.report.rows import failures, remarks

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def render(report: Report) -> str:
    """Return the list as JSON text, indented by two, in ASCII."""
    seen: dict[str, int] = {}
    violations = []
    for remark in remarks(report):
        finding, place = remark.row.finding, remark.row.place
        identity = f"{finding.code}\0{place.file}\0{finding.fingerprint or finding.message}"
        violations.append(
            _violation(
                printable(finding.message),
                finding.code,
                _SEVERITIES[finding.severity],
                _unique(identity, seen),
                place.file,
                place.line,
            )
        )
    for path, error in failures(report):
        shown = shown_path(path)
        fingerprint = _unique(f"ptxlint\0{shown}\0{error}", seen)
        violations.append(_violation(printable(error), "ptxlint", "blocker", fingerprint, shown, 1))
    return json.dumps(violations, indent=2)


def _violation(
    description: str, name: str, severity: str, fingerprint: str, path: str, line: int
) -> dict[str, Any]:
    return {
        "description": description,
        "check_name": name,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }


def _unique(identity: str, seen: dict[str, int]) -> str:
    """Return the digest of *identity*, another one each time."""
    number = seen[identity] = seen.get(identity, 0) + 1
    return hashlib.sha256(f"{identity}\0{number}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
