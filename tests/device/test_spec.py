"""Specifications: what is read, and what is said of each mistake."""

from pathlib import Path

import pytest

from ptxlint.device.spec import Spec, SpecError, TensorMap, read_spec

GOOD = """
ptx = "kernel.ptx"
kernel = "scale"
block = [128]

[[arguments]]
name = "source"
dtype = "float32"
shape = [1024]

[[arguments]]
name = "target"
dtype = "float32"
shape = [1024]
output = true

[[arguments]]
name = "factor"
dtype = "float32"
value = 2.0

[expect]
target = "source * factor"
"""


def read(tmp_path: Path, text: str) -> Spec:
    path = tmp_path / "kernel.toml"
    path.write_text(text, "utf-8")
    return read_spec(path)


def test_defaults(tmp_path: Path) -> None:
    spec = read(tmp_path, GOOD)
    assert (spec.ptx, spec.kernel) == (tmp_path / "kernel.ptx", "scale")
    assert (spec.grid, spec.block) == ((1, 1, 1), (128, 1, 1))
    assert (spec.shared, spec.runs, spec.time_limit, spec.rtol, spec.atol) == (0, 10, 60.0, 0.0, 0.0)
    source, target, factor = spec.arguments
    assert (source.fill, target.fill, factor.value) == ("random", "poison", 2.0)
    assert spec.outputs == (target,)
    assert spec.expect == {"target": "source * factor"}
    assert (spec.fixed, spec.reference, spec.finding) == (None, None, None)


def test_all_keys(tmp_path: Path) -> None:
    spec = read(
        tmp_path,
        """
        ptx = "kernel.ptx"
        kernel = "scale"
        grid = [2, 3]
        block = [32, 4, 2]
        shared = 4096
        runs = 3
        time-limit = 5
        finding = "PTX202"
        fixed = "fixed.ptx"
        fixed-kernel = "scale_fixed"
        reference = "right.ptx"
        reference-kernel = "right"
        rtol = 1e-5
        atol = 1

        [[arguments]]
        name = "map"
        tensor-map = { buffer = "tiles", box = [64, 8], swizzle = "128B" }

        [[arguments]]
        name = "tiles"
        dtype = "uint16"
        shape = [128, 64]
        low = 0
        high = 9
        parameter = false

        [[arguments]]
        name = "sums"
        dtype = "int32"
        shape = [4]
        fill = "zeros"
        output = true
        """,
    )
    assert (spec.grid, spec.block, spec.shared) == ((2, 3, 1), (32, 4, 2), 4096)
    assert (spec.runs, spec.time_limit, spec.finding) == (3, 5.0, "PTX202")
    assert (spec.fixed, spec.fixed_kernel) == (tmp_path / "fixed.ptx", "scale_fixed")
    assert (spec.reference, spec.reference_kernel) == (tmp_path / "right.ptx", "right")
    assert (spec.rtol, spec.atol) == (1e-5, 1.0)
    over, tiles, sums = spec.arguments
    assert over.tensor_map == TensorMap("tiles", (64, 8), "128B")
    assert (tiles.low, tiles.high, tiles.parameter) == (0, 9, False)
    assert (sums.fill, sums.parameter) == ("zeros", True)


