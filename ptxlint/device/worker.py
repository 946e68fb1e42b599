"""The process that launches: one job, read from a file; one JSON line for each run, or for what went wrong.

Run as ``python -m ptxlint.device.worker JOB``. It is a process of its own because a launch that hangs or
faults takes its process along.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxlint.device.expressions import evaluate
from ptxlint.device.spec import Argument, Spec, read_spec

POISON = 0xAB
KEPT_FREE = 0.5  # the part of the free memory that buffers may take together


@dataclass
class Variant:
    """One text of the kernel: its name in the report, the file, the kernel in it."""

    name: str
    path: Path
    kernel: str


class Launcher:
    """Runs the variants of one specification on the current device."""

    def __init__(self, spec: Spec, variants: list[Variant]) -> None:
        import cupy

        self.cupy = cupy
        self.spec = spec
        self.functions: dict[str, Any] = {}
        needed = sum(_bytes(a) for a in spec.arguments if a.shape)
        free = cupy.cuda.runtime.memGetInfo()[0]
        if needed > KEPT_FREE * free:
            raise MemoryError(f"the buffers need {needed} bytes, and {free} are free")
        for variant in variants:
            module = cupy.RawModule(path=str(variant.path))
            function = module.get_function(variant.kernel)
            if spec.shared > 48 << 10:
                function.max_dynamic_shared_size_bytes = spec.shared
            self.functions[variant.name] = function

    def about(self) -> dict[str, Any]:
        """Return card and driver."""
        runtime = self.cupy.cuda.runtime
        device = runtime.getDeviceProperties(self.cupy.cuda.Device().id)
        return {
            "card": device["name"].decode(),
            "driver": runtime.driverGetVersion(),
            "cupy": self.cupy.__version__,
        }

    def run(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Launch variant *name* on *inputs* and return the outputs as NumPy arrays."""
        import numpy as np

        cupy = self.cupy
        buffers: dict[str, Any] = {}
        arguments: list[Any] = []
        for argument in self.spec.arguments:
            if argument.shape:
                buffers[argument.name] = cupy.asarray(inputs[argument.name])
        for argument in self.spec.arguments:
            if argument.tensor_map is not None:
                arguments.append(tensor_map(argument, self.spec, buffers))
            elif argument.shape:
                if argument.parameter:
                    arguments.append(buffers[argument.name])
            else:
                arguments.append(np.dtype(argument.dtype).type(argument.value))
        self.functions[name](self.spec.grid, self.spec.block, tuple(arguments), shared_mem=self.spec.shared)
        cupy.cuda.runtime.deviceSynchronize()
        return {a.name: cupy.asnumpy(buffers[a.name]) for a in self.spec.outputs}


def _bytes(argument: Argument) -> int:
    import numpy as np

    count = 1
    for size in argument.shape:
        count *= size
    return count * int(np.dtype(argument.dtype).itemsize)


def filled(argument: Argument, generator: Any) -> Any:
    """Return what the buffer of *argument* holds before a run."""
    import numpy as np

    dtype = np.dtype(argument.dtype)
    if argument.fill == "poison":
        count = _bytes(argument)
        return np.full(count, POISON, np.uint8).view(dtype).reshape(argument.shape)
    if argument.fill == "zeros":
        return np.zeros(argument.shape, dtype)
    if argument.fill == "index":
        return np.arange(int(np.prod(argument.shape))).astype(dtype).reshape(argument.shape)
    if dtype.kind == "f":
        return (2 * generator.random(argument.shape) - 1).astype(dtype)
    info = np.iinfo(dtype)
    low = info.min if argument.low is None else argument.low
    high = info.max if argument.high is None else argument.high
    return generator.integers(low, high, argument.shape, dtype=dtype, endpoint=True)


