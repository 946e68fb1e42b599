"""``assert_ptx_clean`` on everything it takes, and what it says of everything else."""

import importlib.util
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxlint.inputs import InputError
from ptxlint.kernel_objects import kernel_inputs
from ptxlint.settings import Settings
from ptxlint.testing import PtxFindings, assert_ptx_clean
from ptxlint.tools import find_tool
from tests.pytest_plugin.kernels import clean, hazard, module

SOURCE = """
extern "C" __global__ void copy(int *out) {
  __shared__ __align__(128) int tile[128];
  tile[threadIdx.x] = threadIdx.x;
  %s
  __syncthreads();
  unsigned at = __cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%%0], [%%1], 512;" :: "l"(out), "r"(at) : "memory");
    asm volatile("cp.async.bulk.commit_group;\\n cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
"""
FENCE = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");'


def made_by(project: str, **attributes: Any) -> Any:
    """Return an object of a class that is defined in *project*."""
    kind = type("Kernel", (), {"__module__": f"{project}.inner"})
    made = kind()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def triton_like(text: str, **metadata: Any) -> Any:
    fields = types.SimpleNamespace(name="k", **metadata)
    return made_by("triton", asm={"ttir": "module {}", "ptx": text}, metadata=fields)


HOLDERS: list[tuple[str, Callable[[str, Path], object], str]] = [
    ("text", lambda text, folder: text, "<text>"),
    ("bytes", lambda text, folder: text.encode(), "<bytes>"),
    ("path", lambda text, folder: written(text, folder), "k.ptx"),
    ("path as str", lambda text, folder: str(written(text, folder)), "k.ptx"),
    ("folder", lambda text, folder: written(text, folder).parent, "k.ptx"),
    ("Triton", lambda text, folder: triton_like(text), "<triton:k>"),
    ("CuTe DSL", lambda text, folder: made_by("cutlass", __ptx__=text, function_name="k"), "<cute:k>"),
    (
        "CuPy file",
        lambda text, folder: made_by("cupy", code=None, file_path=str(written(text, folder))),
        "k.ptx",
    ),
]


def written(text: str, folder: Path) -> Path:
    path = folder / "k.ptx"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(("hold", "path"), [row[1:] for row in HOLDERS], ids=[row[0] for row in HOLDERS])
def test_what_is_accepted(hold: Callable[[str, Path], object], path: str, tmp_path: Path) -> None:
    assert_ptx_clean(hold(module(clean()), tmp_path))
    with pytest.raises(PtxFindings) as caught:
        assert_ptx_clean(hold(module(hazard()), tmp_path))
    report = str(caught.value).splitlines()
    assert report[0].startswith("error[PTX101]: cp.async.bulk reads 512 bytes of shared memory")
    assert report[1].startswith("  --> ")
    assert report[1].endswith(f"{path}:20:5")
    assert report[-1] == "1 error in 1 kernel of 1 file"


def test_shapes_of_a_triton_kernel_are_hints() -> None:
    [item] = kernel_inputs(triton_like(module(clean()), num_warps=8, num_ctas=2))
    assert (item.block, item.cluster) == ((256, 1, 1), (2, 1, 1))


