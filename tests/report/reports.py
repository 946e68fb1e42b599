"""Reports built by hand, with the sources that they point into."""

from pathlib import Path

from ptxlint.ptx.source import SourceLocation
from ptxlint.report.finding import (
    Confidence,
    Coverage,
    FileReport,
    Finding,
    Fix,
    KernelReport,
    Report,
    Severity,
    Site,
    Step,
)

CUDA = """\
__device__ void store(char* to, char* stage) { asm volatile("cp.async.bulk..."); }
__device__ void load(char* stage, const char* from) { asm volatile("cp.async.bulk..."); }

__global__ void copy(const char* from, char* to) {
\tfor (int c = 0; c < 8; ++c) {
\t\tstore(to, stages[c % 2]);
\t\tcommit();
\t\twait<1>();
\t\tload(stages[c % 2], from);
\t}
}
"""

PTX = """\
.version 9.0
.target sm_90a
.address_size 64
.visible .entry copy()
{
\tcp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 4096;
\t@%p1 cp.async.bulk.wait_group.read 1;
\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 4096, [%r2];
\tret;
}
"""

COMPLETE = Coverage((8, 8), (40, 40), (15, 15), (27, 27))


def at(line: int, column: int, *chain: tuple[int, int]) -> Site:
    return Site(line, column, tuple(SourceLocation("copy.cu", *link) for link in chain))


STORE = at(6, 2, (1, 48), (6, 3))
WAIT = at(7, 2, (8, 3))
LOAD = at(8, 2, (2, 55), (9, 3))


def weak_wait(**changes: object) -> Finding:
    """A finding with two ends, a near miss and a repair."""
    values: dict[str, object] = {
        "code": "PTX201",
        "name": "wait-group-too-weak",
        "cause": "count",
        "severity": Severity.ERROR,
        "confidence": Confidence.MEDIUM,
        "message": "the stage is refilled while the store that reads it may be pending",
        "site": LOAD,
        "trace": (
            Step("async unit", STORE, "reads 4096 bytes of stages", "first"),
            Step("warp 0 lane 0", at(6, 2, (7, 3)), "commits the bulk async-group"),
            Step("warp 0 lane 0", WAIT, "leaves the newest group pending", "near-miss"),
            Step("async unit", LOAD, "writes 4096 bytes of stages", "second"),
        ),
        "fix": Fix(
            "wait for all groups before the refill",
            "cp.async.bulk.wait_group.read 0;",
            'asm volatile("cp.async.bulk.wait_group.read 0;"\n             ::: "memory");',
        ),
        "count": 3,
        "fingerprint": "0123456789abcdef",
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type] # the defaults have the right types


def report(*findings: Finding, coverage: Coverage = COMPLETE, text: str = PTX) -> Report:
    """A report of one file with one kernel."""
    kernel = KernelReport("copy", "sm_90a", coverage, list(findings))
    return Report([FileReport("copy.sm_90a.ptx", kernels=[kernel], text=text)])


def write_sources(folder: Path) -> None:
    """Put the CUDA source on disk, where the report looks for it."""
    (folder / "copy.cu").write_text(CUDA, "utf-8")
