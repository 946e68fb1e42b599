"""Known findings: a file that hides them, so that only new ones are reported.

An entry hides one finding of its fingerprint in the file that it names, or in any file when that one is
gone, as files move. What is hidden is counted; entries of files that were checked and that match nothing are stale.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ptxlint
from ptxlint.demangle import LONGEST, demangle, elided, without_parameters
from ptxlint.report.finding import FileReport, Finding, Hidden, Report
from ptxlint.report.paths import shown_path
from ptxlint.settings import UserError

VERSION = 1
NEVER = "PTX999"


class BaselineError(UserError):
    """A baseline that cannot be read or made; the text names the file and says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One known finding; *file* is relative to the baseline, with forward slashes."""

    fingerprint: str
    code: str
    file: str
    kernel: str
    message: str

    def __str__(self) -> str:
        kernel = without_parameters(demangle([self.kernel])[self.kernel])
        where = f"{self.file}: {elided(kernel, LONGEST)}" if kernel else self.file
        return f"{self.code} in {where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Change:
    """What writing a baseline changed; *kept* are entries of what was not checked or asked for."""

    entries: list[Entry]
    added: list[Entry]
    removed: list[Entry]
    kept: int


class Baseline:
    """The known findings of one file."""

    def __init__(self, path: str, entries: Iterable[Entry] = ()) -> None:
        self.path = path
        self.entries = list(entries)
        self._folder = os.path.dirname(os.path.abspath(path))

    @classmethod
    def read(cls, path: str) -> "Baseline":
        """Read the baseline at *path*.

        Raises:
            BaselineError: it cannot be read, or is no baseline.
        """
        shown = shown_path(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise BaselineError(f"{shown}: no baseline: this is no regular file")
        try:
            data = json.loads(Path(path).read_text("utf-8-sig"))
        except FileNotFoundError:
            raise BaselineError(f"{shown}: there is no such baseline; --write-baseline makes one") from None
        except OSError as error:
            raise BaselineError(f"{shown}: {(error.strerror or str(error)).lower()}") from None
        except UnicodeDecodeError as error:
            raise BaselineError(f"{shown}: no baseline: no UTF-8 text at offset {error.start}") from None
        except json.JSONDecodeError as error:
            raise BaselineError(f"{shown}:{error.lineno}:{error.colno}: no baseline: {error.msg}") from None
        except (ValueError, RecursionError) as error:
            raise BaselineError(f"{shown}: no baseline: {error}") from None
        return cls(path, _entries(shown, data))

    def hide(self, report: Report) -> Report:
        """Return *report* with known findings moved to ``hidden``, and the stale entries."""
        return self._match(report)[0]

    def updated(self, report: Report) -> Change:
        """Return what the baseline becomes with the findings of *report* known.

        Entries of files that the run did not check stay, and those of codes that were not asked for.

        Raises:
            BaselineError: something in the run could not be checked, so that the baseline would lack it.
        """
        failed = [file.path for file in report.files if file.error is not None]
        if failed:
            raise BaselineError(f"{self.path}: not written, as {failed[0]} was not checked completely")
        checked = {self._name(file.path) for file in report.files}
        _, left, apart = self._match(report)
        kept = [*(entry for entry in left if entry.file not in checked), *apart]
        found = [
            Entry(finding.fingerprint, finding.code, self._name(file.path), kernel, finding.message)
            for file in report.files
            for finding, kernel in _findings(file)
        ]
        entries = sorted([*kept, *found], key=lambda e: (e.file, e.kernel, e.code, e.fingerprint, e.message))
        return Change(entries, _minus(entries, self.entries), _minus(self.entries, entries), len(kept))

    def _match(self, report: Report) -> tuple[Report, list[Entry], list[Entry]]:
        """Return *report* with what is known hidden, the entries that match nothing, and those set apart.

        Set apart are those of findings that are there and are not asked for.
        """
        left = list(self.entries)
        apart: list[Entry] = []
        files = [_hide(file, left, {self._name(file.path)}, apart) for file in report.files]
        gone = {entry.file for entry in left if not self._is_there(entry.file)}
        files = [_hide(file, left, gone, apart) for file in files]
        checked = {self._name(file.path) for file in files if file.error is None}
        stale = [str(entry) for entry in left if entry.file in checked]
        return replace(report, files=files, stale=stale), left, apart

    def _is_there(self, file: str) -> bool:
        """Return whether a file is on disk, or the one that it was taken from: ``libx.so#k.ptx``."""
        return os.path.exists(os.path.join(self._folder, file.rpartition("#")[0] or file))

    def _name(self, path: str) -> str:
        absolute = os.path.abspath(path)
        try:
            return Path(os.path.relpath(absolute, self._folder)).as_posix()
        except ValueError:  # another drive
            return Path(absolute).as_posix()


