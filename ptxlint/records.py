"""Records: classes of named fields, with slots, made faster than the standard library makes them.

``dataclasses`` compiles five functions a class, and a frozen instance is filled through
``object.__setattr__``. ptxlint has over a hundred such classes, and a check of a small file would spend a third
of its time on making them. Records are declared like data classes and type-checked like them; that a ``record``
is not assigned to is checked by types alone.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")
C = TypeVar("C", bound=type)

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> "Callable[[C], C]":
        """Stand in for ``typing.dataclass_transform``, which Python 3.10 has not; only type checkers read it."""
        return lambda decorator: decorator


_MISSING: Any = object()


class _Field:
    """What ``field`` says of a field."""

    __slots__ = ("compare", "default", "factory")

    def __init__(self, default: object, factory: Callable[[], object] | None, compare: bool) -> None:
        self.default = default
        self.factory = factory
        self.compare = compare


def field(
    *, default: Any = _MISSING, default_factory: Callable[[], Any] | None = None, compare: bool = True
) -> Any:
    """Declare a field: its default, or what makes it for each instance; whether it counts for equality."""
    return _Field(default, default_factory, compare)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a record of *cls*: equal by value, hashable, not to be assigned to."""
    return _make(cls, hashable=True)


@dataclass_transform(field_specifiers=(field,))
def mutable_record(cls: type[T]) -> type[T]:
    """Make a record of *cls* whose fields may be assigned to: equal by value, not hashable."""
    return _make(cls, hashable=False)


def fields(of: object) -> tuple[str, ...]:
    """Return the names of the fields of a record, or of its class, in order."""
    return of.__record_fields__  # type: ignore[attr-defined,no-any-return]


def replace(original: T, **changes: object) -> T:
    """Return a record, or a data class, like *original* with other values in some fields."""
    names = getattr(original, "__record_fields__", None)
    if names is None:
        import dataclasses

        return dataclasses.replace(original, **changes)  # type: ignore[type-var]
    values = {name: getattr(original, name) for name in names}
    return type(original)(**{**values, **changes})


def _make(cls: type[T], hashable: bool) -> type[T]:
    namespace = dict(vars(cls))
    own = list(namespace.get("__annotations__", ()))
    inherited: dict[str, object] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited.update(getattr(base, "__record_defaults__", {}))
    defaults: dict[str, object] = {name: namespace.pop(name, _MISSING) for name in own}
    names = {**inherited, **defaults}
    namespace.pop("__dict__", None)
    namespace.pop("__weakref__", None)
    namespace["__slots__"] = tuple(name for name in own if name not in inherited)
    namespace["__record_fields__"] = tuple(names)
    namespace["__record_defaults__"] = names
    namespace["__qualname__"] = cls.__qualname__
    methods = _methods(names, cls.__qualname__, hashable)
    for name, method in methods.items():
        if name not in namespace or name == "__hash__":
            namespace[name] = method
    made: Any = type(cls)
    return made(cls.__name__, cls.__bases__, namespace)  # type: ignore[no-any-return]


def _methods(names: dict[str, object], title: str, hashable: bool) -> dict[str, object]:
    """Compile the methods of a record with the fields *names* (and their defaults)."""
    scope: dict[str, Any] = {"missing": _MISSING}
    parameters, body, compared = [], [], []
    for name, declared in names.items():
        said = declared if isinstance(declared, _Field) else _Field(declared, None, True)
        if said.compare:
            compared.append(name)
        if said.factory is not None:
            scope[f"make_{name}"] = said.factory
            parameters.append(f"{name}=missing")
            body.append(f" self.{name}=make_{name}() if {name} is missing else {name}")
            continue
        body.append(f" self.{name}={name}")
        if said.default is _MISSING:
            parameters.append(name)
        else:
            scope[f"default_{name}"] = said.default
            parameters.append(f"{name}=default_{name}")
    mine = "".join(f"self.{name}," for name in compared)
    theirs = "".join(f"other.{name}," for name in compared)
    shown = ", ".join(f"{name}={{self.{name}!r}}" for name in names)
    lines = [
        f"def __init__(self,{','.join(parameters)}):",
        *(body or [" pass"]),
        "def __eq__(self,other):",
        " if other.__class__ is not self.__class__: return NotImplemented",
        f" return ({mine})==({theirs})",
        "def __repr__(self):",
        f" return f'{title}({shown})'",
    ]
    if hashable:
        lines += ["def __hash__(self):", f" return hash(({mine}))"]
    exec("\n".join(lines), scope)
    methods = {name: scope[name] for name in ("__init__", "__eq__", "__repr__")}
    return {**methods, "__hash__": scope.get("__hash__")}
