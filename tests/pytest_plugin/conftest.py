"""A pytest run inside a test, with the plugin as its only one."""

import importlib.util
from collections.abc import Callable

import pytest

from ptxlint.ptx import parser
from ptxlint.ptx.syntax import Module

# An inner run forgets what it imported; what is there before it is not imported anew each time.
for name in ("lark.exceptions", "ptxlint.cli", "ptxlint.linter", "ptxlint.report.text", "triton"):
    if importlib.util.find_spec(name.partition(".")[0]):
        importlib.import_module(name)

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest in this process on the files of *pytester*."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run_pytest(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess("-W", "default", "-p", "ptxlint.pytest_plugin", *arguments)

    return run_pytest


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of what is parsed from now on, in order."""
    paths: list[str] = []

    def parse(text: str, path: str) -> Module:
        paths.append(path)
        return parser.parse(text, path)

    monkeypatch.setattr("ptxlint.linter.parse", parse)
    return paths
