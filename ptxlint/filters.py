"""What of that which was found is reported: selection and severity."""

from dataclasses import replace
from functools import cache

from ptxlint.report.finding import FileReport, Finding, KernelReport, Severity
from ptxlint.settings import Settings

LIMITS = ("PTX990", "PTX991")
ALWAYS = "PTX999"


def apply(report: FileReport, settings: Settings) -> FileReport:
    """Return *report* with what *settings* ask for; the report that was given stays as it is."""
    kernels = [
        replace(kernel, findings=_kept(kernel.findings, settings, kernel)) for kernel in report.kernels
    ]
    return replace(report, kernels=kernels, problems=_kept(report.problems, settings, None))


def _kept(findings: list[Finding], settings: Settings, kernel: KernelReport | None) -> list[Finding]:
    return [
        _with_severity(finding, settings)
        for finding in findings
        if finding.code == ALWAYS or wanted(finding.code, settings)
    ]


def _with_severity(finding: Finding, settings: Settings) -> Finding:
    if settings.strict and finding.code in LIMITS:
        return finding.with_severity(Severity.ERROR)
    return finding


def wanted(code: str, settings: Settings) -> bool:
    """Return whether findings of *code* are wanted; the longest matching prefix decides.

    Advice that is off by default is wanted only when it is selected by its whole code.
    """
    select, ignore = settings.select, settings.ignore
    more = settings.extend_select
    if code in _off_by_default() and code not in (*select, *more):
        return False
    chosen = max((len(p) for p in (*select, *more) if code.startswith(p)), default=-1 if select else 0)
    dropped = max((len(p) for p in ignore if code.startswith(p)), default=-1)
    return chosen >= 0 and chosen > dropped


@cache
def _off_by_default() -> frozenset[str]:
    from ptxlint.checks import ALL_CHECKS

    return frozenset(check.code for check in ALL_CHECKS if not check.default)
