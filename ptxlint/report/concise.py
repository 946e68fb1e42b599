"""The report as one line a finding, for editors and grep: ``path:line:col: CODE message``."""

from collections.abc import Iterator

from ptxlint.report.finding import Report
from ptxlint.report.printable import printable


def render(report: Report) -> Iterator[str]:
    """Yield a line for each finding; lines and columns are those of the PTX."""
    for file in report.files:
        for finding in [*file.problems, *(f for kernel in file.kernels for f in kernel.findings)]:
            site = finding.site
            yield printable(f"{file.path}:{site.line}:{site.column}: {finding.code} {finding.message}")
