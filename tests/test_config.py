"""Configuration files: which one applies, what it changes, and what is said when it is wrong."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxlint.config import ConfigError, Configurations, read_config
from ptxlint.config.keys import KEYS, ValueProblem
from ptxlint.demangle import demangle
from ptxlint.report.finding import Severity
from ptxlint.settings import LaunchHint, Settings
from tests.conftest import FIXTURES, ROOT
from tests.test_cli import CLEAN, HAZARD, Run, run

__all__ = ["run"]

README = ROOT / "README.md"
WARNING = FIXTURES / "ptx102" / "two_stage_combine.sm_90a.ptx"
EVERYTHING = """
select = ["PTX1", "ptx2"]
ignore = ["PTX103"]
extend-select = ["PTX901"]
fail-on = "error"
strict = true
output-format = "concise"
block = 128
cluster = [2, 1, 1]
source-roots = ["src"]
exclude = ["third_party"]
baseline = "known.json"

[severity]
PTX9 = "note"

[per-file-ignores]
"generated/*.ptx" = ["PTX102"]

[per-kernel-ignores]
"*combine*" = ["PTX1"]

[kernels."copy<*>"]
block = "32,2"
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def copy(path: Path, of: Path = HAZARD) -> Path:
    return write(path, of.read_text("utf-8"))


