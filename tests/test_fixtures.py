"""Every PTX file under ``fixtures/`` is checked, and compared with the markers of its source."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ptxlint.commands.check import check
from ptxlint.inputs import read_input
from ptxlint.linter import check_text
from ptxlint.ptx.parser import parse
from ptxlint.report.finding import Confidence, FileReport, Finding, Severity, Site
from ptxlint.settings import Settings
from tests import expect
from tests.build_fixtures import HEADER, digest
from tests.conftest import FIXTURES
from tests.expect_update import update

NAME = re.compile(r"[a-z0-9_]+(\.sm_\d+[a-z]?)?\.ptx")


@dataclass(frozen=True)
class Fixture:
    """A PTX file, and the file that carries its markers: the ``.cu`` of that name, or itself."""

    ptx: Path

    @property
    def source(self) -> Path:
        cuda = self.ptx.with_name(self.ptx.name.split(".")[0] + ".cu")
        return cuda if cuda.exists() else self.ptx

    @property
    def folder(self) -> str:
        return self.ptx.relative_to(FIXTURES).parts[0]

    def __str__(self) -> str:
        return self.ptx.relative_to(FIXTURES).as_posix()


ALL = [Fixture(path) for path in sorted(FIXTURES.rglob("*.ptx"))]
COMPILED = [fixture for fixture in ALL if fixture.source != fixture.ptx]


def options_of(arguments: Sequence[str]) -> Settings:
    """Return what the arguments of a ``check:`` marker mean, read as the command line does."""
    with check.make_context("check", [*arguments, "fixture.ptx"]) as context:
        chosen = context.params
    names = ("select", "ignore", "extend_select", "strict", "block", "cluster")
    return Settings(**{name: chosen[name] for name in names})


def findings_of(fixture: Fixture, arguments: Sequence[str]) -> list[Finding]:
    """Return what is reported for a fixture; those of ``syntax/`` are only parsed."""
    item = read_input(str(fixture.ptx))
    assert item.error is None
    if fixture.folder == "syntax":
        return [
            Finding(
                "PTX999",
                "syntax-error",
                None,
                Severity.ERROR,
                Confidence.HIGH,
                "; ".join((problem.message, *problem.expected)),
                Site(problem.position.line, problem.position.column),
            )
            for problem in parse(item.text, item.path).problems
        ]
    report: FileReport = check_text(item.text, item.path, options_of(arguments))
    return [*report.problems, *(finding for kernel in report.kernels for finding in kernel.findings)]


@pytest.mark.parametrize("fixture", ALL, ids=str)
def test_fixture(fixture: Fixture, request: pytest.FixtureRequest) -> None:
    expected = expect.read(fixture.source)
    findings = findings_of(fixture, expected.arguments)
    if not any(marker.code == "PTX990" for marker in expected.markers):
        # What was not analysed is no verdict on the kernel: a fixture that is about it says so.
        findings = [finding for finding in findings if finding.code != "PTX990"]
    if request.config.getoption("--update-expect") and update(fixture.source, expected, findings):
        pytest.fail(
            f"{fixture.source.name} rewritten; run python -m tests.build_fixtures, and look at the diff"
        )
    differences = expect.compare(expected, findings)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("fixture", COMPILED, ids=str)
def test_ptx_is_of_the_source_as_it_is(fixture: Fixture) -> None:
    with fixture.ptx.open(encoding="utf-8") as file:
        header = HEADER.fullmatch(file.readline())
    assert header is not None
    assert header["name"] == fixture.source.name
    assert header["digest"] == digest(fixture.source), "stale: run python -m tests.build_fixtures"


@pytest.mark.parametrize("fixture", ALL, ids=str)
def test_ptx_says_nothing_of_the_machine_it_was_made_on(fixture: Fixture) -> None:
    assert NAME.fullmatch(fixture.ptx.name)
    names = re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', fixture.ptx.read_text("utf-8"), re.MULTILINE)
    assert [name for name in names if name.startswith(("/", "..", "~")) or ":" in name] == []


@pytest.mark.parametrize("source", sorted(FIXTURES.rglob("*.cu")), ids=lambda path: path.name)
def test_source_has_its_ptx(source: Path) -> None:
    assert list(source.parent.glob(f"{source.stem}.sm_*.ptx")), "run python -m tests.build_fixtures"


def test_limits_hold_only_what_is_known_to_be_wrong() -> None:
    kinds = {
        (fixture.source.name, marker.kind)
        for fixture in ALL
        if fixture.folder == "limits"
        for marker in expect.read(fixture.source).markers
    }
    assert [pair for pair in kinds if pair[1] == "expect"] == []


def test_there_are_fixtures() -> None:
    assert len(ALL) > 40
    assert {fixture.folder for fixture in ALL} >= {"clean", "ptx102", "ptx201"}
