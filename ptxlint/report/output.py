"""Write a report to a file: whole or not at all."""

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ptxlint.report.formats import FORMATS


class OutputError(Exception):
    """A report that cannot be written; the text names the file and says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file to write, and its format; None is the format that is printed otherwise."""

    path: str
    format: str | None = None

    @classmethod
    def parse(cls, value: str) -> "Target":
        """Read ``FILE`` or ``FORMAT=FILE``.

        Raises:
            OutputError: the file could not be written: its folder does not exist, or it is a folder.
        """
        name, equals, rest = value.partition("=")
        target = cls(rest, name) if equals and name in FORMATS else cls(value)
        if target.path == "-":
            raise OutputError("- is standard output, where reports go without --output-file")
        if not target.path or "\0" in target.path:
            raise OutputError(f"{value!r} names no file")
        if os.path.isdir(target.path):
            raise OutputError(f"cannot write {target.path}: it is a folder")
        folder = os.path.dirname(target.path) or "."
        if not os.path.isdir(folder):
            raise OutputError(f"cannot write {target.path}: there is no folder {folder}")
        return target


def write_file(path: str, text: str) -> None:
    """Write *text* to *path* as UTF-8.

    A regular file is written beside *path* and renamed, so that *path* holds the old text or the new one
    and never a part; a link's target is replaced, not the link. Devices and pipes are written as they are.

    Raises:
        OutputError: the file cannot be written; what was at *path* is still there.
    """
    data = text.encode("utf-8", "backslashreplace")
    try:
        path_ = Path(os.path.realpath(path))
        mode = _mode(path_)
        if mode is not None and not stat.S_ISREG(mode):
            with open(path_, "wb") as file:
                file.write(data)
        else:
            _replace(path_, data, mode)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path))
    number, beside = tempfile.mkstemp(prefix=f".{path.name[:32]}.", suffix=".tmp", dir=path.parent)
    try:
        with open(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(number)
        os.chmod(beside, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:  # an interrupt too must leave nothing behind
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
