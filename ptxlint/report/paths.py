"""Paths as reports show them: relative to the working directory where that leads there, with forward slashes."""

import os
from pathlib import PurePath
from urllib.parse import quote

from ptxlint.report.printable import spell_surrogates

STDIN_NAME = "<stdin>"


def shown_path(path: str) -> str:
    """Return *path* relative to the working directory if it lies below it, else as it is; with ``/``.

    Characters that stand for bytes that are no UTF-8 are spelled out, as no text format can hold them.
    """
    return spell_surrogates(_relative(path))


def as_uri(path: str) -> str:
    """Return *path* as a URI (RFC 3986): relative below the working directory, ``file:`` elsewhere.

    Bytes that are no UTF-8 keep their value, percent-encoded.
    """
    if path == STDIN_NAME:
        return "stdin"
    shown = _relative(path)
    try:
        data = shown.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        data = shown.encode("utf-8", "backslashreplace")
    if not os.path.isabs(shown):
        return quote(data, safe="/")
    return ("file://" if shown.startswith("/") else "file:///") + quote(data, safe="/:")


def _relative(path: str) -> str:
    if not path or path == STDIN_NAME:
        return path
    normal = os.path.normpath(path)
    if os.path.isabs(normal):
        for folder in (os.getcwd(), os.path.realpath(os.getcwd())):
            if PurePath(normal).is_relative_to(folder):
                normal = os.path.relpath(normal, folder)
                break
    return PurePath(normal).as_posix()
