"""Bytes: read with a bound, told apart by their beginning, decoded."""

import os
import sys
from enum import Enum
from pathlib import Path

from ptxlint.inputs.item import STDIN, InputError

MAX_TEXT_BYTES = 512 << 20
HEAD_BYTES = 64


class Kind(Enum):
    """What a file is, by its first bytes."""

    TEXT = "text"
    BINARY = "binary"  # cuobjdump reads it
    ARCHIVE = "archive"  # zip


_BINARIES = (
    (b"\x7fELF", "a compiled object (ELF)"),
    (b"\x50\xed\x55\xba", "a CUDA fat binary"),
    (b"!<arch>\n", "a static library"),
    (b"MZ", "a Windows binary"),
)
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
_REFUSED = (
    (b"\x1f\x8b", "a gzip archive; unpack it first"),
    (b"BZh", "a bzip2 archive; unpack it first"),
    (b"\xfd7zXZ", "an xz archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
    (b"!<thin>\n", "a thin static library, which holds no objects itself; name its objects"),
    (b"BC\xc0\xde", "LLVM bitcode; give the PTX that is made of it"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O binary, which holds no device code"),
)


def kind_of(head: bytes) -> Kind:
    """Return what a file is that begins with *head*."""
    if any(head.startswith(magic) for magic, _ in _BINARIES):
        return Kind.BINARY
    return Kind.ARCHIVE if head.startswith(_ARCHIVES) else Kind.TEXT


def name_of_kind(head: bytes) -> str:
    """Return in words what a file is that begins with *head*."""
    return next((name for magic, name in _BINARIES if head.startswith(magic)), "a file")


def read_head(path: str) -> bytes:
    """Return the first bytes of a regular file; of what can be read only once, none.

    Raises:
        InputError: it cannot be read.
    """
    try:
        if not os.path.isfile(path) and os.path.exists(path):
            return b""
        with open(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a zero character in the path
        raise InputError(reason(error)) from None


def read_bytes(path: str) -> bytes:
    """Read one file, or standard input for ``-``.

    Raises:
        InputError: it cannot be read, or is larger than the bound.
    """
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(MAX_TEXT_BYTES + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(MAX_TEXT_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(reason(error)) from None
    if len(data) > MAX_TEXT_BYTES:
        raise InputError(f"larger than {MAX_TEXT_BYTES >> 20} MiB, the most that is read")
    return data


def decode(data: bytes) -> str:
    """Return *data* as text: UTF-8, with or without a byte order mark; line ends become newlines.

    A zero byte at the end, as in texts that compilers hand over as C strings, is dropped.

    Raises:
        InputError: the data is empty, binary, or in another encoding.
    """
    data = data.rstrip(b"\0")
    if not data.strip():
        raise InputError("no PTX: the file is empty, expected .version")
    for magic, what in (*_BINARIES, *_REFUSED):
        if data.startswith(magic):
            raise InputError(f"no PTX text: this is {what}")
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        raise InputError("no UTF-8 text: this is UTF-32; convert it first")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("no UTF-8 text: this is UTF-16; convert it first")
    if b"\0" in data:
        raise InputError(
            f"no PTX text: a binary file (zero byte at offset {data.index(0)}) that is no ELF object, "
            "fat binary, static library or wheel"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"no UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def reason(error: OSError | ValueError) -> str:
    """Return what the system says, for the middle of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)


def folder_of(path: str) -> str:
    """Return the folder that a file lies in."""
    return str(Path(path).parent)
