"""Many inputs: the same report from any number of processes; processes that die; what the cache does."""

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxlint import cache, linter, runner, workers
from ptxlint.cache import Cache, CacheError, clean
from ptxlint.inputs import InputOptions
from ptxlint.report.finding import FileReport
from ptxlint.report.plain import from_plain, to_plain
from ptxlint.runner import Running, analyse_all
from ptxlint.settings import LaunchHint, Settings
from tests.conftest import FIXTURES

HAZARD = FIXTURES / "ptx201" / "two_stage_copy.sm_90a.ptx"
CLEAN = FIXTURES / "ptx201" / "two_stage_copy_fixed.sm_90a.ptx"
OTHER = FIXTURES / "ptx102" / "two_stage_combine.sm_90a.ptx"
HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"

needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="a patch reaches processes that are forked")


def many_kernels(names: str) -> str:
    return HEAD + "".join(f".visible .entry {name}()\n{{\nret;\n}}\n" for name in names.split())


def check(
    *paths: object, jobs: int = 1, store: Cache | None = None, settings: Settings | None = None
) -> list[FileReport]:
    """Check *paths* and return the reports without the times."""
    chosen = settings or Settings()
    found = analyse_all(
        [str(path) for path in paths], InputOptions(), lambda item: chosen, Running(jobs, store)
    )
    for report, _ in found:
        report.seconds = 0.0
    return [report for report, _ in found]


@pytest.mark.parametrize("moment", [0.0, 60.0])
def test_any_number_of_processes_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: float
) -> None:
    monkeypatch.setattr(runner, "MOMENT", moment)
    (tmp_path / "many.ptx").write_text(
        many_kernels("a b c d e") + HAZARD.read_text("utf-8").split(".address_size 64", 1)[1]
    )
    (tmp_path / "broken.ptx").write_text(HEAD + ".visible .entry k()\n{\nmov.u32 %r1 %r2;\n}\n")
    paths = [tmp_path / "many.ptx", HAZARD, "none.ptx", tmp_path / "broken.ptx", CLEAN]
    one = check(*paths, jobs=1)
    assert one == check(*paths, jobs=3)
    assert [kernel.name for kernel in one[0].kernels] == [*"abcde", "two_stage_copy"]
    assert [bool(report.error) for report in one] == [False, False, True, True, False]
    assert check(paths[0], jobs=2) == one[:1]


def test_processes_that_are_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    one = check(HAZARD, CLEAN)
    monkeypatch.setattr("ptxlint.workers._context", lambda: multiprocessing.get_context("spawn"))
    assert check(HAZARD, CLEAN, jobs=2) == one


