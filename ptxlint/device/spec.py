"""Launch specifications: how a kernel is run, with which data, and what it should give. TOML."""

from pathlib import Path
from typing import Any

from ptxlint.config import ConfigError
from ptxlint.config.read import load_toml
from ptxlint.device import expressions
from ptxlint.records import field, record

RUNS = 10
TIME_LIMIT = 60.0
FILLS = ("random", "poison", "zeros", "index")
DTYPES = frozenset(
    {
        "int8",
        "uint8",
        "int16",
        "uint16",
        "float16",
        "int32",
        "uint32",
        "float32",
        "int64",
        "uint64",
        "float64",
    }
)
SWIZZLES = ("none", "32B", "64B", "128B")
MOST_RUNS = 1000


class SpecError(Exception):
    """A specification that cannot be read or makes no sense; the text names file and key."""


@record
class TensorMap:
    """A tensor map over a buffer: *box* in elements, innermost dimension first."""

    buffer: str
    box: tuple[int, ...]
    swizzle: str = "none"


@record
class Argument:
    """A kernel parameter: a buffer (with a *shape*), a scalar (with a *value*), or a tensor map.

    *fill* is what a buffer holds before each run: ``random``, ``poison`` (0xAB in each byte), ``zeros``, ``index``.
    *low* and *high* bound random integers; random floats are in [-1, 1). A buffer that is no *parameter* is only reached
    through a tensor map.
    """

    name: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    fill: str = "random"
    output: bool = False
    value: float | int | None = None
    tensor_map: TensorMap | None = None
    low: int | None = None
    high: int | None = None
    parameter: bool = True


