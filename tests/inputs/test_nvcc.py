"""CUDA source: which commands nvcc gets, what comes of its answers, and real nvcc where there is one."""

import json
import sys
from pathlib import Path

import pytest

from ptxlint.inputs import Input, InputOptions, read_inputs
from ptxlint.inputs.nvcc_flags import NvccFlags
from ptxlint.tools import find_tool
from tests.inputs.conftest import Install

PTX = ".version 9.0\\n.target sm_90a\\n.address_size 64\\n.visible .entry k()\\n{\\nret;\\n}\\n"
# Writes PTX to what -o names, and its arguments and folder beside itself.
RECORDS = f"""
import json
log = os.path.join(os.path.dirname(sys.argv[0]), "log")
open(log, "a").write(json.dumps([sys.argv[1:], os.getcwd(), os.environ["TMPDIR"]]) + "\\n")
open(sys.argv[sys.argv.index("-o") + 1], "w").write("{PTX}")
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts")


def read(*paths: object, **options: object) -> list[Input]:
    return list(read_inputs([str(path) for path in paths], InputOptions(**options)))  # type: ignore[arg-type]


def calls(tool: Path) -> list[tuple[list[str], str, str]]:
    return [tuple(json.loads(line)) for line in (tool.parent / "log").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("arguments", "kept", "architectures"),
    [
        ("-arch=sm_90a -Iinclude", "-Iinclude", "compute_90a"),
        ("-arch sm_90a -O3", "-O3", "compute_90a"),
        ("--gpu-architecture=compute_100a", "", "compute_100a"),
        ("-arch=compute_90 -code=sm_90,compute_90", "", "compute_90"),
        (
            "-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=[sm_90a,compute_90a]",
            "",
            "compute_80 compute_90a",
        ),
        ('--generate-code="arch=compute_90a,code=sm_90a" -x cu', "-x cu", "compute_90a"),
        ("-arch=sm_90a -gencode arch=compute_90a,code=sm_90a", "", "compute_90a"),
        ("-c -dc k.o -o k.o -MD -MF k.d -lineinfo -DX=1", "k.o -DX=1", ""),
        ("--output-file=k.o --keep --keep-dir tmp -rdc=true", "-rdc=true", ""),
        ("-Xcompiler -fPIC -time t.csv", "-Xcompiler -fPIC", ""),
    ],
)
def test_flags(arguments: str, kept: str, architectures: str) -> None:
    flags = NvccFlags.of(arguments.replace('"', "").split())
    assert (flags.arguments, flags.architectures) == (tuple(kept.split()), tuple(architectures.split()))


def test_each_architecture_is_compiled_where_the_user_is(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = install("nvcc", RECORDS)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.cu").write_text("x")
    gencode = ("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90a,code=sm_90a")
    items = read("kernel.cu", nvcc_arguments=("-I", "a b;$(c)", *gencode))
    assert [item.path for item in items] == ["kernel.cu#kernel.sm_80.ptx", "kernel.cu#kernel.sm_90a.ptx"]
    assert all(item.text.startswith(".version") and item.folder == "." and not item.notes for item in items)
    for (arguments, folder, scratch), architecture in zip(calls(nvcc), ("80", "90a"), strict=True):
        assert arguments[:5] == ["-I", "a b;$(c)", f"-arch=compute_{architecture}", "-lineinfo", "-ptx"]
        assert arguments[-1] == str(tmp_path / "kernel.cu")
        assert folder == str(tmp_path)
        assert not Path(scratch).exists()


def test_the_default_architecture_is_told(install: Install, tmp_path: Path) -> None:
    nvcc = install("nvcc", RECORDS)
    (tmp_path / "k.cu").write_text("x")
    [item] = read(tmp_path / "k.cu")
    assert item.path.endswith("k.cu#k.sm_90a.ptx")
    assert item.notes
    assert "compiled for sm_90a, as no architecture was named" in item.notes[0]
    assert "-arch=compute_90a" in calls(nvcc)[0][0]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            "sys.exit('k.cu(1): error: expected a ;')",
            "nvcc failed for sm_90a:\n  k.cu(1): error: expected a ;",
        ),
        ("os.kill(os.getpid(), 11)", "nvcc failed for sm_90a:\n  exit status -11"),
        ("time.sleep(60)", "nvcc did not end within 0.5 seconds"),
        ("pass", "nvcc made no PTX for sm_90a: no such file or directory"),
        (
            "open(sys.argv[sys.argv.index('-o') + 1], 'w')",
            "nvcc made no PTX for sm_90a: no PTX: the file is empty",
        ),
    ],
)
def test_what_goes_wrong_is_told(install: Install, tmp_path: Path, program: str, words: str) -> None:
    install("nvcc", program)
    (tmp_path / "k.cu").write_text("x")
    [item] = read(tmp_path / "k.cu", tool_time_limit=0.5)
    assert words in (item.error or "")


def test_a_tool_that_does_not_start(install: Install, tmp_path: Path) -> None:
    nvcc = install("nvcc", "")
    nvcc.write_text("#!/no/such/interpreter\n")
    (tmp_path / "k.cu").write_text("x")
    [item] = read(tmp_path / "k.cu")
    assert item.error == f"cannot run {nvcc}: no such file or directory"


def test_refused_before_nvcc_is_asked(install: Install, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("x")
    [missing] = read(tmp_path / "k.cu")
    assert "needs nvcc, which was not found" in (missing.error or "")
    assert 'pip install "ptxlint[tools]"' in (missing.error or "")
    [all_of_them] = read(tmp_path / "k.cu", nvcc_arguments=("-arch=all-major",))
    assert "names no one architecture" in (all_of_them.error or "")
    [absent] = read(tmp_path / "none.cu")
    assert absent.error == "no such file or directory"


def database(folder: Path, *entries: dict[str, object]) -> Path:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps(entries), "utf-8")
    return path


def test_a_compilation_database(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc = install("nvcc", RECORDS)
    monkeypatch.chdir(tmp_path)
    build = tmp_path / "build"
    build.mkdir()
    for name in ("a.cu", "b.cu", "c.cpp"):
        (tmp_path / name).write_text("x")
    command = (
        "/opt/cuda/bin/nvcc -Iinc -O3 --generate-code=arch=compute_80,code=[sm_80] -x cu -c ../a.cu -o a.o"
    )
    path = database(
        build,
        {"directory": str(build), "file": "../a.cu", "command": command},
        {
            "directory": str(build),
            "file": str(tmp_path / "b.cu"),
            "arguments": ["ccache", "nvcc", "-dc", "-DSAY=a b", str(tmp_path / "b.cu")],
        },
        {"directory": str(build), "file": "../c.cpp", "command": "c++ -c ../c.cpp"},
    )
    assert [item.path for item in read(compile_commands=str(build))] == [
        "a.cu#a.sm_80.ptx",
        "b.cu#b.sm_90a.ptx",
    ]
    [(first, folder, _), (second, *_)] = calls(nvcc)
    assert first[:5] == ["-Iinc", "-O3", "-x", "cu", "-arch=compute_80"]
    assert second[:2] == ["-DSAY=a b", "-arch=compute_90a"]
    assert folder == str(build)
    [other] = read("a.cu", compile_commands=str(path), nvcc_arguments=("-arch=sm_100a",))
    assert other.path == "a.cu#a.sm_100a.ptx"
    (tmp_path / "bb.cu").write_text("x")
    [unknown] = read("bb.cu", compile_commands=str(path))
    assert (unknown.error or "").endswith("has no entry for this file; did you mean b.cu?")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1, column 1"),
        ("[\n{,\n", "line 2, column 2"),
        ("{}", "expected a list of objects"),
        ('["a"]', "entry 1: expected"),
        ('[{"file": "k.cu"}]', "entry 1: expected"),
        ('[{"file": 1, "command": "nvcc"}]', "entry 1: expected"),
        ('[{"file": "k.cu", "directory": ".", "command": "nvcc \'"}]', "No closing quotation"),
        ('[{"file": "k.cu", "directory": ".", "command": "clang++ k.cu"}]', "with clang++, whose arguments"),
        ('[{"file": "k.cu", "directory": ".", "arguments": []}]', "with nothing, whose arguments"),
        ('[{"file": "../k.cu", "directory": "none", "command": "nvcc -c ../k.cu"}]', "which is no folder"),
        ("[" * 100_000, "expected a list"),
        ("[]", "no *.cu file in this compilation database"),
    ],
)
def test_a_bad_database(install: Install, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "k.cu").write_text("x")
    (tmp_path / "compile_commands.json").write_text(text, "utf-8")
    [item] = read(compile_commands=str(tmp_path))
    assert words in (item.error or "")


def test_a_missing_database(tmp_path: Path) -> None:
    [item] = read("k.cu", compile_commands=str(tmp_path / "none.json"))
    assert (item.path, item.error) == (str(tmp_path / "none.json"), "no such file or directory")


@pytest.mark.skipif(find_tool("nvcc") is None, reason="needs nvcc")
def test_real_nvcc(tmp_path: Path) -> None:
    (tmp_path / "add.cuh").write_text("template <int N> __device__ int plus(int x) { return x + N; }\n")
    source = tmp_path / "-k.cu"
    source.write_text('#include "inc/add.cuh"\n__global__ void k(int *p) { *p = plus<K>(*p); }\n')
    (tmp_path / "inc").mkdir()
    (tmp_path / "add.cuh").rename(tmp_path / "inc" / "add.cuh")
    [good] = read(source, nvcc_arguments=("-arch=sm_90a", "-DK=3"))
    assert good.error is None
    assert ".target sm_90a" in good.text
    assert ".loc" in good.text
    [bad] = read(source, nvcc_arguments=("-arch=sm_90a",))
    assert 'identifier "K" is undefined' in (bad.error or "")
