"""The table of rules: code, name, severity and what each reports."""

import json
from dataclasses import asdict, dataclass

from ptxlint.checks import ALL_CHECKS
from ptxlint.report.rule_page import page_codes, read_page

OWN = {
    "PTX990": ("analysis-incomplete", "note"),
    "PTX991": ("unknown-instruction", "note"),
    "PTX992": ("unused-suppression", "note"),
    "PTX993": ("suppression-without-reason", "note"),
    "PTX999": ("syntax-error", "error"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table."""

    code: str
    name: str
    severity: str
    default: bool
    title: str


def all_rules() -> list[Rule]:
    """Return all rules, those of the tool's own limits included, in the order of their codes."""
    titles = {code: read_page(code).title for code in page_codes()}
    rules = [Rule(c.code, c.name, c.severity.value, c.default, titles.get(c.code, "")) for c in ALL_CHECKS]
    rules += [
        Rule(code, name, severity, True, titles.get(code, "")) for code, (name, severity) in OWN.items()
    ]
    return sorted(rules, key=lambda rule: rule.code)


def as_text() -> str:
    """Return the table in columns."""
    rules = all_rules()
    width = max(len(rule.name) for rule in rules)
    lines = [
        f"{rule.code}  {rule.name:{width}}  {rule.severity if rule.default else 'off':7}  {rule.title}"
        for rule in rules
    ]
    return "\n".join(lines)


def as_markdown() -> str:
    """Return the table in Markdown."""
    rows = ["| code | name | severity | what |", "|---|---|---|---|"]
    for rule in all_rules():
        severity = rule.severity if rule.default else f"{rule.severity}, off by default"
        rows.append(f"| {rule.code} | {rule.name} | {severity} | {rule.title} |")
    return "\n".join(rows)


def as_json() -> str:
    """Return the table as a JSON list."""
    return json.dumps([asdict(rule) for rule in all_rules()], indent=2)
