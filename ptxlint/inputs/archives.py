"""Wheels, and other zip archives: the PTX files and compiled files in them.

Members are written under names of our own, so that no name in an archive chooses a place on disk, and
what they unpack to is bounded.
"""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ptxlint.inputs.binaries import extract_ptx
from ptxlint.inputs.content import Kind, decode, kind_of, read_bytes, read_head, reason
from ptxlint.inputs.item import Input, InputError, MissingToolError, NoPtxError
from ptxlint.tools import scratch_folder

MEMBER_SUFFIXES = (".ptx", ".so", ".pyd", ".dll", ".cubin", ".fatbin", ".o", ".a", ".obj", ".lib")
MAX_MEMBERS = 10_000
MAX_MEMBER_BYTES = 4 << 30
MAX_TOTAL_BYTES = 16 << 30
_BLOCK = 1 << 20
_MOST_SHOWN = 5


def read_archive(file: str, name: str, folder: str, time_limit: float) -> Iterator[Input]:
    """Yield the PTX in the zip archive *file*, each named ``NAME#MEMBER`` or ``NAME#MEMBER#KERNEL.ptx``.

    Members without PTX are passed over as long as another one has some.

    Raises:
        NoPtxError: nothing in the archive has PTX.
        InputError: the archive is damaged.
    """
    without: list[str] = []
    found = False
    try:
        with zipfile.ZipFile(file) as archive, scratch_folder() as scratch:
            left = MAX_TOTAL_BYTES
            members = [info for info in archive.infolist() if _is_wanted(info)]
            if len(members) > MAX_MEMBERS:
                raise InputError(f"more than {MAX_MEMBERS} binaries in this archive")
            for info in sorted(members, key=lambda info: info.filename):
                label = f"{name}#{info.filename}"
                unpacked = scratch / "member"
                try:
                    left -= _unpack(archive, info, unpacked, min(left, MAX_MEMBER_BYTES))
                    for item in _read_member(unpacked, label, folder, time_limit):
                        found = True
                        yield item
                except MissingToolError:
                    raise
                except NoPtxError as error:
                    without.append(f"{info.filename}: {error}")
                except InputError as error:
                    found = True
                    yield Input(label, error=str(error))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"a damaged or encrypted zip archive: {error}") from None
    except OSError as error:
        raise InputError(reason(error)) from None
    if not found:
        raise NoPtxError(_why_none(without))


def _why_none(without: list[str]) -> str:
    if not without:
        kinds = ", ".join(f"*{suffix}" for suffix in MEMBER_SUFFIXES)
        return f"no PTX in this archive: there is no {kinds} in it"
    more = f"\n  … {len(without) - _MOST_SHOWN} more" if len(without) > _MOST_SHOWN else ""
    return "no PTX in this archive:" + "".join(f"\n  {line}" for line in without[:_MOST_SHOWN]) + more


def _is_wanted(info: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(info.filename)
    return not info.is_dir() and (path.suffix in MEMBER_SUFFIXES or ".so." in path.name)


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, limit: int) -> int:
    """Write a member to *target* and return its size, counted and not believed."""
    size = 0
    with archive.open(info) as source, target.open("wb") as file:
        while block := source.read(_BLOCK):
            size += len(block)
            if size > limit:
                raise InputError(f"{info.filename} unpacks to more than the bound of {limit} bytes")
            file.write(block)
    return size


def _read_member(file: Path, label: str, folder: str, time_limit: float) -> Iterator[Input]:
    if kind_of(read_head(str(file))) is Kind.BINARY:
        yield from extract_ptx(str(file), label, folder, time_limit)
    else:
        yield Input(label, decode(read_bytes(str(file))), folder=folder)
