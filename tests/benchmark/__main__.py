"""Times ptxlint against ptxas.

usage: python -m tests.benchmark [--rounds N] [--limit SECONDS] [--json FILE] [FILE ...]

Without files, generated ones of growing size are taken: stages of a ring, warps, unrolling, kernels a file. For each
file the whole process (nothing cached), parsing alone, the engine alone and `ptxas -O3` are run in turn; medians of CPU
seconds are printed, with ratios, MB/s and peak memory.
"""

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmark.generate import SERIES, ring
from tests.benchmark.measure import ENGINE, PARSE, PTXAS, WHOLE, Sample, measure

_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_LONG = 1.0  # seconds of ptxas from which a ratio above 1 is counted by itself


def row(path: Path, rounds: int, limit: float) -> dict[str, Any]:
    """Measure one file."""
    text = path.read_text("utf-8", errors="replace")
    target = _TARGET.search(text)
    samples = measure(path, shutil.which("ptxas"), target[1] if target else None, rounds, limit)
    whole, ptxas = median(samples, WHOLE), median(samples, PTXAS)
    parse = median(samples, PARSE)
    size = path.stat().st_size / 1e6
    return {
        "file": path.name,
        "mb": size,
        "check_s": whole,
        "parse_s": parse,
        "engine_s": median(samples, ENGINE),
        "ptxas_s": ptxas,
        "ratio": whole / ptxas if whole is not None and ptxas else None,
        "parse_mb_s": size / parse if parse else None,
        "check_peak_mb": samples[WHOLE].peak_mb,
        "ptxas_peak_mb": samples[PTXAS].peak_mb if PTXAS in samples else None,
    }


def median(samples: dict[str, Sample], kind: str) -> float | None:
    """Return the median seconds of *kind*, if it was run and did not fail."""
    return samples[kind].median if kind in samples else None


def shown(value: Any, digits: int = 3) -> str:
    """Return a number for the table."""
    return "-" if value is None else f"{value:.{digits}f}"


def line(entry: dict[str, Any]) -> str:
    """Return the line of the table for one file."""
    return (
        f"{entry['file'][:44]:44} {entry['mb']:7.2f} {shown(entry['check_s']):>8} {shown(entry['parse_s']):>8} "
        f"{shown(entry['engine_s']):>8} {shown(entry['ptxas_s']):>8} {shown(entry['ratio'], 2):>7} "
        f"{shown(entry['parse_mb_s'], 1):>6} {shown(entry['check_peak_mb'], 0):>6} {shown(entry['ptxas_peak_mb'], 0):>6}"
    )


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures over all files."""
    ratios = sorted(entry["ratio"] for entry in rows if entry["ratio"] is not None)
    slow = [e for e in rows if e["ratio"] is not None and e["ptxas_s"] > _LONG and e["ratio"] > 1]
    large = [e["parse_mb_s"] for e in rows if e["mb"] > 0.5 and e["parse_mb_s"] is not None]
    return {
        "files": len(rows),
        "failed": sum(entry["check_s"] is None for entry in rows),
        "ratio_median": statistics.median(ratios) if ratios else None,
        "ratio_p90": ratios[int(0.9 * (len(ratios) - 1))] if ratios else None,
        "slower_than_long_ptxas": len(slow),
        "parse_mb_s_min_large": min(large) if large else None,
        "check_peak_mb_max": max((entry["check_peak_mb"] for entry in rows), default=None),
    }


def main(arguments: list[str]) -> int:
    """Measure, print the table and the figures, write JSON when asked."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one run")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        groups: dict[str, list[Path]] = {"": options.files}
        if not options.files:
            groups = {}
            for name, sizes in SERIES.items():
                groups[name] = []
                for size in sizes:
                    path = Path(folder) / f"{size.name}.ptx"
                    path.write_text(ring(size), "utf-8")
                    groups[name].append(path)
        print(
            f"{'file':44} {'MB':>7} {'check s':>8} {'parse s':>8} {'engine s':>8} {'ptxas s':>8} {'ratio':>7} "
            f"{'MB/s':>6} {'MB':>6} {'ptxas':>6}"
        )
        for name, paths in groups.items():
            if name:
                print(f"-- growing {name}")
            for path in paths:
                entry = row(path, options.rounds, options.limit)
                rows.append({"series": name, **entry})
                print(line(entry), flush=True)
    figures = summary(rows)
    for key, value in figures.items():
        print(f"{key.replace('_', ' ')}: {shown(value, 2) if isinstance(value, float) else value}")
    if options.json is not None:
        options.json.write_text(json.dumps({"rows": rows, "summary": figures}, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