def test_without_the_right_to_start_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "many.ptx").write_text(many_kernels("a b c"))
    plain = check(HAZARD, tmp_path / "many.ptx")

    def refuse(self: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("ptxlint.workers.Workers._start", refuse)
    assert check(HAZARD, tmp_path / "many.ptx", jobs=4) == plain


@needs_fork
@pytest.mark.parametrize("jobs", [2, 3])
def test_a_process_that_dies_costs_one_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    real = linter.analyse_kernel

    def deadly(module: Any, function: Any, settings: Settings) -> Any:
        if function.name == "b":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(module, function, settings)

    monkeypatch.setattr(linter, "analyse_kernel", deadly)
    (tmp_path / "many.ptx").write_text(many_kernels("a b c"))
    (tmp_path / "one.ptx").write_text(many_kernels("b"))
    many, one, fine = check(tmp_path / "many.ptx", tmp_path / "one.ptx", HAZARD, jobs=jobs)
    assert [kernel.name for kernel in many.kernels] == ["a", "c"]
    assert (many.error or "").startswith(
        "kernel 2: a worker process died while it was being analysed (SIGKILL"
    )
    assert (one.error or "").startswith(
        "kernel 1: a worker process died while it was being analysed (SIGKILL"
    )
    assert fine.error is None
    assert fine.kernels[0].findings


@needs_fork
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_one_kernel_costs_that_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    real = linter.analyse_kernel

    def broken(module: Any, function: Any, settings: Settings) -> Any:
        if function.name == "b":
            raise MemoryError
        return real(module, function, settings)

    monkeypatch.setattr(linter, "analyse_kernel", broken)
    (tmp_path / "k.ptx").write_text(many_kernels("a b c"))
    store = Cache(tmp_path / "cache")
    [report] = check(tmp_path / "k.ptx", jobs=jobs, store=store)
    assert [kernel.name for kernel in report.kernels] == ["a", "c"]
    assert (report.error or "").startswith("kernel b: internal error")
    monkeypatch.undo()
    [again] = check(tmp_path / "k.ptx", jobs=jobs, store=store)
    assert again.error is None


SLEEPER = f"#!{sys.executable}\nimport os, time\nopen(os.environ['LOG'], 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(60)\n"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    ("jobs", "asked", "status"), [(1, signal.SIGINT, 130), (2, signal.SIGINT, 130), (2, signal.SIGTERM, 143)]
)
def test_an_interrupt_ends_everything(tmp_path: Path, jobs: int, asked: int, status: int) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "bin" / "nvcc").write_text(SLEEPER)
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    log = tmp_path / "log"
    for name in ("a.cu", "b.cu"):
        (tmp_path / name).write_text("x")
    environment = {"CUDA_HOME": str(tmp_path), "LOG": str(log), "TMPDIR": str(tmp_path / "tmp")}
    arguments = ["-j", str(jobs), "--output-file", "json=out.json", "a.cu", str(HAZARD), "b.cu"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ptxlint", "check", *arguments],
        cwd=tmp_path,
        env={**os.environ, **environment, "PYTHONPATH": str(FIXTURES.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until(lambda: log.exists() and len(log.read_text().split()) == jobs)
    process.send_signal(asked)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip()) == (status, b"", b"")
    for number in log.read_text().split():
        until(lambda number=number: has_ended(number))  # type: ignore[misc]
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "out.json").exists()


def has_ended(process: str) -> bool:
    """Return whether a process is gone; one that only waits to be asked how it ended is."""
    try:
        os.kill(int(process), 0)
        stat = Path(f"/proc/{process}/stat")
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def until(condition: Callable[[], bool]) -> None:
    """Wait until *condition* holds."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def store(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def nothing_is_analysed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("analysed again")

    monkeypatch.setattr(linter, "read_text", refuse)


def test_a_second_run_finds_the_same_without_work(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    first = check(HAZARD, OTHER, CLEAN, store=store)
    nothing_is_analysed(monkeypatch)
    assert check(HAZARD, OTHER, CLEAN, store=store) == first
    assert check(HAZARD, OTHER, CLEAN, store=store, jobs=2) == first


def test_filters_use_the_same_result(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    check(HAZARD, store=store)
    nothing_is_analysed(monkeypatch)
    [report] = check(HAZARD, store=store, settings=Settings(ignore=("PTX201",), strict=True))
    assert report.error is None


@pytest.mark.parametrize(
    "settings",
    [
        Settings(block=(64, 1, 1)),
        Settings(cluster=(2, 1, 1)),
        Settings(max_steps=10),
        Settings(kernels=(LaunchHint("*", (64, 1, 1)),)),
    ],
)
def test_what_changes_the_analysis_is_not_mixed_up(
    store: Cache, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    check(HAZARD, store=store)
    nothing_is_analysed(monkeypatch)
    assert "analysed again" in (check(HAZARD, store=store, settings=settings)[0].error or "")


def test_another_text_or_version_is_not_mixed_up(
    store: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(HAZARD, store=store)
    (tmp_path / "k.ptx").write_text(HAZARD.read_text("utf-8") + "\n")
    monkeypatch.setattr(cache, "engine_digest", lambda: "another")
    newer = Cache(store.folder)
    nothing_is_analysed(monkeypatch)
    assert check(tmp_path / "k.ptx", store=store)[0].error
    assert check(HAZARD, store=newer)[0].error
    assert check(HAZARD, store=store)[0].error is None


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.abort, ()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'["", null, 3, []]',
        b"\xff\xfe",
        b"[" * 100_000,
        pickle.dumps(_Evil()),
        json.dumps(["", None, [["k", "sm_90a", "all is well", []]], []]).encode(),
    ],
)
def test_a_damaged_entry_is_made_again(store: Cache, data: bytes) -> None:
    first = check(HAZARD, store=store)
    [entry] = store.folder.rglob("*.json")
    good = entry.read_bytes()
    entry.write_bytes(data)
    assert check(HAZARD, store=store) == first
    assert json.loads(entry.read_bytes()) == json.loads(good)
    assert [path.name for path in entry.parent.iterdir()] == [entry.name]


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    [report] = check(HAZARD, store=Cache(tmp_path / "file" / "cache"))
    assert report.error is None


def test_cleaning(store: Cache, tmp_path: Path) -> None:
    assert clean(store.folder) == 0
    check(HAZARD, CLEAN, store=store)
    (store.folder / "mine.txt").write_text("")
    assert clean(store.folder) == 2
    assert [path.name for path in store.folder.iterdir()] == ["mine.txt"]
    with pytest.raises(CacheError, match=r"is not a cache of ptxlint: there is no CACHEDIR\.TAG"):
        clean(store.folder)
    assert tmp_path.exists()


def test_old_versions_are_removed(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    check(HAZARD, store=store)
    [version] = store.folder.glob("v*-*")
    os.utime(version, (0, 0))
    monkeypatch.setattr(cache, "engine_digest", lambda: "another")
    check(HAZARD, store=Cache(store.folder))
    assert [path.name for path in store.folder.glob("v*-*")] == ["v1-another"]


def test_every_field_of_a_report_is_kept() -> None:
    [report] = check(OTHER)
    assert report.kernels[0].findings
    assert from_plain(FileReport, json.loads(json.dumps(to_plain(report)))) == report
    with pytest.raises(TypeError):
        to_plain(object())
    with pytest.raises(ValueError, match="fields of FileReport"):
        from_plain(FileReport, [1])


@pytest.mark.parametrize(
    ("share", "most"), [("max 100000", 64), ("150000 100000", 2), ("1 100000", 1), ("", 64)]
)
def test_a_container_has_its_share_of_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: str, most: int
) -> None:
    (tmp_path / "cpu.max").write_text(share)
    monkeypatch.setattr(workers, "_CPU_SHARE", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)
    assert workers.available_processors() == most
