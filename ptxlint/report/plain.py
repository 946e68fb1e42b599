"""Reports as plain JSON values, with every field, and back: for what is kept between runs.

The form follows the classes: a record is a list of its fields, an enumeration its value. It is read back with
the types that the classes declare, so that nothing but a report can come of it.
"""

import dataclasses
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Return *value* as lists, strings, numbers, booleans and None.

    Raises:
        TypeError: it has a part of another kind.
    """
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return [[to_plain(key), to_plain(item)] for key, item in value.items()]
    return [to_plain(getattr(value, name)) for name in _fields(value.__class__)]


def from_plain(kind: type[T], value: object) -> T:
    """Return the *kind* that *value* was made of.

    Raises:
        ValueError: it was made of something else.
    """
    read: T = _read(kind, value)
    return read


def _read(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _read_union(get_args(kind), value)
    if origin in (list, tuple, dict):
        if not isinstance(value, list):
            raise ValueError(f"expected a list, not {value!r:.80}")
        return _read_many(origin, get_args(kind), value)
    if kind in (str, int, float, bool, NoneType):
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise ValueError(f"expected {kind.__name__}, not {value!r:.80}")
        return value
    if issubclass(kind, Enum):
        return kind(value)
    names = _fields(kind)
    if not isinstance(value, list) or len(value) != len(names):
        raise ValueError(f"expected {len(names)} fields of {kind.__name__}, not {value!r:.80}")
    hints = _hints(kind)
    return kind(**{name: _read(hints[name], item) for name, item in zip(names, value, strict=True)})


def _read_union(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        try:
            return _read(kind, value)
        except ValueError:
            continue
    raise ValueError(f"expected one of {len(kinds)} types, not {value!r:.80}")


def _read_many(origin: Any, kinds: tuple[Any, ...], value: list[Any]) -> Any:
    if origin is dict:
        pairs = [_read(tuple[kinds], pair) for pair in value]  # type: ignore[valid-type]
        return dict(pairs)
    if origin is list or kinds[1:] == (...,):
        return origin(_read(kinds[0], item) for item in value)
    if len(kinds) != len(value):
        raise ValueError(f"expected {len(kinds)} items, not {len(value)}")
    return tuple(_read(kind, item) for kind, item in zip(kinds, value, strict=True))


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a record or a data class.

    Raises:
        TypeError: it is neither.
    """
    names: tuple[str, ...] | None = getattr(kind, "__record_fields__", None)
    return names if names is not None else tuple(field.name for field in dataclasses.fields(kind))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
