"""The benchmark's inputs are correct kernels that ptxas takes; its figures are put together right."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ptxlint.linter import check_text
from ptxlint.settings import Settings
from tests.benchmark.__main__ import summary
from tests.benchmark.generate import SERIES, Size, ring
from tests.benchmark.measure import WHOLE, measure


@pytest.mark.parametrize(
    "size", [Size(), Size(stages=2, warps=1), Size(unrolled=3, kernels=2)], ids=lambda s: s.name
)
def test_generated_kernels_are_clean_and_covered(size: Size, tmp_path: Path) -> None:
    text = ring(size)
    report = check_text(text, "ring.ptx", Settings())
    assert len(report.kernels) == size.kernels
    assert all(kernel.coverage.complete and kernel.findings == [] for kernel in report.kernels)
    ptxas = shutil.which("ptxas")
    if ptxas is not None:
        path = tmp_path / "ring.ptx"
        path.write_text(text, "utf-8")
        done = subprocess.run(
            [ptxas, "-arch=sm_90a", "-o", str(tmp_path / "o"), str(path)], capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()


def test_a_generated_kernel_without_its_fence_is_reported() -> None:
    text = ring(Size()).replace("    fence.proxy.async.shared::cta;\n", "")
    report = check_text(text, "ring.ptx", Settings())
    assert [f.code for f in report.kernels[0].findings] == ["PTX102"]


def test_series_grow() -> None:
    for sizes in SERIES.values():
        lengths = [len(ring(size)) for size in sizes]
        assert lengths == sorted(lengths)


def test_one_measurement(tmp_path: Path) -> None:
    path = tmp_path / "ring.ptx"
    path.write_text(ring(Size(stages=2, warps=1)), "utf-8")
    samples = measure(path, None, None, 1, 60.0)
    assert set(samples) == {WHOLE, "parse", "engine"}
    assert all(sample.median is not None and sample.median > 0 for sample in samples.values())
    assert samples[WHOLE].peak_mb > 1


def test_summary() -> None:
    rows = [
        {"ratio": r, "ptxas_s": 2.0, "mb": 1.0, "parse_mb_s": 9.0, "check_s": 1.0, "check_peak_mb": 50.0}
        for r in (0.1, 0.2, 3.0)
    ]
    figures = summary(rows)
    assert (figures["ratio_median"], figures["slower_than_long_ptxas"], figures["failed"]) == (0.2, 1, 0)
