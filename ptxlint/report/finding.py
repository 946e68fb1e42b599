"""What a check reports: findings with two ends and a path, and the coverage of a kernel."""

from dataclasses import dataclass, field, replace
from enum import Enum

from ptxlint.ptx.source import SourceLocation


class Severity(str, Enum):
    """How bad a finding is; ``rank`` orders them."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return ("note", "warning", "error").index(self.value)


class Confidence(str, Enum):
    """How sure the tool is that what it reports can happen."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the PTX with the chain of CUDA positions that its ``.loc`` gives."""

    line: int
    column: int
    source: tuple[SourceLocation, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a trace: who (``warp 0 lane 0``, ``warps 1-4``, ``async unit``), where, what.

    ``role`` is ``first`` and ``second`` for the two conflicting accesses, ``near-miss`` for an
    ordering that is there and does not do, and ``path`` for the rest.
    """

    actor: str
    site: Site
    note: str
    role: str = "path"


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair in words, as PTX and as CUDA C++."""

    summary: str
    ptx: str
    cuda: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A reported hazard: one primary place, and a trace in order of time."""

    code: str
    name: str
    cause: str | None
    severity: Severity
    confidence: Confidence
    message: str
    site: Site
    trace: tuple[Step, ...] = ()
    fix: Fix | None = None
    count: int = 1
    fingerprint: str = ""

    def with_severity(self, severity: Severity) -> "Finding":
        """Return the finding with another severity."""
        return replace(self, severity=severity)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A finding that is not reported: *by* a ``comment`` or the ``baseline``, and the reason given."""

    finding: Finding
    by: str
    reason: str = ""


@dataclass(slots=True)
class Coverage:
    """How much of a kernel was analysed; pairs are (analysed, present)."""

    async_ops: tuple[int, int] = (0, 0)
    shared_accesses: tuple[int, int] = (0, 0)
    mbarrier_ops: tuple[int, int] = (0, 0)
    events_reached: tuple[int, int] = (0, 0)
    forced_completions: int = 0
    unknown_instructions: int = 0
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    step_budget_reached: bool = False
    unknown_opcodes: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class KernelReport:
    """The result for one ``.entry``.

    Attributes:
        name: Its name in the PTX.
        target: The target that the PTX is for, as ``sm_90a``.
        coverage: What was analysed.
        findings: What was found and is reported, in the order of lines.
        hidden: What a comment or the baseline hides.
        deselected: What was found and is not asked for.
        title: How texts call it: the C++ name, shortened; empty when it is *name*.
        demangled: The C++ name in full; empty when it has none.
        symbols: The C++ names in full of the variables that texts name, by their names in the PTX.
    """

    name: str
    target: str
    coverage: Coverage
    findings: list[Finding] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)
    deselected: list[Finding] = field(default_factory=list)
    title: str = ""
    demangled: str = ""
    symbols: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class FileReport:
    """The result for one input.

    *error* is the text of what stopped it (exit status 2); *seconds* is the wall-clock time that checking it
    took; *hidden* and *deselected* are findings of no kernel; *fail_on* is the least severity that is a failure; in the folders
    *source_roots* the source files that ``.loc`` names are looked for; *notes* are what the user should know
    of how it was read.
    """

    path: str
    error: str | None = None
    kernels: list[KernelReport] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)
    text: str = ""
    seconds: float = 0.0
    hidden: list[Hidden] = field(default_factory=list)
    deselected: list[Finding] = field(default_factory=list)
    fail_on: Severity = Severity.WARNING
    source_roots: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def findings(self) -> list[Finding]:
        """Return all findings, those of no kernel first."""
        return [*self.problems, *(finding for kernel in self.kernels for finding in kernel.findings)]

    def fails(self) -> bool:
        """Return whether there is a finding as bad as the settings say."""
        return any(finding.severity.rank >= self.fail_on.rank for finding in self.findings())


@dataclass(slots=True)
class Report:
    """The result of a whole run; *stale* are entries of the baseline that no finding matches any more."""

    files: list[FileReport] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)

    def findings(self) -> list[Finding]:
        """Return all findings, those of syntax problems included, in order."""
        return [finding for file in self.files for finding in file.findings()]

    def hidden(self) -> list[Hidden]:
        """Return what is not reported because of a comment or the baseline, in order."""
        found: list[Hidden] = []
        for file in self.files:
            found.extend(file.hidden)
            for kernel in file.kernels:
                found.extend(kernel.hidden)
        return found
