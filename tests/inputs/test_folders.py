"""Files, folders, standard input, names that are none; what a JIT compiler wrote beside a kernel."""

import io
import json
import os
from pathlib import Path

import pytest

from ptxlint.inputs import Input, InputOptions, content, read_input, read_inputs
from ptxlint.session import analyse_input
from ptxlint.settings import Settings

PTX = b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"


def read(*paths: object, **options: object) -> list[Input]:
    return list(read_inputs([str(path) for path in paths], InputOptions(**options)))  # type: ignore[arg-type]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(PTX)


def test_suffixes_that_folders_give(here: Path) -> None:
    make("in/a.ptx", "in/b.ptx2", "in/c.PTX", "in/d.txt", "in/.hidden.ptx")
    assert [item.path for item in read("in")] == ["in/.hidden.ptx", "in/a.ptx"]
    assert [item.path for item in read("in", include=("txt", "ptx2"))] == ["in/b.ptx2", "in/d.txt"]


def test_an_empty_folder_says_what_else_is_there(here: Path) -> None:
    make("in/a.cu", "in/x/b.cu", "in/c.so", "in/d.py")
    [item] = read("in")
    assert item.error == "no *.ptx file in this folder; --include cu,so takes the 2 *.cu and 1 *.so"


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links and pipes")
def test_links_and_pipes_in_folders(here: Path) -> None:
    make("in/a.ptx", "other/b.ptx")
    Path("in/loop").symlink_to("..")
    Path("in/circle.ptx").symlink_to("circle.ptx")
    Path("in/gone.ptx").symlink_to("nothing")
    Path("in/link.ptx").symlink_to("../other/b.ptx")
    os.mkfifo("in/pipe.ptx")
    items = {item.path: item.error for item in read("in")}
    assert items["in/a.ptx"] is items["in/link.ptx"] is None
    assert items["in/gone.ptx"] == "no such file or directory"
    assert items["in/circle.ptx"] == "too many levels of symbolic links"
    assert len(items) == 4


@pytest.mark.parametrize("name", ["https://host/k.ptx", "s3://bucket/k.ptx", "file:///k.ptx"])
def test_urls_are_refused(here: Path, name: str) -> None:
    [item] = read(name)
    assert item.error == "this is a URL, and only files are read: download it first"


@pytest.mark.parametrize("name", ["a\0b.ptx", "x" * 300, ""])
def test_names_that_cannot_be(here: Path, name: str) -> None:
    [item] = read(name)
    assert item.error
    assert not read_input(name).text


def test_a_file_that_is_too_large(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("k.ptx")
    monkeypatch.setattr(content, "MAX_TEXT_BYTES", 10)
    assert "larger than 0 MiB" in (read("k.ptx")[0].error or "")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_device_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MAX_TEXT_BYTES", 1 << 16)
    assert "larger than" in (read("/dev/zero")[0].error or "")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x1f\x8b\x08", "a gzip archive; unpack it first"),
        (b"BC\xc0\xde", "LLVM bitcode"),
        (b"\x80\x04\x95\0\0.", "a binary file (zero byte at offset 3) that is no ELF object"),
    ],
)
def test_other_binaries(here: Path, data: bytes, words: str) -> None:
    Path("k.ptx").write_bytes(data)
    assert words in (read("k.ptx")[0].error or "")


def test_standard_input_has_the_name_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def stdin() -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PTX)))

    stdin()
    assert [(item.path, item.folder) for item in read("-")] == [("<stdin>", "")]
    stdin()
    assert [(item.path, item.folder) for item in read("-", stdin_name="src/k.ptx")] == [("src/k.ptx", "src")]
    stdin()
    assert "CUDA source is not read from standard input" in (read("-", stdin_name="k.cu")[0].error or "")


@pytest.mark.parametrize(
    ("told", "block", "cluster"),
    [
        ({"num_warps": 4, "warp_size": 32, "num_ctas": 1}, (128, 1, 1), None),
        ({"num_warps": 8, "num_ctas": 2}, (256, 1, 1), (2, 1, 1)),
        ({"num_warps": 33}, None, None),
        ({"num_warps": "4", "num_ctas": True}, None, None),
        ([1], None, None),
        ("{", None, None),
        ("[" * 100_000, None, None),
    ],
)
def test_triton_tells_the_launch(here: Path, told: object, block: object, cluster: object) -> None:
    make("cache/HASH/add.ptx")
    text = told if isinstance(told, str) else json.dumps(told)
    Path("cache/HASH/add.json").write_text(text, "utf-8")
    Path("cache/HASH/__grp__add.json").write_text("{}", "utf-8")
    [item] = read("cache")
    assert (item.path, item.block, item.cluster) == ("cache/HASH/add.ptx", block, cluster)


def test_what_is_told_of_the_launch_counts_where_nobody_says_more() -> None:
    barrier = ".reg .b32 %r;\n.shared .align 4 .b8 s[512];\nmov.u32 %r, %ntid.x;\nst.shared.u32 [s], %r;\nbar.sync 0;"
    text = PTX.decode().replace("ret;", f"{barrier}\nret;")
    told = analyse_input(Input("k.ptx", text, block=(64, 1, 1)), Settings())
    said = analyse_input(Input("k.ptx", text), Settings(block=(64, 1, 1)))
    other = analyse_input(Input("k.ptx", text, block=(64, 1, 1)), Settings(block=(32, 1, 1)))
    assert told.kernels == said.kernels
    assert other.error is None
