"""PTX files as test items, one a kernel (``pytest --ptxlint``).

The names of a file's kernels are found by a scan of its text, so that collection is quick in every
worker; the file is analysed once in a process, when the first of its kernels is run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ptxlint.baseline import Baseline
from ptxlint.filters import is_excluded
from ptxlint.inputs import Input, read_input
from ptxlint.kernel_check import check_item, failure
from ptxlint.pytest_plugin.settings import RunSettings
from ptxlint.report.finding import FileReport
from ptxlint.settings import Settings, UserError

if TYPE_CHECKING:
    from ptxlint.report.finding import Finding

WHOLE_FILE = "file"  # the name of the only item of a file without kernels

_SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"', re.DOTALL)
_ENTRY = re.compile(
    r"\.entry\s+(?P<name>[\w$%]+)\s*(?:\([^)]*\))?(?:\.pragma[^;{]*;|[^{;])*(?P<end>[{;])", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel as the scan found it: its name and the line, from 1, of its ``.entry``."""

    name: str
    line: int


def entries(text: str) -> list[Entry]:
    """Return the kernels that *text* defines, in order, each name once."""
    blanked = _SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    found: dict[str, Entry] = {}
    for match in _ENTRY.finditer(blanked):
        if match["end"] == "{":
            name = match["name"]
            found.setdefault(name, Entry(name, blanked.count("\n", 0, match.start()) + 1))
    return list(found.values())


class Collector:
    """The hooks of ``--ptxlint``."""

    def __init__(self, config: pytest.Config) -> None:
        self.settings = RunSettings(config)
        self.patterns = config.getini("ptxlint_files")

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect what a pattern matches, and PTX files that are named."""
        named = file_path.suffix == ".ptx" and parent.session.isinitpath(file_path)
        if not named and not any(file_path.match(pattern) for pattern in self.patterns):
            return None
        try:
            settings = self.settings.of_file(str(file_path))
            if not named and is_excluded(str(file_path), settings):
                return None
            if settings.baseline is not None:
                Baseline.read(settings.baseline)  # so that trouble with it is told at once
        except UserError as error:
            return PtxFile.from_parent(parent, path=file_path, settings=Settings(), trouble=str(error))
        file: PtxFile = PtxFile.from_parent(parent, path=file_path, settings=settings)
        return file


class PtxFile(pytest.File):
    """A PTX file; its items share its analysis."""

    def __init__(self, *, settings: Settings, trouble: str | None = None, **rest: Any) -> None:
        """Take the settings of the file, or what is wrong with its configuration."""
        super().__init__(**rest)
        self.settings = settings
        self.trouble = trouble

    def collect(self) -> Iterator["PtxItem"]:
        """Yield an item for each kernel; one for the file when it has none or cannot be read.

        Raises:
            CollectError: its configuration, or the baseline, cannot be read.
        """
        if self.trouble is not None:
            raise self.CollectError(self.trouble)
        found = [] if self.input.error else entries(self.input.text)
        self.entries = found or [Entry(WHOLE_FILE, 1)]
        for entry in self.entries:
            item: PtxItem = PtxItem.from_parent(self, name=entry.name, entry=entry)
            item.add_marker(pytest.mark.ptxlint)
            if self.config.pluginmanager.hasplugin("xdist"):
                item.add_marker(pytest.mark.xdist_group(self.nodeid))
            yield item

    @cached_property
    def input(self) -> Input:
        """The text of the file, or why there is none; its path is that from the working directory."""
        folder = self.config.invocation_params.dir
        path = self.path.relative_to(folder) if self.path.is_relative_to(folder) else self.path
        return replace(read_input(str(self.path)), path=str(path))

    @cached_property
    def report(self) -> FileReport:
        """What the check of the whole file gave."""
        return check_item(self.input, self.settings)

    def share(self, entry: Entry) -> FileReport:
        """Return what the report says of one kernel.

        Problems of the file belong to the kernel in which, or behind which, they are. The first item also
        has those before it, and kernels that the scan did not find.
        """
        names = {other.name for other in self.entries}
        first = entry == self.entries[0]
        lines = sorted(other.line for other in self.entries)
        after = next((line for line in lines if line > entry.line), None)

        def is_here(problem: "Finding") -> bool:
            line = problem.site.line
            return (first or line >= entry.line) and (after is None or line < after)

        kernels = [k for k in self.report.kernels if k.name == entry.name or (first and k.name not in names)]
        problems = [problem for problem in self.report.problems if is_here(problem)]
        error = self.report.error if problems else None
        if entry.name != WHOLE_FILE and not kernels and not problems:
            error = self.report.error or f"the kernel {entry.name} was not found by the parser"
        return replace(self.report, kernels=kernels, problems=problems, error=error)


class PtxItem(pytest.Item):
    """One kernel of a PTX file; it fails with the report as text."""

    def __init__(self, *, entry: Entry, **rest: Any) -> None:
        super().__init__(**rest)
        self.entry = entry

    def runtest(self) -> None:
        """Check the kernel.

        Raises:
            pytest.fail.Exception: it has findings, or could not be read or parsed.
        """
        file = self.parent
        assert isinstance(file, PtxFile)
        if file.input.error is not None:
            pytest.fail(f"{file.input.path}: {file.input.error}", pytrace=False)
        share = file.share(self.entry)
        text = failure([share])
        if text is not None:
            pytest.fail(text, pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the kernel is: the file, its line from 0, its name."""
        return self.path, self.entry.line - 1, self.name