TARGET = '[[arguments]]\nname = "target"\ndtype = "float32"\nshape = [1024]\noutput = true\n'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('ptx = "kernel.ptx"\n', "", "ptx: is missing"),
        ('kernel = "scale"\n', "", "kernel: is missing"),
        ('kernel = "scale"', "kernel = 3", "kernel: a string is wanted, not 3"),
        ("block =", "blok =", "unknown key 'blok'; did you mean 'block'?"),
        ("[128]", "[0]", "block: one to three positive numbers are wanted, not [0]"),
        ("[128]", "[1, 1, 1, 1]", "block: one to three positive numbers are wanted"),
        ("[128]", "true", "block: one to three positive numbers are wanted, not True"),
        ("block = [128]", "grid = []", "grid: one to three positive numbers are wanted, not []"),
        ("block =", "runs = 0\nblock =", "runs: a number from 1 to 1000 is wanted, not 0"),
        ("block =", "runs = true\nblock =", "runs: a number from 1 to 1000 is wanted, not True"),
        ("block =", "shared = -1\nblock =", "shared: a number from 0 to 262144 is wanted, not -1"),
        ("block =", "time-limit = 0\nblock =", "time-limit: a number from 1 to 3600 is wanted, not 0"),
        ("block =", "rtol = -1\nblock =", "rtol: a number not below 0 is wanted, not -1"),
        ("block =", 'atol = "1"\nblock =', "atol: a number not below 0 is wanted, not '1'"),
        ("block =", 'reference = "r"\nblock =', "reference: give expressions in [expect], or a reference kernel"),
        ('"target"', '"source"', "arguments: two arguments of one name"),
        ("output = true", "output = false", "arguments: no argument is an output: nothing could be wrong"),
        ("output = true", "output = 1", "arguments[1]: output is true or false, not 1"),
        ('name = "source"', 'name = "the source"', "arguments[0]: a name is wanted, not 'the source'"),
        ('name = "source"', 'nam = "source"', "arguments[0]: unknown key 'nam'; did you mean 'name'?"),
        ('dtype = "float32"\nshape = [1024]\n\n', "shape = [1024]\n\n", "arguments[0]: dtype is one of float16,"),
        ('"float32"\nvalue', '"bfloat16"\nvalue', "arguments[2]: dtype is one of float16,"),
        ("value = 2.0", 'value = "2"', "arguments[2]: value is a number, not '2'"),
        ("value = 2.0", "", "arguments[2]: a shape, such as [1024], or a value is wanted, not None"),
        ("shape = [1024]\n\n", "shape = [0]\n\n", "arguments[0]: a shape, such as [1024], or a value is wanted, not [0]"),
        ("shape = [1024]\n\n", 'shape = [4]\nfill = "ones"\n\n', "arguments[0]: fill is one of random, poison,"),
        ("shape = [1024]\n\n", "shape = [4]\nlow = 0.5\n\n", "arguments[0]: low is a whole number, not 0.5"),
        ("shape = [1024]\n\n", "shape = [4]\nlow = 2\nhigh = 1\n\n", "arguments[0]: low is at most high, not 2 and 1"),
        ("shape = [1024]\n\n", "shape = [4]\nparameter = 0\n\n", "arguments[0]: parameter is true or false, not 0"),
        ('target = "source * factor"', 'targt = "source"', "expect: one expression for each output is wanted: target"),
        ('"source * factor"', "1", "expect: a table of expressions is wanted"),
        ('"source * factor"', '"scale * 2"', "expect.target: 'scale * 2': there is no argument 'scale'; there are factor, source"),
        ('"source * factor"', '"source +"', "expect.target: 'source +' is no expression"),
        ('"float32"\nvalue = 2.0', '"float32"\ntensor-map = 1', "tensor-map is a table with buffer, box and swizzle"),
        ('dtype = "float32"\nvalue = 2.0', 'tensor-map = { buffer = "x", box = [8] }', "tensor map over unknown buffer 'x'"),
        ('dtype = "float32"\nvalue = 2.0', 'tensor-map = { buffer = "source", box = [] }', "box is one to five numbers"),
        ('dtype = "float32"\nvalue = 2.0', 'tensor-map = { buffer = "source", box = [8, 8] }', "box and shape of source have different"),
        (
            'dtype = "float32"\nvalue = 2.0',
            'tensor-map = { buffer = "source", box = [8], swizzle = "16B" }',
            "swizzle is one of none, 32B, 64B, 128B, not '16B'",
        ),
        ("block = [128]", "block = [128", "kernel.toml"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(SpecError) as error:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert str(error.value).startswith(str(tmp_path / "kernel.toml"))
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["", 'ptx = "a"\nkernel = "b"\narguments = 1\n', "arguments = []\n"])
def test_arguments_are_tables(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecError, match=r"arguments: one table for each kernel parameter is wanted"):
        read(tmp_path, text)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.toml"):
        read_spec(tmp_path / "none.toml")
