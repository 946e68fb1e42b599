"""Put C++ names as people know them into a report, for all its files at once."""

import re
from dataclasses import replace

from ptxlint.demangle import demangle, mangled_names, short_names
from ptxlint.report.finding import FileReport, Finding, KernelReport, Report

_NAME = re.compile(r"_Z[\w$]+")


def demangled(report: Report) -> Report:
    """Return *report* with short names in its texts; kernels tell what the names in theirs mean in full."""
    used = {name: None for file in report.files for text in _texts(file) for name in mangled_names(text)}
    if not used:
        return report
    short = short_names(used)
    full = demangle(used)
    return replace(report, files=[_file(file, short, full) for file in report.files])


def _texts(file: FileReport) -> list[str]:
    texts = [text for finding in file.problems for text in _texts_of(finding)]
    for kernel in file.kernels:
        texts += [kernel.name, *kernel.coverage.notes]
        found = [*kernel.findings, *(hidden.finding for hidden in kernel.hidden)]
        texts += [text for finding in found for text in _texts_of(finding)]
    return texts


def _texts_of(finding: Finding) -> list[str]:
    fix = () if finding.fix is None else (finding.fix.summary, finding.fix.ptx, finding.fix.cuda)
    return [finding.message, *(step.note for step in finding.trace), *fix]


def _file(file: FileReport, short: dict[str, str], full: dict[str, str]) -> FileReport:
    return replace(
        file,
        problems=[_finding(finding, short) for finding in file.problems],
        kernels=[_kernel(kernel, short, full) for kernel in file.kernels],
    )


def _kernel(kernel: KernelReport, short: dict[str, str], full: dict[str, str]) -> KernelReport:
    texts = [text for finding in kernel.findings for text in _texts_of(finding)]
    names = dict.fromkeys(name for text in texts for name in mangled_names(text))
    return replace(
        kernel,
        title=short.get(kernel.name, ""),
        demangled=full.get(kernel.name, ""),
        symbols={name: full[name] for name in names if full[name] != name},
        findings=[_finding(finding, short) for finding in kernel.findings],
        hidden=[replace(hidden, finding=_finding(hidden.finding, short)) for hidden in kernel.hidden],
        coverage=replace(kernel.coverage, notes=[_text(note, short) for note in kernel.coverage.notes]),
    )


def _finding(finding: Finding, short: dict[str, str]) -> Finding:
    if not any("_Z" in text for text in _texts_of(finding)):
        return finding
    trace = tuple(replace(step, note=_text(step.note, short)) for step in finding.trace)
    fix = finding.fix
    if fix is not None:  # the repair as PTX keeps the names that PTX has
        fix = replace(fix, summary=_text(fix.summary, short), cuda=_text(fix.cuda, short))
    return replace(finding, message=_text(finding.message, short), trace=trace, fix=fix)


def _text(text: str, short: dict[str, str]) -> str:
    return _NAME.sub(lambda match: short.get(match[0], match[0]), text) if "_Z" in text else text
