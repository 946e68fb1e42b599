"""ptxlint as a library: :func:`check`, which ``import ptxlint`` offers too."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ptxlint.cache import Cache
from ptxlint.codes import read_prefixes
from ptxlint.config import Configurations
from ptxlint.inputs import Input, InputError, InputOptions, decode
from ptxlint.inputs.content import HEAD_BYTES, Kind, kind_of
from ptxlint.report.finding import Report
from ptxlint.runner import Running, analyse_all
from ptxlint.session import finish
from ptxlint.settings import BLOCK_LIMITS, CLUSTER_LIMITS, Settings, Triple, read_shape

Shape = int | str | tuple[int, ...]

TEXT_NAME = "<string>"


def check(
    text_or_path: str | bytes | os.PathLike[str],
    *,
    name: str | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    block: Shape | None = None,
    cluster: Shape | None = None,
    strict: bool = False,
    settings: Settings | None = None,
    nvcc_arguments: Iterable[str] = (),
    jobs: int = 1,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Report:
    """Check one PTX text or file and return what was found.

    Files may be everything that the command takes: PTX, CUDA source, what has PTX in it, folders.

    Args:
        text_or_path: PTX text (a ``str`` of several lines or with a ``.version`` in it, or ``bytes``), or
            the path of a file (a path object, or a ``str`` of any other kind).
        name: What reports call the text; the path, or ``<string>``.
        select: Codes or their beginnings, of which alone findings are wanted.
        ignore: Codes or their beginnings that are not wanted; the longer beginning wins.
        extend_select: Codes or their beginnings that are wanted besides, also those off by default.
        block: Threads a CTA, ``128`` or ``(x, y, z)``, where the PTX does not say.
        cluster: CTAs a cluster, likewise.
        strict: What could not be analysed (PTX990, PTX991) is an error.
        settings: What applies where the other arguments say nothing, as from :func:`find_settings`. No
            configuration file is read otherwise.
        nvcc_arguments: What nvcc is given for CUDA source.
        jobs: How many processes may work, 0 for one a processor. Where processes cannot be forked (other
            systems than Linux, programs with threads), the program must be safe to import.
        cache_dir: Where results are kept, and taken from, if anywhere.

    Returns:
        A report of one file, or of each PTX text in it. Findings do not raise: ask ``report.findings()``.

    Raises:
        InputError: the file cannot be read, or it holds no PTX that can be parsed. For a syntax error
            ``report`` of the exception has what could be checked all the same.
        UserError: the baseline of *settings* cannot be read.
        ValueError: a code that does not exist, or a shape that no GPU can launch.
        RuntimeError: ptxlint itself failed.
    """
    chosen = _settings(settings or Settings(), select, ignore, extend_select, block, cluster, strict)
    source = _source(text_or_path, name)
    running = Running(jobs, None if cache_dir is None else Cache(Path(cache_dir)))
    reading = InputOptions(nvcc_arguments=tuple(nvcc_arguments))
    found = analyse_all([source], reading, lambda item: chosen, running)
    if name is not None and len(found) == 1:
        found = [(replace(found[0][0], path=name), chosen)]
    report = finish(found)
    for file in report.files:
        if file.error is None:
            continue
        if "internal error, a bug of ptxlint" in file.error:
            raise RuntimeError(f"{file.path}: {file.error}")
        raise InputError(f"{file.path}: {file.error}", report)
    return report


def find_settings(path: str | os.PathLike[str] = "") -> Settings:
    """Return the settings of the configuration nearest to *path*, a file or folder (the working directory).

    Raises:
        ConfigError: a configuration cannot be read, or has unknown keys, codes or values.
    """
    name = os.fspath(path)
    configurations = Configurations()
    is_folder = not name or os.path.isdir(name)
    return (configurations.of_folder(name) if is_folder else configurations.of_file(name)).settings


def _source(text_or_path: str | bytes | os.PathLike[str], name: str | None) -> str | Input:
    """Return the path of what is to be read, or the text."""
    if isinstance(text_or_path, bytes) or (isinstance(text_or_path, str) and _is_text(text_or_path)):
        data = text_or_path if isinstance(text_or_path, bytes) else text_or_path.encode("utf-8", "replace")
        path = name or TEXT_NAME
        try:
            if kind_of(data[:HEAD_BYTES]) is not Kind.TEXT:
                raise InputError("no PTX text: these are the bytes of a binary file; give its path")
            return Input(path, decode(data))
        except InputError as error:
            return Input(path, error=str(error))
    path = os.fspath(text_or_path)
    # "-" is a file of that name here, not standard input.
    return path if path != "-" else str(Path(path).absolute())


def _is_text(value: str) -> bool:
    """Return whether *value* is a text rather than the path of one."""
    return not value.strip() or "\n" in value or ".version" in value


def _settings(
    base: Settings,
    select: Iterable[str],
    ignore: Iterable[str],
    extend_select: Iterable[str],
    block: Shape | None,
    cluster: Shape | None,
    strict: bool,
) -> Settings:
    return base.with_choices(
        select=_codes(select),
        ignore=_codes(ignore),
        extend_select=_codes(extend_select),
        block=None if block is None else _shape(block, *BLOCK_LIMITS),
        cluster=None if cluster is None else _shape(cluster, *CLUSTER_LIMITS),
        strict=strict or None,
    )


def _codes(values: Iterable[str]) -> tuple[str, ...]:
    return read_prefixes([values] if isinstance(values, str) else values)


def _shape(value: Shape, limits: Triple, most: int, what: str) -> Triple:
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    return read_shape(str(value), limits, most, what)
