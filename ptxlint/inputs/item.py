"""What is read: one text of PTX with its name, or the reason why there is none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxlint.report.finding import Report

STDIN = "-"
STDIN_NAME = "<stdin>"

Shape = tuple[int, int, int]


class InputError(Exception):
    """An input that cannot be read or parsed; the text says why and what to do.

    *report* is there when a part of it could be checked all the same.
    """

    def __init__(self, message: str, report: "Report | None" = None) -> None:
        super().__init__(message)
        self.report = report


class NoPtxError(InputError):
    """A file of a known kind that has no PTX in it."""


class MissingToolError(InputError):
    """A program is needed and not there."""


@dataclass(frozen=True, slots=True)
class InputOptions:
    """How to read.

    Attributes:
        include: Suffixes, without the dot, of the files that folders give.
        nvcc_arguments: What to hand to nvcc for CUDA source.
        compile_commands: The path of a compilation database, or of the folder that has one.
        stdin_name: The name of what standard input gives.
        tool_time_limit: Seconds for one run of nvcc or cuobjdump.
        is_excluded: Whether a file or folder that is found in a folder is left out.
    """

    include: tuple[str, ...] = ("ptx",)
    nvcc_arguments: tuple[str, ...] = ()
    compile_commands: str | None = None
    stdin_name: str | None = None
    tool_time_limit: float = 600.0
    is_excluded: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """One text to check: *text* is what was read, or *error* says why nothing was.

    Attributes:
        path: The name to report it under; for PTX out of another file, ``FILE#NAME.ptx``.
        text: The PTX.
        error: Why there is no text.
        folder: Where the file lies that it was read from, empty for standard input.
        block: Threads a CTA, where the producer tells.
        cluster: CTAs a cluster, where the producer tells.
        notes: What the user should know about how it was made.
    """

    path: str
    text: str = ""
    error: str | None = None
    folder: str = ""
    block: Shape | None = None
    cluster: Shape | None = None
    notes: tuple[str, ...] = ()
