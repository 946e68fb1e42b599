"""The report as SARIF 2.1.0 (OASIS standard), for code scanning and for viewers of results.

Hazards are results. What the tool could not read or analyse is no defect of the code and is a notification of
the invocation; PTX990 and PTX991 become results where ``--strict`` makes errors of them. A trace is a code
flow with one thread flow an actor; ``executionOrder`` interleaves them.
"""

import json
from typing import Any

import ptxlint
from ptxlint.report.finding import FileReport, Finding, Hidden, Report, Severity, Site
from ptxlint.report.paths import as_uri
from ptxlint.report.printable import printable, printable_lines, spell_surrogates
from ptxlint.report.rows import Row, hidden_rows_of_file, rows_of_file
from ptxlint.report.rule_page import RulePage, page_codes, read_page

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "ptxlint/v1"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_PROBLEM_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}
_OWN_LIMITS = ("PTX990", "PTX991")
_ENDS = {"first": "(1) ", "second": "(2) "}

Json = dict[str, Any]


def render(report: Report, with_hidden: bool = True) -> str:
    """Return the log as JSON text, indented by two, in ASCII."""
    return json.dumps(as_dict(report, with_hidden), indent=2)


def as_dict(report: Report, with_hidden: bool = True) -> Json:
    """Return the log as plain dictionaries and lists; *with_hidden*, also what is suppressed, marked so."""
    run = _Run(with_hidden)
    for file in report.files:
        run.add(file)
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run.as_dict()]}


class _Run:
    """One run: collects results, notifications, and the rules and artifacts that they refer to."""

    def __init__(self, with_hidden: bool) -> None:
        self._with_hidden = with_hidden
        self._results: list[Json] = []
        self._notifications: list[Json] = []
        self._artifacts: dict[str, Json] = {}
        self._index: dict[str, int] = {}
        self._rules: dict[str, Json] = {}
        self._failed = False

    def add(self, file: FileReport) -> None:
        self._artifact(file.path)["roles"] = ["analysisTarget"]
        for row in rows_of_file(file):
            if row.finding.code in _OWN_LIMITS and row.finding.severity is Severity.NOTE:
                self._notifications.append(self._limit(row))
            else:
                self._results.append(self._result(row))
        for row, hidden in hidden_rows_of_file(file) if self._with_hidden else ():
            self._results.append({**self._result(row), "suppressions": [_suppression(hidden)]})
        if file.error is not None:
            self._failed = True
            location = {"physicalLocation": {"artifactLocation": self._location(file.path)}}
            self._notifications.append(
                {"level": "error", "message": _message(file.error), "locations": [location]}
            )

    def as_dict(self) -> Json:
        rules = sorted(self._rules)
        for result in self._results:
            result["ruleIndex"] = rules.index(result["ruleId"])
        return {
            "tool": {
                "driver": {
                    "name": "ptxlint",
                    "semanticVersion": ptxlint.__version__,
                    "version": ptxlint.__version__,
                    "shortDescription": {"text": "Finds missing orderings around the async proxy in PTX"},
                    "rules": [self._rules[code] for code in rules],
                }
            },
            "invocations": [
                {
                    "executionSuccessful": not self._failed,
                    "toolExecutionNotifications": self._notifications,
                }
            ],
            "columnKind": "unicodeCodePoints",
            "artifacts": list(self._artifacts.values()),
            "results": self._results,
        }

    def _result(self, row: Row) -> Json:
        finding = row.finding
        self._rule(finding)
        result: Json = {
            "ruleId": finding.code,
            "level": _LEVELS[finding.severity],
            "message": _message("\n".join([finding.message, row.help()]).strip()),
            "locations": [self._primary(row)],
        }
        related = self._related(row)
        if related:
            result["relatedLocations"] = related
        if finding.trace:
            result["codeFlows"] = [self._code_flow(row)]
        if finding.fingerprint:
            result["partialFingerprints"] = {FINGERPRINT: finding.fingerprint}
        if finding.count > 1:
            result["occurrenceCount"] = finding.count
        result["properties"] = _properties(finding)
        return result

    def _limit(self, row: Row) -> Json:
        finding = row.finding
        self._rule(finding)
        return {
            "associatedRule": {"id": finding.code},
            "level": _LEVELS[finding.severity],
            "message": _message(finding.message),
            "locations": [self._at(row, finding.site)],
        }

    def _related(self, row: Row) -> list[Json]:
        """Return the ends and the near misses, and the primary place in the PTX where source is shown."""
        finding = row.finding
        places = [
            self._at(row, step.site, _ENDS.get(step.role, "") + step.note)
            for step in finding.trace
            if step.role in (*_ENDS, "near-miss")
        ]
        if row.in_source:
            place = row.placer.ptx_place(finding.site)
            physical = self._physical(place.file, place.line, place.column)
            places.append({"physicalLocation": physical, "message": {"text": "in the PTX"}})
        return [{"id": number, **place} for number, place in enumerate(places, 1)]

    def _code_flow(self, row: Row) -> Json:
        flows: dict[str, list[Json]] = {}
        for order, step in enumerate(row.finding.trace, 1):
            flows.setdefault(step.actor, []).append(
                {
                    "location": self._at(row, step.site, step.note),
                    "executionOrder": order,
                    "importance": "important" if step.role == "path" else "essential",
                }
            )
        return {
            "threadFlows": [
                {"id": printable(actor), "message": _message(actor), "locations": steps}
                for actor, steps in flows.items()
            ]
        }

    def _primary(self, row: Row) -> Json:
        """Return where the finding is, with the line of text: PTX is seldom in a repository."""
        location = self._at(row, row.finding.site)
        line = row.placer.text(row.placer.place(row.finding.site))
        if line.strip():
            location["physicalLocation"]["region"]["snippet"] = {"text": spell_surrogates(line)}
        return location

    def _at(self, row: Row, site: Site, note: str = "") -> Json:
        place = row.placer.place(site)
        location: Json = {"physicalLocation": self._physical(place.file, place.line, place.column)}
        if row.kernel is not None:
            kernel = row.kernel
            names = (kernel.title or kernel.name, kernel.demangled or kernel.name, kernel.name)
            logical = dict(
                zip(("name", "fullyQualifiedName", "decoratedName"), map(printable, names), strict=True)
            )
            location["logicalLocations"] = [{**logical, "kind": "function"}]
        if note:
            location["message"] = _message(note)
        return location

    def _physical(self, path: str, line: int, column: int) -> Json:
        region: Json = {"startLine": max(1, line), "startColumn": max(1, column)}
        return {"artifactLocation": self._location(path), "region": region}

    def _location(self, path: str) -> Json:
        uri = self._artifact(path)["location"]["uri"]
        return {"uri": uri, "index": self._index[uri]}

    def _artifact(self, path: str) -> Json:
        uri = as_uri(path)
        self._index.setdefault(uri, len(self._index))
        return self._artifacts.setdefault(uri, {"location": {"uri": uri}})

    def _rule(self, finding: Finding) -> None:
        if finding.code not in self._rules:
            self._rules[finding.code] = _rule(finding)


