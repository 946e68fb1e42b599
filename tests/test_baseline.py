"""Known findings: hidden when they are the same, told when they are new or gone."""

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ptxlint
from ptxlint.linter import check_text
from ptxlint.settings import Settings
from tests.conftest import FIXTURES, ROOT
from tests.test_cli import HAZARD, Run, run

__all__ = ["run"]

COPY = HAZARD.read_text("utf-8")
COMBINE = (FIXTURES / "ptx102" / "two_stage_combine.sm_90a.ptx").read_text("utf-8")
KNOWN = "known.json"


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, "utf-8")


def test_what_is_known_is_hidden_and_counted(run: Run) -> None:
    write("in/copy.ptx", COPY)
    result = run("check", "--write-baseline", KNOWN, "in")
    assert result.status == 0
    assert result.err.startswith(f"{KNOWN}: 1 known finding; 1 added, 0 removed\n+ PTX201 in in/copy.ptx: ")
    assert "no findings in 1 kernel of 1 file; 1 hidden by the baseline" in result.out
    write("in/combine.ptx", COMBINE)
    result = run("check", "--baseline", KNOWN, "--output-format", "concise", "in")
    assert result.status == 1
    assert [re.findall(r"PTX\d+", line)[0] for line in result.out.splitlines()] == ["PTX102"]
    written = json.loads(run("check", "--baseline", KNOWN, "--output-format", "json", "in").out)
    assert written["summary"]["hidden_by_baseline"] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names of any bytes")
def test_names_of_every_kind(run: Run) -> None:
    name = "größe \udcff.ptx"
    write(name, COPY.replace("two_stage_copy(", "_ZN2my4copyILi2EEEvPKhPhi("))
    result = run("check", "--write-baseline", KNOWN, name)
    assert result.status == 0
    assert "my::copy<2>: " in result.err or "_ZN2my" in result.err
    assert "größe" in Path(KNOWN).read_text("utf-8")
    assert run("check", "--baseline", KNOWN, name).status == 0


def test_what_is_gone_is_told_and_removed(run: Run) -> None:
    write("copy.ptx", COPY)
    write("combine.ptx", COMBINE)
    run("check", "--write-baseline", KNOWN, "copy.ptx", "combine.ptx")
    write("copy.ptx", COPY.replace("wait_group 1;", "wait_group 0;"))
    result = run("check", "--baseline", KNOWN, "copy.ptx", "combine.ptx")
    assert result.status == 0
    assert "; 1 entry of the baseline is stale" in result.out
    assert result.err.startswith("ptxlint: note: stale in the baseline: PTX201 in copy.ptx: two_stage_copy: ")
    # what was not checked is not judged
    assert "stale" not in run("check", "--baseline", KNOWN, "combine.ptx").out
    result = run("check", "--write-baseline", KNOWN, "copy.ptx")
    assert result.err.startswith(
        f"{KNOWN}: 1 known finding; 0 added, 1 removed, 1 kept of what was not checked\n- PTX201 in copy.ptx"
    )
    assert run("check", "--baseline", KNOWN, "copy.ptx", "combine.ptx").status == 0


def test_what_is_not_asked_for_is_neither_stale_nor_removed(run: Run) -> None:
    write("copy.ptx", COPY)
    write("combine.ptx", COMBINE)
    files = ("copy.ptx", "combine.ptx")
    run("check", "--write-baseline", KNOWN, *files)
    for chosen in (("--select", "PTX1"), ("--ignore", "PTX2")):
        assert "stale" not in run("check", *chosen, "--baseline", KNOWN, *files).out
        result = run("check", *chosen, "--write-baseline", KNOWN, *files)
        assert (
            result.err == f"{KNOWN}: 2 known findings; 0 added, 0 removed, 1 kept of what was not checked\n"
        )
    assert run("check", "--baseline", KNOWN, *files).status == 0


def test_an_entry_hides_one_finding_of_its_file_or_of_one_that_moved(run: Run) -> None:
    write("a.ptx", COPY)
    run("check", "--write-baseline", KNOWN, "a.ptx")
    write("b.ptx", COPY)
    assert run("check", "--baseline", KNOWN, "a.ptx", "b.ptx").status == 1
    Path("a.ptx").unlink()
    assert run("check", "--baseline", KNOWN, "b.ptx").status == 0


