"""``ptxlint doctor``, and where tools are looked for."""

import json
import os
import sys
from pathlib import Path

import pytest

from ptxlint import cli, doctor, tools


def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", ["ptxlint", "doctor", *arguments])
    assert cli.run() == 0
    return capfd.readouterr().out


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{text}\n", "utf-8")
    path.chmod(0o755)
    return path


def test_nothing_is_there(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(tools, "search_path", lambda: [])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    told = json.loads(run(monkeypatch, capfd, "--output-format", "json"))
    assert not any(helper["found"] for helper in told["helpers"])
    text = run(monkeypatch, capfd)
    assert 'nvcc       not found; pip install "ptxlint[tools]"\n' in text
    assert text.count("not found") == len(told["helpers"])


@pytest.mark.skipif(os.name != "posix", reason="the stand-ins are scripts")
def test_versions_and_places(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program(tmp_path, "nvcc", "print('nvcc: NVIDIA (R)\\nCuda compilation tools, release 13.0, V13.0.88')")
    program(tmp_path, "cuobjdump", "import sys; sys.exit('no \\x1b[31mlibrary')")
    program(tmp_path, "nvidia-smi", "print('NVIDIA H200, 9.0, 580.1')")
    monkeypatch.setattr(tools, "search_path", lambda: [(str(tmp_path), "CUDA_HOME")])
    text = run(monkeypatch, capfd)
    assert f"nvcc       13.0.88  {tmp_path}/nvcc (CUDA_HOME)\n" in text
    assert "does not run (exit status 1): no \\x1b[31mlibrary" in text
    assert f"GPU        NVIDIA H200, 9.0, 580.1  {tmp_path}/nvidia-smi (CUDA_HOME)\n" in text


@pytest.mark.skipif(os.name != "posix", reason="the stand-ins are scripts")
def test_where_tools_are_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    places = [tmp_path / "home" / "bin", tmp_path / "path", packages / "nvidia" / "cu13" / "bin"]
    for folder in places:
        program(folder, "nvcc", "")
    paths = {"purelib": str(packages), "platlib": str(packages)}
    monkeypatch.setattr("sysconfig.get_paths", lambda: paths)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert tools.locate("nvcc") == (str(places[0] / "nvcc"), "CUDA_HOME")
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.delenv("CUDA_PATH", raising=False)
    assert tools.locate("nvcc") == (str(places[1] / "nvcc"), "PATH")
    (places[1] / "nvcc").chmod(0o644)
    assert tools.locate("nvcc") == (str(places[2] / "nvcc"), "site-packages")


def test_helpers_have_a_purpose_and_a_way_to_get_them() -> None:
    assert all(helper.purpose and helper.hint for helper in doctor.examine())
