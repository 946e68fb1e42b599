"""The keys of a configuration, and how the value of each is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxlint.codes import known_prefix
from ptxlint.report.finding import Severity
from ptxlint.report.formats import FORMATS
from ptxlint.settings import BLOCK_LIMITS, CLUSTER_LIMITS, LaunchHint, Triple, read_shape

ALWAYS = "PTX999"


class ValueProblem(Exception):
    """A value that a key cannot have: what is wrong, and the text in the file that it is about."""

    def __init__(self, message: str, about: str = "") -> None:
        super().__init__(message)
        self.about = about


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its name, the setting it makes, and what reads its value.

    *read* gets the value and the folder of the file, and raises :class:`ValueProblem`.
    """

    name: str
    setting: str
    read: Callable[[Any, Path], Any]
    is_table: bool = False


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """Return ``; did you mean "…"?`` for the nearest of *known*, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word.lower().replace("_", "-"), known, n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""


def _strings(value: Any, folder: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueProblem(f"expected a list of strings, found {_kind(value)}")
    return tuple(value)


def _folders(value: Any, folder: Path) -> tuple[str, ...]:
    return tuple(str(folder / item) for item in _strings(value, folder))


def _codes(value: Any, folder: Path) -> tuple[str, ...]:
    found = []
    for item in _strings(value, folder):
        try:
            found.append(known_prefix(item.strip().upper()))
        except ValueError as error:
            raise ValueProblem(str(error).rstrip("."), item) from None
        if not item.strip():
            raise ValueProblem(f"{item!r} names no code", item)
    return tuple(found)


def _flag(value: Any, folder: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueProblem(f"expected true or false, found {_kind(value)}")
    return value


def _severity(value: Any, folder: Path) -> Severity:
    return Severity(_one_of(value, tuple(severity.value for severity in Severity)))


def _format(value: Any, folder: Path) -> str:
    return _one_of(value, tuple(FORMATS))


def _file(value: Any, folder: Path) -> str:
    if not isinstance(value, str) or not value:
        raise ValueProblem(f"expected the path of a file, found {_kind(value)}")
    return str(folder / value)


def _one_of(value: Any, names: tuple[str, ...]) -> str:
    if not isinstance(value, str):
        raise ValueProblem(f"expected one of {', '.join(names)}, found {_kind(value)}")
    if value not in names:
        raise ValueProblem(f"{value!r} is not one of {', '.join(names)}{suggestion(value, names)}", value)
    return value


def _shape(limits: Triple, most: int, what: str) -> Callable[[Any, Path], Triple]:
    def read(value: Any, folder: Path) -> Triple:
        numbers = value if isinstance(value, list) else [value]
        if not all(isinstance(n, int | str) and not isinstance(n, bool) for n in numbers):
            raise ValueProblem(f"expected a number or a list of up to three, found {_kind(value)}")
        try:
            return read_shape(",".join(map(str, numbers)), limits, most, what)
        except ValueError as error:
            raise ValueProblem(str(error).rstrip(".")) from None

    return read


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueProblem(f"expected a table, found {_kind(value)}")
    return value


def _severities(value: Any, folder: Path) -> tuple[tuple[str, Severity], ...]:
    found = []
    for code, level in _table(value).items():
        try:
            prefix = known_prefix(code.upper())
            if prefix == ALWAYS:
                raise ValueProblem("what cannot be parsed is always an error", code)
            found.append((prefix, _severity(level, folder)))
        except ValueError as error:
            raise ValueProblem(str(error).rstrip("."), code) from None
        except ValueProblem as problem:
            raise ValueProblem(f"{code}: {problem}", code) from None
    return tuple(found)


def _ignores(value: Any, folder: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = []
    for pattern, codes in _table(value).items():
        try:
            found.append((pattern, _codes(codes, folder)))
        except ValueProblem as problem:
            raise ValueProblem(f'"{pattern}": {problem}', problem.about or pattern) from None
    return tuple(found)


def _hints(value: Any, folder: Path) -> tuple[LaunchHint, ...]:
    shapes = {"block": _shape(*BLOCK_LIMITS), "cluster": _shape(*CLUSTER_LIMITS)}
    found = []
    for pattern, table in _table(value).items():
        read: dict[str, Triple] = {}
        try:
            for name, shape in _table(table).items():
                if name not in shapes:
                    raise ValueProblem(f'unknown key "{name}"{suggestion(name, tuple(shapes))}', name)
                read[name] = shapes[name](shape, folder)
        except ValueProblem as problem:
            raise ValueProblem(f'"{pattern}": {problem}', problem.about or pattern) from None
        found.append(LaunchHint(pattern, read.get("block"), read.get("cluster")))
    return tuple(found)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'the string "{value}"'
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an empty list" if not value else "a list of other things"
    return f"a {type(value).__name__}"


KEYS = {
    key.name: key
    for key in (
        Key("select", "select", _codes),
        Key("ignore", "ignore", _codes),
        Key("extend-select", "extend_select", _codes),
        Key("severity", "severity", _severities, True),
        Key("per-file-ignores", "per_file_ignores", _ignores, True),
        Key("per-kernel-ignores", "per_kernel_ignores", _ignores, True),
        Key("block", "block", _shape(*BLOCK_LIMITS)),
        Key("cluster", "cluster", _shape(*CLUSTER_LIMITS)),
        Key("kernels", "kernels", _hints, True),
        Key("strict", "strict", _flag),
        Key("fail-on", "fail_on", _severity),
        Key("source-roots", "source_roots", _folders),
        Key("exclude", "exclude", _strings),
        Key("output-format", "output_format", _format),
        Key("baseline", "baseline", _file),
    )
}
