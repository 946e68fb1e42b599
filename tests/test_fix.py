"""Repairs: what they change, that they repair, and how the command gives them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxlint.cli import cli
from ptxlint.fix import repair
from ptxlint.fix.edits import Edit, LineMap, apply, insertion_after, insertion_before
from ptxlint.fix.repair import repair_text
from ptxlint.linter import check_text
from ptxlint.report.finding import Severity
from ptxlint.settings import Settings
from tests.conftest import ROOT

FIXTURES = ROOT / "fixtures"
COPY = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
REPAIRED_CODES = ("101", "102", "103", "105", "201", "203", "204", "205", "206", "501", "513", "605", "701")


def hazardous(number: str) -> Path:
    """Return the smallest hazardous fixture of a code."""
    found = [
        path
        for path in sorted((FIXTURES / f"ptx{number}").glob("*.ptx"))
        if "_fixed" not in path.name and "_lookalike" not in path.name
    ]
    return min(found, key=lambda path: (path.stat().st_size, path.name))


def reported(text: str) -> list[str]:
    report = check_text(text, "kernel.ptx", Settings())
    return [f.code for k in report.kernels for f in k.findings if f.severity is not Severity.NOTE]


@pytest.mark.parametrize("number", REPAIRED_CODES)
def test_repairs(number: str) -> None:
    text = hazardous(number).read_text("utf-8")
    assert f"PTX{number}" in reported(text)
    outcome = repair_text(text, "kernel.ptx", Settings())
    assert outcome.left == []
    assert outcome.repaired
    assert all(r.safe for r in outcome.repaired)
    assert outcome.refused is None
    assert reported(outcome.after) == []
    assert outcome.after != text


def test_clean_text_stays() -> None:
    text = (FIXTURES / "ptx201" / "two_stage_copy_fixed.sm_90a.ptx").read_text("utf-8")
    outcome = repair_text(text, "kernel.ptx", Settings())
    assert (outcome.after, outcome.repaired, outcome.left) == (text, [], [])


def test_barriers_are_unsafe() -> None:
    text = hazardous("309").read_text("utf-8")
    outcome = repair_text(text, "kernel.ptx", Settings())
    assert outcome.after == text
    assert [f.code for _, f in outcome.left] == ["PTX309"]
    assert [r.summary for r in outcome.held_back]
    done = repair_text(text, "kernel.ptx", Settings(), unsafe=True)
    assert done.left == []
    assert not done.repaired[0].safe
    assert reported(done.after) == []


def test_all_unrolled_copies_are_changed() -> None:
    text = (FIXTURES / "ptx201" / "three_stage_copy_unrolled.sm_90a.ptx").read_text("utf-8")
    outcome = repair_text(text, "kernel.ptx", Settings())
    assert len(outcome.repaired[0].edits) > 1
    assert reported(outcome.after) == []


def test_only_what_is_selected() -> None:
    text = COPY.read_text("utf-8")
    assert repair_text(text, "kernel.ptx", Settings(ignore=("PTX201",))).after == text


def test_what_ptxas_refuses_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "assembly_error", lambda text, module: "line 1: no")
    text = COPY.read_text("utf-8")
    outcome = repair_text(text, "kernel.ptx", Settings())
    assert outcome.after == text
    assert outcome.refused == "line 1: no"
    assert [f.code for _, f in outcome.left] == ["PTX201"]


# -- edits ------------------------------------------------------------------------------------------


def test_edits() -> None:
    text = "a;\n\tb;\n\tc;\n"
    at = text.index("b")
    before, after = insertion_before(text, at, "x;"), insertion_after(text, at, at + 2, "y;")
    changed = apply(text, [after, before, before])
    assert changed == "a;\n\tx;\n\tb;\n\ty;\n\tc;\n"
    lines = LineMap(text, [before, after])
    assert [lines.before(changed.count("\n", 0, changed.index(c)) + 1) for c in "abc"] == [1, 2, 3]


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply("abcdef", [Edit(0, 3, ""), Edit(2, 4, "")])


# -- the command ------------------------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["fix", "--isolated", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_diff_is_the_default() -> None:
    status, out, err = run(str(COPY))
    assert status == 0
    assert "-\tcp.async.bulk.wait_group 1;\n+\tcp.async.bulk.wait_group 0;\n" in out
    assert "1 finding repaired, 0 left" in err


def test_output_and_in_place(tmp_path: Path) -> None:
    kernel, other = tmp_path / "kernel.ptx", tmp_path / "repaired.ptx"
    text = COPY.read_text("utf-8")
    kernel.write_text(text, "utf-8")
    assert run(str(kernel), "--output", str(other))[:2] == (0, "")
    assert kernel.read_text("utf-8") == text
    assert reported(other.read_text("utf-8")) == []
    assert run(str(kernel), "--in-place")[:2] == (0, "")
    assert kernel.read_text("utf-8") == other.read_text("utf-8")


def test_what_is_left_is_told() -> None:
    status, out, err = run(str(hazardous("309")))
    assert (status, out) == (1, "")
    assert "not repaired; with --unsafe-fixes: " in err
    assert "0 findings repaired, 1 left" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such.ptx"], "no_such.ptx"),
        (["-", "--in-place"], "standard input cannot be written in place"),
        ([str(COPY), "--diff", "--output", "x"], "give one of --diff, --output and --in-place"),
        ([str(COPY), "--output", "no/such/folder/x"], "cannot write"),
        ([str(ROOT / "README.md")], "README.md"),
    ],
)
def test_bad_usage(arguments: list[str], message: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err