def test_options() -> None:
    text = module(hazard())
    assert_ptx_clean(text, ignore=["PTX101"])
    assert_ptx_clean(text, select=("PTX2",))
    assert_ptx_clean(text, select="PTX2,PTX3")
    with pytest.raises(PtxFindings):
        assert_ptx_clean(text, select=["PTX101"], fail_on="error", block=(128, 1, 1))
    with pytest.raises(PtxFindings, match=r"PTX991"):
        assert_ptx_clean(module(clean()).replace("bar.sync 0;", "bar.sync 0; frob %r1;"), strict=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": ["PTX1", "PTX777"]}, "select: no rule's code begins with 'PTX777'"),
        ({"ignore": "QTX"}, "ignore: no rule's code begins with 'QTX'"),
        ({"fail_on": "fatal"}, "fail_on: 'fatal' is none of note, warning, error"),
        ({"block": (1, 2, 3, 4)}, "block: '1,2,3,4' is not of the form X"),
        ({"block": 2048}, "block: 2048 is not between 1 and 1024"),
        ({"cluster": "x"}, "cluster: 'x' is not of the form X"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assert_ptx_clean(module(clean()), **options)


def test_settings_are_what_options_are_put_over() -> None:
    settings = Settings(ignore=("PTX101",))
    assert_ptx_clean(module(hazard()), settings=settings)
    with pytest.raises(PtxFindings):
        assert_ptx_clean(module(hazard()), settings=settings, select=["PTX1"])


def test_a_syntax_error_is_a_finding() -> None:
    with pytest.raises(PtxFindings, match=r"error\[PTX999\](?s:.)*--> <text>:4:1"):
        assert_ptx_clean(".version 8.6\n.target sm_90a\n.address_size 64\n.entr k() {}\n")


class JITFunction:
    """What ``@triton.jit`` makes."""

    __module__ = "triton.runtime.jit"

    def warmup(self) -> None: ...


@pytest.mark.parametrize(
    ("kernel", "messages"),
    [
        (17, ["no PTX in an object of type int; expected PTX text", "Triton", "CuTe DSL", "CuPy RawModule"]),
        (None, ["an object of type NoneType"]),
        (JITFunction(), ["triton.runtime.jit.JITFunction", "must be compiled first, by triton.compile(...)"]),
        (made_by("cutlass"), ["must be compiled first, by cute.compile(...)"]),
        (written, ["an object of type function", "a function must be compiled first"]),
        (made_by("triton", asm="text"), ["triton.inner.Kernel"]),
    ],
)
def test_what_is_not_accepted(kernel: object, messages: list[str]) -> None:
    with pytest.raises(TypeError) as caught:
        assert_ptx_clean(kernel)
    assert [message for message in messages if message not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (made_by("triton", asm={"amdgcn": ""}, metadata=None, name="k"), "kernel k has no PTX \\(amdgcn\\)"),
        (made_by("cutlass", __ptx__=None), "without keeping its PTX: .*--keep-ptx"),
        ("nowhere.ptx", "nowhere.ptx: no such file"),
        (b"\x00\x01", "zero byte at offset"),
        (triton_like("  "), "<triton:k>: no PTX: the file is empty"),
    ],
)
def test_what_holds_no_ptx(kernel: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        assert_ptx_clean(kernel)


@pytest.fixture
def no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy as it is where NVRTC is not found."""

    def get_version() -> None:
        raise RuntimeError("no library")

    cuda = types.SimpleNamespace(nvrtc=types.SimpleNamespace(getVersion=get_version))
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)


def raw_kernel(source: str, **attributes: Any) -> Any:
    return made_by(
        "cupy", **{"code": source, "options": (), "backend": "nvrtc", "name": "copy", **attributes}
    )


@pytest.mark.usefixtures("no_nvrtc")
@pytest.mark.skipif(find_tool("nvcc") is None, reason="nvcc is not installed")
def test_cupy_source_by_nvcc() -> None:
    assert_ptx_clean(raw_kernel(SOURCE % FENCE))
    with pytest.raises(PtxFindings, match=r"<cupy:copy>"):
        assert_ptx_clean(raw_kernel(SOURCE % "", options=("-arch=sm_100a", "-O2")), block=128)
    with pytest.raises(InputError, match=r"(?s)nvcc does not compile.*\nkernel.cu\(1\): error.*nonsense"):
        assert_ptx_clean(raw_kernel("nonsense"))


@pytest.mark.usefixtures("no_nvrtc")
def test_cupy_source_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxlint.cuda_source.find_tool", lambda name: None)
    with pytest.raises(InputError, match=r"neither NVRTC .* nor nvcc is found"):
        assert_ptx_clean(raw_kernel("…"))
    with pytest.raises(InputError, match="name_expressions of a RawModule need NVRTC"):
        assert_ptx_clean(raw_kernel("…", name_expressions=("f<int>",)))


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="CuPy is not installed")
def test_cupy_source_by_nvrtc() -> None:
    import cupy

    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception:
        pytest.skip("CuPy finds no NVRTC")
    assert_ptx_clean(cupy.RawKernel(SOURCE % FENCE, "copy"))
    with pytest.raises(PtxFindings, match=r"<cupy:copy>"):
        assert_ptx_clean(cupy.RawKernel(SOURCE % "", "copy", options=("-std=c++17",)))
    template = "template<class T> " + (SOURCE % "").replace('extern "C"', "").replace("int *out", "T *out")
    with pytest.raises(PtxFindings, match=r"<cupy:RawModule>"):
        assert_ptx_clean(cupy.RawModule(code=template, name_expressions=["copy<int>"]))
    with pytest.raises(InputError, match=r"(?s)NVRTC does not compile.*nonsense"):
        assert_ptx_clean(cupy.RawModule(code="nonsense"))


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_a_real_triton_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(os.environ, "TRITON_DEFAULT_FP_FUSION", "1")
    from tests.pytest_plugin.triton_kernels import CLEAN, HAZARD, compiled

    [item] = kernel_inputs(compiled(CLEAN, num_warps=8))
    assert (item.path, item.block, item.cluster) == ("<triton:store>", (256, 1, 1), None)
    with pytest.raises(PtxFindings, match=r"error\[PTX101\]: cp.async.bulk reads 128 bytes"):
        assert_ptx_clean(compiled(HAZARD))
