"""PTX out of what Python programs hold kernels in: text, paths, Triton, CuTe DSL and CuPy objects.

Nothing of these projects is imported: the objects that they made are asked for what they document.
"""

import os
from collections.abc import Mapping
from inspect import isfunction
from typing import Any

from ptxlint.inputs import Input, InputError, decode, read_inputs
from ptxlint.inputs.item import NoPtxError, Shape

WARP_SIZE = 32
ACCEPTED = (
    "PTX text (str or bytes), the path of a file or folder (str or os.PathLike), a compiled Triton kernel "
    "(with .asm['ptx']), a compiled CuTe DSL function (with .__ptx__), or a CuPy RawModule or RawKernel"
)


def kernel_inputs(kernel: object, arch: str = "sm_90a") -> list[Input]:
    """Return the PTX texts of *kernel*; all but folders and compiled files give one.

    Args:
        kernel: one of what :data:`ACCEPTED` names. A ``str`` is PTX text when it has a line break or a
            ``.version``, else a path.
        arch: the target to compile CUDA source of a CuPy object for, when its own options name none.

    Raises:
        TypeError: the object is none of these.
        InputError: it holds no PTX (not there, compiled for another target, PTX not kept, not compiled).
    """
    if isinstance(kernel, str) and ("\n" in kernel or ".version" in kernel):
        return [_item("<text>", kernel)]
    if isinstance(kernel, (bytes, bytearray)):
        return [Input("<bytes>", decode(bytes(kernel)))]
    if isinstance(kernel, (str, os.PathLike)):
        return _of_path(os.fsdecode(kernel))
    if isinstance(getattr(kernel, "asm", None), Mapping):
        return [_of_triton(kernel)]
    if hasattr(kernel, "__ptx__"):
        return [_of_cute(kernel)]
    if _project(kernel) == "cupy" and hasattr(kernel, "code"):
        return _of_cupy(kernel, arch)
    kind = f"{type(kernel).__module__}.{type(kernel).__qualname__}".removeprefix("builtins.")
    raise TypeError(f"no PTX in an object of type {kind}; expected {ACCEPTED}{_hint(kernel)}")


def _item(name: str, text: str, block: Shape | None = None, cluster: Shape | None = None) -> Input:
    try:
        return Input(name, decode(text.encode("utf-8", "surrogatepass")), block=block, cluster=cluster)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _of_path(path: str) -> list[Input]:
    items = list(read_inputs([path if path != "-" else os.path.abspath(path)]))
    for item in items:
        if item.error is not None:
            raise InputError(f"{item.path}: {item.error}")
    return items


def _of_triton(kernel: Any) -> Input:
    """Read a ``triton.compiler.CompiledKernel``."""
    metadata = getattr(kernel, "metadata", None)
    name = str(getattr(metadata, "name", None) or getattr(kernel, "name", "kernel"))
    text = kernel.asm.get("ptx")
    if text is None:
        made = ", ".join(map(str, kernel.asm)) or "nothing"
        raise NoPtxError(f"the Triton kernel {name} has no PTX ({made}): compile it for a CUDA target")
    fields = {field: getattr(metadata, field, None) for field in ("num_warps", "num_ctas")}
    return triton_input(name, str(text), fields)


def triton_input(name: str, text: str, metadata: Mapping[str, Any]) -> Input:
    """Return the PTX of a Triton kernel with the CTA and cluster shapes that its metadata implies."""
    warps, ctas = metadata.get("num_warps"), metadata.get("num_ctas")
    block = (warps * WARP_SIZE, 1, 1) if isinstance(warps, int) and warps > 0 else None
    cluster = (ctas, 1, 1) if isinstance(ctas, int) and ctas > 1 else None
    return _item(f"<triton:{name}>", text, block, cluster)


def _of_cute(kernel: Any) -> Input:
    """Read a compiled function of the CuTe DSL, which keeps its PTX only when it is asked to."""
    name = str(getattr(kernel, "function_name", None) or getattr(kernel, "__name__", "kernel"))
    if kernel.__ptx__ is None:
        raise NoPtxError(
            f"the CuTe DSL function {name} was compiled without keeping its PTX: "
            'use cute.compile(..., options="--keep-ptx"), or set CUTE_DSL_KEEP=ptx'
        )
    return _item(f"<cute:{name}>", str(kernel.__ptx__))


def _of_cupy(kernel: Any, arch: str) -> list[Input]:
    """Read a CuPy ``RawKernel`` or ``RawModule``: its source, or the file that it was made of."""
    from ptxlint.cuda_source import compile_cupy

    if kernel.code is None:
        return _of_path(str(kernel.file_path))
    name = getattr(kernel, "name", None) or type(kernel).__name__
    return [_item(f"<cupy:{name}>", compile_cupy(kernel, arch))]


def _project(kernel: object) -> str:
    return type(kernel).__module__.partition(".")[0]


def _hint(kernel: object) -> str:
    """Return what to do with an object that is only a step away from an accepted one."""
    if _project(kernel) == "triton" and hasattr(kernel, "warmup"):
        return "; a @triton.jit function must be compiled first, by triton.compile(...) or its .warmup(...)"
    if _project(kernel) == "cutlass":
        return "; a @cute.jit function must be compiled first, by cute.compile(...)"
    if isfunction(kernel):
        return "; a function must be compiled first, as a @cute.jit one by cute.compile(...)"
    return ""
