"""PTX from the CUDA source in a CuPy object, by NVRTC through CuPy or by nvcc; no GPU is needed."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NVCC_TIMEOUT = 300  # seconds
_ARCH = re.compile(r"-arch|--gpu-architecture|-gencode|--generate-code")


class NoPtxError(ValueError):
    """An object of an accepted kind from which no PTX can be had; the text says why and what to do."""


def compile_cupy(kernel: Any, arch: str) -> bytes:
    """Return the PTX of the source in a CuPy ``RawKernel`` or ``RawModule``, for the target *arch*.

    The object's own options are used; where they name a target, that one.

    Raises:
        NoPtxError: the source does not compile (the compiler's log is in the text), or no compiler is found.
    """
    source = str(kernel.code)
    options = [str(option) for option in kernel.options or ()]
    if not any(_ARCH.match(option) for option in options):
        options.append(f"-arch={arch}")
    names = [str(name) for name in getattr(kernel, "name_expressions", None) or ()]
    if getattr(kernel, "backend", "nvrtc") != "nvcc":
        made = _by_nvrtc(source, options, names)
        if made is not None:
            return made
    if names:
        raise NoPtxError("name_expressions of a RawModule need NVRTC, which CuPy does not find here")
    return _by_nvcc(source, options)


def _by_nvrtc(source: str, options: list[str], names: list[str]) -> bytes | None:
    """Compile with NVRTC as CuPy finds it; None when it does not."""
    import cupy
    from cupy.cuda import nvrtc

    try:
        nvrtc.getVersion()
    except Exception:  # CuPy loads the library now, and says in many ways that there is none
        return None
    headers = Path(cupy.__file__).parent / "_core" / "include"
    folders = [headers, *(headers / "cupy" / "_cccl" / part for part in ("libcudacxx", "cub", "thrust"))]
    cuda = cupy.cuda.get_cuda_path()
    if cuda:
        folders.append(Path(cuda) / "include")
    flags = (*options, *(f"-I{folder}" for folder in folders if folder.is_dir()))
    program = nvrtc.createProgram(source, "kernel.cu", [], [])
    try:
        for name in names:
            nvrtc.addNameExpression(program, name)
        nvrtc.compileProgram(program, flags)
        made = nvrtc.getPTX(program)
        return made if isinstance(made, bytes) else str(made).encode()
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program).strip()
        raise NoPtxError(f"NVRTC does not compile the CUDA source: {error}\n{log}".rstrip()) from None
    finally:
        nvrtc.destroyProgram(program)


def _by_nvcc(source: str, options: list[str]) -> bytes:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise NoPtxError(
            "CUDA source needs a compiler: neither NVRTC (through CuPy) nor nvcc is found; "
            "install nvidia-cuda-nvrtc beside CuPy, or the CUDA toolkit"
        )
    with tempfile.TemporaryDirectory(prefix="ptxlint-") as folder:
        file, made = Path(folder) / "kernel.cu", Path(folder) / "kernel.ptx"
        file.write_text(source, "utf-8")
        command = [nvcc, "-ptx", *options, str(file), "-o", str(made)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                encoding=sys.getfilesystemencoding(),
                errors="replace",
                timeout=NVCC_TIMEOUT,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoPtxError(f"nvcc cannot be run: {error}") from None
        if done.returncode:
            raise NoPtxError(f"nvcc does not compile the CUDA source:\n{done.stderr.strip()}")
        return made.read_bytes()
