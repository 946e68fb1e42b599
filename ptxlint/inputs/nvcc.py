"""CUDA source: nvcc makes PTX of it, once for each architecture that its arguments name."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ptxlint.inputs.compile_commands import Entry
from ptxlint.inputs.content import decode, folder_of, read_bytes
from ptxlint.inputs.item import Input, InputError, InputOptions, MissingToolError
from ptxlint.inputs.nvcc_flags import DEFAULT_ARCHITECTURE, NvccFlags, target_of
from ptxlint.tools import Completed, ToolError, need_tool, run_tool, scratch_folder

_WHOLE_FAMILIES = ("native", "all", "all-major")
_MOST_LINES = 60  # of nvcc's messages that are shown


@dataclass(frozen=True, slots=True)
class _Job:
    """One source file with the flags for it and the folder that they are relative to."""

    path: str
    source: str
    flags: NvccFlags
    folder: str | None
    time_limit: float


def compile_source(path: str, options: InputOptions, entry: Entry | None) -> Iterator[Input]:
    """Yield the PTX of one CUDA source file for each architecture.

    Args:
        path: The file.
        options: Its ``nvcc_arguments`` come after those of *entry*; architectures replace those there.
        entry: How the project compiles the file.

    Raises:
        MissingToolError: there is no nvcc.
        InputError: the file cannot be read, or an argument does not go with ``-ptx``.
    """
    own = NvccFlags.of(options.nvcc_arguments)
    project = NvccFlags.of(entry.arguments) if entry else NvccFlags((), ())
    architectures = own.architectures or project.architectures
    for name in architectures:
        if name in _WHOLE_FAMILIES:
            raise InputError(f"-arch={name} names no one architecture: name those to check, as -arch=sm_90a")
    notes: tuple[str, ...] = ()
    if not architectures:
        architectures = (DEFAULT_ARCHITECTURE,)
        notes = (
            f"compiled for {target_of(DEFAULT_ARCHITECTURE)}, as no architecture was named: "
            "say another after --, as in `-- -arch=sm_100a`",
        )
    job = _Job(
        path,
        os.path.abspath(path),
        NvccFlags((*project.arguments, *own.arguments), architectures),
        entry.directory if entry else None,
        options.tool_time_limit,
    )
    read_bytes(path)  # what cannot be read is told in our words
    try:
        nvcc = need_tool("nvcc", "checking CUDA source")
    except ToolError as error:
        raise MissingToolError(str(error)) from None
    for architecture in architectures:
        yield _compile(nvcc, job, architecture, notes)


def _compile(nvcc: str, job: _Job, architecture: str, notes: tuple[str, ...]) -> Input:
    target = target_of(architecture)
    name = f"{job.path}#{Path(job.path).stem}.{target}.ptx"
    with scratch_folder() as scratch:
        output = scratch / "out.ptx"
        command = [nvcc, *job.flags.arguments, f"-arch={architecture}", "-lineinfo", "-ptx"]
        command += ["-o", str(output), job.source]
        try:
            done = run_tool(command, scratch=scratch, cwd=job.folder, time_limit=job.time_limit)
        except ToolError as error:
            return Input(job.path, error=str(error))
        if done.status != 0:
            return Input(job.path, error=f"nvcc failed for {target}:\n{_shown(done)}")
        try:
            return Input(name, decode(read_bytes(str(output))), folder=folder_of(job.path), notes=notes)
        except InputError as error:
            return Input(job.path, error=f"nvcc made no PTX for {target}: {error}")


def _shown(done: Completed) -> str:
    lines = done.messages.splitlines() or [f"exit status {done.status}"]
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES} more lines"]
    return "\n".join(f"  {line}" for line in lines)
