"""The process that launches, with a stand-in for CuPy whose kernels are Python: arguments, data, counts, faults."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ptxlint.device import worker
from ptxlint.device.spec import Argument, read_spec

SPEC = """
ptx = "kernel.ptx"
kernel = "scale"
grid = [2]
block = [128]
shared = 65536
rtol = 1e-6

[[arguments]]
name = "source"
dtype = "float32"
shape = [64]

[[arguments]]
name = "hidden"
dtype = "int16"
shape = [4, 2]
fill = "index"
parameter = false

[[arguments]]
name = "target"
dtype = "float32"
shape = [64]
output = true

[[arguments]]
name = "factor"
dtype = "float32"
value = 2
"""


class Fault(Exception):
    """Stands for CUDARuntimeError."""


class Function:
    max_dynamic_shared_size_bytes = 0

    def __init__(self, path: str, name: str, launches: list[Any]) -> None:
        self.text, self.name, self.launches = Path(path).read_text("utf-8"), name, launches

    def __call__(self, grid: Any, block: Any, arguments: Any, shared_mem: int) -> None:
        source, target, factor = arguments
        self.launches.append((self.name, grid, block, shared_mem, source.copy(), target.copy(), factor))
        assert self.max_dynamic_shared_size_bytes == shared_mem
        target[:] = source * factor
        if "wrong" in self.text:
            target[3] += 1
        if "fault" in self.text:
            raise Fault("cudaErrorIllegalAddress: an illegal memory access was encountered")


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Put the stand-in where CuPy would be; return what it launches."""
    made: list[Any] = []
    cupy: Any = ModuleType("cupy")

    class RawModule:
        def __init__(self, path: str) -> None:
            self.path = path

        def get_function(self, name: str) -> Function:
            return Function(self.path, name, made)

    class Runtime:
        CUDARuntimeError = Fault

        def memGetInfo(self) -> tuple[int, int]:
            return (cupy.free, 1 << 30)

        def getDeviceProperties(self, device: int) -> dict[str, Any]:
            return {"name": b"a card"}

        def driverGetVersion(self) -> int:
            return 13000

        def deviceSynchronize(self) -> None:
            pass

    class Device:
        id = 0

    cupy.free, cupy.__version__ = 1 << 20, "13.6.0"
    cupy.RawModule, cupy.asarray, cupy.asnumpy = RawModule, np.array, np.asarray
    cupy.cuda = ModuleType("cupy.cuda")
    cupy.cuda.runtime, cupy.cuda.Device = Runtime(), Device
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return made


def job(folder: Path, texts: dict[str, str], runs: int = 2, expect: str = "") -> str:
    (folder / "kernel.toml").write_text(SPEC + expect, "utf-8")
    variants = []
    for number, (name, text) in enumerate({**texts, "": "reference"}.items()):
        path = folder / f"{number}.ptx"
        path.write_text(text, "utf-8")
        variants.append({"name": name, "path": str(path), "kernel": f"kernel{number}"})
    described = {"spec": str(folder / "kernel.toml"), "variants": variants[:-1], "runs": runs, "seed": 7}
    (folder / "job.json").write_text(json.dumps({**described, "reference": variants[-1]}), "utf-8")
    return str(folder / "job.json")


def told(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


EXPECT = '[expect]\ntarget = "source * factor"\n'


def test_runs_are_interleaved_on_new_data(
    tmp_path: Path, launches: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert worker.main(job(tmp_path, {"good": "", "bad": "wrong"}, expect=EXPECT)) == 0
    about, *lines = told(capsys)
    assert about == {"about": {"card": "a card", "driver": 13000, "cupy": "13.6.0"}}
    assert lines[0::2] == [{"start": name, "run": run} for run in (0, 1) for name in ("good", "bad")]
    assert [(line["variant"], line["wrong"], line["words"]) for line in lines[1::2]] == [
        ("good", 0, 64),
        ("bad", 1, 64),
    ] * 2
    # Both variants see the same data in one run, and other data in the next; what is written was poison.
    (a, grid, block, shared, source, target, factor), second, third, _ = launches
    assert (a, grid, block, shared, factor) == ("kernel0", (2, 1, 1), (128, 1, 1), 65536, 2.0)
    assert factor.dtype == np.float32
    assert np.array_equal(source, second[4])
    assert not np.array_equal(source, third[4])
    assert np.abs(source).max() < 1
    assert set(target.view(np.uint8).tolist()) == set(second[5].view(np.uint8).tolist()) == {0xAB}


def test_without_expressions_the_reference_is_run(
    tmp_path: Path, launches: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert worker.main(job(tmp_path, {"bad": "wrong"}, runs=1)) == 0
    assert [name for name, *_ in launches] == ["kernel1", "kernel0"]
    assert told(capsys)[-1]["wrong"] == 1


def test_a_fault_is_told(tmp_path: Path, launches: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert worker.main(job(tmp_path, {"bad": "fault", "good": ""}, expect=EXPECT)) == 1
    assert told(capsys)[1:] == [
        {"start": "bad", "run": 0},
        {"fault": "cudaErrorIllegalAddress: an illegal memory access was encountered"},
    ]


def test_buffers_are_bounded_by_free_memory(tmp_path: Path, launches: list[Any]) -> None:
    sys.modules["cupy"].free = 1024  # type: ignore[attr-defined]
    with pytest.raises(MemoryError, match="the buffers need 528 bytes, and 1024 are free"):
        worker.main(job(tmp_path, {"good": ""}))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float16", "float64"])
def test_fills(dtype: str) -> None:
    generator = np.random.default_rng(1)

    def of(**more: Any) -> Any:
        return worker.filled(Argument("x", dtype, (4, 8), **more), generator)

    assert {str(of(fill=fill).dtype) for fill in ("random", "poison", "zeros", "index")} == {dtype}
    assert of(fill="random").shape == (4, 8)
    assert not np.array_equal(of(fill="random"), of(fill="random"))
    assert set(of(fill="poison").view(np.uint8).ravel().tolist()) == {0xAB}
    assert of(fill="index").ravel().tolist() == list(range(32))
    assert not of(fill="zeros").any()
    if not dtype.startswith("f"):
        assert set(of(low=3, high=4).ravel().tolist()) == {3, 4}


def test_wrong_words(tmp_path: Path) -> None:
    (tmp_path / "kernel.toml").write_text(SPEC + EXPECT, "utf-8")
    spec = read_spec(tmp_path / "kernel.toml")
    got = {"target": np.ones(64, np.float32)}
    assert worker.wrong_words(spec, got, {"target": 1.0}) == (0, 64)
    assert worker.wrong_words(spec, got, {"target": np.full(64, 1 + 1e-7)}) == (0, 64)
    assert worker.wrong_words(spec, got, {"target": np.full(64, 1.01)}) == (64, 64)
    nan = {"target": np.full(64, np.nan, np.float32)}
    assert worker.wrong_words(spec, nan, {"target": np.nan}) == (0, 64)
    words = {"target": np.full(64, -1, np.int32)}
    assert worker.wrong_words(spec, words, {"target": np.full(64, (1 << 32) - 1)}) == (0, 64)


def test_tensor_maps_need_their_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda", None)
    text = SPEC.replace('dtype = "float32"\nvalue = 2', 'tensor-map = { buffer = "hidden", box = [2, 4] }')
    (tmp_path / "kernel.toml").write_text(text, "utf-8")
    spec = read_spec(tmp_path / "kernel.toml")
    with pytest.raises(RuntimeError, match="cuda-bindings"):
        worker.tensor_map(spec.arguments[-1], spec, {})
