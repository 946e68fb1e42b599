"""Times and peak memory of processes, the kinds of work in turn so that all meet the same machine."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

WHOLE, PARSE, ENGINE, PTXAS = "check", "parse", "engine", "ptxas"

# In a process of its own, so that each starts cold; prints the CPU seconds of the part alone.
_PARSE = """
import sys, time
from ptxlint.ptx.parser import parse
text = open(sys.argv[1], encoding="utf-8", errors="replace").read()
start = time.process_time()
parse(text, sys.argv[1])
print(time.process_time() - start)
"""
_ENGINE = """
import sys, time
from ptxlint.engine.run import analyse, prepare
from ptxlint.ptx.parser import parse
module = parse(open(sys.argv[1], encoding="utf-8", errors="replace").read(), sys.argv[1])
start = time.process_time()
for function in module.functions:
    if function.is_entry and not function.is_declaration:
        analyse(prepare(module, function))
print(time.process_time() - start)
"""


@dataclass(slots=True)
class Sample:
    """What one kind of work took: CPU seconds of each run, peak memory in MB, whether a run failed."""

    seconds: list[float] = field(default_factory=list)
    peak_mb: float = 0.0
    failed: bool = False

    @property
    def median(self) -> float | None:
        """The median of the CPU seconds; None when no run succeeded."""
        return statistics.median(self.seconds) if self.seconds and not self.failed else None


def commands(path: Path, ptxas: str | None, target: str | None) -> dict[str, list[str]]:
    """Return the command of each kind of work on *path*."""
    found = {
        WHOLE: [sys.executable, "-m", "ptxlint", "check", "--isolated", "--no-cache", "-j", "1", str(path)],
        PARSE: [sys.executable, "-c", _PARSE, str(path)],
        ENGINE: [sys.executable, "-c", _ENGINE, str(path)],
    }
    if ptxas is not None and target is not None:
        found[PTXAS] = [ptxas, "-O3", f"-arch={target}", "-o", os.devnull, str(path)]
    return found


def measure(
    path: Path, ptxas: str | None, target: str | None, rounds: int, limit: float
) -> dict[str, Sample]:
    """Run every kind of work on *path* *rounds* times, in turn; *limit* is seconds for one run."""
    samples: dict[str, Sample] = {}
    for _ in range(rounds):
        for kind, command in commands(path, ptxas, target).items():
            sample = samples.setdefault(kind, Sample())
            if not sample.failed:
                _once(kind, command, sample, limit)
    return samples


def _once(kind: str, command: Sequence[str], sample: Sample, limit: float) -> None:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    end = time.monotonic() + limit
    assert process.stdout is not None
    printed = b""
    os.set_blocking(process.stdout.fileno(), False)
    while True:
        printed += process.stdout.read() or b""
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            process.kill()
            os.wait4(process.pid, 0)
            process.returncode = -9
            sample.failed = True
            process.stdout.close()
            return
        time.sleep(0.002)
    printed += process.stdout.read() or b""
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    sample.peak_mb = max(sample.peak_mb, usage.ru_maxrss / 1024)
    if process.returncode not in ((0, 1) if kind == WHOLE else (0,)):
        sample.failed = True
    elif kind in (PARSE, ENGINE):
        sample.seconds.append(float(printed))
    else:
        sample.seconds.append(usage.ru_utime + usage.ru_stime)
