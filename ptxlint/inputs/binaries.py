"""Compiled files: cuobjdump takes out the PTX that is embedded in them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ptxlint.inputs.content import decode, name_of_kind, read_bytes, read_head
from ptxlint.inputs.item import Input, InputError, MissingToolError, NoPtxError
from ptxlint.tools import Completed, ToolError, need_tool, run_tool, scratch_folder

MAX_TOTAL_BYTES = 4 << 30  # of all PTX of one file

_EXTRACTED = re.compile(r"^Extracting PTX file and ptxas options\s+\d+: (\S+)")
_MEMBER = re.compile(r"^member .*:([^:\n]+):$")
_ELF = re.compile(r"^ELF file\s+\d+: \S*?(sm_\w+)\.cubin$", re.MULTILINE)
_UNSAFE_IN_NAME = re.compile(r"[^\w.-]+|^[.-]+", re.ASCII)


def extract_ptx(file: str, name: str, folder: str, time_limit: float) -> Iterator[Input]:
    """Yield each PTX text in the compiled file *file*, named ``NAME#KERNEL.N.ARCH.ptx``.

    Args:
        file: Where the file is.
        name: What to call it.
        folder: Where sources may lie beside it.
        time_limit: Seconds for each run of cuobjdump.

    Raises:
        NoPtxError: there is none; the text says what there is.
        MissingToolError: there is no cuobjdump.
        InputError: it cannot be extracted.
    """
    what = name_of_kind(read_head(file))
    try:
        cuobjdump = need_tool("cuobjdump", f"this is {what}: taking PTX out of it")
    except ToolError as error:
        raise MissingToolError(str(error)) from None
    try:
        with scratch_folder() as scratch:
            output = scratch / "ptx"
            output.mkdir()
            # The names of what is extracted begin with that of the file: it gets a harmless one.
            stem = _UNSAFE_IN_NAME.sub("_", Path(name.rpartition("#")[2]).name) or "input"
            alias = scratch / stem
            _alias(file, alias)
            done = run_tool(
                [cuobjdump, "-xptx", "all", str(alias)], scratch=scratch, cwd=output, time_limit=time_limit
            )
            texts = _in_order(output, done.out)
            if not texts:
                listed = run_tool([cuobjdump, "-lelf", str(alias)], scratch=scratch, time_limit=time_limit)
                raise _why_none(what, done, listed.out, str(alias))
            total = 0
            for path, member in texts:
                label = f"{name}#{member + '#' if member else ''}{path.name}"
                total += path.stat().st_size
                if total > MAX_TOTAL_BYTES:
                    yield Input(label, error=f"more than {MAX_TOTAL_BYTES >> 30} GiB of PTX in this file")
                    return
                try:
                    yield Input(label, decode(read_bytes(str(path))), folder=folder)
                except InputError as error:
                    yield Input(label, error=str(error))
    except ToolError as error:
        raise InputError(str(error)) from None


def _alias(file: str, alias: Path) -> None:
    try:
        alias.symlink_to(os.path.abspath(file))
    except (OSError, NotImplementedError):  # a system without links, or without the right to make one
        import shutil

        shutil.copyfile(file, alias)


def _in_order(output: Path, said: str) -> list[tuple[Path, str]]:
    """Return the extracted files in cuobjdump's order, each with its member of a library."""
    members: dict[str, str] = {}
    order: list[str] = []
    member = ""
    for line in said.splitlines():
        if match := _MEMBER.match(line):
            member = match.group(1)
        elif match := _EXTRACTED.match(line):
            members[match.group(1)] = member
            order.append(match.group(1))
    rank = {name: number for number, name in enumerate(order)}
    found = [path for path in output.iterdir() if path.suffix == ".ptx" and path.is_file()]
    found.sort(key=lambda path: (rank.get(path.name, len(rank)), path.name))
    return [(path, members.get(path.name, "")) for path in found]


def _why_none(what: str, done: Completed, listed: str, alias: str) -> InputError:
    """Return what to say about a file out of which no PTX came."""
    targets = list(dict.fromkeys(_ELF.findall(listed)))
    if targets:
        return NoPtxError(
            f"no PTX: this is {what} with machine code (SASS) only, for {', '.join(targets)}; build it with "
            "PTX, as with -gencode arch=compute_90a,code=[sm_90a,compute_90a]"
        )
    if "does not contain device code" in done.messages or done.status == 0:
        return NoPtxError(f"no PTX: this is {what} with no device code")
    said = done.messages.replace(alias, Path(alias).name) or "it said nothing"
    if done.status < 0:
        said = f"it crashed (signal {-done.status})"
    return InputError(f"no PTX: this is {what} that cuobjdump cannot read: {said}")
