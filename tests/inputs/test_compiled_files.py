"""Compiled files and wheels: what cuobjdump is asked, what is made of its answers, hostile archives."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ptxlint.inputs import Input, InputOptions, archives, read_inputs
from ptxlint.tools import find_tool
from tests.inputs.conftest import Install

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts")

ELF = b"\x7fELF\2\1\1" + bytes(64)
PTX = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"

# Prints as cuobjdump does for what the file says it holds, after its magic number.
CUOBJDUMP = f"""
kind, _, file = sys.argv[1], sys.argv[-2], sys.argv[-1]
stem = os.path.splitext(os.path.basename(file))[0]
holds = open(file, "rb").read().replace(bytes(1), b"").decode("latin-1")
if "nothing" in holds:
    print("cuobjdump info    : File '" + file + "' does not contain device code", file=sys.stderr)
    sys.exit(255)
if "damaged" in holds:
    sys.exit("cuobjdump fatal   : Invalid fatbin header in '" + file + "'")
if "crash" in holds:
    os.kill(os.getpid(), 11)
if "hang" in holds:
    time.sleep(60)
if kind == "-lelf":
    print("ELF file    1: " + stem + ".1.sm_90a.cubin")
    print("ELF file    2: " + stem + ".2.sm_100a.cubin")
elif "sass" in holds:
    print("cuobjdump info    : No PTX file found to extract from '" + file + "'.", file=sys.stderr)
