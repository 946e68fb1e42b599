"""Reports in files: whole or not at all."""

import json
import os
import stat
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from ptxlint.report.formats import FORMATS
from ptxlint.report.output import OutputError, Target, write_file
from tests.conftest import FIXTURES, ROOT

HAZARD = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


def check(*arguments: str | Path, limit: int | None = None) -> "subprocess.CompletedProcess[str]":
    """Run ``ptxlint check``; files that it writes may have *limit* bytes."""

    def lower() -> None:
        import resource

        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "ptxlint", "check", *map(str, arguments)],
        capture_output=True,
        text=True,
        preexec_fn=lower if limit is not None else None,
    )


def test_a_file_takes_the_place_of_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    done = check("--output-format", "concise", "--output-file", file, HAZARD)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "1 error in 1 kernel of 1 file\n"
    assert ": PTX201 " in file.read_text("utf-8")
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_named_format_is_written_beside_what_is_printed(tmp_path: Path) -> None:
    sarif, junit = tmp_path / "out.sarif", tmp_path / "out.xml"
    done = check("--output-file", f"sarif={sarif}", "--output-file", f"junit={junit}", HAZARD)
    assert done.returncode == 1
    assert done.stdout.startswith("error[PTX201]: ")
    assert done.stderr == ""
    assert '"version": "2.1.0"' in sarif.read_text("utf-8")
    assert "<testsuites " in junit.read_text("utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names of any bytes")
@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_file_names_of_any_bytes(tmp_path: Path, locale: str) -> None:
    name = b"k\xff\xed\xa0\x80\n\x1b[31m%0A::error::,\xc3\xa4<&]]>.ptx"
    with open(os.fsencode(tmp_path) + b"/" + name, "wb") as file:
        file.write(HAZARD.read_bytes())
    targets = [f"--output-file={format}={tmp_path / format}.out" for format in FORMATS]
    done = subprocess.run(
        [sys.executable, "-m", "ptxlint", "check", *targets, name],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": locale, "PYTHONUTF8": "0"},
    )
    assert (done.returncode, done.stderr) == (1, b"")
    written = {format: (tmp_path / f"{format}.out").read_bytes().decode("utf-8") for format in FORMATS}
    assert all("\x1b" not in text for text in written.values())
    sarif = json.loads(written["sarif"])
    [artifact] = sarif["runs"][0]["artifacts"]
    assert artifact["location"]["uri"] == (
        "k%FF%ED%A0%80%0A%1B%5B31m%250A%3A%3Aerror%3A%3A%2C%C3%A4%3C%26%5D%5D%3E.ptx"
    )
    assert ElementTree.fromstring(written["junit"]).get("failures") == "1"
    assert len(written["github"].splitlines()) == len(written["concise"].splitlines()) == 1
    assert written["github"].startswith("::error file=k\\xff\\xed\\xa0\\x80\\x0a\\x1b[31m%250A%3A%3Aerror")
    for format in ("json", "gitlab", "rdjson"):
        assert "\\ud" not in written[format]
        json.loads(written[format])


@posix
@pytest.mark.parametrize("old", ["the good report\n", None])
def test_a_full_disk_leaves_the_old_report(tmp_path: Path, old: str | None) -> None:
    file = tmp_path / "out.json"
    if old is not None:
        file.write_text(old, "utf-8")
    done = check("--output-format", "json", "--output-file", file, HAZARD, "none.ptx", limit=512)
    assert done.returncode == 2
    assert f"ptxlint: error: cannot write {file}: File too large\n" in done.stderr
    assert "ptxlint: error: none.ptx: no such file or directory\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert (file.read_text("utf-8") if file.exists() else None) == old
    assert os.listdir(tmp_path) == ["out.json"] * (old is not None)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_is_written_and_not_replaced() -> None:
    done = check("--output-file", "/dev/full", HAZARD)
    assert done.returncode == 2
    assert "ptxlint: error: cannot write /dev/full: No space left on device\n" in done.stderr
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@posix
def test_a_pipe_that_nobody_reads_any_more(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(
        [sys.executable, "-c", f"import os; os.close(os.open({str(fifo)!r}, os.O_RDONLY))"]
    )
    done = check("--output-format", "sarif", "--output-file", fifo, HAZARD)
    reader.kill()  # it waits still if nobody came
    reader.wait()
    assert done.returncode in (1, 2)  # 1 where all fitted into the pipe
    assert "Traceback" not in done.stderr
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)


@posix
def test_links_and_permissions_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old", "utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    write_file(str(link), "new \udcff\n")
    assert link.is_symlink()
    assert real.read_text("utf-8") == "new \\udcff\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    write_file(str(tmp_path / "fresh"), "")
    other = tmp_path / "other"
    other.touch()
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(str(tmp_path / "out"), "text")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("none/out.json", "cannot write none/out.json: there is no folder none"),
        (".", "cannot write .: it is a folder"),
        ("", "names no file"),
        ("sarif=", "names no file"),
        ("json=-", "- is standard output"),
        ("a\0b", "names no file"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=words):
        Target.parse(value)


def test_targets_are_files_with_or_without_a_format() -> None:
    assert Target.parse("json=a.json") == Target("a.json", "json")
    assert Target.parse("key=a.json") == Target("key=a.json")
    assert check("--output-file", "x", "--output-file", "json=x", "k.ptx").returncode == 2
