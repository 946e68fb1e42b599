"""``ptxlint: ignore[CODE] reason`` comments, in PTX and in the source that ``.loc`` leads to.

A comment after something hides findings of its line; a comment alone on its line hides those of the next
line, blank lines, comments and ``.loc`` left out. A finding is at a line when its place or one of its two accesses is, in the
PTX or by any link of the inlined chain.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ptxlint.codes import known_prefix
from ptxlint.filters import ALWAYS
from ptxlint.ptx.source import SourceLocation
from ptxlint.report.finding import Confidence, FileReport, Finding, Fix, Hidden, Severity, Site
from ptxlint.report.places import Sources
from ptxlint.settings import Settings

UNUSED = "PTX992"
NO_REASON = "PTX993"

_COMMENT = re.compile(
    r"(?://|/\*|\#)\s*ptxlint:\s*ignore\b\s*(?:\[(?P<codes>[^\]]*)\])?[\s:,;-]*(?P<reason>.*?)\s*(?:\*/|$)"
)
_SKIPPED = re.compile(r"\s*(?:$|//|\#|\.loc\b|/\*.*\*/\s*$)")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"')
_LOC = re.compile(r"(?:\.loc|inlined_at)\s+(\d+)\s+(\d+)")
_INLINE = re.compile(r"@\[\s*(\S+?):(\d+):\d+")


@dataclass(eq=False, slots=True)
class Suppression:
    """One comment: where it is, the codes it names, and the line whose findings it hides."""

    line: int
    column: int
    codes: tuple[str, ...]
    reason: str
    applies_to: int
    wrong: str = ""
    used: set[str] = field(default_factory=set)

    def hides(self, code: str) -> bool:
        """Return whether findings of *code* are hidden; notes it down."""
        for prefix in self.codes:
            if code.startswith(prefix) and code != ALWAYS:
                self.used.add(prefix)
                return True
        return False


def parse(lines: Iterable[str]) -> list[Suppression]:
    """Return the suppressions in the *lines* of a file, in order."""
    found: list[Suppression] = []
    waiting: list[Suppression] = []
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line) if "ptxlint:" in line else None
        alone = match is not None and not (line[: match.start()] + line[match.end() :]).strip()
        if not alone and not _SKIPPED.match(line):
            for suppression in waiting:
                suppression.applies_to = number
            waiting.clear()
        if match is not None:
            codes, wrong = _codes(match["codes"])
            found.append(Suppression(number, match.start() + 1, codes, match["reason"], number, wrong))
            if alone:
                waiting.append(found[-1])
    return found


def _codes(text: str | None) -> tuple[tuple[str, ...], str]:
    """Return the codes of a comment, and what is wrong with them."""
    names = [name.strip().upper() for name in (text or "").split(",") if name.strip()]
    if not names:
        return (), "it names no code: write ignore[CODE]"
    codes = []
    wrong = []
    for name in names:
        try:
            codes.append(known_prefix(name))
        except ValueError as error:
            wrong.append(str(error).rstrip("."))
    return tuple(codes), "; ".join(wrong)


class Suppressions:
    """The suppressions of one run; comments in source serve every PTX file that the source is compiled to."""

    def __init__(self) -> None:
        self._files: dict[str, list[Suppression]] = {}
        self._judged: dict[Suppression, tuple[Site, FileReport]] = {}

    def apply(self, report: FileReport, settings: Settings) -> FileReport:
        """Return *report* with what comments hide moved to ``hidden``."""
        in_ptx = parse(report.text.split("\n")) if "ptxlint:" in report.text else []
        in_source = self._in_sources(report, Sources(report.path, report.text, settings.source_roots))
        if not in_ptx and not in_source:
            return report
        by_line: dict[tuple[str, int], list[Suppression]] = {}
        for name, suppressions in {"": in_ptx, **in_source}.items():
            for suppression in suppressions:
                by_line.setdefault((name, suppression.applies_to), []).append(suppression)
        kernels = []
        for kernel in report.kernels:
            kept, hidden = _split(kernel.findings, by_line)
            kernels.append(replace(kernel, findings=kept, hidden=[*kernel.hidden, *hidden]))
        kept, hidden = _split(report.problems, by_line)
        result = replace(report, kernels=kernels, problems=kept, hidden=[*report.hidden, *hidden])
        if report.error is None:
            self._judge(in_ptx, in_source, result)
        return result

    def report_useless(self) -> None:
        """Add to the reports what is wrong with comments: unused (PTX992), no reason given (PTX993)."""
        for suppression, (site, report) in self._judged.items():
            report.problems.extend(_complaints(suppression, site))
        self._judged.clear()

    def _in_sources(self, report: FileReport, sources: Sources) -> dict[str, list[Suppression]]:
        """Return the suppressions of the source files that the PTX names, by the names it gives them."""
        found: dict[str, list[Suppression]] = {}
        for name in dict.fromkeys(name for _, name in _FILE.findall(report.text)):
            loaded = sources.lines(name)
            if loaded is None:
                continue
            path = os.path.realpath(loaded[0])
            if path not in self._files:
                self._files[path] = parse(loaded[1])
            if self._files[path]:
                found[name] = self._files[path]
        return found

    def _judge(
        self, in_ptx: list[Suppression], in_source: dict[str, list[Suppression]], report: FileReport
    ) -> None:
        """Note which comments could have hidden something: all in PTX, in source those beside code."""
        for suppression in in_ptx:
            self._judged.setdefault(suppression, (Site(suppression.line, suppression.column), report))
        lines = _lines_with_code(report.text) if in_source else {}
        for name, suppressions in in_source.items():
            for suppression in suppressions:
                at = lines.get((name, suppression.applies_to))
                if at is not None:
                    source = SourceLocation(name, suppression.line, suppression.column)
                    self._judged.setdefault(suppression, (Site(at, 1, (source,)), report))


def _split(
    findings: list[Finding], by_line: dict[tuple[str, int], list[Suppression]]
) -> tuple[list[Finding], list[Hidden]]:
    """Return the findings that stay and those that are hidden."""
    kept: list[Finding] = []
    hidden: list[Hidden] = []
    for finding in findings:
        by = _hiding(finding, by_line)
        if by:
            hidden.append(Hidden(finding, "comment", by[0].reason))
        else:
            kept.append(finding)
    return kept, hidden


def _hiding(finding: Finding, by_line: dict[tuple[str, int], list[Suppression]]) -> list[Suppression]:
    """Return the suppressions that hide *finding*; all of them count as used."""
    sites = [finding.site, *(step.site for step in finding.trace if step.role in ("first", "second"))]
    places = [("", site.line) for site in sites]
    places += [(link.file, link.line) for site in sites for link in site.source]
    return [
        suppression
        for place in dict.fromkeys(places)
        for suppression in by_line.get(place, ())
        if suppression.hides(finding.code)
    ]


def _lines_with_code(text: str) -> dict[tuple[str, int], int]:
    """Return the line of PTX of the first ``.loc`` that leads to each line of source."""
    names = {number: name for number, name in _FILE.findall(text)}
    by_base = {name.replace("\\", "/").rsplit("/", 1)[-1]: name for name in names.values()}
    found: dict[tuple[str, int], int] = {}
    for at, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith(".loc"):
            continue
        places = [(names.get(file, ""), int(number)) for file, number in _LOC.findall(line)]
        places += [(by_base.get(file, file), int(number)) for file, number in _INLINE.findall(line)]
        for place in places:
            found.setdefault(place, at)
    return found


def _complaints(suppression: Suppression, site: Site) -> Iterator[Finding]:
    if suppression.wrong:
        message = f"this comment hides nothing that it should: {suppression.wrong}"
        fix = Fix("name codes that exist, as ignore[PTX101] or ignore[PTX101, PTX2]", "", "")
        yield _note(UNUSED, "unused-suppression", "no-such-code", Severity.WARNING, message, site, fix)
    unused = [code for code in suppression.codes if code not in suppression.used]
    if unused:
        message = f"no finding of {', '.join(unused)} is hidden by this comment"
        fix = Fix(f"remove {'the comment' if not suppression.used else ', '.join(unused)}", "", "")
        yield _note(UNUSED, "unused-suppression", "unused", Severity.NOTE, message, site, fix)
    elif suppression.codes and not suppression.reason:
        message = f"this comment hides {', '.join(suppression.codes)} and does not say why"
        fix = Fix("write the reason after the bracket", "", "")
        yield _note(NO_REASON, "suppression-without-reason", None, Severity.NOTE, message, site, fix)


def _note(
    code: str, name: str, cause: str | None, severity: Severity, message: str, site: Site, fix: Fix
) -> Finding:
    fingerprint = hashlib.sha256(f"{code}\0{message}".encode()).hexdigest()[:16]
    return Finding(
        code, name, cause, severity, Confidence.HIGH, message, site, fix=fix, fingerprint=fingerprint
    )
