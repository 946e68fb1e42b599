"""Options and ini keys of the plugin mirror those of ``ptxlint check``; loading it costs nothing."""

import json
import subprocess
import sys

import pytest

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