@record
class Spec:
    """A launch: the kernel, its shape, its arguments, and what its outputs should be.

    *expect* maps each output to a NumPy expression; when it is empty, the result of the *reference* kernel counts, or
    else that of the repaired kernel.
    *finding* chooses the finding to witness, by code or fingerprint; *fixed* is a repaired text, if it is not to be
    made by ``ptxlint fix``.
    """

    path: Path
    ptx: Path
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    shared: int = 0
    runs: int = RUNS
    time_limit: float = TIME_LIMIT
    finding: str | None = None
    fixed: Path | None = None
    fixed_kernel: str | None = None
    reference: Path | None = None
    reference_kernel: str | None = None
    expect: dict[str, str] = field(default_factory=dict)
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The buffers that the kernel writes."""
        return tuple(a for a in self.arguments if a.output)


_KEYS = {
    *("ptx", "kernel", "grid", "block", "shared", "runs", "time-limit", "finding", "fixed", "fixed-kernel"),
    *("arguments", "expect", "rtol", "atol", "reference", "reference-kernel"),
}
_ARGUMENT_KEYS = {
    *("name", "dtype", "shape", "fill", "output", "value", "tensor-map", "low", "high", "parameter"),
}


def read_spec(path: Path) -> Spec:
    """Read the specification at *path*; its own paths are relative to its folder.

    Raises:
        SpecError: it cannot be read, a key is unknown or missing, or a value makes no sense.
    """
    try:
        table = load_toml(path)[1]
    except ConfigError as error:
        raise SpecError(str(error)) from None
    reader = _Reader(path, table)
    reader.known(table, _KEYS, "")
    arguments = tuple(reader.argument(entry, n) for n, entry in enumerate(reader.tables("arguments")))
    names = [argument.name for argument in arguments]
    if len(set(names)) < len(names):
        raise reader.error("arguments", "two arguments of one name")
    buffers = {argument.name: argument for argument in arguments if argument.shape}
    for argument in arguments:
        if argument.tensor_map is None:
            continue
        over = buffers.get(argument.tensor_map.buffer)
        if over is None:
            raise reader.error("arguments", f"tensor map over unknown buffer {argument.tensor_map.buffer!r}")
        if len(over.shape) != len(argument.tensor_map.box):
            raise reader.error(
                "arguments", f"box and shape of {over.name} have different numbers of dimensions"
            )
    expect = table.get("expect", {})
    if not isinstance(expect, dict) or not all(isinstance(value, str) for value in expect.values()):
        raise reader.error("expect", "a table of expressions is wanted")
    outputs = {argument.name for argument in arguments if argument.output}
    if not outputs:
        raise reader.error("arguments", "no argument is an output: nothing could be wrong")
    if expect and set(expect) != outputs:
        raise reader.error(
            "expect", f"one expression for each output is wanted: {', '.join(sorted(outputs))}"
        )
    usable = frozenset(a.name for a in arguments if not a.output and a.tensor_map is None)
    for name, text in expect.items():
        try:
            expressions.check(text, usable)
        except expressions.ExpressionError as error:
            raise reader.error(f"expect.{name}", str(error)) from None
    runs = reader.number("runs", RUNS, 1, MOST_RUNS)
    fixed, reference = reader.text("fixed"), reader.text("reference")
    if expect and reference is not None:
        raise reader.error("reference", "give expressions in [expect], or a reference kernel")
    return Spec(
        path,
        path.parent / reader.need("ptx"),
        reader.need("kernel"),
        reader.shape("grid"),
        reader.shape("block"),
        arguments,
        reader.number("shared", 0, 0, 1 << 18),
        runs,
        float(reader.number("time-limit", int(TIME_LIMIT), 1, 3600)),
        reader.text("finding"),
        None if fixed is None else path.parent / fixed,
        reader.text("fixed-kernel"),
        None if reference is None else path.parent / reference,
        reader.text("reference-kernel"),
        expect,
        reader.real("rtol"),
        reader.real("atol"),
    )


def _is_count(value: Any, most: int = 1 << 40) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most


class _Reader:
    """Reads values of one table, and names file and key when one is wrong."""

    def __init__(self, path: Path, table: dict[str, Any]) -> None:
        self.path = path
        self.table = table

    def error(self, key: str, message: str) -> SpecError:
        return SpecError(f"{self.path}: {key}: {message}" if key else f"{self.path}: {message}")

    def known(self, table: dict[str, Any], keys: set[str], where: str) -> None:
        from difflib import get_close_matches

        for key in table:
            if key not in keys:
                near = get_close_matches(key, keys, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(sorted(keys))}"
                raise self.error(where, f"unknown key {key!r}{hint}")

    def need(self, key: str) -> str:
        value = self.text(key)
        if value is None:
            raise self.error(key, "is missing")
        return value

    def text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and not isinstance(value, str):
            raise self.error(key, f"a string is wanted, not {value!r}")
        return value

    def number(self, key: str, default: int, low: int, high: int) -> int:
        value = self.table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, f"a number from {low} to {high} is wanted, not {value!r}")
        return value

    def real(self, key: str) -> float:
        value = self.table.get(key, 0.0)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or value < 0:
            raise self.error(key, f"a number not below 0 is wanted, not {value!r}")
        return float(value)

    def shape(self, key: str) -> tuple[int, int, int]:
        value = self.table.get(key, [1])
        parts = value if isinstance(value, list) else [value]
        if not 1 <= len(parts) <= 3 or not all(_is_count(n, (1 << 31) - 1) for n in parts):
            raise self.error(key, f"one to three positive numbers are wanted, not {value!r}")
        x, y, z = [*parts, 1, 1][:3]
        return x, y, z

    def tables(self, key: str) -> list[dict[str, Any]]:
        value = self.table.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            raise self.error(key, "one table for each kernel parameter is wanted: [[arguments]]")
        return value

    def argument(self, entry: dict[str, Any], number: int) -> Argument:
        where = f"arguments[{number}]"
        self.known(entry, _ARGUMENT_KEYS, where)
        name = entry.get("name")
        if not isinstance(name, str) or not name.isidentifier():
            raise self.error(where, f"a name is wanted, not {name!r}")
        given = entry.get("tensor-map")
        if given is not None:
            return Argument(name, tensor_map=self.tensor_map(given, where))
        dtype = entry.get("dtype")
        if dtype not in DTYPES:
            raise self.error(where, f"dtype is one of {', '.join(sorted(DTYPES))}, not {dtype!r}")
        if "value" in entry:
            value = entry["value"]
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise self.error(where, f"value is a number, not {value!r}")
            return Argument(name, dtype, value=value)
        shape = entry.get("shape")
        if not isinstance(shape, list) or not shape or not all(map(_is_count, shape)):
            raise self.error(where, f"a shape, such as [1024], or a value is wanted, not {shape!r}")
        output = entry.get("output", False)
        fill = entry.get("fill", "poison" if output else "random")
        if fill not in FILLS:
            raise self.error(where, f"fill is one of {', '.join(FILLS)}, not {fill!r}")
        for key in ("output", "parameter"):
            if not isinstance(entry.get(key, False), bool):
                raise self.error(where, f"{key} is true or false, not {entry[key]!r}")
        low, high = self.bound(entry, "low", where), self.bound(entry, "high", where)
        if low is not None and high is not None and low > high:
            raise self.error(where, f"low is at most high, not {low} and {high}")
        return Argument(
            name, dtype, tuple(shape), fill, output, None, None, low, high, entry.get("parameter", True)
        )

    def bound(self, entry: dict[str, Any], key: str, where: str) -> int | None:
        value = entry.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self.error(where, f"{key} is a whole number, not {value!r}")
        return value

    def tensor_map(self, given: Any, where: str) -> TensorMap:
        if not isinstance(given, dict):
            raise self.error(where, "tensor-map is a table with buffer, box and swizzle")
        self.known(given, {"buffer", "box", "swizzle"}, where)
        box, swizzle = given.get("box"), given.get("swizzle", "none")
        if not isinstance(box, list) or not 1 <= len(box) <= 5 or not all(map(_is_count, box)):
            raise self.error(where, f"box is one to five numbers, innermost first, not {box!r}")
        if swizzle not in SWIZZLES:
            raise self.error(where, f"swizzle is one of {', '.join(SWIZZLES)}, not {swizzle!r}")
        return TensorMap(str(given.get("buffer", "")), tuple(box), swizzle)
