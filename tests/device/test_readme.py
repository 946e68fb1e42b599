"""What README.md says of specifications: the example is one that is there, and every key is described."""

import re
from pathlib import Path

import pytest

from ptxlint.device import spec
from tests.conftest import FIXTURES, ROOT
from tests.evidence import specifications

SECTION = re.search(
    r"^## Show a hazard on a GPU\n(.*?)^## ",
    (ROOT / "README.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture
def section() -> str:
    assert SECTION is not None
    return SECTION[1]


def test_the_example_is_read(section: str, tmp_path: Path) -> None:
    [example] = re.findall(r"^```toml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    path = tmp_path / "scale_no_wait.toml"
    path.write_text(example, "utf-8")
    shown, there = spec.read_spec(path), spec.read_spec(FIXTURES / "ptx202" / "scale_no_wait.toml")
    assert (shown.kernel, shown.ptx.name) == (there.kernel, there.ptx.name)
    assert (shown.grid, shown.block) == (there.grid, there.block)
    sizes = [(a.dtype, a.shape, a.value, a.output) for a in shown.arguments]
    assert sizes == [(a.dtype, a.shape, a.value, a.output) for a in there.arguments]


def test_every_key_is_described(section: str) -> None:
    words = set(re.findall(r"[\w-]+", section))
    assert (spec._KEYS | spec._ARGUMENT_KEYS) - words == set()
    for value in (*spec.FILLS, *spec.SWIZZLES):
        assert f'"{value}"' in section or f"`{value}`" in section


def test_the_number_of_specifications(section: str) -> None:
    [number] = re.findall(r"The fixtures\s+have (\d+) such files", section)
    assert int(number) == len(specifications())
