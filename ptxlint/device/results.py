"""What is run for one specification, and what the runs gave."""

from typing import Any

from ptxlint.records import field, mutable_record, record
from ptxlint.report.finding import Finding

NATURAL, WITNESSED = "natural", "witness"
HAZARDOUS, REPAIRED = "as it is", "repaired"


class ConfirmError(Exception):
    """The kernel cannot be run, or there is nothing to confirm; the text says why."""


@record
class Text:
    """One text to run: whose it is (``as it is`` or ``repaired``), under which schedule, and which kernel of it."""

    kernel: str
    schedule: str
    text: str
    entry: str

    @property
    def name(self) -> str:
        """The name of the variant."""
        return f"{self.kernel}, {self.schedule}"


@mutable_record
class Tally:
    """What the runs of one text gave; *hang* tells that one did not end, *fault* that the launch failed, and how."""

    runs: int = 0
    wrong_runs: int = 0
    wrong_words: int = 0
    words: int = 0
    hang: bool = False
    fault: str | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether a run gave a wrong result, or none."""
        return bool(self.wrong_runs) or self.hang or self.fault is not None


@mutable_record
class Confirmation:
    """The result for one specification; without a *finding* the kernel is held to be right."""

    finding: Finding | None
    what: str
    repair: str
    about: dict[str, Any] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)

    @property
    def repaired_is_wrong(self) -> bool:
        """Whether a run of the repaired kernel gave a wrong result, or none."""
        return any(t.is_wrong for name, t in self.tallies.items() if name.startswith(REPAIRED))

    @property
    def clean_is_wrong(self) -> bool:
        """Whether a run of a kernel of which nothing is reported gave a wrong result, or none."""
        return self.finding is None and self.is_reproduced

    @property
    def is_reproduced(self) -> bool:
        """Whether a run of the kernel as it is gave a wrong result, or none."""
        return any(t.is_wrong for name, t in self.tallies.items() if name.startswith(HAZARDOUS))
