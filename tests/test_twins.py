"""A repaired twin differs from its hazard by the repair, and by little else."""

import difflib
import re
from pathlib import Path

import pytest

from tests.conftest import FIXTURES
from tests.test_fixtures import ALL

# Lines removed and added; the median is two.
MOST = 16
FIXED = sorted({f.source for f in ALL if f.source.name.split(".")[0].endswith("_fixed")})


def code(path: Path, name: str) -> list[str]:
    """Return the lines without comments, blanks at the ends, and the kernel's *name*."""
    text = re.sub(r"//.*", "", path.read_text("utf-8")).replace(name, "kernel")
    return [line.strip() for line in text.split("\n") if line.strip()]


@pytest.mark.parametrize("fixed", FIXED, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_twin(fixed: Path) -> None:
    name = fixed.name.split(".")[0]
    hazard = fixed.with_name(fixed.name.replace(name, name.removesuffix("_fixed"), 1))
    assert hazard.exists()
    before = code(hazard, name.removesuffix("_fixed"))
    after = code(fixed, name)
    changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert 0 < len(changed) <= MOST, "\n".join(changed)
