"""Find and read what is to be checked: files, folders, standard input."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxlint.report.finding import Report

STDIN = "-"
STDIN_NAME = "<stdin>"

_BINARIES = (
    (b"\x7fELF", "a compiled object (ELF)"),
    (b"\x50\xed\x55\xba", "a CUDA fat binary"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"!<arch>\n", "a static library"),
    (b"MZ", "a Windows binary"),
    (b"BC\xc0\xde", "LLVM bitcode"),
)


class InputError(Exception):
    """An input that cannot be read or parsed; the text says why and what to do.

    *report* is there when a part of it could be checked all the same.
    """

    def __init__(self, message: str, report: "Report | None" = None) -> None:
        super().__init__(message)
        self.report = report


@dataclass(frozen=True, slots=True)
class Input:
    """One text to check: *text* is what was read, or *error* says why nothing was."""

    path: str
    text: str = ""
    error: str | None = None


def read_inputs(arguments: Sequence[str]) -> Iterator[Input]:
    """Yield what *arguments* name, in their order, each file once; folders give their ``*.ptx``, sorted."""
    seen: set[str] = set()
    for argument in arguments:
        for path in _find(argument):
            if isinstance(path, Input):
                yield path
            elif path not in seen:
                seen.add(path)
                yield read_input(path)


def read_input(path: str) -> Input:
    """Read one file, or standard input for ``-``; what goes wrong is in ``error``."""
    name = STDIN_NAME if path == STDIN else path
    try:
        return Input(name, decode(_read(path)))
    except InputError as error:
        return Input(name, error=str(error))


def decode(data: bytes) -> str:
    """Return *data* as text: UTF-8, with or without a byte order mark; line ends become newlines.

    A zero byte at the end, as in texts that compilers hand over as C strings, is dropped.

    Raises:
        InputError: the data is empty, binary, or in another encoding.
    """
    data = data.rstrip(b"\0")
    if not data.strip():
        raise InputError("no PTX: the file is empty, expected .version")
    for magic, what in _BINARIES:
        if data.startswith(magic):
            raise InputError(f"no PTX text: this is {what}; `cuobjdump -ptx` extracts embedded PTX")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("no UTF-8 text: this is UTF-16; convert it first")
    if b"\0" in data:
        raise InputError(f"no PTX text: a binary file (zero byte at offset {data.index(0)})")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"no UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _find(argument: str) -> Iterator[str | Input]:
    """Yield the files that *argument* names, or an Input with the error."""
    if argument == STDIN or not os.path.isdir(argument):
        yield argument
        return
    errors: list[Input] = []

    def note(error: OSError) -> None:
        errors.append(Input(str(error.filename), error=_reason(error)))

    found: list[str] = []
    for folder, folders, files in os.walk(argument, onerror=note):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(folder, name) for name in files if name.endswith(".ptx")]
    yield from sorted(found, key=lambda path: Path(path).parts)
    yield from errors
    if not found and not errors:
        yield Input(argument, error="no *.ptx file in this folder")


def _read(path: str) -> bytes:
    try:
        if path == STDIN:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:  # ValueError: a zero character in the path
        raise InputError(_reason(error)) from None


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)
