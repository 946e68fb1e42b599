"""The compilation database of a project (``compile_commands.json``): how it compiles each CUDA file.

Format: https://clang.llvm.org/docs/JSONCompilationDatabase.html
"""

import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ptxlint.inputs.content import read_bytes
from ptxlint.inputs.item import InputError

FILE_NAME = "compile_commands.json"
CUDA_SUFFIXES = (".cu",)


@dataclass(frozen=True, slots=True)
class Entry:
    """How one file is compiled: nvcc's *arguments*, less the file, relative to *directory*."""

    file: str
    directory: str
    arguments: tuple[str, ...]


def database_path(path: str) -> str:
    """Return the path of a database, for *path* that names it or its folder."""
    return os.path.join(path, FILE_NAME) if os.path.isdir(path) else path


class CompileCommands:
    """The entries of one database, by file; of several for one file the first counts."""

    def __init__(self, path: str) -> None:
        """Read the database at *path*, a file or the folder that has one.

        Raises:
            InputError: it cannot be read, or is no compilation database.
        """
        self.path = database_path(path)
        self._entries: dict[str, dict[str, Any]] = {}
        for entry in _read(self.path):
            file = os.path.join(self._directory(entry), entry["file"])
            self._entries.setdefault(os.path.realpath(file), entry)

    def cuda_files(self) -> list[str]:
        """Return the CUDA files, in the order of the database, as paths from here where that is shorter."""
        return [_from_here(file) for file in self._entries if file.endswith(CUDA_SUFFIXES)]

    def find(self, path: str) -> Entry:
        """Return how *path* is compiled.

        Raises:
            InputError: there is no entry for it, or it is not compiled by nvcc.
        """
        wanted = os.path.realpath(path)
        entry = self._entries.get(wanted)
        if entry is None:
            close = get_close_matches(wanted, self._entries, 1, 0.8)
            hint = f"; did you mean {_from_here(close[0])}?" if close else ""
            raise InputError(f"{self.path} has no entry for this file{hint}")
        command = _command(entry, self.path)
        at = next((n for n, word in enumerate(command) if _is_nvcc(word)), None)
        if at is None:
            compiler = command[0] if command else "nothing"
            raise InputError(
                f"{self.path} compiles this file with {compiler}, whose arguments nvcc does not know: "
                "give nvcc's after --"
            )
        directory = self._directory(entry)
        arguments = tuple(
            word
            for word in command[at + 1 :]
            if word.startswith("-") or os.path.realpath(os.path.join(directory, word)) != wanted
        )
        if not os.path.isdir(directory):
            raise InputError(f"{self.path} compiles this file in {directory}, which is no folder")
        return Entry(path, directory, arguments)

    def _directory(self, entry: dict[str, Any]) -> str:
        base = os.path.dirname(os.path.abspath(self.path))
        return os.path.join(base, entry.get("directory", ""))


def _read(path: str) -> Iterator[dict[str, Any]]:
    expected = "expected a list of objects with file, directory, and command or arguments"
    try:
        data = json.loads(read_bytes(path).decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError):
        raise InputError(f"no JSON; {expected}") from None
    if not isinstance(data, list):
        raise InputError(expected)
    for number, entry in enumerate(data, 1):
        strings = ("file", "directory", "command")
        arguments = entry.get("arguments") if isinstance(entry, dict) else None
        if (
            not isinstance(entry, dict)
            or not isinstance(entry.get("file"), str)
            or any(not isinstance(entry.get(key, ""), str) for key in strings)
            or not (arguments is None or _is_list_of_strings(arguments))
            or ("command" not in entry and arguments is None)
        ):
            raise InputError(f"entry {number}: {expected}")
        yield entry


def _is_list_of_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _command(entry: dict[str, Any], path: str) -> list[str]:
    if entry.get("arguments") is not None:
        return list(entry["arguments"])
    try:
        return shlex.split(entry["command"])
    except ValueError as error:
        raise InputError(f"{path}: the command for this file: {error}") from None


def _is_nvcc(word: str) -> bool:
    return Path(word).name.lower() in ("nvcc", "nvcc.exe")


def _from_here(path: str) -> str:
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith("..") else relative
