"""Which source files PTX may name, and how one that was built elsewhere is found."""

import os
from pathlib import Path

import pytest

from ptxlint.report.source_files import SourceFiles, project_folder


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a build folder, in which we are, and what is none of its business."""
    for name in (
        "project/src/k.cu",
        "project/build/k.ptx",
        "project/.git/x",
        "secret/key",
        "ptx/k.ptx",
        "ptx/k.cu",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path / "project" / "build")
    return tmp_path


def read(tree: Path, name: str, *roots: str, ptx: str = "k.ptx") -> str | None:
    found = SourceFiles(ptx, [str(tree / root) for root in roots]).read(name)
    return found and found[1]


def test_files_of_the_project_and_beside_the_ptx(tree: Path) -> None:
    assert project_folder() == tree / "project"
    assert read(tree, "../src/k.cu") == "project/src/k.cu"
    assert read(tree, str(tree / "project" / "src" / "k.cu")) == "project/src/k.cu"
    assert read(tree, "k.cu") is None
    assert read(tree, "k.cu", ptx=str(tree / "ptx" / "k.ptx")) == "ptx/k.cu"
    assert read(tree, "k.cu", ptx=str(tree / "ptx" / "lib.so#lib.1.sm_90a.ptx")) == "ptx/k.cu"


@pytest.mark.parametrize(
    "name", ["../../secret/key", "../src/../../secret/key", "{}/secret/key", "/etc/passwd", "", "a\0b"]
)
def test_nothing_else_is_opened(tree: Path, name: str) -> None:
    name = name.format(tree)
    assert read(tree, name) is None
    assert read(tree, name, ptx=str(tree / "ptx" / "k.ptx")) is None
    assert (read(tree, name, "secret") == "secret/key") == ("secret" in name)


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_links_do_not_lead_out(tree: Path) -> None:
    link = tree / "project" / "src" / "link.cu"
    link.symlink_to("../../secret/key")
    (tree / "project" / "src" / "circle.cu").symlink_to("circle.cu")
    (tree / "project" / "src" / "inside.cu").symlink_to("k.cu")
    assert read(tree, "../src/link.cu") is None
    assert read(tree, "../src/circle.cu") is None
    assert read(tree, "../src/inside.cu") == "project/src/k.cu"
    assert read(tree, "../src/link.cu", "secret") == "secret/key"


@pytest.mark.parametrize("name", ["/build/agent/project/src/k.cu", "D:\\agent\\src\\k.cu", "k.cu"])
def test_a_file_that_was_built_elsewhere_is_found_by_its_end(tree: Path, name: str) -> None:
    assert read(tree, name, "project/src") == "project/src/k.cu"
    assert read(tree, name) is None


def test_the_whole_disk_is_no_project(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert read(tree, str(tree / "secret" / "key")) is None
