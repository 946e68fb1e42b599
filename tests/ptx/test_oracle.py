"""The scanner and the grammar give the same module."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ptxlint.ptx.parser import parse, parse_plain
from tests.ptx.compare import FIXTURES, differences

ALL = sorted(FIXTURES.rglob("*.ptx"))
WELL_FORMED = [path for path in ALL if path.name != "errors.ptx"]
SYNTAX = sorted((FIXTURES / "syntax").glob("*.sm_*.ptx"))


def name(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix()


@pytest.mark.parametrize("path", WELL_FORMED, ids=name)
def test_both_ways_agree(path: Path) -> None:
    text = path.read_text("utf-8")
    quick, plain = parse(text, path.name), parse_plain(text, path.name)
    assert quick.problems == plain.problems == ()
    assert quick.functions
    assert list(differences(quick, plain)) == []


def test_a_difference_is_seen() -> None:
    text = (FIXTURES / "syntax" / "operands.sm_90a.ptx").read_text("utf-8")
    changed = text.replace("%r1, -1, !%p1", "%r1, -2, !%p1")
    assert changed != text
    assert len(list(differences(parse(text), parse_plain(changed)))) == 1


@pytest.mark.parametrize("path", SYNTAX, ids=name)
def test_ptxas_accepts(path: Path, tmp_path: Path) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("no ptxas")
    architecture = path.name.split(".")[1]
    command = [ptxas, f"-arch={architecture}", str(path), "-o", str(tmp_path / "out.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