def test_every_key_is_read(tmp_path: Path) -> None:
    config = read_config(write(tmp_path / "ptxlint.toml", EVERYTHING))
    assert config is not None
    assert set(config.keys) == set(KEYS)
    assert config.settings == Settings(
        select=("PTX1", "PTX2"),
        ignore=("PTX103",),
        extend_select=("PTX901",),
        fail_on=Severity.ERROR,
        strict=True,
        output_format="concise",
        block=(128, 1, 1),
        cluster=(2, 1, 1),
        source_roots=(str(tmp_path / "src"),),
        exclude=("third_party",),
        baseline=str(tmp_path / "known.json"),
        severity=(("PTX9", Severity.NOTE),),
        per_file_ignores=(("generated/*.ptx", ("PTX102",)),),
        per_kernel_ignores=(("*combine*", ("PTX1",)),),
        kernels=(LaunchHint("copy<*>", (32, 2, 1)),),
        root=str(tmp_path),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('ignore = ["PTX1"]\nselct = ["PTX1"]\n', ':2: unknown key "selct"; did you mean "select"?'),
        ('fail_on = "error"\n', ':1: unknown key "fail_on"; did you mean "fail-on"?'),
        ("xyzzy = 1\n", ':1: unknown key "xyzzy"; known are select, ignore, extend-select, '),
        ('\nselect = [\n  "PTX101",\n  "PTX2O1",\n]\n', ":4: select: no rule's code begins with 'PTX2O1'; did you mean PTX201?"),
        ('select = "PTX1"\n', ':1: select: expected a list of strings, found the string "PTX1"'),
        ("select = [1]\n", ":1: select: expected a list of strings, found a list of other things"),
        ('select = [""]\n', ":1: select: '' names no code"),
        ('fail-on = "eror"\n', ":1: fail-on: 'eror' is not one of note, warning, error; did you mean \"error\"?"),
        ("fail-on = 1\n", ":1: fail-on: expected one of note, warning, error, found the number 1"),
        ('output-format = "srif"\n', 'did you mean "sarif"?'),
        ("strict = 1\n", ":1: strict: expected true or false, found the number 1"),
        ("block = 2048\n", ":1: block: 2048 is not between 1 and 1024"),
        ("cluster = [1, 1, 1, 1]\n", ":1: cluster: '1,1,1,1' is not of the form X[,Y[,Z]]"),
        ("cluster = true\n", ":1: cluster: expected a number or a list of up to three, found true"),
        ("baseline = 1\n", ":1: baseline: expected the path of a file"),
        ('[severity]\nPTX101 = "note"\nPTX102 = "fatal"\n', ":3: severity: PTX102: 'fatal' is not one of"),
        ('[severity]\nPTY = "note"\n', ":2: severity: no rule's code begins with 'PTY'"),
        ('[severity]\nPTX999 = "note"\n', ":2: severity: PTX999: what cannot be parsed is always an error"),
        ("severity = 3\n", ":1: severity: expected a table, found the number 3"),
        ('[per-file-ignores]\n"a" = ["PTX1"]\n"b" = ["PTX777"]\n', ":3: per-file-ignores: \"b\": no rule's code"),
        ('[kernels."a*"]\nblok = 1\n', ':2: kernels: "a*": unknown key "blok"; did you mean "block"?'),
        ('[kernels."a*"]\nblock = 0\n', ':1: kernels: "a*": 0 is not between 1 and 1024'),
        ("select = [\n", ": no TOML: "),
        ("a = 1\na = 2\n", ":2:"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(run: Run, tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path / "ptxlint.toml", text)
    copy(tmp_path / "k.ptx")
    result = run("check", "k.ptx")
    assert result.status == 2
    assert result.err.startswith("ptxlint: error: ptxlint.toml")
    assert words in result.err
    assert result.out == ""


VALUES = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.sampled_from(["", "PTX1", "ptx101,PTX2", "PTX999", "error", "1,2", "\0", "é"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["", "PTX1", "a*", "block", "cluster"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(sorted(KEYS)), VALUES)
def test_any_value_is_read_or_refused(name: str, value: object) -> None:
    try:
        read = KEYS[name].read(value, Path())
    except ValueProblem:
        return
    chosen = Settings().with_choices(**{KEYS[name].setting: read})
    assert getattr(chosen, KEYS[name].setting) == read


def test_all_that_is_wrong_is_told_at_once_and_in_its_table(run: Run, tmp_path: Path) -> None:
    text = '[tool.other]\nselct = 1\n\n[tool.ptxlint]\nselct = 1\nstrict = "no"\n\n[tool.ptxlint.severity]\nPTX1 = 3\n'
    write(tmp_path / "pyproject.toml", text)
    errors = run("check", copy(tmp_path / "k.ptx")).err.splitlines()
    assert [line.split(": ")[2] for line in errors] == [
        "pyproject.toml:5",
        "pyproject.toml:6",
        "pyproject.toml:9",
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"select = [] # caf\xe9\n", "no UTF-8 text: byte 0xe9 at offset 17"),
        (b"[" * 4000, "no TOML"),
        (b"x = " + b"[" * 4000, "no TOML"),
        (b"[tool]\nptxlint = 3\n", "tool.ptxlint is no table"),
    ],
)
def test_files_that_cannot_be_read(run: Run, tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "pyproject.toml").write_bytes(data)
    result = run("check", copy(tmp_path / "k.ptx"))
    assert result.status == 2
    assert words in result.err


def test_no_permission_is_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ptxlint.toml", "")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    result = run("check", HAZARD, "--config", "ptxlint.toml")
    assert (result.status, result.err) == (2, "ptxlint: error: ptxlint.toml: permission denied\n")


def test_a_file_with_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "ptxlint.toml").write_bytes(b"\xef\xbb\xbfstrict = true\r\n[severity]\r\nPTX1 = 'note'\r\n")
    config = read_config(tmp_path / "ptxlint.toml")
    assert config is not None
    assert config.settings.strict


def test_the_nearest_file_wins(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.ptxlint]\nselect = ['PTX1']\n")
    write(tmp_path / "a" / "pyproject.toml", "[project]\nname = 'other'\n")
    write(tmp_path / "b" / "pyproject.toml", "[tool.ptxlint]\nselect = ['PTX2']\n")
    write(tmp_path / "b" / "c" / "ptxlint.toml", "select = ['PTX3']\n")
    write(tmp_path / "b" / "c" / "pyproject.toml", "[tool.ptxlint]\nselect = ['PTX4']\n")
    configurations = Configurations()
    found = {
        folder: configurations.of_file(str(tmp_path / folder / "k.ptx")).settings.select
        for folder in ("b/c/d", "b/c", "b", "a/x", "a", ".")
    }
    assert found == {
        "b/c/d": ("PTX3",),
        "b/c": ("PTX3",),
        "b": ("PTX2",),
        "a/x": ("PTX1",),
        "a": ("PTX1",),
        ".": ("PTX1",),
    }
    assert Configurations(isolated=True).of_file(str(tmp_path / "k.ptx")).settings == Settings()
    explicit = Configurations(str(tmp_path / "b" / "pyproject.toml"))
    assert explicit.of_file(str(tmp_path / "b" / "c" / "k.ptx")).settings.select == ("PTX2",)
    with pytest.raises(ConfigError, match=r"there is no table \[tool.ptxlint\]"):
        Configurations(str(tmp_path / "a" / "pyproject.toml"))
    with pytest.raises(ConfigError, match="no such file"):
        Configurations(str(tmp_path / "none.toml"))


def test_files_of_one_run_have_settings_of_their_own(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a" / "ptxlint.toml", "ignore = ['PTX201']\n")
    copy(tmp_path / "a" / "k.ptx")
    copy(tmp_path / "b" / "k.ptx")
    result = run("check", "--output-format", "concise", "a", "b")
    assert result.status == 1
    assert [line.split(":")[0] for line in result.out.splitlines()] == ["b/k.ptx"]


@pytest.mark.parametrize(
    ("config", "arguments", "status"),
    [
        ("ignore = ['PTX201']", [], 0),
        ("select = ['PTX1']", [], 0),
        ("select = ['PTX1']", ["--select", "PTX2"], 1),
        ("select = ['PTX1']", ["--extend-select", "PTX2"], 1),
        ("ignore = ['PTX201']", ["--select", "PTX2"], 1),
        ("ignore = ['PTX201']", ["--ignore", "PTX1"], 1),
        ("ignore = ['PTX201']", ["--isolated"], 1),
        ("severity = { PTX201 = 'note' }", [], 0),
        ("severity = { PTX201 = 'note' }", ["--fail-on", "note"], 1),
        ("severity = { PTX2 = 'note', PTX20 = 'warning' }", [], 1),
        ("fail-on = 'error'\nseverity = { PTX2 = 'warning' }", [], 0),
        ("per-file-ignores = { 'k.ptx' = ['PTX2'] }", [], 0),
        ("per-file-ignores = { 'in/*.ptx' = ['PTX2'] }", [], 0),
        ("per-file-ignores = { 'in' = ['PTX2'] }", [], 0),
        ("per-file-ignores = { './in/' = ['PTX2'] }", [], 0),
        ("per-file-ignores = { 'out/*' = ['PTX2'], 'n/*' = ['PTX2'] }", [], 1),
        ("per-kernel-ignores = { 'two_stage_*' = ['PTX201'] }", [], 0),
        ("per-kernel-ignores = { 'stage' = ['PTX201'] }", [], 1),
        ("kernels = { 'two_*' = { block = 64 } }", [], 1),
    ],
)
def test_what_settings_do(run: Run, tmp_path: Path, config: str, arguments: list[str], status: int) -> None:
    write(tmp_path / "ptxlint.toml", config)
    copy(tmp_path / "in" / "k.ptx")
    assert run("check", *arguments, "in/k.ptx").status == status


@pytest.mark.skipif(demangle(["_Z1fi"])["_Z1fi"] == "_Z1fi", reason="nothing demangles here")
def test_kernels_are_known_by_their_demangled_names(run: Run, tmp_path: Path) -> None:
    mangled = HAZARD.read_text("utf-8").replace("two_stage_copy", "_ZN2my4copyILi2EEEvPKhPhi")
    write(tmp_path / "k.ptx", mangled)
    for pattern, status in (("_ZN2my4copy*", 0), ("my::copy<*>", 0), ("void my::copy<2>(*", 0), ("copy", 1)):
        write(tmp_path / "ptxlint.toml", f"[per-kernel-ignores]\n'{pattern}' = ['PTX201']\n")
        assert run("check", "k.ptx").status == status, pattern


def test_launch_hints_of_kernels(tmp_path: Path) -> None:
    from ptxlint.linter import launch_of

    config = read_config(
        write(
            tmp_path / "ptxlint.toml",
            "block = 32\n[kernels.'a*']\nblock = 64\n[kernels.'ab']\ncluster = 2\nblock = 96\n",
        )
    )
    assert config is not None
    assert launch_of("ab", config.settings) == ((64, 1, 1), (2, 1, 1))
    assert launch_of("b", config.settings) == ((32, 1, 1), None)
    chosen = config.settings.with_choices(block=(128, 1, 1))
    assert launch_of("ab", chosen) == ((128, 1, 1), (2, 1, 1))


def test_excluded_files_are_left_out_of_folders_only(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "ptxlint.toml", "exclude = ['third_party', 'build/*.tmp.ptx']\n")
    for name in ("a.ptx", "x/third_party/b.ptx", "build/c.tmp.ptx", "build/d.ptx"):
        copy(tmp_path / name, CLEAN)
    paths = [file["path"] for file in json.loads(run("check", "--output-format", "json", ".").out)["files"]]
    assert paths == ["a.ptx", "build/d.ptx"]
    assert run("check", "x/third_party").out.startswith("no findings in 0 kernels")
    assert "of 1 file" in run("check", "x/third_party/b.ptx").out


def test_standard_input_takes_the_working_directory(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "ptxlint.toml", "output-format = 'concise'\nseverity = { PTX102 = 'note' }\n")
    result = run("check", WARNING, "--config", "ptxlint.toml")
    assert result.status == 0
    assert "PTX102" in result.out.split("\n")[0]


def test_show_settings(run: Run, tmp_path: Path) -> None:
    write(
        tmp_path / "pyproject.toml",
        '[tool.ptxlint]\nignore = ["PTX1"]\n[tool.ptxlint.severity]\nPTX2 = "note"\n',
    )
    result = run("check", "--show-settings", "--fail-on", "error", "k.ptx")
    assert result.status == 0
    lines = result.out.splitlines()
    assert lines[0] == "# k.ptx: pyproject.toml"
    origins = dict(re.split(" +# ", line) for line in lines[1:] if " = " in line and "  # " in line)
    assert origins['ignore = ["PTX1"]'] == "pyproject.toml"
    assert origins["strict = false"] == "default"
    assert origins['fail-on = "error"'] == "command line"
    assert lines[-2:] == ["[severity]  # pyproject.toml", '"PTX2" = "note"']


def test_what_is_shown_of_the_defaults_is_valid_too(run: Run, tmp_path: Path) -> None:
    config = read_config(write(tmp_path / "a.toml", run("check", "--show-settings").out))
    assert config is not None
    assert config.settings == Settings(root=str(tmp_path))


def test_show_settings_as_json_and_what_is_shown_is_valid(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "ptxlint.toml", EVERYTHING)
    shown = json.loads(run("check", "--show-settings", "--output-format", "json", "k.ptx", "-").out)
    assert [entry["file"] for entry in shown] == ["k.ptx", "-"]
    settings = shown[0]["settings"]
    assert settings["block"] == {"value": [128, 1, 1], "origin": "ptxlint.toml"}
    assert settings["output-format"] == {"value": "json", "origin": "command line"}
    assert settings["kernels"]["value"] == {"copy<*>": {"block": [32, 2, 1]}}
    text = run("check", "--show-settings", "--output-format", "full", "k.ptx").out
    again = read_config(write(tmp_path / "again" / "ptxlint.toml", text))
    first = read_config(tmp_path / "ptxlint.toml")
    assert again is not None
    assert first is not None
    assert again.settings == first.settings.with_choices(output_format="full", root=str(tmp_path / "again"))


def test_the_configuration_in_the_readme_has_every_key(tmp_path: Path) -> None:
    blocks = re.findall(r"^```toml\n(\[tool.ptxlint\]\n.*?)^```$", README.read_text("utf-8"), re.M | re.S)
    config = read_config(write(tmp_path / "pyproject.toml", blocks[0]))
    assert config is not None
    assert set(config.keys) == set(KEYS)


def test_contradictions_are_bad_usage(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "ptxlint.toml", "")
    result = run("check", "--isolated", "--config", "ptxlint.toml", "k.ptx")
    assert result.status == 2
    assert "contradict" in result.err
