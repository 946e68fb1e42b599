"""The command line: exit status, errors that are told and never raised, inputs of every kind."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ptxlint
from ptxlint import cli, linter
from ptxlint.codes import known_codes
from ptxlint.ptx.syntax import Module
from ptxlint.report.finding import FileReport
from tests.conftest import FIXTURES, ROOT

HAZARD = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
CLEAN = FIXTURES / "ptx201" / "two_stage_copy_fixed.sm_90a.ptx"
BARE = b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry bare()\n{\n\tret;\n}\n"


class Result:
    """What a run printed, and its exit status."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["ptxlint", *map(str, arguments)])
        status = cli.run()
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Result(status, out, err)

    return run


def command(*arguments: str, data: bytes = b"", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run ptxlint as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "ptxlint", *arguments],
        input=data,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_a_hazard_is_status_1(run: Run) -> None:
    result = run("check", HAZARD)
    assert result.status == 1
    assert result.out.startswith("error[PTX201]: ")
    assert "two_stage_copy.cu:88:" in result.out
    assert result.err == ""


def test_no_hazard_is_status_0(run: Run) -> None:
    result = run("check", CLEAN)
    assert result.status == 0
    assert re.match(r"kernel \w+ \(sm_90a\): analysed 3/3 async ops, .*; complete\n", result.out)
    assert result.out.endswith("no findings in 1 kernel of 1 file\n")


def test_json(run: Run) -> None:
    result = run("check", "--output-format", "json", HAZARD)
    written = json.loads(result.out)
    assert result.status == 1
    assert written["summary"]["errors"] == 1
    [finding] = written["files"][0]["kernels"][0]["findings"]
    assert finding["code"] == "PTX201"
    assert finding["fix"]["ptx"]
    # In order of time: the commit comes before the wait that does not do.
    assert [step["role"] for step in finding["trace"]] == ["first", "path", "near-miss", "path", "second"]
    assert finding["trace"][1]["note"] == "commits the bulk async-group"


def test_concise(run: Run) -> None:
    result = run("check", "--output-format", "concise", HAZARD)
    [line] = result.out.splitlines()
    assert line.startswith(f"{HAZARD.with_name('two_stage_copy.cu')}:88:7: PTX201 ")
    assert line.endswith(f" [error, ptx {HAZARD}:172:2]")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--select", "PTX1"], 0),
        (["--select", "ptx2,PTX1"], 1),
        (["--select", "PTX1", "--select", "PTX201"], 1),
        (["--ignore", "PTX201"], 0),
        (["--ignore", "PTX1, PTX3"], 1),
        (["--select", "PTX201", "--ignore", "PTX2"], 1),
        (["--fail-on", "note"], 1),
        (["--fail-on", "error"], 1),
        (["--block", "32", "--cluster", "1,1,1", "--strict"], 1),
    ],
)
def test_options(run: Run, arguments: list[str], status: int) -> None:
    assert run("check", *arguments, HAZARD).status == status


