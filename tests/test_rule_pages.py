"""One code, three places: the check, the page, the fixtures; and the examples of the pages are run."""

import re

import pytest
from click.testing import CliRunner

from ptxlint.checks import ALL_CHECKS
from ptxlint.cli import cli
from ptxlint.codes import OFF_BY_DEFAULT, known_codes
from ptxlint.linter import check_text
from ptxlint.report.finding import Finding, Severity
from ptxlint.report.rule_page import page_codes, read_page
from ptxlint.rule_table import OWN
from ptxlint.settings import Settings
from tests.conftest import ROOT

CODES = sorted(check.code for check in ALL_CHECKS)
# What public bugs hit most.
OFTEN = {f"PTX{number}" for number in (101, 102, 110, 111, *range(201, 207), *range(301, 308), 309, 312)}
OFTEN |= {f"PTX{number}" for number in (501, *range(511, 517))}
HEADINGS = [
    "What it does",
    "Why is this a hazard?",
    "Causes",
    "How to fix",
    "What it does not see",
    "See also",
]


def findings(text: str, code: str) -> list[Finding]:
    select = (code,) if code in ("PTX901",) else ()
    report = check_text(text, "example.ptx", Settings(select=select))
    assert not report.problems
    return [f for kernel in report.kernels for f in kernel.findings if not f.code.startswith("PTX99")]


def test_each_code_has_a_page() -> None:
    assert page_codes() == list(known_codes()) == sorted([*CODES, *OWN])


def test_what_is_off_by_default_is_what_the_checks_say() -> None:
    assert {check.code for check in ALL_CHECKS if not check.default} == OFF_BY_DEFAULT


@pytest.mark.parametrize("code", [*CODES, *OWN])
def test_page_is_whole(code: str) -> None:
    page = read_page(code)
    assert page.code == code
    named = {check.code: check.name for check in ALL_CHECKS} | {c: name for c, (name, _) in OWN.items()}
    assert page.name == named[code]
    assert {"since", "status", "targets", "spec"} <= page.fields.keys()
    assert [heading for heading in HEADINGS if heading not in page.sections] == []


@pytest.mark.parametrize("code", CODES)
def test_fixtures_of_each_code(code: str) -> None:
    """Hazards with their repaired twins, and look-alikes: two of each, or four where bugs are common."""
    folder = ROOT / "fixtures" / code.lower()
    sources = [path for path in folder.iterdir() if path.suffix in (".cu", ".ptx", ".py")]
    texts = {path.name.split(".")[0]: path.read_text("utf-8") for path in sorted(sources, reverse=True)}
    hazards = {name for name, text in texts.items() if re.search(rf"expect(?:@[+-]\d+)?: {code}", text)}
    clean = {name for name, text in texts.items() if "expect-clean" in text}
    least = 4 if code in OFTEN else 2
    assert len([name for name in hazards if f"{name}_fixed" in clean]) >= least, folder
    assert len([name for name in clean if not name.endswith("_fixed")]) >= least, folder


@pytest.mark.parametrize("code", CODES)
def test_examples(code: str) -> None:
    page = read_page(code)
    bad, good = page.examples("Example"), page.examples("Use instead")
    assert bad
    assert good
    for example in bad:
        found = findings(example, code)
        assert {f.code for f in found} == {code}
        lines = example.split("\n")
        marked = {number for number, line in enumerate(lines, 1) if re.search(rf"expect: {code}\b", line)}
        assert marked & {f.site.line for f in found}
    for example in good:
        assert [f for f in findings(example, code) if f.severity is not Severity.NOTE] == []


def test_rule_prints_the_page() -> None:
    result = CliRunner().invoke(cli, ["rule", "ptx201"])
    assert result.exit_code == 0
    assert "## Why is this a hazard?" in result.output
    assert "+++" not in result.output


def test_unknown_rule_is_refused() -> None:
    result = CliRunner().invoke(cli, ["rule", "PTX20"])
    assert result.exit_code == 2
    assert "there is no rule 'PTX20'" in result.output


def test_rules_lists_all() -> None:
    result = CliRunner().invoke(cli, ["rules"])
    assert [line.split()[0] for line in result.output.splitlines()] == list(known_codes())