def _rule(finding: Finding) -> Json:
    rule: Json = {
        "id": finding.code,
        "name": finding.name,
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
        "properties": {
            "tags": ["concurrency", "cuda"],
            "precision": "high",
            "problem.severity": _PROBLEM_SEVERITIES[finding.severity],
        },
    }
    if finding.code in page_codes():
        page = read_page(finding.code)
        rule["shortDescription"] = {"text": page.title}
        rule["fullDescription"] = {"text": page.sections.get("What it does", page.title)}
        rule["help"] = {"text": _plain(page), "markdown": page.text}
    return rule


def _plain(page: RulePage) -> str:
    """Return the sections of a page that explain it, without the listings."""
    wanted = ("What it does", "Why is this a hazard?", "How to fix")
    parts = [page.title, *(page.sections[heading] for heading in wanted if heading in page.sections)]
    return "\n\n".join(part for part in parts if part)


def _suppression(hidden: Hidden) -> Json:
    kind = "inSource" if hidden.by == "comment" else "external"
    suppression: Json = {"kind": kind, "status": "accepted"}
    if hidden.reason:
        suppression["justification"] = printable(hidden.reason)
    return suppression


def _properties(finding: Finding) -> Json:
    properties: Json = {"confidence": finding.confidence.value}
    if finding.cause is not None:
        properties["cause"] = printable(finding.cause)
    if finding.fix is not None:
        fix = finding.fix
        properties["fix"] = {
            key: spell_surrogates(text)
            for key, text in (("summary", fix.summary), ("ptx", fix.ptx), ("cuda", fix.cuda))
        }
    return properties


def _message(text: str) -> Json:
    return {"text": "\n".join(printable_lines(text)) or " "}
