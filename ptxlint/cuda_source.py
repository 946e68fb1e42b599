"""PTX from the CUDA source in a CuPy object, by NVRTC through CuPy or by nvcc; no GPU is needed."""

import re
from pathlib import Path
from typing import Any

from ptxlint.inputs import InputError, decode
from ptxlint.inputs.item import MissingToolError
from ptxlint.tools import ToolError, find_tool, run_tool, scratch_folder

_ARCH = re.compile(r"-arch\b|--gpu-architecture\b|-gencode\b|--generate-code\b")


def compile_cupy(kernel: Any, arch: str) -> str:
    """Return the PTX of the source in a CuPy ``RawKernel`` or ``RawModule``, for the target *arch*.

    The object's own options are used; where they name a target, that one.

    Raises:
        InputError: the source does not compile; the compiler's messages are in the text.
        MissingToolError: neither compiler is found.
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
        raise MissingToolError("name_expressions of a RawModule need NVRTC, and CuPy does not find it")
    return _by_nvcc(source, options)


def _by_nvrtc(source: str, options: list[str], names: list[str]) -> str | None:
    """Compile with NVRTC as CuPy finds it; None when it does not."""
    import cupy
    from cupy.cuda import nvrtc

    try:
        nvrtc.getVersion()
    except Exception:  # CuPy loads the library now, and has many ways to say that there is none
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
        return decode(made if isinstance(made, bytes) else str(made).encode())
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program).strip()
        raise InputError(f"NVRTC does not compile the CUDA source: {error}\n{log}".rstrip()) from None
    finally:
        nvrtc.destroyProgram(program)


def _by_nvcc(source: str, options: list[str]) -> str:
    nvcc = find_tool("nvcc")
    if nvcc is None:
        raise MissingToolError(
            "CUDA source needs a compiler, and neither NVRTC (through CuPy) nor nvcc is found; "
            'install nvidia-cuda-nvrtc beside CuPy, or pip install "ptxlint[tools]"'
        )
    with scratch_folder() as folder:
        (folder / "kernel.cu").write_text(source, "utf-8")
        command = [nvcc, *options, "-ptx", "-o", "kernel.ptx", "kernel.cu"]
        try:
            done = run_tool(command, scratch=folder, cwd=folder)
        except ToolError as error:
            raise InputError(str(error)) from None
        if done.status != 0:
            raise InputError(f"nvcc does not compile the CUDA source:\n{done.messages}")
        return decode((folder / "kernel.ptx").read_bytes())
