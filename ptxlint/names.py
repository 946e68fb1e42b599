"""C++ names in place of mangled ones, in what is reported of a file.

Fingerprints are not made of texts, and :attr:`KernelReport.name` stays as the PTX has it.
"""

import re
from dataclasses import replace

from ptxlint.demangle import demangle, mangled_names, short_names
from ptxlint.report.finding import FileReport, Finding, Fix, KernelReport, Report, Step

_NAME = re.compile(r"_Z[\w$]+")


def named(report: Report) -> Report:
    """Return *report* with short C++ names in its texts; all files share one call of a demangler."""
    used = [_names(file) for file in report.files]
    demangle(name for names in used for name in names)
    return replace(report, files=[with_cpp_names(file) for file in report.files])


def with_cpp_names(report: FileReport) -> FileReport:
    """Return *report* with short C++ names in its texts; two names of the file never look the same."""
    names = _names(report)
    if not names:
        return report
    short = short_names(names)
    return replace(
        report,
        problems=[_finding(finding, short) for finding in report.problems],
        kernels=[_kernel(kernel, short) for kernel in report.kernels],
    )


def _names(report: FileReport) -> list[str]:
    kernels = [kernel.name for kernel in report.kernels]
    findings = [*report.problems, *(finding for kernel in report.kernels for finding in kernel.findings)]
    texts = [text for finding in findings for text in _texts(finding)]
    return list(dict.fromkeys(name for text in (*kernels, *texts) for name in mangled_names(text)))


def _texts(finding: Finding) -> list[str]:
    fix = [finding.fix.summary] if finding.fix is not None else []
    return [finding.message, *(step.note for step in finding.trace), *fix]


def _kernel(kernel: KernelReport, short: dict[str, str]) -> KernelReport:
    texts = [text for finding in kernel.findings for text in _texts(finding)]
    used = dict.fromkeys(name for text in texts for name in mangled_names(text))
    return replace(
        kernel,
        findings=[_finding(finding, short) for finding in kernel.findings],
        symbols={name: full for name, full in demangle(used).items() if full != name},
        demangled=demangle([kernel.name])[kernel.name],
        shown=short.get(kernel.name, kernel.name),
    )


def _finding(finding: Finding, short: dict[str, str]) -> Finding:
    if not any(mangled_names(text) for text in _texts(finding)):
        return finding
    return replace(
        finding,
        message=_text(finding.message, short),
        trace=tuple(_step(step, short) for step in finding.trace),
        fix=_fix(finding.fix, short),
    )


def _step(step: Step, short: dict[str, str]) -> Step:
    return replace(step, note=_text(step.note, short)) if "_Z" in step.note else step


def _fix(fix: Fix | None, short: dict[str, str]) -> Fix | None:
    return None if fix is None else replace(fix, summary=_text(fix.summary, short))


def _text(text: str, short: dict[str, str]) -> str:
    return _NAME.sub(lambda match: short.get(match.group(), match.group()), text)
