"""``ptxlint check`` on inputs of every kind: what is printed where, and the exit status."""

import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxlint import cli, linter, tools
from ptxlint.commands import progress
from tests.conftest import FIXTURES

HAZARD = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
PTX = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
Run = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-ins are scripts")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run the command line in an empty folder; return its status and what it prints."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ptxlint", *map(str, arguments)])
        status = cli.run()
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return status, out, err

    return run


@pytest.fixture
def nvcc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A stand-in that compiles what says ``good``, and prints its arguments for the rest."""
    path = tmp_path / "tools" / "nvcc"
    path.parent.mkdir()
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "if 'good' not in open(sys.argv[-1]).read():\n    sys.exit('k.cu(1): error: \\x1b[31mbad\\n' + sys.argv[1])\n"
        f"open(sys.argv[sys.argv.index('-o') + 1], 'w').write({PTX!r})\n"
    )
    path.chmod(0o755)
    monkeypatch.setattr(tools, "search_path", lambda: [(str(path.parent), "test")])
    return path


def test_cuda_source(run: Run, nvcc: Path) -> None:
    Path("k.cu").write_text("good")
    status, out, err = run("check", "k.cu")
    assert (status, out.splitlines()[-1]) == (0, "no findings in 1 kernel of 1 file")
    assert err == (
        "ptxlint: note: k.cu#k.sm_90a.ptx: compiled for sm_90a, as no architecture was named: "
        "say another after --, as in `-- -arch=sm_100a`\n"
    )
    status, out, err = run(
        "check", "--output-format", "json", "k.cu", "--", "-arch=sm_90a", "--output-format"
    )
    assert (status, err) == (0, "")
    assert '"path": "k.cu#k.sm_90a.ptx"' in out


def test_what_nvcc_says_is_shown_and_the_rest_is_checked(run: Run, nvcc: Path) -> None:
    Path("bad.cu").write_text("bad")
    status, out, err = run("check", "bad.cu", HAZARD, "--", "-DX", "-arch=sm_90a")
    assert status == 2
    assert err == "ptxlint: error: bad.cu: nvcc failed for sm_90a:\n  k.cu(1): error: \\x1b[31mbad\n  -DX\n"
    assert "error[PTX201]" in out


def test_a_note_on_many_files_is_one_line(run: Run, nvcc: Path) -> None:
    for name in ("a.cu", "b.cu", "c.cu"):
        Path(name).write_text("good")
    status, _, err = run("check", "--include", "cu", ".")
    assert status == 0
    assert err.startswith("ptxlint: note: ./a.cu#a.sm_90a.ptx and 2 more: compiled for sm_90a")
    assert err.count("\n") == 1


def test_only_a_database(run: Run, nvcc: Path) -> None:
    Path("k.cu").write_text("good")
    Path("compile_commands.json").write_text('[{"file": "k.cu", "directory": "", "command": "nvcc -c k.cu"}]')
    assert run("check", "--compile-commands", ".")[0] == 0
    status, _, err = run("check", "--compile-commands", "none.json")
    assert (status, err) == (2, "ptxlint: error: none.json: no such file or directory\n")


@pytest.mark.skipif(sys.platform != "linux", reason="a patch reaches processes that are forked")
def test_a_killed_process_is_status_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = linter.read_text

    def deadly(text: str, path: str) -> Any:
        if path == "bad.ptx":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(text, path)

    monkeypatch.setattr(linter, "read_text", deadly)
    Path("bad.ptx").write_text(PTX)
    status, out, err = run("check", "-j", "2", "bad.ptx", HAZARD)
    assert status == 2
    assert "ptxlint: error: bad.ptx: a worker process died while this text was being parsed (SIGKILL" in err
    assert "error[PTX201]" in out


def test_processes_and_cache_do_not_change_the_output(run: Run, tmp_path: Path) -> None:
    for name in "abc":
        Path(f"{name}.ptx").write_text(PTX.replace("k()", f"{name}()") + PTX.split("64\n")[1])
    plain = run("check", "-j", "1", ".", HAZARD)
    store = ("--cache-dir", tmp_path / "cache")
    assert run("check", "-j", "3", *store, ".", HAZARD) == plain
    assert run("check", *store, ".", HAZARD) == plain
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 4


def test_the_cache_by_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTXLINT_NO_CACHE")
    monkeypatch.setenv("PTXLINT_CACHE_DIR", str(tmp_path / "cache"))
    assert run("cache", "dir") == (0, f"{tmp_path / 'cache'}\n", "")
    run("check", HAZARD)
    assert run("cache", "clean") == (0, "1 result removed\n", "")
    run("check", "--no-cache", HAZARD)
    monkeypatch.setenv("PTXLINT_NO_CACHE", "1")
    run("check", HAZARD)
    assert run("cache", "clean") == (0, "0 results removed\n", "")
    run("check", "--cache-dir", tmp_path / "other", HAZARD)  # the command line counts more
    status, out, err = run("cache", "clean", "--cache-dir", tmp_path)
    assert (status, out) == (2, "")
    assert err == f"ptxlint: error: {tmp_path} is not a cache of ptxlint: there is no CACHEDIR.TAG in it\n"
    assert run("cache", "clean", "--cache-dir", tmp_path / "other")[1] == "1 result removed\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-j", "-1", "k.ptx"], "-1 is not in the range"),
        (["--include", "*/x", "k.ptx"], "expected suffixes, as in ptx,cu"),
        (["--tool-timeout", "0", "k.ptx"], "is not in the range"),
        (["--source-root", "none", "k.ptx"], "Directory 'none' does not exist"),
        (["--", "k.ptx"], "Missing argument 'FILES...'"),
    ],
)
def test_bad_usage(run: Run, arguments: list[str], words: str) -> None:
    status, out, err = run("check", *arguments)
    assert (status, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_for_terminals(
    run: Run, monkeypatch: pytest.MonkeyPatch, jobs: str, terminal: bool
) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    for name in "abc":
        Path(f"{name}.ptx").write_text(PTX)
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    status, out, _ = run("check", "-j", jobs, ".")
    assert status == 0
    assert "no findings in 3 kernels of 3 files\n" in out
    assert ("checking" in screen.getvalue()) is terminal
    assert ("3/3" in screen.getvalue()) is terminal
    assert "checking" not in out
