"""Check one text and say as text what fails: what tests and the pytest plugin share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxlint.kernel_objects import KernelText, Triple

if TYPE_CHECKING:
    from ptxlint.report.finding import FileReport


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller chose, as on the command line; shapes are (x, y, z)."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str = "warning"
    strict: bool = False
    block: Triple | None = None
    cluster: Triple | None = None


def check(kernel: KernelText, settings: Settings) -> "FileReport":
    """Check *kernel*; shapes of the settings come before those that its holder knows."""
    from ptxlint.linter import Options, check_text

    options = Options(
        settings.select,
        settings.ignore,
        settings.strict,
        settings.block or kernel.block,
        settings.cluster or kernel.cluster,
    )
    return check_text(kernel.text, kernel.path, options)


def failure(file: "FileReport", settings: Settings) -> str | None:
    """Return the report as text if something in *file* fails by the settings, else None.

    Raises:
        ValueError: ``fail_on`` is no severity.
    """
    from ptxlint.report import text
    from ptxlint.report.finding import Report, Severity

    least = Severity(settings.fail_on).rank
    report = Report([file])
    if file.error is None and all(finding.severity.rank < least for finding in report.findings()):
        return None
    return "\n".join(line.plain for line in text.render(report))