def hide_known(report: Report, paths: Sequence[str | None]) -> Report:
    """Return *report* with what is known hidden; *paths* are the baselines of its files, None for none.

    Raises:
        BaselineError: a baseline cannot be read.
    """
    files = list(report.files)
    stale = list(report.stale)
    for path in dict.fromkeys(path for path in paths if path is not None):
        mine = [number for number, other in enumerate(paths) if other == path]
        hidden = Baseline.read(path).hide(Report([files[number] for number in mine]))
        stale += hidden.stale
        for number, file in zip(mine, hidden.files, strict=True):
            files[number] = file
    return replace(report, files=files, stale=stale)


def render(entries: Iterable[Entry]) -> str:
    """Return a baseline with *entries* as text, an entry a line, so that changes read well."""
    lines = [
        json.dumps(
            {
                "fingerprint": entry.fingerprint,
                "code": entry.code,
                "file": entry.file,
                "kernel": entry.kernel,
                "message": entry.message,
            },
            ensure_ascii=False,
        )
        for entry in entries
    ]
    body = ",\n    ".join(lines)
    listed = f"[\n    {body}\n  ]" if lines else "[]"
    return f'{{\n  "version": {VERSION},\n  "ptxlint": "{ptxlint.__version__}",\n  "findings": {listed}\n}}\n'


def _hide(file: FileReport, left: list[Entry], names: set[str], apart: list[Entry]) -> FileReport:
    """Hide what an entry of *left* for a file in *names* knows; the entries that do are removed from it.

    Those of findings that are not asked for are added to *apart*.
    """
    by_fingerprint: dict[str, list[Entry]] = {}
    for entry in left:
        if entry.file in names:
            by_fingerprint.setdefault(entry.fingerprint, []).append(entry)
    taken: list[Entry] = []

    def split(findings: list[Finding]) -> tuple[list[Finding], list[Hidden]]:
        kept: list[Finding] = []
        hidden: list[Hidden] = []
        for finding in findings:
            entries = by_fingerprint.get(finding.fingerprint)
            if entries and finding.code != NEVER:
                taken.append(entries.pop(0))
                hidden.append(Hidden(finding, "baseline"))
            else:
                kept.append(finding)
        return kept, hidden

    kernels = []
    for kernel in file.kernels:
        kept, hidden = split(kernel.findings)
        kernels.append(replace(kernel, findings=kept, hidden=[*kernel.hidden, *hidden]))
    kept, hidden = split(file.problems)
    for finding in [*file.deselected, *(f for kernel in file.kernels for f in kernel.deselected)]:
        entries = by_fingerprint.get(finding.fingerprint)
        if entries:
            taken.append(entries.pop(0))
            apart.append(taken[-1])
    used = set(map(id, taken))
    left[:] = [entry for entry in left if id(entry) not in used]
    return replace(file, kernels=kernels, problems=kept, hidden=[*file.hidden, *hidden])


def _findings(file: FileReport) -> Iterator[tuple[Finding, str]]:
    """Yield what a baseline can know of *file*, with the kernel."""
    for finding in file.problems:
        if finding.code != NEVER:
            yield finding, ""
    for kernel in file.kernels:
        for finding in kernel.findings:
            yield finding, kernel.name


def _minus(one: list[Entry], other: list[Entry]) -> list[Entry]:
    """Return the entries of *one* that have no partner in *other*, by fingerprint and file."""
    left = Counter((entry.fingerprint, entry.file) for entry in other)
    rest = []
    for entry in one:
        if left[entry.fingerprint, entry.file] > 0:
            left[entry.fingerprint, entry.file] -= 1
        else:
            rest.append(entry)
    return rest


def _entries(path: str, data: Any) -> list[Entry]:
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise BaselineError(f'{path}: no baseline: expected an object with a list "findings"')
    if data.get("version") != VERSION:
        raise BaselineError(f"{path}: a baseline of version {data.get('version')!r}; expected {VERSION}")
    entries = []
    for number, item in enumerate(data["findings"], 1):
        fields = [item.get(name) for name in Entry.__slots__] if isinstance(item, dict) else [None]
        if not all(isinstance(value, str) for value in fields):
            raise BaselineError(
                f"{path}: no baseline: finding {number} lacks one of {', '.join(Entry.__slots__)}"
            )
        entries.append(Entry(*map(str, fields)))
    return entries
