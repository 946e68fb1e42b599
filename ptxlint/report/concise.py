"""The report as one line a finding, for editors and grep.

``path:line:col: CODE message [severity, ptx path:line:col]``; the last part where the finding is shown
in CUDA source. ``.github/ptxlint-matcher.json`` reads these lines.
"""

from collections.abc import Iterator

from ptxlint.report.finding import Report
from ptxlint.report.printable import printable
from ptxlint.report.rows import rows


def render(report: Report) -> Iterator[str]:
    """Yield a line for each finding."""
    for row in rows(report):
        finding = row.finding
        where = f", ptx {row.ptx_place}" if row.in_source else ""
        yield printable(f"{row.place}: {finding.code} {finding.message} [{finding.severity.value}{where}]")
