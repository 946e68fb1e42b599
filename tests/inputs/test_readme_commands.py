"""The commands of README.md that check files of each kind, run as they are, on small kernels."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ptxlint.tools import find_tool
from tests.conftest import ROOT

PTX = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
NVCC, CUOBJDUMP = ("nvcc",), ("nvcc", "cuobjdump")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the commands are for a POSIX shell")


def commands(heading: str) -> list[str]:
    """Return the commands under *heading*."""
    text = (ROOT / "README.md").read_text("utf-8")
    section = text.split(f"\n### {heading}\n")[1].split("\n### ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with what the commands name, as far as no tool is needed to make it."""
    ptxlint = tmp_path / "bin" / "ptxlint"
    for folder in ("bin", "build", "dump", "include", ".triton/cache/HASH"):
        (tmp_path / folder).mkdir(parents=True)
    ptxlint.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ptxlint "$@"\n')
    ptxlint.chmod(0o755)
    for name in ("kernel.ptx", "build/kernel.ptx", "dump/cutlass_k.sm_90a.ptx", ".triton/cache/HASH/k.ptx"):
        (tmp_path / name).write_text(PTX)
    (tmp_path / ".triton" / "cache" / "HASH" / "k.json").write_text('{"num_warps": 4}')
    (tmp_path / "include" / "k.cuh").write_text("#define VALUE 1\n")
    (tmp_path / "kernel.cu").write_text(
        '#include "include/k.cuh"\n__global__ void k(int *p) { *p = VALUE; }\n'
    )
    entry = {"directory": str(tmp_path), "file": "kernel.cu", "command": "nvcc -O3 -c kernel.cu -o k.o"}
    (tmp_path / "build" / "compile_commands.json").write_text(json.dumps([entry]))
    return tmp_path


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an object and a library that embed PTX."""
    folder = tmp_path_factory.mktemp("compiled")
    nvcc = find_tool("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc")
    (folder / "kernel.cu").write_text("__global__ void k(int *p) { *p = 1; }\n")
    code = ["-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"]
    subprocess.run([nvcc, "-c", *code, "kernel.cu", "-o", "kernels.o"], cwd=folder, check=True)
    subprocess.run([nvcc, "-lib", "kernels.o", "-o", "libkernels.a"], cwd=folder, check=True)
    return folder


def put_compiled_files(compiled: Path, shop: Path) -> None:
    """Put what was compiled where the commands look for it."""
    for name in ("kernels.o", "libkernels.so", "build/_C.so"):
        shutil.copy(compiled / "kernels.o", shop / name)
    shutil.copy(compiled / "libkernels.a", shop)
    with zipfile.ZipFile(shop / "package-1.0-cp312-cp312-linux_x86_64.whl", "w") as wheel:
        wheel.write(compiled / "kernels.o", "package/_C.so")


@pytest.mark.parametrize(
    ("heading", "tools", "kernels"),
    [
        ("Check a file", (), [1, 1]),
        ("Check a folder", CUOBJDUMP, [1, 2, 1, 1, 0, 0]),
        ("Check CUDA source", NVCC, [1, 2, 1, 1, 0]),
        ("Check an extension module", CUOBJDUMP, [3, 1]),
        ("Check a JIT cache", (), [1, 1]),
    ],
)
def test_commands(
    shop: Path, request: pytest.FixtureRequest, heading: str, tools: tuple[str, ...], kernels: list[int]
) -> None:
    missing = [tool for tool in tools if find_tool(tool) is None]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
    if "cuobjdump" in tools:
        put_compiled_files(request.getfixturevalue("compiled"), shop)
    environment = {
        **os.environ,
        "HOME": str(shop),
        "XDG_CACHE_HOME": str(shop / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    environment["PATH"] = f"{shop / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment.pop("PTXLINT_NO_CACHE")
    found = []
    for command in commands(heading):
        done = subprocess.run(
            command, shell=True, cwd=shop, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        found.append(len(re.findall(r"^(?:\S+: )?kernel k\b", done.stdout, re.MULTILINE)))
    assert found == kernels
