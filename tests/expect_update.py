"""Rewrites ``expect`` markers to what is reported (``pytest --update-expect``).

``expect-spurious`` and ``expect-missing`` are judgements and stay as they are.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ptxlint.report.finding import Confidence, Finding
from ptxlint.report.places import Placer, Sources
from tests.expect import Difference, Expectations, Marker, differences, lines_of, mismatch

_CLEAN = re.compile(r"\s*//\s*expect-clean\s*$")


def update(path: Path, expected: Expectations, findings: Sequence[Finding]) -> bool:
    """Rewrite the markers of *path*; return whether something changed. The number of lines stays."""
    before = path.read_text("utf-8").split("\n")
    lines = list(before)
    changes = differences(expected, findings)
    for difference in changes:
        _apply(difference, lines, expected)
    if changes and not any("expect" in line and re.search(r"//.*expect[a-z-]*[:@]", line) for line in lines):
        _append(lines, 1, "expect-clean")
    if lines != before:
        path.write_text("\n".join(lines), "utf-8")
    return lines != before


def _apply(difference: Difference, lines: list[str], expected: Expectations) -> None:
    _, marker, finding = difference
    if marker is None and finding is not None:
        for at, line in enumerate(lines):
            lines[at] = _CLEAN.sub("", line)
        may = finding.confidence is not Confidence.HIGH
        _append(lines, _line_of(finding, expected), str(Marker("expect", finding.code, 0, 0, may)))
    elif marker is not None and marker.kind == "expect":
        _replace(lines, marker, _repaired(marker, finding, expected) if finding is not None else "")


def _repaired(marker: Marker, finding: Finding, expected: Expectations) -> str:
    """Return the marker as it must be, without the details that do not hold."""
    better = replace(marker, may=finding.confidence is not Confidence.HIGH)
    better = replace(better, cause=(finding.cause or "") if better.cause else "")
    better = replace(better, texts=tuple(text for text in better.texts if text in finding.message))
    if mismatch(better, finding, expected):
        better = replace(better, via=())
    if mismatch(better, finding, expected):
        better = replace(better, near="")
    shift = marker.line - marker.at
    return str(better).replace("expect:", f"expect@{shift:+}:", 1) if shift else str(better)


def _line_of(finding: Finding, expected: Expectations) -> int:
    """Return the line for a new marker: the one that the text report shows, where it is in this file."""
    lines = lines_of(finding.site, expected.name)
    place = Placer(finding, Sources("", "")).source_place(finding.site)
    if place is not None and place.line in lines:
        return place.line
    return lines[0] if lines else 1


def _append(lines: list[str], number: int, words: str) -> None:
    line = lines[number - 1]
    lines[number - 1] = f"{line} {words}" if "//" in line else f"{line}  // {words}".lstrip()


def _replace(lines: list[str], marker: Marker, words: str) -> None:
    written = re.compile(
        rf"expect(?:@[+-]\d+)?:\s*{marker.code}\b"
        r'(?:\s+may\b|\s+because\s+[a-z-]+|\s+despite\s+#[\w-]+|\s+via\s+#[\w-]+(?:\s*,\s*#[\w-]+)*|\s+"[^"]+")*'
    )
    line, _ = written.subn(words, lines[marker.at - 1], count=1)
    lines[marker.at - 1] = re.sub(r"\s*(//\s*)?$", "", line)
