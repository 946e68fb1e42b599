"""The README's sections on tests: each example is run, each option is described."""

import importlib.util
import re
from pathlib import Path

import pytest

from ptxlint import pytest_plugin
from tests.conftest import ROOT
from tests.pytest_plugin.conftest import Run
from tests.pytest_plugin.kernels import clean, hazard, module

README = (ROOT / "README.md").read_text("utf-8")


def blocks(heading: str, language: str) -> list[str]:
    """Return the code of that language in the section under *heading*."""
    _, _, rest = README.partition(f"\n### {heading}\n")
    section = re.split(r"^##+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a test, and a folder of PTX with one clean and one hazardous kernel."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(pytester.path / "cache"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    folder = pytester.path / "kernels"
    folder.mkdir()
    (folder / "k.ptx").write_text(module(clean(), hazard()), "utf-8")
    pytester.mkdir("tests").joinpath("test_one.py").write_text("def test_one(): pass\n", "utf-8")
    return pytester.path


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_the_triton_example(project: Path, run: Run) -> None:
    [code] = blocks("A Triton kernel in a test", "python")
    project.joinpath("tests", "test_one.py").write_text(code, "utf-8")
    run("tests").assert_outcomes(passed=1)


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_the_commands(project: Path, run: Run) -> None:
    [commands] = blocks("As a pytest plugin", "sh")
    outcomes = []
    for line in commands.splitlines():
        words = line.partition("#")[0].split()
        assert words[0] == "pytest"
        outcome = run(*words[1:]).parseoutcomes()
        outcomes.append((outcome.get("passed", 0), outcome.get("failed", 0)))
    assert outcomes == [(1, 1), (2, 0), (1, 0)]


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_the_configuration(project: Path, run: Run) -> None:
    [configuration] = blocks("As a pytest plugin", "toml")
    project.joinpath("pyproject.toml").write_text(configuration, "utf-8")
    run().assert_outcomes(passed=3)


def test_every_option_and_key_is_described() -> None:
    parser = pytest.Parser(_ispytest=True)
    pytest_plugin.pytest_addoption(parser)
    options = [name for group in parser._groups for option in group.options for name in option.names()]
    names = [*options, *(name for name in parser._inidict)]
    _, _, section = README.partition("### As a pytest plugin")
    missing = [name for name in names if f"`{name}`" not in section]
    # Keys that are named as their options are stand for each other in one row of the table.
    assert [name for name in missing if f"--{name.replace('_', '-')}" not in options] == []
    assert len(options) >= 9