else:
    members = ["", "a.o", "b.o"] if "members" in holds else [""]
    for number in range(1, 12):
        if len(members) > 1:
            print("\\nmember " + file + ":" + members[1 + number // 8] + ":")
        name = stem + "." + str(number) + ".sm_90a.ptx"
        print("Extracting PTX file and ptxas options   " + str(number) + ": " + name + " -arch=sm_90a ")
        open(name, "w").write("" if "empty" in holds and number == 2 else {PTX!r})
"""


def read(*paths: object, **options: object) -> list[Input]:
    return list(read_inputs([str(path) for path in paths], InputOptions(**options)))  # type: ignore[arg-type]


def test_ptx_comes_in_the_order_of_the_file_under_its_names(install: Install, tmp_path: Path) -> None:
    install("cuobjdump", CUOBJDUMP)
    (tmp_path / "libx.so").write_bytes(ELF)
    items = read(tmp_path / "libx.so")
    assert [item.path for item in items] == [
        f"{tmp_path}/libx.so#libx.{number}.sm_90a.ptx" for number in range(1, 12)
    ]
    assert {(item.text, item.error, item.folder) for item in items} == {(PTX, None, str(tmp_path))}


def test_members_of_a_library_are_named(install: Install, tmp_path: Path) -> None:
    install("cuobjdump", CUOBJDUMP)
    (tmp_path / "lib.a").write_bytes(b"!<arch>\nmembers")
    names = [item.path.partition("#")[2] for item in read(tmp_path / "lib.a")]
    assert (names[0], names[-1]) == ("a.o#lib.1.sm_90a.ptx", "b.o#lib.11.sm_90a.ptx")


def test_a_name_that_is_no_good_for_a_file_or_an_option(install: Install, tmp_path: Path) -> None:
    install("cuobjdump", CUOBJDUMP)
    file = tmp_path / "-x $(date)\x1b[31m;.so"
    file.write_bytes(ELF)
    names = {item.path.partition("#")[2] for item in read(file)}
    assert "_x_date_31m_.1.sm_90a.ptx" in names


def test_one_bad_text_does_not_hide_the_others(install: Install, tmp_path: Path) -> None:
    install("cuobjdump", CUOBJDUMP)
    (tmp_path / "x.o").write_bytes(ELF + b"empty")
    errors = [item.error for item in read(tmp_path / "x.o")]
    assert len(errors) == 11
    assert [error for error in errors if error] == ["no PTX: the file is empty, expected .version"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            ELF + b"sass",
            "a compiled object (ELF) with machine code (SASS) only, for sm_90a, sm_100a; build it",
        ),
        (ELF + b"nothing", "a compiled object (ELF) with no device code"),
        (b"MZ nothing", "a Windows binary with no device code"),
        (
            b"\x50\xed\x55\xba damaged",
            "a CUDA fat binary that cuobjdump cannot read: cuobjdump fatal   : Invalid",
        ),
        (ELF + b"crash", "a compiled object (ELF) that cuobjdump cannot read: it crashed (signal 11)"),
        (ELF + b"hang", "cuobjdump did not end within 0.5 seconds"),
    ],
)
def test_no_ptx_is_told(install: Install, tmp_path: Path, data: bytes, words: str) -> None:
    install("cuobjdump", CUOBJDUMP)
    (tmp_path / "x.bin").write_bytes(data)
    [item] = read(tmp_path / "x.bin", tool_time_limit=0.5)
    assert words in (item.error or "")
    assert str(tmp_path) not in (item.error or "")


def test_without_cuobjdump(install: Install, tmp_path: Path) -> None:
    (tmp_path / "x.so").write_bytes(ELF)
    [item] = read(tmp_path / "x.so")
    assert "this is a compiled object (ELF): taking PTX out of it needs cuobjdump" in (item.error or "")
    assert 'pip install "ptxlint[tools]"' in (item.error or "")


def wheel(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_a_wheel(install: Install, tmp_path: Path) -> None:
    install("cuobjdump", CUOBJDUMP)
    path = wheel(
        tmp_path / "p.whl",
        **{
            "p/_C.abi3.so": ELF,
            "p/host.so": ELF + b"nothing",
            "p/k.ptx": PTX.encode(),
            "p/libv.so.1": ELF + b"sass",
            "p/old.ptx": b"// caf\xe9",
            "p/__init__.py": b"",
        },
    )
    items = read(path)
    names = [item.path.partition("#")[2] for item in items]
    assert names[0] == "p/_C.abi3.so#_C.abi3.1.sm_90a.ptx"
    assert names[-2:] == ["p/k.ptx", "p/old.ptx"]
    assert len(names) == 13
    assert "no UTF-8 text" in (items[-1].error or "")


def test_a_wheel_without_ptx(install: Install, tmp_path: Path) -> None:
    path = wheel(tmp_path / "p.whl", **{"p/a.so": ELF + b"sass", "p/b.so": ELF + b"nothing"})
    [missing] = read(path)
    assert "needs cuobjdump" in (missing.error or "")
    install("cuobjdump", CUOBJDUMP)
    [item] = read(path)
    assert (item.error or "").startswith(
        "no PTX in this archive:\n  p/a.so: no PTX: this is a compiled object"
    )
    assert "p/b.so: no PTX" in (item.error or "")
    [pure] = read(wheel(tmp_path / "q.whl", **{"q/__init__.py": b""}))
    assert "there is no *.ptx, *.so" in (pure.error or "")


def test_names_in_an_archive_choose_no_place_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    wheel(Path("p.whl"), **{"../../out.ptx": PTX.encode(), "/abs.ptx": PTX.encode(), "x\x1b[2J.ptx": b"."})
    link = zipfile.ZipInfo("link.ptx")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile("p.whl", "a") as archive:
        archive.writestr(link, "/etc/passwd")
    items = read("p.whl")
    assert len(items) == 4
    assert not any("root" in item.text for item in items)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["in", "p.whl"]


def test_what_an_archive_unpacks_to_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = wheel(tmp_path / "p.whl", **{"a.ptx": PTX.encode(), "b.ptx": b" " * (1 << 20)})
    data = bytearray(bomb.read_bytes())
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 1000)
    errors = [item.error for item in read(bomb)]
    assert errors == [None, "b.ptx unpacks to more than the bound of 1000 bytes"]
    # A header that says 10 bytes is not believed either.
    directory = data.rindex(b"PK\1\2")
    data[directory + 24 : directory + 28] = (10).to_bytes(4, "little")
    bomb.write_bytes(data)
    assert "damaged" in (read(bomb)[-1].error or "")


@pytest.mark.parametrize("end", [30, 60, -30, -1])
def test_damaged_archives(tmp_path: Path, end: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("k.ptx", PTX)
    (tmp_path / "p.whl").write_bytes(buffer.getvalue()[:end])
    [item] = read(tmp_path / "p.whl")
    assert "a damaged or encrypted zip archive" in (item.error or "")


def build(folder: Path, *arguments: str) -> None:
    nvcc = find_tool("nvcc")
    assert nvcc is not None
    subprocess.run([nvcc, *arguments], cwd=folder, check=True, timeout=120)


@pytest.mark.skipif(
    find_tool("nvcc") is None or find_tool("cuobjdump") is None, reason="needs nvcc and cuobjdump"
)
def test_real_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text("__global__ void k(int *p) { *p = threadIdx.x; }\n")
    both = ("-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]")
    build(tmp_path, "-c", "k.cu", "-o", "k.o", *both)
    build(tmp_path, "-fatbin", "k.cu", "-o", "k.fatbin", *both)
    build(tmp_path, "-cubin", "-arch=sm_90a", "k.cu", "-o", "k.cubin")
    wheel(tmp_path / "p.whl", **{"p/_C.so": Path("k.o").read_bytes()})
    names = {item.path: item.error for item in read("k.o", "k.fatbin", "p.whl")}
    assert names == {
        "k.o#k.1.sm_90a.ptx": None,
        "k.fatbin#k.1.sm_90a.ptx": None,
        "p.whl#p/_C.so#_C.1.sm_90a.ptx": None,
    }
    [cubin] = read("k.cubin")
    assert "machine code (SASS) only, for sm_90a" in (cubin.error or "")
    read_end, write_end = os.pipe()
    os.write(write_end, Path("k.o").read_bytes())
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        [item] = read("-", stdin_name="given.so")
    assert (item.path, item.error) == ("given.so#given.1.sm_90a.ptx", None)
