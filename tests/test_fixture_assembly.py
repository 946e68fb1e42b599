"""Every fixture is PTX that ptxas accepts, where ptxas is at hand and knows its ISA version."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import expect
from tests.test_fixtures import ALL, Fixture

PTXAS = shutil.which("ptxas")


def must_parse(fixture: Fixture) -> bool:
    return all(marker.code != "PTX999" for marker in expect.read(fixture.source).markers)


@pytest.mark.skipif(PTXAS is None, reason="ptxas is not in PATH")
@pytest.mark.parametrize("fixture", [fixture for fixture in ALL if must_parse(fixture)], ids=str)
def test_ptxas_accepts(fixture: Fixture, tmp_path: Path) -> None:
    text = fixture.ptx.read_text("utf-8")
    target = re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
    assert target is not None
    assert PTXAS is not None
    done = subprocess.run(
        [PTXAS, "-O0", "-arch", target[1], "-o", str(tmp_path / "out.cubin"), str(fixture.ptx)],
        capture_output=True,
        text=True,
    )
    newer = re.search(r"Unsupported \.version.*|.*not defined for option 'gpu-name'", done.stderr)
    if newer is not None:
        pytest.skip(f"this ptxas is too old: {newer[0]}")
    assert done.returncode == 0, done.stderr
