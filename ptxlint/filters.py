"""What of that which was found is reported: selection and severity."""

import os
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from ptxlint.codes import OFF_BY_DEFAULT
from ptxlint.demangle import matches_kernel
from ptxlint.report.finding import FileReport, Finding, Hidden, Severity
from ptxlint.settings import Prefixes, Settings

LIMITS = ("PTX990", "PTX991")
ALWAYS = "PTX999"


def apply(report: FileReport, settings: Settings) -> FileReport:
    """Return *report* with what *settings* ask for; the report that was given stays as it is."""
    of_file = _ignored_in_file(report.path, settings)

    def kept(findings: list[Finding], dropped: Prefixes) -> list[Finding]:
        found = [finding for finding in findings if _is_kept(finding, settings, dropped)]
        return [_with_severity(finding, settings) for finding in found]

    def others(findings: list[Finding], dropped: Prefixes) -> list[Finding]:
        return [finding for finding in findings if not _is_kept(finding, settings, dropped)]

    def hidden(found: list[Hidden], dropped: Prefixes) -> list[Hidden]:
        return [one for one in found if _is_kept(one.finding, settings, dropped)]

    kernels = []
    for kernel in report.kernels:
        dropped = (*of_file, *ignored_in_kernel(kernel.name, settings))
        kernels.append(
            replace(
                kernel,
                findings=kept(kernel.findings, dropped),
                hidden=hidden(kernel.hidden, dropped),
                deselected=others(kernel.findings, dropped),
            )
        )
    return replace(
        report,
        kernels=kernels,
        problems=kept(report.problems, of_file),
        hidden=hidden(report.hidden, of_file),
        deselected=others(report.problems, of_file),
        fail_on=settings.fail_on,
        source_roots=settings.source_roots,
    )


def _is_kept(finding: Finding, settings: Settings, dropped: Prefixes) -> bool:
    code = finding.code
    return code == ALWAYS or (wanted(code, settings) and not code.startswith(dropped))


def _with_severity(finding: Finding, settings: Settings) -> Finding:
    if settings.strict and finding.code in LIMITS:
        return finding.with_severity(Severity.ERROR)
    matching = [entry for entry in settings.severity if finding.code.startswith(entry[0])]
    if matching and finding.code != ALWAYS:
        return finding.with_severity(max(matching, key=lambda entry: len(entry[0]))[1])
    return finding


def wanted(code: str, settings: Settings) -> bool:
    """Return whether findings of *code* are wanted; the longest matching prefix decides.

    Advice that is off by default is wanted only when it is selected by its whole code.
    """
    select, ignore = settings.select, settings.ignore
    more = settings.extend_select
    if code in OFF_BY_DEFAULT and code not in (*select, *more):
        return False
    chosen = max((len(p) for p in (*select, *more) if code.startswith(p)), default=-1 if select else 0)
    dropped = max((len(p) for p in ignore if code.startswith(p)), default=-1)
    return chosen >= 0 and chosen > dropped


def _ignored_in_file(path: str, settings: Settings) -> Prefixes:
    return tuple(
        prefix
        for pattern, prefixes in settings.per_file_ignores
        if matches_path(path, pattern, settings.root)
        for prefix in prefixes
    )


def ignored_in_kernel(name: str, settings: Settings) -> Prefixes:
    """Return the codes that are not wanted in the kernel called *name*."""
    return tuple(
        prefix
        for pattern, prefixes in settings.per_kernel_ignores
        if matches_kernel(name, pattern)
        for prefix in prefixes
    )


def is_excluded(path: str, settings: Settings) -> bool:
    """Return whether *settings* leave out the file or folder at *path*."""
    return any(matches_path(path, pattern, settings.root) for pattern in settings.exclude)


def matches_path(path: str, pattern: str, root: str) -> bool:
    """Return whether the glob matches *path*, relative to *root*, or its last part, or a folder above it.

    ``*`` matches separators too. Of PTX out of another file, ``FILE#NAME``, the file counts as well.
    """
    if "#" in path and matches_path(path.rpartition("#")[0], pattern, root):
        return True
    relative = _relative(path, root)
    pattern = pattern.removeprefix("./").removesuffix("/")
    parents = [parent.as_posix() for parent in Path(relative).parents][:-1]
    places = (relative, *parents) if "/" in pattern else (*Path(relative).parts, relative)
    return any(fnmatchcase(place, pattern) or fnmatchcase(place, f"{pattern}/*") for place in places)


def _relative(path: str, root: str) -> str:
    full = Path(os.path.abspath(path))
    folder = os.path.abspath(root)
    return full.relative_to(folder).as_posix() if full.is_relative_to(folder) else full.as_posix()
