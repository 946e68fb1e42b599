"""The marker language of the fixtures: read markers, and compare them with what was reported.

``fixtures/README.md`` describes the language. A comment that is not a marker is prose; a comment that
begins like a marker and cannot be read is an error, so that a typo never means "no expectation".
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ptxlint.report.finding import Confidence, Finding, Site

_BEGIN = re.compile(r"\bexpect[a-z-]*(?:@\S*)?:|\bexpect-clean\b|\bexpect[a-z-]*(?:@\S*)?\s+PTX\d")
_MARKER = re.compile(
    r"(?P<kind>expect|expect-missing|expect-spurious)(?:@(?P<shift>[+-]\d+))?:\s*(?P<code>PTX\d{3})\b"
)
_ANCHOR = re.compile(r"#(?P<name>[a-z][a-z0-9_-]*)(?![\w-])")
_MAY = re.compile(r"may\b")
_VIA = re.compile(r"via\s+(?P<names>#[a-z][a-z0-9_-]*(?:\s*,\s*#[a-z][a-z0-9_-]*)*)")
_CAUSE = re.compile(r"because\s+(?P<cause>[a-z][a-z-]*[a-z])")
_NEAR = re.compile(r"despite\s+#(?P<name>[a-z][a-z0-9_-]*)")
_TEXT = re.compile(r'"(?P<text>[^"]+)"')
_SETTING = re.compile(r"(?P<key>launch|check):\s*(?P<value>.+)")


class MarkerError(Exception):
    """A marker that cannot be read, or markers that contradict each other."""


@dataclass(frozen=True, eq=False)
class Marker:
    """One expectation: what is reported (or is not) on *line*; it is written on line *at*.

    Markers are compared by identity: two alike on one line stand for two findings.
    """

    kind: str
    code: str
    line: int
    at: int
    may: bool = False
    cause: str = ""
    near: str = ""
    via: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = [f"{self.kind}: {self.code}"]
        words += ["may"] * self.may
        words += [f"because {self.cause}"] * bool(self.cause)
        words += [f"despite #{self.near}"] * bool(self.near)
        words += [f"via {', '.join('#' + name for name in self.via)}"] * bool(self.via)
        words += [f'"{text}"' for text in self.texts]
        return " ".join(words)


@dataclass
class Expectations:
    """All markers of one file; *name* is the file's name without its folder."""

    name: str
    markers: list[Marker] = field(default_factory=list)
    anchors: dict[str, int] = field(default_factory=dict)
    clean: bool = False
    arguments: tuple[str, ...] = ()
    launch: str | None = None


def read(path: Path) -> Expectations:
    """Return the markers of a fixture source.

    Raises:
        MarkerError: a marker cannot be read, contradicts another, or there is none.
    """
    return parse(path.read_text("utf-8"), path.name)


def parse(text: str, name: str) -> Expectations:
    """Return the markers in *text*, as :func:`read` does."""
    found = Expectations(name)
    for number, line in enumerate(text.split("\n"), 1):
        for comment in comments(line):
            _read_comment(comment, number, found)
    if found.clean and found.markers:
        raise MarkerError(f"{name}: expect-clean, and other markers too")
    if not found.clean and not found.markers:
        raise MarkerError(f"{name}: no marker; say expect-clean where nothing is to report")
    for marker in found.markers:
        for anchor in (*marker.via, *([marker.near] if marker.near else [])):
            if anchor not in found.anchors:
                raise MarkerError(f"{name}:{marker.at}: no line is named #{anchor}")
    return found


def comments(line: str) -> Iterator[str]:
    """Yield the text of the ``//`` comment of a line, if there is one."""
    _, slashes, comment = line.partition("//")
    if slashes:
        yield comment.strip()


def _read_comment(comment: str, number: int, found: Expectations) -> None:
    setting = _SETTING.fullmatch(comment)
    if setting is not None:
        if setting["key"] == "check":
            found.arguments = tuple(shlex.split(setting["value"]))
        else:
            found.launch = setting["value"]
        return
    start = _BEGIN.search(comment)
    if _ANCHOR.match(comment):
        at = 0
    elif start is not None:
        at = start.start()
    else:
        return
    while at < len(comment):
        rest = comment[at:]
        if anchor := _ANCHOR.match(rest):
            name = anchor["name"]
            if name in found.anchors:
                raise MarkerError(f"{found.name}:{number}: #{name} names line {found.anchors[name]} already")
            found.anchors[name] = number
            at += anchor.end()
        elif match := _MARKER.match(rest):
            at += match.end()
            at += _read_details(match, comment[at:], number, found)
        elif rest.startswith("expect-clean") and not rest[len("expect-clean") :].strip():
            found.clean = True
            return
        else:
            raise MarkerError(f"{found.name}:{number}: cannot read {rest!r}")
        at += len(comment[at:]) - len(comment[at:].lstrip())


