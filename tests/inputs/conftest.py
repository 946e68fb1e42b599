"""Stand-ins for the tools of the CUDA toolkit: small programs that do as the test says."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ptxlint import tools

Install = Callable[[str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Let only the tools be found that the test installs, each a Python program."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setattr(tools, "search_path", lambda: [(str(folder), "test")])

    def install(name: str, program: str) -> Path:
        path = folder / name
        path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{program}\n", "utf-8")
        path.chmod(0o755)
        return path

    return install
