"""Totals over any set of files: what was found, how much was analysed, what was unknown, how long it took."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ptxlint.report.finding import Coverage, Report, Severity
from ptxlint.report.paths import shown_path
from ptxlint.report.printable import printable
from ptxlint.report.summary import plural

SLOWEST = 5
MOST_OPCODES = 20  # in texts

# The pairs of Coverage, with the words for them.
PAIRS = {
    "async_ops": "async ops",
    "shared_accesses": "shared accesses",
    "mbarrier_ops": "mbarrier ops",
    "events_reached": "events",
}


@dataclass(frozen=True, slots=True)
class Found:
    """How often a rule reported; *times* counts each time that the runs met it."""

    code: str
    name: str
    severity: Severity
    findings: int
    times: int


@dataclass(slots=True)
class Statistics:
    """Totals of a report; seconds are wall-clock time, the only figures that differ from run to run."""

    files: int = 0
    failed_files: int = 0
    kernels: int = 0
    complete_kernels: int = 0
    found: list[Found] = field(default_factory=list)
    coverage: dict[str, tuple[int, int]] = field(default_factory=dict)
    forced_completions: int = 0
    kernels_with_forced_completions: int = 0
    kernels_at_step_budget: int = 0
    unknown_instructions: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    slowest: list[tuple[str, float]] = field(default_factory=list)

    @classmethod
    def of(cls, report: Report) -> "Statistics":
        """Return the totals of *report*."""
        coverages = [kernel.coverage for file in report.files for kernel in file.kernels]
        unknown: Counter[str] = Counter()
        for coverage in coverages:
            unknown.update(coverage.unknown_opcodes)
        slowest = sorted(report.files, key=lambda file: (-file.seconds, file.path))[:SLOWEST]
        return cls(
            files=len(report.files),
            failed_files=sum(file.error is not None for file in report.files),
            kernels=len(coverages),
            complete_kernels=sum(coverage.complete for coverage in coverages),
            found=_found(report),
            coverage={key: _total(coverages, key) for key in PAIRS},
            forced_completions=sum(coverage.forced_completions for coverage in coverages),
            kernels_with_forced_completions=sum(coverage.forced_completions > 0 for coverage in coverages),
            kernels_at_step_budget=sum(coverage.step_budget_reached for coverage in coverages),
            unknown_instructions=dict(sorted(unknown.items(), key=lambda item: (-item[1], item[0]))),
            seconds=sum(file.seconds for file in report.files),
            slowest=[(file.path, file.seconds) for file in slowest if file.seconds > 0],
        )


def _found(report: Report) -> list[Found]:
    findings: Counter[tuple[str, int, str, Severity]] = Counter()
    times: Counter[tuple[str, int, str, Severity]] = Counter()
    for finding in report.findings():
        key = (finding.code, -finding.severity.rank, finding.name, finding.severity)
        findings[key] += 1
        times[key] += finding.count
    return [Found(key[0], key[2], key[3], findings[key], times[key]) for key in sorted(findings)]


def _total(coverages: list[Coverage], key: str) -> tuple[int, int]:
    pairs = [getattr(coverage, key) for coverage in coverages]
    return sum(analysed for analysed, _ in pairs), sum(present for _, present in pairs)


def percent(part: int, whole: int) -> float | None:
    """Return how many per cent of *whole* are *part*, rounded down to a tenth; None of nothing.

    Rounded down, so that 100 means all.
    """
    return part * 1000 // whole / 10 if whole else None


def as_dict(statistics: Statistics) -> dict[str, Any]:
    """Return the totals as the JSON report has them."""
    return {
        "files": statistics.files,
        "failed_files": statistics.failed_files,
        "kernels": statistics.kernels,
        "complete_kernels": statistics.complete_kernels,
        "findings": [
            {
                "code": found.code,
                "name": found.name,
                "severity": found.severity.value,
                "findings": found.findings,
                "times": found.times,
            }
            for found in statistics.found
        ],
        "coverage": {
            key: {"analysed": analysed, "present": present, "percent": percent(analysed, present)}
            for key, (analysed, present) in statistics.coverage.items()
        },
        "forced_completions": statistics.forced_completions,
        "kernels_with_forced_completions": statistics.kernels_with_forced_completions,
        "kernels_at_step_budget": statistics.kernels_at_step_budget,
        "unknown_instructions": [
            {"opcode": printable(opcode), "count": count}
            for opcode, count in statistics.unknown_instructions.items()
        ],
        "seconds": round(statistics.seconds, 3),
        "slowest": [
            {"path": shown_path(path), "seconds": round(seconds, 3)} for path, seconds in statistics.slowest
        ],
    }


def render(report: Report) -> Iterator[str]:
    """Yield the totals as lines of text."""
    totals = Statistics.of(report)
    yield "statistics:"
    failed = f", {totals.failed_files} not checked completely" if totals.failed_files else ""
    yield f"  {plural(totals.files, 'file')}{failed}, {totals.seconds:.1f} s of analysis"
    yield f"  {plural(totals.kernels, 'kernel')}, {_share(totals.complete_kernels, totals.kernels, 'complete')}"
    for key, words in PAIRS.items():
        analysed, present = totals.coverage[key]
        yield f"  {words}: {_share(analysed, present, 'analysed')}"
    forced = plural(totals.kernels_with_forced_completions, "kernel")
    yield f"  forced completions: {totals.forced_completions} in {forced}"
    yield f"  step budget reached: {plural(totals.kernels_at_step_budget, 'kernel')}"
    yield f"  findings: {sum(found.findings for found in totals.found) or 'none'}"
    for found in totals.found:
        times = f" (met {found.times} times)" if found.times > found.findings else ""
        yield printable(
            f"    {found.findings:5}  {found.code}  {found.severity.value:7}  {found.name}{times}"
        )
    yield f"  unknown instructions: {sum(totals.unknown_instructions.values()) or 'none'}"
    for opcode, count in [*totals.unknown_instructions.items()][:MOST_OPCODES]:
        yield printable(f"    {count:5}  {opcode}")
    if len(totals.unknown_instructions) > MOST_OPCODES:
        yield f"    … {len(totals.unknown_instructions) - MOST_OPCODES} more; JSON has all"
    if len(totals.slowest) > 1:
        yield "  slowest:"
        for path, seconds in totals.slowest:
            yield printable(f"    {seconds:5.1f} s  {shown_path(path)}")


def _share(part: int, whole: int, what: str) -> str:
    share = percent(part, whole)
    return f"{part}/{whole} {what}" + ("" if share is None else f" ({share:g} %)")
