"""PTX out of what Python programs hold kernels in: text, paths, Triton, CuTe DSL and CuPy objects.

Nothing of these projects is imported: the objects that they made are asked for what they document.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ptxlint.cuda_source import NoPtxError, compile_cupy
from ptxlint.inputs import InputError, decode, read_input

Triple = tuple[int, int, int]

__all__ = ["ACCEPTED", "KernelText", "NoPtxError", "kernel_text", "triton_shapes"]

WARP_SIZE = 32
ACCEPTED = (
    "PTX text (str or bytes), a path of a PTX file (str or os.PathLike), a compiled Triton kernel (.asm['ptx']), "
    "a compiled CuTe DSL function (.__ptx__), or a CuPy RawModule or RawKernel"
)


@dataclass(frozen=True, slots=True)
class KernelText:
    """PTX and what its holder knows of it: a name for reports, CTA and cluster shapes as hints."""

    text: str
    path: str
    block: Triple | None = None
    cluster: Triple | None = None


def kernel_text(kernel: object, arch: str = "sm_90a") -> KernelText:
    """Return the PTX of *kernel*.

    Args:
        kernel: one of what :data:`ACCEPTED` names. A ``str`` is PTX text when it has a line break or a
            ``.version``, else a path.
        arch: the target to compile CUDA source for (CuPy) when the object's own options name none.

    Raises:
        TypeError: the object is none of these.
        NoPtxError: it holds no PTX (compiled for another target, PTX not kept, not compiled).
    """
    if isinstance(kernel, str) and _is_text(kernel):
        return KernelText(_decoded(kernel.encode("utf-8", "surrogatepass"), "<text>"), "<text>")
    if isinstance(kernel, (bytes, bytearray)):
        return KernelText(_decoded(bytes(kernel), "<bytes>"), "<bytes>")
    if isinstance(kernel, (str, os.PathLike)):
        return _from_path(os.fsdecode(kernel))
    if isinstance(getattr(kernel, "asm", None), Mapping):
        return _from_triton(kernel)
    if hasattr(kernel, "__ptx__"):
        return _from_cute(kernel)
    if type(kernel).__module__.partition(".")[0] == "cupy" and hasattr(kernel, "code"):
        name = getattr(kernel, "name", None) or type(kernel).__name__
        if kernel.code is None:
            return _from_path(str(getattr(kernel, "file_path", "")))
        return KernelText(_decoded(compile_cupy(kernel, arch), str(name)), f"<cupy:{name}>")
    raise TypeError(f"cannot find PTX in {_what(kernel)}; expected {ACCEPTED}{_hint(kernel)}")


def _is_text(text: str) -> bool:
    return "\n" in text or ".version" in text


def _decoded(data: bytes, name: str) -> str:
    try:
        return decode(data)
    except InputError as error:
        raise NoPtxError(f"{name}: {error}") from None


def _from_path(path: str) -> KernelText:
    item = read_input(path)
    if item.error is not None:
        raise NoPtxError(f"{path}: {item.error}")
    return KernelText(item.text, item.path)


def _from_triton(kernel: Any) -> KernelText:
    """Read a ``triton.compiler.CompiledKernel``."""
    metadata = getattr(kernel, "metadata", None)
    name = str(getattr(metadata, "name", None) or getattr(kernel, "name", "kernel"))
    text = kernel.asm.get("ptx")
    if text is None:
        made = ", ".join(map(str, kernel.asm)) or "nothing"
        raise NoPtxError(
            f"the Triton kernel {name} was compiled to {made}, not to PTX: compile it for a CUDA target"
        )
    return KernelText(
        _decoded(str(text).encode(), name), f"<triton:{name}>", *triton_shapes(_fields(metadata))
    )


def triton_shapes(metadata: Mapping[str, Any]) -> tuple[Triple | None, Triple | None]:
    """Return the CTA and the cluster shape that the metadata of a Triton kernel implies."""
    warps = metadata.get("num_warps")
    block = (warps * WARP_SIZE, 1, 1) if isinstance(warps, int) and warps > 0 else None
    ctas = metadata.get("num_ctas")
    cluster = (ctas, 1, 1) if isinstance(ctas, int) and ctas > 1 else None
    return block, cluster


def _fields(metadata: object) -> Mapping[str, Any]:
    """Return the fields of a named tuple, a mapping or another object by their names."""
    if isinstance(metadata, Mapping):
        return metadata
    return {name: getattr(metadata, name, None) for name in ("num_warps", "num_ctas")}


def _from_cute(kernel: Any) -> KernelText:
    """Read a compiled function of the CuTe DSL, which keeps its PTX only when it is asked to."""
    name = str(getattr(kernel, "function_name", None) or getattr(kernel, "__name__", "kernel"))
    text = kernel.__ptx__
    if text is None:
        raise NoPtxError(
            f"the CuTe DSL function {name} was compiled without its PTX: "
            'compile it with cute.compile(..., options="--keep-ptx"), or set CUTE_DSL_KEEP=ptx'
        )
    return KernelText(_decoded(str(text).encode(), name), f"<cute:{name}>")


def _what(kernel: object) -> str:
    kind = type(kernel)
    return f"an object of type {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")


def _hint(kernel: object) -> str:
    """Return what to do with an object that is only a step away from an accepted one."""
    if hasattr(kernel, "warmup") and hasattr(kernel, "fn"):
        return "; a @triton.jit function is compiled by triton.compile(...) or by its .warmup(...)"
    if type(kernel).__module__.partition(".")[0] == "cutlass" or hasattr(kernel, "__wrapped__"):
        return "; a @cute.jit function is compiled by cute.compile(...)"
    return ""
