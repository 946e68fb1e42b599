"""ptxlint as a library."""

import subprocess
import sys
from pathlib import Path

import pytest

import ptxlint
from ptxlint import Settings, Severity
from tests.conftest import FIXTURES, ROOT

HAZARD = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
TEXT = HAZARD.read_text("utf-8")
BARE = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry bare()\n{\n\tret;\n}\n"


def codes(report: ptxlint.Report) -> list[str]:
    return [finding.code for finding in report.findings()]


@pytest.mark.parametrize(
    "given", [TEXT, TEXT.encode(), HAZARD, str(HAZARD)], ids=["str", "bytes", "Path", "path"]
)
def test_text_and_paths(given: str | bytes | Path) -> None:
    report = ptxlint.check(given)
    assert codes(report) == ["PTX201"]
    [file] = report.files
    assert file.path == (str(HAZARD) if str(HAZARD) == str(given) else "<string>")
    assert file.kernels[0].coverage.complete
    [finding] = report.findings()
    assert finding.severity is Severity.ERROR
    assert ptxlint.check(given, name="mine.ptx").files[0].path == "mine.ptx"


def test_what_is_asked_for() -> None:
    assert codes(ptxlint.check(TEXT, select=["PTX1"])) == []
    assert codes(ptxlint.check(TEXT, select=["PTX1"], extend_select=["PTX201"])) == ["PTX201"]
    assert codes(ptxlint.check(TEXT, select="PTX2,PTX1", ignore="PTX201")) == []
    assert codes(ptxlint.check(TEXT, settings=Settings(ignore=("PTX201",)))) == []
    assert codes(ptxlint.check(TEXT, ignore=["PTX3"], settings=Settings(ignore=("PTX201",)))) == ["PTX201"]
    assert codes(ptxlint.check(TEXT, block=32, cluster=(1, 1, 1))) == ["PTX201"]


def test_strict_makes_limits_errors() -> None:
    functions = BARE.replace(".visible .entry", ".visible .func")
    severities = [ptxlint.check(functions, strict=strict).findings()[0].severity for strict in (False, True)]
    assert severities == [Severity.NOTE, Severity.ERROR]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "<string>: no PTX: the file is empty"),
        (b"\x7fELF\x02", "<string>: no PTX text: these are the bytes of a binary file"),
        ("no_such.ptx", "no_such.ptx: no such file or directory"),
        (Path("no_such.ptx"), "no_such.ptx: no such file or directory"),
        ("-", "no such file or directory"),
        ("int main() { return 0; }\n", "<string>: line 1, column 1"),
    ],
)
def test_what_cannot_be_checked_raises(given: str | bytes | Path, words: str) -> None:
    with pytest.raises(ptxlint.InputError, match=words):
        ptxlint.check(given)


def test_a_syntax_error_carries_what_was_found_all_the_same() -> None:
    broken = ".visible .entry bad()\n{\n\tmov.u32 %r1 %r2 %r3;\n\tret;\n}\n"
    with pytest.raises(ptxlint.InputError) as caught:
        ptxlint.check(TEXT + broken)
    assert caught.value.report is not None
    assert set(codes(caught.value.report)) == {"PTX999", "PTX201"}


def test_bad_arguments_raise() -> None:
    with pytest.raises(ValueError, match="did you mean PTX201"):
        ptxlint.check(TEXT, select=["PTX2O1"])
    with pytest.raises(ValueError, match="2048 is not between 1 and 1024"):
        ptxlint.check(TEXT, block=2048)
    with pytest.raises(ValueError, match="not of the form"):
        ptxlint.check(TEXT, cluster=(1, 1, 1, 1))


def test_importing_is_cheap_and_the_public_names_are_there() -> None:
    program = (
        "import sys, ptxlint; heavy = {'lark', 'click', 'rich', 'ptxlint.engine', 'asyncio'} & set(sys.modules);"
        "assert not heavy, heavy; assert [getattr(ptxlint, name) for name in ptxlint.__all__];"
        "assert set(ptxlint.__all__) <= set(dir(ptxlint))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        ptxlint.__getattr__("chekc")


def test_settings_of_the_nearest_configuration(tmp_path: Path) -> None:
    (tmp_path / "ptxlint.toml").write_text("ignore = ['PTX201']\n", "utf-8")
    for place in (tmp_path, tmp_path / "k.ptx", str(tmp_path)):
        assert codes(ptxlint.check(TEXT, settings=ptxlint.find_settings(place))) == []
    (tmp_path / "ptxlint.toml").write_text("ignor = ['PTX201']\n", "utf-8")
    with pytest.raises(ptxlint.ConfigError, match="did you mean"):
        ptxlint.find_settings(tmp_path)


def test_the_example_of_the_readme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run it, and compare what it prints with its comments."""
    monkeypatch.chdir(ROOT)
    section = (ROOT / "README.md").read_text("utf-8").split("## Use as a library\n", 1)[1]
    example = section.split("```python\n", 1)[1].split("```", 1)[0]
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed == [line.removeprefix("# ") for line in example.splitlines() if line.startswith("# ")]


def test_processes_and_a_cache(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.ptx").write_text(TEXT.replace("two_stage_copy", name), "utf-8")
    plain = ptxlint.check(tmp_path)
    assert [kernel.name for file in plain.files for kernel in file.kernels] == ["a", "b"]
    for _ in range(2):
        kept = ptxlint.check(tmp_path, jobs=2, cache_dir=tmp_path / "cache")
        assert kept.findings() == plain.findings()
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 2