def _read_details(match: re.Match[str], rest: str, number: int, found: Expectations) -> int:
    """Add the marker of *match* with the words after it; return how many characters these take."""
    may = False
    cause = near = ""
    via: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    at = 0
    while True:
        at += len(rest[at:]) - len(rest[at:].lstrip())
        if word := _MAY.match(rest, at):
            may = True
        elif word := _CAUSE.match(rest, at):
            cause = word["cause"]
        elif word := _NEAR.match(rest, at):
            near = word["name"]
        elif word := _VIA.match(rest, at):
            via = tuple(name.strip().lstrip("#") for name in word["names"].split(","))
        elif word := _TEXT.match(rest, at):
            texts = (*texts, word["text"])
        else:
            break
        at = word.end()
    line = number + int(match["shift"] or 0)
    found.markers.append(Marker(match["kind"], match["code"], line, number, may, cause, near, via, texts))
    return at


def compare(expected: Expectations, findings: Sequence[Finding]) -> list[str]:
    """Return what differs between the markers and the findings, in words; empty when all agrees."""
    return [difference for difference, _, _ in differences(expected, findings)]


Difference = tuple[str, "Marker | None", "Finding | None"]


def differences(expected: Expectations, findings: Sequence[Finding]) -> list[Difference]:
    """Return the differences with the marker and the finding that each is about."""

    def agrees(marker: Marker, finding: Finding) -> bool:
        return is_about(marker, finding, expected) and not mismatch(marker, finding, expected)

    pairs = _match(expected.markers, findings, agrees)
    rest = [marker for marker in expected.markers if marker not in pairs]
    others = [finding for finding in findings if not any(finding is found for found in pairs.values())]
    pairs |= _match(rest, others, lambda marker, finding: is_about(marker, finding, expected))

    result: list[Difference] = []
    for marker in expected.markers:
        where = f"{expected.name}:{marker.line}"
        finding = pairs.get(marker)
        if finding is None:
            if marker.kind == "expect":
                result.append((f"{where}: {marker.code} is not reported", marker, None))
            elif marker.kind == "expect-spurious":
                result.append((f"{where}: {marker.code} is gone: delete expect-spurious", marker, None))
        elif marker.kind == "expect-missing":
            result.append(
                (f"{where}: {marker.code} is reported: change expect-missing to expect", marker, finding)
            )
        else:
            for what in mismatch(marker, finding, expected):
                result.append((f"{where}: {marker.code}: {what}", marker, finding))
    for finding in findings:
        if not any(finding is found for found in pairs.values()):
            lines = lines_of(finding.site, expected.name)
            where = f"{expected.name}:{'/'.join(map(str, lines)) or '?'}"
            what = f"{where}: {finding.code} ({finding.confidence.value}) without a marker: {finding.message}"
            result.append((what, None, finding))
    return result


def lines_of(site: Site, name: str) -> tuple[int, ...]:
    """Return the lines of the file called *name* that *site* lies on, the innermost first.

    For a PTX file that is one line; in CUDA source it is every link of the inlined chain.
    """
    if name.endswith(".ptx"):
        return (site.line,)
    return tuple(link.line for link in site.source if PurePosixPath(link.file).name == name)


def is_about(marker: Marker, finding: Finding, expected: Expectations) -> bool:
    """Return whether code and place agree. A finding with no CUDA position (PTX990) is anywhere."""
    if marker.code != finding.code:
        return False
    if not finding.site.source and not expected.name.endswith(".ptx"):
        return True
    return marker.line in lines_of(finding.site, expected.name)


def mismatch(marker: Marker, finding: Finding, expected: Expectations) -> list[str]:
    """Return in words where the details of a finding differ from those of its marker."""
    found = []
    if marker.may != (finding.confidence is not Confidence.HIGH):
        found.append(f"confidence {finding.confidence.value}: {'drop' if marker.may else 'add'} the word may")
    if marker.cause and marker.cause != finding.cause:
        found.append(f"the cause is {finding.cause}, not {marker.cause}")
    if marker.near:
        misses = [lines_of(step.site, expected.name) for step in finding.trace if step.role == "near-miss"]
        if not any(expected.anchors[marker.near] in lines for lines in misses):
            found.append(f"#{marker.near} is not told as a near miss: lines {misses}")
    for text in marker.texts:
        if text not in finding.message:
            found.append(f"the message has no {text!r}: {finding.message}")
    if not _passes(marker, finding, expected):
        trace = [lines_of(step.site, expected.name) for step in finding.trace]
        found.append(f"the trace does not pass {', '.join(marker.via)} in this order: lines {trace}")
    return found


def _passes(marker: Marker, finding: Finding, expected: Expectations) -> bool:
    steps = iter(finding.trace)
    return all(
        any(expected.anchors[name] in lines_of(step.site, expected.name) for step in steps)
        for name in marker.via
    )


def _match(
    markers: Sequence[Marker], findings: Sequence[Finding], fits: Callable[[Marker, Finding], bool]
) -> dict[Marker, Finding]:
    """Return a largest matching: each marker at most one finding, each finding at most one marker."""
    taken: dict[int, Marker] = {}

    def place(marker: Marker, tried: set[int]) -> bool:
        for index, finding in enumerate(findings):
            if index in tried or not fits(marker, finding):
                continue
            tried.add(index)
            if index not in taken or place(taken[index], tried):
                taken[index] = marker
                return True
        return False

    for marker in markers:
        place(marker, set())
    return {marker: findings[index] for index, marker in taken.items()}
