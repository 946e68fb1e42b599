"""What README.md says is so: its commands are run, and its outputs, options and tables compared.

``pytest --update-expect`` writes the outputs and the table anew.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import click
import pytest

from ptxlint.cli import cli
from ptxlint.rule_table import as_markdown
from tests.conftest import ROOT

README = ROOT / "README.md"
_CONSOLE = re.compile(
    r"^```console\n\$ (?P<command>ptxlint [^\n]*)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL
)
_RULES = re.compile(r"(?<=writes this table\) -->\n).*?(?=<!-- rules: end -->)", re.DOTALL)
_KEPT = 12  # lines of a long output that the README shows
_LONG = {"dump"}

# What the tool itself cannot do, rather than a hazard.


def output_of(command: str) -> str:
    """Return what a ``ptxlint`` command prints, run in the root of the project."""
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    if shlex.split(command)[1] in _LONG and len(lines) > _KEPT:
        lines = [*lines[:_KEPT], "…"]
    return "".join(f"{line}\n" for line in lines)


def rule_table() -> str:
    """Return the rule table as the command prints it."""
    return as_markdown() + "\n"


def test_outputs_and_table(request: pytest.FixtureRequest) -> None:
    text = README.read_text("utf-8")

    def console(match: re.Match[str]) -> str:
        return f"```console\n$ {match['command']}\n{output_of(match['command'])}```"

    current, count = _CONSOLE.subn(console, text)
    current, tables = _RULES.subn(lambda match: rule_table(), current)
    assert (count, tables) == (4, 1)
    if request.config.getoption("--update-expect") and current != text:
        README.write_text(current, "utf-8")
        pytest.fail("README.md rewritten; look at the diff")
    assert current == text, "run pytest tests/test_readme.py --update-expect"


def test_other_commands_are_those_that_ci_runs() -> None:
    text = README.read_text("utf-8")
    commands = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert [
        command.startswith("python3 -m venv .venv && .venv/bin/pip install -q ") for command in commands[:2]
    ] == [True, True]
    run = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "readme_command 'ptxlint check'" in run
    assert "readme_command '-m pytest'" in run
    for command in commands[2:]:
        for part in command.partition("#")[0].split("|"):
            words = shlex.split(part.partition("<")[0])
            if words[:1] == ["ptxlint"]:
                with cli.commands[words[1]].make_context(words[1], words[2:]):
                    pass
            else:
                assert words[0] in ("pip", "nvcc", "pytest", "eval")  # the last two have tests of their own


def every_command(command: click.Command) -> Iterator[click.Command]:
    """Yield *command* and those in it."""
    yield command
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from every_command(inner)


def test_every_option_is_described() -> None:
    text = README.read_text("utf-8")
    names = {
        option for command in every_command(cli) for parameter in command.params for option in parameter.opts
    }
    assert {name for name in names if name.startswith("--") and f"`{name}" not in text} == set()


def test_the_json_sample_has_the_keys_that_are_printed() -> None:
    [sample] = re.findall(r"^```json\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    printed = output_of("ptxlint check --output-format json fixtures/ptx201/two_stage_copy.sm_90a.ptx")
    assert sorted(set(keys(json.loads(sample)))) == sorted(set(keys(json.loads(printed))))


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every key in a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, f"{path}[]")
