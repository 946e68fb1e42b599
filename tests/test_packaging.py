"""The wheel holds what it needs: built through an sdist, installed alone, used outside of the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, ROOT

# What must not be looked at when the project is copied to be built: environments, caches, results.
_IGNORED = shutil.ignore_patterns(
    ".git", ".venv*", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "dist", "build"
)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("packaging")
    shutil.copytree(ROOT, folder / "source", ignore=_IGNORED)
    shutil.rmtree(folder / "source" / "fixtures")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(folder / "dist"),
            str(folder / "source"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist"


def test_wheel_holds_package_and_data(dist: Path) -> None:
    [wheel] = dist.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0].split("-")[0] for name in names} == {"ptxlint"}
    assert {
        "ptxlint/cli.py",
        "ptxlint/py.typed",
        "ptxlint/_data/grammar/ptx.lark",
        "ptxlint/report/schema.json",
    } <= names
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "ptxlint").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    entry_points = zipfile.ZipFile(wheel).read(
        f"{'-'.join(wheel.stem.split('-')[:2])}.dist-info/entry_points.txt"
    )
    assert "[pytest11]\nptxlint = ptxlint.pytest_plugin" in entry_points.decode()
    pages = {f"ptxlint/_data/rules/{path.name}" for path in (ROOT / "rules").glob("*.md")}
    assert {name for name in names if name.startswith("ptxlint/_data/rules/")} == pages


def test_sdist_holds_what_building_and_testing_needs(dist: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "grammar/ptx.lark", "tests/test_cli.py"} <= names
    assert not {name for name in names if name.startswith((".venv", ".git/"))}


def test_an_installed_wheel_lints_outside_of_the_checkout(dist: Path, tmp_path: Path) -> None:
    [wheel] = dist.glob("*.whl")
    home = tmp_path / "env"
    venv.create(home, symlinks=os.name == "posix")
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    # The dependencies come from the environment that runs the tests; its own ptxlint comes after.
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    purelib = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    (purelib / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"], "utf-8")

    where = subprocess.run(
        [python, "-c", "import ptxlint; print(ptxlint.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(home)
    shutil.copy(FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx", tmp_path / "k.ptx")
    done = subprocess.run(
        [scripts / "ptxlint", "check", "k.ptx"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("error[PTX201]: ")
