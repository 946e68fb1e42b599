"""Read one configuration file: ``ptxlint.toml``, or the table ``[tool.ptxlint]`` of ``pyproject.toml``."""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ptxlint.config.keys import KEYS, ValueProblem, suggestion
from ptxlint.settings import Settings, UserError

PYPROJECT = "pyproject.toml"
OWN_FILE = "ptxlint.toml"
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


class ConfigError(UserError):
    """A configuration that cannot be read; one line for each thing that is wrong."""


@dataclass(frozen=True, slots=True)
class Config:
    """What one file says: *settings* made of the defaults, and the *keys* that it has."""

    path: str
    settings: Settings = field(default_factory=Settings)
    keys: tuple[str, ...] = ()


def read_config(path: Path) -> Config | None:
    """Read a file; None when it is a ``pyproject.toml`` without a table for ptxlint.

    A ``ptxlint.toml``, or a file of any other name, has the keys at its top level; ``[tool.ptxlint]`` is
    accepted there too.

    Raises:
        ConfigError: the file cannot be read, is no TOML, or has unknown keys, codes or values.
    """
    text, data = load_toml(path)
    tool = data.get("tool")
    table: Any = tool.get("ptxlint") if isinstance(tool, dict) else None
    if table is None:
        if path.name == PYPROJECT:
            return None
        table = data
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.ptxlint is no table")
    return _config(path, text, table)


def load_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and its data.

    Raises:
        ConfigError: the file cannot be read, or is no TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    text = _read(path)
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_toml_message(path, str(error))) from None
    except RecursionError:
        raise ConfigError(f"{path}: no TOML that can be read: nested too deeply") from None
    return text, data


def _config(path: Path, text: str, table: dict[str, Any]) -> Config:
    problems: list[str] = []
    chosen: dict[str, Any] = {}
    folder = path.absolute().parent
    for name, value in table.items():
        key = KEYS.get(name)
        if key is None:
            hint = suggestion(name, tuple(KEYS)) or f"; known are {', '.join(KEYS)}"
            message = f'unknown key "{name}"{hint}'
            problems.append(f"{_at(path, text, name)}: {message}")
            continue
        try:
            chosen[key.setting] = key.read(value, folder)
        except ValueProblem as problem:
            place = _at(path, text, name, problem.about)
            problems.append(f"{place}: {name}: {problem}")
    if problems:
        raise ConfigError("\n".join(problems))
    return Config(str(path), Settings(root=str(folder), **chosen), tuple(table))


def _read(path: Path) -> str:
    if os.path.exists(path) and not os.path.isfile(path):
        raise ConfigError(f"{path}: this is no regular file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: no UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None


def _toml_message(path: Path, message: str) -> str:
    place = _PLACE.search(message)
    if place is None:
        return f"{path}: no TOML: {message}"
    return f"{path}:{place[1]}:{place[2]}: no TOML: {message[: place.start()]}"


def _at(path: Path, text: str, key: str, about: str = "") -> str:
    """Return ``path:line`` of *key*, and of *about* below it, as far as they are found in *text*.

    TOML readers tell no positions, so the lines are searched for words that look like it.
    """
    lines = text.split("\n")
    table = re.escape(key)
    head = re.compile(
        rf"\s*(?:tool\.ptxlint\.)?[\"']?{table}[\"']?\s*[.=]|\s*\[(?:tool\.ptxlint\.)?{table}[\].]"
    )
    own = _section(lines)
    start = next((n for n in range(own, len(lines)) if head.match(lines[n])), None)
    if start is None:
        return str(path)
    if about:
        word = re.compile(rf"(?<![\w-]){re.escape(about)}(?![\w-])")
        start = next((n for n in range(start, len(lines)) if word.search(lines[n])), start)
    return f"{path}:{start + 1}"


def _section(lines: list[str]) -> int:
    """Return the first line of ``[tool.ptxlint]`` or of a table in it, or 0."""
    return next((n for n, line in enumerate(lines) if re.match(r"\s*\[\s*tool\.ptxlint[\].]", line)), 0)
