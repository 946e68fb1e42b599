"""What is to be checked: files, folders, standard input, and everything that PTX can be taken out of."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ptxlint.inputs.content import (
    HEAD_BYTES,
    Kind,
    decode,
    folder_of,
    kind_of,
    read_bytes,
    read_head,
)
from ptxlint.inputs.folders import find_files
from ptxlint.inputs.item import STDIN, STDIN_NAME, Input, InputError, InputOptions
from ptxlint.inputs.launch_hints import triton_hints

if TYPE_CHECKING:
    from ptxlint.inputs.compile_commands import CompileCommands

CUDA_SUFFIX = ".cu"

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
DEFAULTS = InputOptions()


def read_inputs(arguments: Sequence[str], options: InputOptions = DEFAULTS) -> Iterator[Input]:
    """Yield the PTX that *arguments* name, in their order, each file once."""
    reader = Reader(options)
    for source in reader.find(arguments):
        if isinstance(source, Input):
            yield source
        else:
            yield from reader.read(source)


def read_input(path: str) -> Input:
    """Read one PTX file, or standard input for ``-``; what goes wrong is in ``error``."""
    found = list(Reader(DEFAULTS).read(path))
    if len(found) == 1:
        return found[0]
    names = ", ".join(item.path.rpartition("#")[2] for item in found)
    return Input(
        path, error=f"several PTX texts in this file: name one, as {found[0].path} (there are {names})"
    )


class Reader:
    """Finds files and reads them; one compilation database serves all."""

    def __init__(self, options: InputOptions) -> None:
        self._options = options
        self._commands: CompileCommands | None = None

    def without_search(self) -> "Reader":
        """Return a reader that can only read, and that can be sent to another process."""
        reader = Reader(replace(self._options, is_excluded=None))
        reader._commands = self._commands
        return reader

    def find(self, arguments: Sequence[str | Input]) -> list[str | Input]:
        """Return the files that *arguments* name, each once, in order; an Input says what went wrong.

        An Input among *arguments* stays what it is. Without arguments, the CUDA files of the compilation database are meant.
        """
        if self._options.compile_commands is not None:
            from ptxlint.inputs.compile_commands import CompileCommands, database_path

            try:
                self._commands = CompileCommands(self._options.compile_commands)
            except InputError as error:
                return [Input(database_path(self._options.compile_commands), error=str(error))]
            arguments = arguments or self._commands.cuda_files()
            if not arguments:
                return [Input(self._commands.path, error="no *.cu file in this compilation database")]
        found: list[str | Input] = []
        seen: set[str] = set()
        for argument in arguments:
            for path in [argument] if isinstance(argument, Input) else self._find(argument):
                if isinstance(path, Input):
                    found.append(path)
                elif path not in seen:
                    seen.add(path)
                    found.append(path)
        return found

    def _find(self, argument: str) -> Iterator[str | Input]:
        if argument != STDIN and os.path.isdir(argument):
            yield from find_files(argument, self._options.include, self._options.is_excluded)
        elif _URL.match(argument) and not os.path.exists(argument):
            yield Input(argument, error="this is a URL, and only files are read: download it first")
        else:
            yield argument

    def read(self, path: str) -> Iterator[Input]:
        """Yield the PTX in one file; what goes wrong is in ``error``.

        The name that a text out of another file has in reports, ``FILE#NAME.ptx``, gives that text alone.
        """
        file, wanted = _parts(path)
        name = (self._options.stdin_name or STDIN_NAME) if path == STDIN else file
        items = self._read_safely(file, name)
        yield from items if wanted is None else _only(wanted, file, items)

    def _read_safely(self, path: str, name: str) -> Iterator[Input]:
        try:
            yield from self._read(path, name)
        except InputError as error:
            yield Input(name, error=str(error))
        except OSError as error:  # no room, or no right, to make a temporary file
            yield Input(name, error=f"cannot make a temporary file: {error.strerror or error}")

    def is_slow(self, path: str) -> bool:
        """Return whether reading *path* runs a program."""
        if path == STDIN:
            return False
        path, _ = _parts(path)
        try:
            return path.endswith(CUDA_SUFFIX) or kind_of(read_head(path)) is not Kind.TEXT
        except InputError:
            return False

    def _read(self, path: str, name: str) -> Iterator[Input]:
        limit = self._options.tool_time_limit
        if path == STDIN:
            yield from self._read_stdin(name)
        elif path.endswith(CUDA_SUFFIX):
            from ptxlint.inputs.nvcc import compile_source

            entry = self._commands.find(path) if self._commands is not None else None
            yield from compile_source(path, self._options, entry)
        else:
            kind = kind_of(read_head(path))
            if kind is not Kind.TEXT:
                yield from _take_out(kind, path, name, folder_of(path), limit)
            else:
                block, cluster = triton_hints(path)
                text = decode(read_bytes(path))
                yield Input(name, text, folder=folder_of(path), block=block, cluster=cluster)

    def _read_stdin(self, name: str) -> Iterator[Input]:
        data = read_bytes(STDIN)
        folder = folder_of(name) if self._options.stdin_name else ""
        kind = kind_of(data[:HEAD_BYTES])
        if kind is Kind.TEXT:
            if name.endswith(CUDA_SUFFIX):
                raise InputError("CUDA source is not read from standard input: name the file")
            yield Input(name, decode(data), folder=folder)
            return
        from ptxlint.tools import scratch_folder

        with scratch_folder() as scratch:
            file = scratch / (Path(name).name.strip("<>") or "stdin")
            file.write_bytes(data)
            yield from _take_out(kind, str(file), name, folder, self._options.tool_time_limit)


def _parts(path: str) -> tuple[str, str | None]:
    """Return the file that *path* is in, and *path* where it names one text of that file."""
    if path == STDIN or "#" not in path or os.path.lexists(path):
        return path, None
    for match in re.finditer("#", path):
        if os.path.isfile(path[: match.start()]):
            return path[: match.start()], path
    return path, None


def _only(wanted: str, file: str, items: Iterable[Input]) -> Iterator[Input]:
    """Yield of the texts in *file* the one of that name, and what is wrong with the file as a whole."""
    every = list(items)
    chosen = [item for item in every if item.path in (wanted, file)]
    names = ", ".join(item.path[len(file) + 1 :] for item in every)
    yield from chosen or [Input(wanted, error=f"there is no such text in {file}; there is {names or 'none'}")]


def _take_out(kind: Kind, file: str, name: str, folder: str, time_limit: float) -> Iterator[Input]:
    """Yield the PTX in a file that is no text; what it takes is loaded when it is wanted."""
    if kind is Kind.BINARY:
        from ptxlint.inputs.binaries import extract_ptx as read
    else:
        from ptxlint.inputs.archives import read_archive as read
    yield from read(file, name, folder, time_limit)