def test_fail_on_draws_the_line(run: Run) -> None:
    warning = FIXTURES / "ptx102" / "two_stage_combine.sm_90a.ptx"
    assert run("check", warning).status == 1
    assert run("check", "--fail-on", "error", warning).status == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument 'FILES...'"),
        (["--select", "PTX2O1", "k.ptx"], "did you mean PTX201?"),
        (["--ignore", "XYZ", "k.ptx"], "no rule's code begins with 'XYZ'"),
        (["--ignore", ",", "k.ptx"], "names no code"),
        (["--fail-on", "fatal", "k.ptx"], "'fatal' is not one of"),
        (["--block", "0", "k.ptx"], "0 is not between 1 and 1024"),
        (["--block", "32,x", "k.ptx"], "not of the form X[,Y[,Z]]"),
        (["--block", "", "k.ptx"], "not of the form X[,Y[,Z]]"),
        (["--block", "1,1,1,1", "k.ptx"], "not of the form X[,Y[,Z]]"),
        (["--block", "64,32", "k.ptx"], "2048 threads are more than 1024"),
        (["--cluster", "17", "k.ptx"], "17 is not between 1 and 16"),
        (["--output-format", "xml", "k.ptx"], "'xml' is not one of"),
        (["--no-such-option", "k.ptx"], "No such option"),
    ],
)
def test_bad_usage_is_status_2(run: Run, arguments: list[str], words: str) -> None:
    result = run("check", *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no PTX: the file is empty, expected .version"),
        (b" \n\t\n", "no PTX: the file is empty, expected .version"),
        (b"\0\0", "no PTX: the file is empty, expected .version"),
        (b"\x7fELF\x02\x01", "this is a compiled object (ELF)"),
        (b"\x50\xed\x55\xba\x01\0", "a CUDA fat binary"),
        (b".version 9.0\0\x01", "a binary file (zero byte at offset 12)"),
        (b"// caf\xe9\n" + BARE, "no UTF-8 text: byte 0xe9 at offset 6"),
        (BARE.decode().encode("utf-16"), "UTF-16"),
        (BARE.decode().encode("utf-32"), "UTF-32"),
        (BARE + b"/* and so on", 'this comment is not closed; expected "*/"'),
        (b"int main() { return 0; }\n", "line 1, column 1"),
        (BARE[:70], "line "),
    ],
)
def test_what_is_no_ptx_is_status_2(run: Run, tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "k.ptx").write_bytes(data)
    result = run("check", "k.ptx")
    assert result.status == 2
    assert "ptxlint: error: k.ptx: " in result.err
    assert words in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "k.ptx", "--output-file", "same.ptx"),
        ("check", "k.ptx", "--output-file", "json=./k.ptx"),
        ("fix", "k.ptx", "--output", "k.ptx"),
        ("show", "k.ptx", "--output-file", "k.ptx"),
        ("witness", "k.ptx", "--finding", "PTX201", "--output", "k.ptx"),
    ],
    ids=["check, by a link", "check", "fix", "show", "witness"],
)
def test_an_output_never_takes_the_place_of_what_is_read(
    run: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    text = HAZARD.read_bytes()
    (tmp_path / "k.ptx").write_bytes(text)
    (tmp_path / "same.ptx").symlink_to("k.ptx")
    result = run(*arguments)
    assert result.status == 2
    assert "is the file to read." in result.err
    assert (tmp_path / "k.ptx").read_bytes() == text


@pytest.mark.parametrize(
    "data",
    [
        BARE,
        BARE.replace(b"\n", b"\r\n"),
        BARE.replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + BARE,
        BARE + b"\0",
        "// Größe\n".encode() + BARE,
    ],
    ids=["unix", "windows", "old mac", "byte order mark", "C string", "umlaut"],
)
def test_texts_of_every_kind_are_read(run: Run, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "k.ptx").write_bytes(data)
    result = run("check", "k.ptx")
    assert result.status == 0, result.err
    assert "kernel bare (sm_90a)" in result.out


def test_a_syntax_error_has_a_place_and_the_other_functions_are_checked(run: Run, tmp_path: Path) -> None:
    text = BARE.decode() + ".visible .entry bad()\n{\n\tmov.u32 %r1 %r2 %r3;\n\tret;\n}\n"
    (tmp_path / "k.ptx").write_text(text + HAZARD.read_text("utf-8").split(".address_size 64")[1], "utf-8")
    result = run("check", "k.ptx")
    assert result.status == 2
    assert "error[PTX999]" in result.out
    assert "--> k.ptx:10:" in result.out
    assert "error[PTX201]" in result.out


def test_line_ends_do_not_move_findings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_bytes(HAZARD.read_bytes().replace(b"\n", b"\r\n"))
    assert run("check", "--output-format", "concise", "k.ptx").out.startswith("k.ptx:172:2: PTX201 ")


def test_missing_files_and_folders(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = run("check", "none.ptx", "empty", CLEAN)
    assert result.status == 2
    assert "ptxlint: error: none.ptx: no such file or directory\n" in result.err
    assert "ptxlint: error: empty: no *.ptx file in this folder\n" in result.err
    assert "no findings in 1 kernel of 3 files; 2 files not checked completely" in result.out


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_no_permission(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_bytes(BARE)
    (tmp_path / "k.ptx").chmod(0)
    assert "k.ptx: permission denied" in run("check", "k.ptx").err


def test_an_unreadable_file_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied", "k.ptx")

    monkeypatch.setattr("builtins.open", refuse)
    result = run("check", "k.ptx")
    assert (result.status, result.err) == (2, "ptxlint: error: k.ptx: permission denied\n")


def test_folders_are_searched(run: Run, tmp_path: Path) -> None:
    for name in ("b.ptx", "a/z.ptx", "a/a.ptx", ".hidden/x.ptx", "a/.git/x.ptx", "a/b.txt", "a.b/c.ptx"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(BARE)
    result = run("check", "--output-format", "json", "in", "in/b.ptx")
    assert result.status == 0
    paths = [Path(file["path"]).as_posix() for file in json.loads(result.out)["files"]]
    assert paths == ["in/a/a.ptx", "in/a/z.ptx", "in/a.b/c.ptx", "in/b.ptx"]


def test_an_internal_error_is_told_and_the_other_files_are_checked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.ptx").write_bytes(BARE)
    real = linter.read_text

    def broken(text: str, path: str) -> tuple[Module, FileReport]:
        if path == "bad.ptx":
            raise KeyError("boom")
        return real(text, path)

    monkeypatch.setattr(linter, "read_text", broken)
    result = run("check", "bad.ptx", HAZARD)
    assert result.status == 2
    assert (
        f"ptxlint: error: bad.ptx: internal error, a bug of ptxlint {ptxlint.__version__}: KeyError"
        in result.err
    )
    assert "at test_cli.py:" in result.err
    assert "error[PTX201]" in result.out


def test_an_internal_error_while_printing_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("ptxlint.commands.output.print_report", broken)
    result = run("check", CLEAN)
    assert result.status == 2
    assert "internal error, a bug of ptxlint" in result.err


def test_what_was_found_before_is_reported_without_the_engine(tmp_path: Path) -> None:
    program = (
        "import sys; from ptxlint import cli; sys.argv = ['ptxlint', 'check', '-j1', *sys.argv[1:]];"
        "status = cli.run(); print({'ptxlint.checks', 'ptxlint.engine', 'lark'} & set(sys.modules)); sys.exit(status)"
    )
    arguments = [sys.executable, "-c", program, "--cache-dir", str(tmp_path), "--ignore", "PTX3", str(HAZARD)]
    done = [subprocess.run(arguments, capture_output=True, text=True) for _ in range(2)]
    assert [run.returncode for run in done] == [1, 1]
    assert "ptxlint.engine" in done[0].stdout.splitlines()[-1]
    assert done[1].stdout.splitlines()[-1] == "set()"


def test_an_interrupt_is_no_verdict(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(linter, "read_text", interrupt)
    assert run("check", CLEAN).status == 130


@pytest.mark.parametrize("stage", ["--effects", "--cfg", "--events"])
def test_dump(run: Run, stage: str) -> None:
    result = run("dump", stage, "--kernel", "two_stage_copy", HAZARD)
    assert result.status == 0
    assert "two_stage_copy" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([HAZARD], "give one of --effects, --cfg, --events"),
        (["--effects", "--kernel", "none", HAZARD], "two_stage_copy.sm_90a.ptx: no kernel none"),
        (["--effects", "none.ptx"], "none.ptx: no such file or directory"),
    ],
)
def test_dump_refuses(run: Run, arguments: list[object], words: str) -> None:
    result = run("dump", *arguments)
    assert result.status == 2
    assert words in result.err


def test_schema(run: Run) -> None:
    assert json.loads(run("schema").out)["title"] == "Report of ptxlint check --output-format json"


def test_version_and_help(run: Run) -> None:
    lines = run("--version").out.splitlines()
    assert lines[0] == f"ptxlint, version {ptxlint.__version__}"
    assert re.fullmatch(r"grammar of PTX ISA \d+\.\d+ \([0-9a-f]{8}\)", lines[1])
    assert re.fullmatch(rf"{len(known_codes())} rules \([0-9a-f]{{8}}\)", lines[2])
    assert run("-V").status == 0
    assert run("--help").status == 0
    assert run("check", "-h").status == 0
    assert run().status == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_shell_completion(tmp_path: Path) -> None:
    """Run the line of the README in bash, and complete with what it defines."""
    section = (ROOT / "README.md").read_text("utf-8").split("## Shell completion\n", 1)[1]
    line = section.split("```sh\n", 1)[1].split("\n", 1)[0]
    script = tmp_path / "ptxlint"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ptxlint "$@"\n')
    script.chmod(0o755)
    program = f"""
PATH="{tmp_path}:$PATH"
{line}
complete -p ptxlint
COMP_WORDS=(ptxlint check --select PTX101,PTX20); COMP_CWORD=3
_ptxlint_completion ptxlint; echo "${{COMPREPLY[@]}}"
COMPREPLY=(); COMP_WORDS=(ptxlint ru); COMP_CWORD=1
_ptxlint_completion ptxlint; echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-ec", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    registered, codes, commands = done.stdout.splitlines()
    assert registered.endswith("_ptxlint_completion ptxlint")
    assert codes.split() == [f"PTX101,{code}" for code in known_codes() if code.startswith("PTX20")]
    assert commands.split() == ["rule", "rules"]


def test_standard_input() -> None:
    done = command("check", "--output-format", "concise", "-", data=HAZARD.read_bytes())
    assert done.returncode == 1
    assert done.stdout.startswith(b"<stdin>:172:2: PTX201 ")


def test_a_terminal_that_knows_only_ascii() -> None:
    data = HAZARD.read_bytes().replace(b"two_stage_copy(", "größer(".encode())
    done = command("check", "-", data=data, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode in (1, 2)
    assert b"Traceback" not in done.stderr + done.stdout


def test_output_that_nobody_reads() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "ptxlint", "check", str(HAZARD)], stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ptxlint", "check", str(HAZARD)], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert b"cannot write the report: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("closed", "file", "status"), [(">&-", "", 2), (">&-", "--output-file out.txt", 1), ("2>&-", "", 1)]
)
def test_streams_that_are_closed(tmp_path: Path, closed: str, file: str, status: int) -> None:
    script = f"{shlex.quote(sys.executable)} -m ptxlint check {file} {shlex.quote(str(HAZARD))} {closed}"
    done = subprocess.run(
        script, shell=True, cwd=tmp_path, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    if status == 2:
        assert b"cannot write the report: standard output is closed\n" in done.stderr


def test_colours_only_on_a_terminal() -> None:
    plain = command("check", str(HAZARD), FORCE_COLOR="1")
    assert b"\x1b" not in plain.stdout


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_colours_on_a_terminal() -> None:
    import pty

    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "ptxlint", "check", str(HAZARD)],
        stdout=other,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "40"},
    ) as process:
        os.close(other)
        seen = b""
        while True:
            try:
                block = os.read(main, 65536)
            except OSError:  # Linux says so at the end
                break
            if not block:
                break
            seen += block
    os.close(main)
    assert process.returncode == 1
    assert b"\x1b[" in seen
    assert max(len(line) for line in seen.split(b"\r\n")) > 100