def tensor_map(argument: Argument, spec: Spec, buffers: dict[str, Any]) -> Any:
    """Return the 128 bytes of a tensor map, through cuda-bindings."""
    import ctypes

    import numpy as np

    try:
        from cuda.bindings import driver
    except ImportError:
        raise RuntimeError("tensor maps need the package cuda-bindings") from None
    given = argument.tensor_map
    assert given is not None
    of = next(a for a in spec.arguments if a.name == given.buffer)
    names = {
        "uint8": "UINT8",
        "int8": "UINT8",
        "uint16": "UINT16",
        "int16": "UINT16",
        "uint32": "UINT32",
        "int32": "INT32",
        "uint64": "UINT64",
        "int64": "INT64",
        "float16": "FLOAT16",
        "float32": "FLOAT32",
        "float64": "FLOAT64",
    }
    kind = getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{names[of.dtype]}")
    swizzle = {"none": "NONE", "32B": "32B", "64B": "64B", "128B": "128B"}[given.swizzle]
    sizes = list(reversed(of.shape))
    width = np.dtype(of.dtype).itemsize
    strides = []
    for size in sizes[:-1]:
        width *= size
        strides.append(width)
    status, made = driver.cuTensorMapEncodeTiled(
        kind,
        len(sizes),
        buffers[of.name].data.ptr,
        [driver.cuuint64_t(n) for n in sizes],
        [driver.cuuint64_t(n) for n in strides],
        [driver.cuuint32_t(n) for n in given.box],
        [driver.cuuint32_t(1) for _ in sizes],
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzle}"),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if int(status):
        raise RuntimeError(
            f"the tensor map over {of.name} with box {list(given.box)} is not allowed: {status}"
        )
    data = bytes((ctypes.c_ubyte * 128).from_address(int(made.getPtr())))
    return np.frombuffer(data, dtype=np.dtype("V128")).reshape(())


def wrong_words(spec: Spec, outputs: dict[str, Any], expected: dict[str, Any]) -> tuple[int, int]:
    """Return how many elements of the outputs are not as expected, and how many there are."""
    import numpy as np

    wrong = total = 0
    for name, got in outputs.items():
        want = np.asarray(expected[name])
        if want.shape != got.shape:
            want = np.broadcast_to(want, got.shape)
        if got.dtype.kind == "f":
            same = np.isclose(got, want.astype(got.dtype), rtol=spec.rtol, atol=spec.atol, equal_nan=True)
        else:
            same = got == want.astype(got.dtype)
        wrong += int(got.size - np.count_nonzero(same))
        total += int(got.size)
    return wrong, total


def main(path: str) -> int:
    """Do the job described in the file *path*."""
    import numpy as np

    job = json.loads(Path(path).read_text("utf-8"))
    spec = read_spec(Path(job["spec"]))
    variants = [Variant(v["name"], Path(v["path"]), v["kernel"]) for v in job["variants"]]
    reference = Variant("reference", Path(job["reference"]["path"]), job["reference"]["kernel"])
    launcher = Launcher(spec, [*variants, reference])
    tell({"about": launcher.about()})
    generator = np.random.default_rng(job["seed"])
    for run in range(job["runs"]):
        inputs = {a.name: filled(a, generator) for a in spec.arguments if a.shape}
        given = {a.name: inputs[a.name] for a in spec.arguments if a.shape and not a.output}
        given |= {
            a.name: a.value for a in spec.arguments if a.tensor_map is None and not a.shape and not a.output
        }
        expected = {name: evaluate(text, given) for name, text in spec.expect.items()}
        if not expected:
            expected = launcher.run(reference.name, inputs)
        for variant in variants:
            tell({"start": variant.name, "run": run})
            try:
                outputs = launcher.run(variant.name, inputs)
            except launcher.cupy.cuda.runtime.CUDARuntimeError as error:
                # The context is lost with it: the parent starts another process for the others.
                tell({"fault": str(error)})
                return 1
            wrong, total = wrong_words(spec, outputs, expected)
            tell({"variant": variant.name, "run": run, "wrong": wrong, "words": total})
    return 0


def tell(line: dict[str, Any]) -> None:
    """Print one line for the parent, at once."""
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except Exception as error:
        tell({"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)
