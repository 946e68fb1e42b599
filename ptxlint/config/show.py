"""Say which settings apply to a file, and where each comes from."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ptxlint.config.keys import KEYS
from ptxlint.config.read import Config
from ptxlint.report.paths import shown_path
from ptxlint.settings import LaunchHint, Settings

DEFAULT = "default"
COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Shown:
    """What applies to the file called *name*: the configuration, and the settings made of it."""

    name: str
    config: Config
    settings: Settings
    choices: Mapping[str, Any]

    def values(self) -> Iterable[tuple[str, Any, str]]:
        """Yield each key, its value as TOML and JSON have it, and where it comes from."""
        for key in KEYS.values():
            value = getattr(self.settings, key.setting)
            chosen = self.choices.get(key.setting)
            if chosen not in (None, ()):
                origin = COMMAND_LINE
            elif key.name in self.config.keys and value == getattr(self.config.settings, key.setting):
                origin = self.config.path
            else:
                origin = COMMAND_LINE if key.name in self.config.keys else DEFAULT
            yield key.name, _plain(value) if value or not key.is_table else {}, origin


def as_text(shown: Iterable[Shown]) -> str:
    """Return the settings as TOML, with comments that say where they come from."""
    blocks = []
    for one in shown:
        head = f"# {shown_path(one.name)}: {one.config.path or 'no configuration file'}"
        values = [(key, value, origin) for key, value, origin in one.values()]
        plain = [entry for entry in values if not isinstance(entry[1], dict) or not entry[1]]
        tables = [entry for entry in values if isinstance(entry[1], dict) and entry[1]]
        lines = [f"{key} = {_toml(value)}" if value is not None else f"# no {key}" for key, value, _ in plain]
        width = max(map(len, lines))
        lines = [f"{line:{width}}  # {entry[2]}" for line, entry in zip(lines, plain, strict=True)]
        for key, table, origin in tables:
            lines += ["", f"[{key}]  # {origin}"]
            lines += [f"{_toml(name)} = {_toml(value)}" for name, value in table.items()]
        blocks.append("\n".join([head, *lines]))
    return "\n\n".join(blocks)


def as_json(shown: Iterable[Shown]) -> str:
    """Return the settings as a JSON list, an object a file."""
    files = [
        {
            "file": shown_path(one.name),
            "configuration": one.config.path or None,
            "settings": {key: {"value": value, "origin": origin} for key, value, origin in one.values()},
        }
        for one in shown
    ]
    return json.dumps(files, indent=2)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and value and isinstance(value[0], LaunchHint):
        return {
            hint.pattern: {
                name: list(shape)
                for name, shape in (("block", hint.block), ("cluster", hint.cluster))
                if shape is not None
            }
            for hint in value
        }
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return {name: _plain(inner) for name, inner in value}
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "value", value)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
