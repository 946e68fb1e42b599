"""What applies to a check: the settings of a file, whoever gave them."""

from dataclasses import dataclass, replace
from typing import Any

from ptxlint.report.finding import Severity

Triple = tuple[int, int, int]
Prefixes = tuple[str, ...]

BLOCK_LIMITS = ((1024, 1024, 64), 1024, "threads")
CLUSTER_LIMITS = ((16, 16, 16), 16, "CTAs")


class UserError(Exception):
    """Something that the user has to put right; the text has a line for each thing."""


@dataclass(frozen=True, slots=True)
class LaunchHint:
    """The launch of the kernels whose mangled or demangled name a glob matches."""

    pattern: str
    block: Triple | None = None
    cluster: Triple | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What applies to one file. Codes are matched by prefix; shapes are (x, y, z).

    Attributes:
        select: What alone is wanted; everything that is not off by default when empty.
        ignore: What is not wanted; of two prefixes that match, the longer one wins.
        extend_select: What is wanted besides, advice that is off by default (by its whole code) too.
        severity: Severities by prefix; the longest that matches wins.
        per_file_ignores: What is not wanted in files whose path a glob matches.
        per_kernel_ignores: What is not wanted in kernels whose mangled or demangled name a glob matches.
        block: Threads a CTA, where the PTX does not say.
        cluster: CTAs a cluster, where the PTX does not say.
        kernels: Both for single kernels; the first that matches and says something wins.
        strict: What could not be analysed (PTX990, PTX991) is an error.
        fail_on: The least severity that makes the exit status 1.
        ignore_comments: Whether ``ptxlint: ignore[…]`` comments hide findings.
        source_roots: Folders in which source files that ``.loc`` names are looked for as well.
        exclude: Globs of files and folders that are left out when folders are searched.
        output_format: How the command line prints findings.
        baseline: The file of known findings, if there is one.
        root: The folder that globs on paths are relative to.
        max_steps: The budget of one run of a kernel, in events.
    """

    select: Prefixes = ()
    ignore: Prefixes = ()
    extend_select: Prefixes = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    per_file_ignores: tuple[tuple[str, Prefixes], ...] = ()
    per_kernel_ignores: tuple[tuple[str, Prefixes], ...] = ()
    block: Triple | None = None
    cluster: Triple | None = None
    kernels: tuple[LaunchHint, ...] = ()
    strict: bool = False
    fail_on: Severity = Severity.WARNING
    ignore_comments: bool = True
    source_roots: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    output_format: str = "full"
    baseline: str | None = None
    root: str = ""
    max_steps: int | None = None

    def with_choices(self, **choices: Any) -> "Settings":
        """Return these settings with what somebody chose over them; None and () mean no choice.

        A selection replaces this one together with what it ignores; ``extend_select`` adds to it.
        """
        given = {name: value for name, value in choices.items() if value is not None and value != ()}
        if "select" in given:
            given = {"ignore": (), "extend_select": (), **given}
        elif "extend_select" in given:
            given["extend_select"] = (*self.extend_select, *given["extend_select"])
        for shape in ("block", "cluster"):
            if shape in given:
                given["kernels"] = tuple(
                    replace(hint, **{shape: None}) for hint in given.get("kernels", self.kernels)
                )
        return replace(self, **given)


def read_shape(value: str, limits: Triple, most: int, what: str) -> Triple:
    """Read ``X[,Y[,Z]]``: positive numbers, 1 where absent, within *limits*, no more than *most* in all.

    Raises:
        ValueError: it is of another form, or out of the limits.
    """
    parts = value.split(",")
    if len(parts) > 3 or not all(part.strip().isdecimal() for part in parts):
        raise ValueError(f"{value!r} is not of the form X[,Y[,Z]].")
    x, y, z = [int(part) for part in parts] + [1] * (3 - len(parts))
    for number, limit in zip((x, y, z), limits, strict=True):
        if not 1 <= number <= limit:
            raise ValueError(f"{number} is not between 1 and {limit}.")
    if x * y * z > most:
        raise ValueError(f"{x * y * z} {what} are more than {most}.")
    return x, y, z
