"""Options and ini keys of the plugin mirror those of ``ptxlint check``; loading it costs nothing."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from ptxlint.cli import cli
from tests.pytest_plugin.conftest import Run
from tests.pytest_plugin.kernels import clean, hazard, module


def test_loading_the_plugin_imports_nothing_else_of_ptxlint() -> None:
    script = (
        "import sys, pytest; before = set(sys.modules); import ptxlint.pytest_plugin, json;"
        "print(json.dumps(sorted(set(sys.modules) - before - {'json'})))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    added = [name for name in json.loads(done.stdout) if not name.startswith("json.")]
    assert [name for name in added if name.partition(".")[0] in ("ptxlint", "lark", "rich", "click")] == [
        "ptxlint",
        "ptxlint.pytest_plugin",
    ]


@pytest.mark.parametrize(
    ("options", "ini", "failed"),
    [
        ("--ptxlint-select PTX2", "", False),
        ("--ptxlint-select PTX2,PTX101", "", True),
        ("--ptxlint-ignore ptx1", "", False),
        ("", "ptxlint_ignore = PTX101 PTX2", False),
        ("--ptxlint-ignore PTX2", "ptxlint_ignore = PTX101", True),
        ("", "ptxlint_select = PTX3", False),
        ("--ptxlint-fail-on error", "", True),
        ("--ptxlint-fail-on error --ptxlint-select PTX990", "", False),
    ],
)
def test_codes_and_severities(
    pytester: pytest.Pytester, run: Run, options: str, ini: str, failed: bool
) -> None:
    pytester.path.joinpath("k.ptx").write_text(module(hazard()), "utf-8")
    pytester.makeini(f"[pytest]\n{ini}\n")
    run("--ptxlint", *options.split()).assert_outcomes(failed=failed, passed=not failed)


@pytest.mark.parametrize(("options", "ini"), [(["--ptxlint-strict"], ""), ([], "ptxlint_strict = true")])
def test_strict(pytester: pytest.Pytester, run: Run, options: list[str], ini: str) -> None:
    unknown = clean().replace("bar.sync 0;", "bar.sync 0; frobnicate.b32 %r1, %r1;")
    pytester.path.joinpath("k.ptx").write_text(module(unknown), "utf-8")
    run("--ptxlint").assert_outcomes(passed=1)
    pytester.makeini(f"[pytest]\n{ini}\n")
    done = run("--ptxlint", *options)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["error[[]PTX991]: frobnicate*"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--ptxlint-select=PTX777", "*no rule's code begins with 'PTX777'*"),
        ("--ptxlint-fail-on=bad", "*'bad' is none of note, warning, error*"),
        ("--ptxlint-block=1,x", "*'1,x' is not of the form X[[],Y[[],Z]]*"),
    ],
)
def test_bad_values_are_usage_errors(run: Run, option: str, message: str) -> None:
    done = run("--ptxlint", option)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([message])
    done.stderr.no_fnmatch_line("*Traceback*")


def test_the_options_are_defaults_of_the_fixture(pytester: pytest.Pytester, run: Run) -> None:
    pytester.path.joinpath("k.txt").write_text(module(hazard()), "utf-8")
    pytester.makepyfile(
        "def test_default(assert_ptx_clean): assert_ptx_clean('k.txt')\n"
        "def test_own(assert_ptx_clean): assert_ptx_clean('k.txt', ignore=['PTX1'])\n"
    )
    run().assert_outcomes(failed=1, passed=1)
    done = run("--ptxlint-ignore=PTX101")
    done.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("toml", "options", "failed"),
    [
        ("ignore = ['PTX1']", "", False),
        ("severity = { PTX1 = 'note' }", "", False),
        ("severity = { PTX1 = 'note' }", "--ptxlint-fail-on note", True),
        ("ignore = ['PTX1']", "--ptxlint-select PTX1", True),
        ("fail-on = 'error'", "", True),
    ],
)
def test_configuration_files(
    pytester: pytest.Pytester, run: Run, toml: str, options: str, failed: bool
) -> None:
    pytester.mkdir("in").joinpath("k.ptx").write_text(module(hazard()), "utf-8")
    pytester.path.joinpath("in", "ptxlint.toml").write_text(toml, "utf-8")
    run("--ptxlint", *options.split()).assert_outcomes(failed=failed, passed=not failed)


def test_excluded_files_suppressions_and_baselines(pytester: pytest.Pytester, run: Run) -> None:
    pytester.path.joinpath("k.ptx").write_text(module(hazard()), "utf-8")
    pytester.path.joinpath("ptxlint.toml").write_text("exclude = ['k.ptx']", "utf-8")
    run("--ptxlint").assert_outcomes()
    run("--ptxlint", "k.ptx").assert_outcomes(failed=1)
    written = [sys.executable, "-m", "ptxlint", "check", "--write-baseline", "known.json", "k.ptx"]
    subprocess.run(written, cwd=pytester.path, check=True, capture_output=True)
    pytester.path.joinpath("ptxlint.toml").write_text("baseline = 'known.json'", "utf-8")
    run("--ptxlint").assert_outcomes(passed=1)


def test_wrong_configuration_is_bad_usage(pytester: pytest.Pytester, run: Run) -> None:
    pytester.path.joinpath("k.ptx").write_text(module(hazard()), "utf-8")
    pytester.path.joinpath("ptxlint.toml").write_text("ignor = ['PTX1']", "utf-8")
    done = run("--ptxlint")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(['*ptxlint.toml:1: unknown key "ignor"; did you mean "ignore"?*'])


def test_another_configuration_none_and_a_baseline(pytester: pytest.Pytester, run: Run) -> None:
    text = module(hazard())
    pytester.path.joinpath("k.ptx").write_text(text, "utf-8")
    pytester.makepyfile("def test_it(assert_ptx_clean): assert_ptx_clean('k.ptx')")
    pytester.path.joinpath("ptxlint.toml").write_text('ignore = ["PTX101"]\n', "utf-8")
    pytester.path.joinpath("other.toml").write_text('ignore = ["PTX2"]\n', "utf-8")
    run("--ptxlint").assert_outcomes(passed=2)
    run("--ptxlint", "--ptxlint-config=other.toml").assert_outcomes(failed=2)
    run("--ptxlint", "--ptxlint-isolated").assert_outcomes(failed=2)
    CliRunner().invoke(cli, ["check", "--isolated", "k.ptx", "--write-baseline", "known.json"])
    run("--ptxlint", "--ptxlint-isolated", "--ptxlint-baseline=known.json").assert_outcomes(passed=2)
    hidden = text.replace(
        "    cp.async.bulk.g", "    // ptxlint: ignore[PTX101] on purpose\n    cp.async.bulk.g"
    )
    pytester.path.joinpath("k.ptx").write_text(hidden, "utf-8")
    run("--ptxlint", "--ptxlint-isolated").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ptxlint-config=none.toml"], "*none.toml: *no such file*"),
        (["--ptxlint-baseline=none.json"], "*none.json: *"),
        (["--ptxlint-config=x.toml", "--ptxlint-isolated"], "*contradict each other*"),
    ],
)
def test_files_that_cannot_be_read_are_usage_errors(
    pytester: pytest.Pytester, run: Run, options: list[str], message: str
) -> None:
    pytester.path.joinpath("k.ptx").write_text(module(clean()), "utf-8")
    done = run("--ptxlint", *options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([message])
    done.stderr.no_fnmatch_line("*Traceback*")


def test_a_configuration_that_is_wrong_fails_the_collection_of_its_files(
    pytester: pytest.Pytester, run: Run
) -> None:
    pytester.mkdir("in").joinpath("k.ptx").write_text(module(clean()), "utf-8")
    pytester.path.joinpath("in", "ptxlint.toml").write_text("baseline = 'none.json'", "utf-8")
    done = run("--ptxlint")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*ERROR collecting in/k.ptx*", "*none.json: there is no such baseline*"])
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*raise *")