def test_a_partial_run_does_not_replace_a_good_file(run: Run) -> None:
    write("a.ptx", COPY)
    run("check", "--write-baseline", KNOWN, "a.ptx")
    good = Path(KNOWN).read_bytes()
    write("b.ptx", COPY[:4000])
    result = run("check", "--write-baseline", KNOWN, "a.ptx", "b.ptx")
    assert result.status == 2
    assert f"ptxlint: error: {KNOWN}: not written, as b.ptx was not checked completely" in result.err
    assert Path(KNOWN).read_bytes() == good


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no such baseline; --write-baseline makes one"),
        ("", "known.json:1:1: no baseline: Expecting value"),
        ("[]", 'no baseline: expected an object with a list "findings"'),
        ('{"version": 2, "findings": []}', "a baseline of version 2; expected 1"),
        ('{"version": 1, "findings": [{"code": "PTX1"}]}', "finding 1 lacks one of fingerprint, code"),
        ('{"version": 1, "findings": [3]}', "finding 1 lacks one of"),
        ("[" * 100000, "no baseline"),
        ("\udcff", "no UTF-8 text at offset 0"),
    ],
)
def test_what_is_no_baseline_is_told_and_not_written_over(run: Run, text: str | None, words: str) -> None:
    write("a.ptx", COPY)
    if text is not None:
        Path(KNOWN).write_bytes(text.encode("utf-8", "surrogateescape"))
    result = run("check", "--baseline", KNOWN, "a.ptx")
    assert result.status == 2
    assert words in result.err
    if text is not None:
        before = Path(KNOWN).read_bytes()
        assert run("check", "--write-baseline", KNOWN, "a.ptx").status == 2
        assert Path(KNOWN).read_bytes() == before


@pytest.mark.parametrize("option", ["--baseline", "--write-baseline", "--config"])
def test_what_is_no_file(run: Run, option: str) -> None:
    write("a.ptx", COPY)
    Path("folder").mkdir()
    result = run("check", option, "folder", "a.ptx")
    assert (result.status, "folder: " in result.err, "this is no regular file" in result.err) == (
        2,
        True,
        True,
    )


def test_a_folder_that_is_not_there(run: Run) -> None:
    write("a.ptx", COPY)
    result = run("check", "--write-baseline", "none/known.json", "a.ptx")
    assert (result.status, "there is no folder none" in result.err) == (2, True)


def test_the_configuration_may_name_it(run: Run) -> None:
    write("a.ptx", COPY)
    write("ptxlint.toml", f"baseline = '{KNOWN}'\n")
    result = run("check", "a.ptx")
    assert (result.status, result.err.split(": ")[2]) == (2, KNOWN)
    run("check", "--write-baseline", KNOWN, "a.ptx")
    assert run("check", "a.ptx").status == 0
    assert run("check", "--isolated", "a.ptx").status == 1


def test_the_commands_of_the_readme(run: Run) -> None:
    section = (ROOT / "README.md").read_text("utf-8").split("a baseline\n", 1)[1].split("\n## ")[0]
    commands = [line.split()[1:] for line in section.splitlines() if line.startswith("ptxlint ")]
    write("build/copy.ptx", COPY)
    assert [run(*command).status for command in commands] == [0, 0]
    write("build/combine.ptx", COMBINE)
    assert [run(*command).status for command in commands[1:]] == [1]


def test_each_file_has_the_baseline_of_its_configuration(run: Run) -> None:
    write("a/k.ptx", COPY)
    write("b/k.ptx", COPY)
    run("check", "--write-baseline", "a/known.json", "a")
    write("a/ptxlint.toml", "baseline = 'known.json'")
    result = run("check", "--output-format", "concise", "a", "b")
    assert [line.split(":")[0] for line in result.out.splitlines()] == ["b/k.ptx"]
    report = ptxlint.check("a/k.ptx", settings=ptxlint.find_settings("a/k.ptx"))
    assert (report.findings(), [hidden.by for hidden in report.hidden()]) == ([], ["baseline"])
    Path("a/known.json").unlink()
    with pytest.raises(ptxlint.UserError, match="there is no such baseline"):
        ptxlint.check("a/k.ptx", settings=ptxlint.find_settings("a/k.ptx"))


KERNELS = {"copy": COPY, "combine": COMBINE}


def body_of(text: str) -> str:
    return text.split(".address_size 64", 1)[1].split("\t.file", 1)[0]


def fingerprints(text: str) -> dict[str, set[str]]:
    report = check_text(text, "k.ptx", Settings())
    assert not report.problems
    return {kernel.name: {finding.fingerprint for finding in kernel.findings} for kernel in report.kernels}


BEFORE = {name: prints for text in KERNELS.values() for name, prints in fingerprints(text).items()}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    order=st.permutations(sorted(KERNELS)),
    prefix=st.sampled_from(["", "x"]),
    shift=st.integers(0, 5000),
    blank=st.integers(0, 40),
    locs=st.booleans(),
)
def test_fingerprints_survive(order: list[str], prefix: str, shift: int, blank: int, locs: bool) -> None:
    """Renumber registers, move lines, reorder kernels, take line information away: all stay the same."""
    head = COPY.split(".address_size 64", 1)[0] + ".address_size 64\n"
    text = head + "".join("\n" * blank + body_of(KERNELS[name]) for name in order)
    text = re.sub(r"%(rd|rs|r|fd|f|p)(\d+)\b", lambda m: f"%{m[1]}{int(m[2]) + shift}", text)
    text = re.sub(r"%(rd|rs|r|fd|f|p)<(\d+)>", lambda m: f"%{m[1]}<{int(m[2]) + shift}>", text)
    if prefix:
        text = re.sub(r"%(rd|rs|r|fd|f|p)(?=\d|<)", rf"%{prefix}\1", text)
    if not locs:
        text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(".loc"))
        assert {name: bool(prints) for name, prints in fingerprints(text).items()} == {
            name: True for name in BEFORE
        }
        return
    assert fingerprints(text) == BEFORE
