"""Runs the mutants of all kernels and counts those that are reported with a code of the right family."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ptxlint.linter import check_text
from ptxlint.report.finding import Severity
from ptxlint.settings import Settings
from tests.conftest import ROOT
from tests.mutants.operators import Mutant, mutants

# Ordered by the time they take, so that two processes end together.
KERNELS = (
    "clean/triton_matmul.sm_90a",
    "clean/gemm_persistent.sm_90a",
    "ptx102/ldmatrix_ring_fixed.sm_90a",
    "clean/gemm_warp_specialised.sm_90a",
    "clean/gemm_tcgen05.sm_100a",
    "clean/triton_pipelined.sm_90a",
    "ptx202/store_warp_lookalike.sm_90a",
    "ptx301/leader_waits_alone_fixed.sm_90a",
    "ptx102/wgmma_reads_lookalike.sm_90a",
    "ptx204/copy_loader_waits_fixed.sm_90a",
    "ptx201/three_stage_copy_unrolled_fixed.sm_90a",
    "clean/rms_norm_in_place.sm_90a",
    "ptx201/square_two_buffers_fixed.sm_90a",
    "ptx102/two_stage_combine_fixed.sm_90a",
    "ptx201/four_stage_copy_lookalike.sm_90a",
    "ptx201/two_stage_copy_fixed.sm_90a",
    "ptx202/wait_at_loop_top_lookalike.sm_90a",
    "ptx206/rotate_no_drain_fixed.sm_90a",
)
EQUIVALENT = Path(__file__).with_name("equivalent.json")
LIMITS = ("PTX990", "PTX991")


@dataclass
class Result:
    """What became of one kernel's mutants. ``missed`` holds (mutant, the codes of other families)."""

    kernel: str
    total: int = 0
    caught: int = 0
    unchanged: list[str] = field(default_factory=list)
    missed: list[tuple[Mutant, list[str]]] = field(default_factory=list)
    explained: list[tuple[Mutant, str]] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)


def source(kernel: str) -> str:
    """Return the PTX of *kernel*, a path under ``fixtures`` without its suffix."""
    return (ROOT / "fixtures" / f"{kernel}.ptx").read_text("utf-8")


def codes(text: str, notes: bool = True) -> list[str]:
    """Return the codes that *text* is reported with; *notes*: those of severity note too."""
    report = check_text(text, "mutant.ptx", Settings())
    if report.problems:
        raise ValueError(f"a mutant does not parse: {report.error}")
    findings = [finding for kernel in report.kernels for finding in kernel.findings]
    return sorted({f.code for f in findings if notes or f.severity is not Severity.NOTE} - {*LIMITS})


def is_caught(mutant: Mutant, found: Iterable[str]) -> bool:
    """Return whether one of the codes *found* names what *mutant* breaks."""
    return any(code.startswith(mutant.family) for code in found)


def reasons(kernel: str) -> dict[tuple[str, str, int], str]:
    """Return why mutants of *kernel* that survive are no hazard, by their keys."""
    entries = json.loads(EQUIVALENT.read_text("utf-8"))
    return {
        (operator, entry["statement"], nth): entry["reason"]
        for entry in entries
        if entry["kernel"] == kernel
        for operator in entry["operators"]
        for nth in entry["nth"]
    }


def run(kernel: str) -> Result:
    """Check *kernel* and all its mutants."""
    result = Result(kernel)
    text = source(kernel)
    result.unchanged = codes(text, notes=False)
    known = reasons(kernel)
    for mutant in mutants(text):
        result.total += 1
        found = codes(mutant.text)
        reason = known.pop(mutant.key, None)
        if is_caught(mutant, found):
            result.caught += 1
            if reason is not None:
                result.stale.append(f"{mutant.operator} ({mutant.statement}, {mutant.nth}): is reported")
        elif reason is not None:
            result.explained.append((mutant, reason))
        else:
            result.missed.append((mutant, found))
    result.stale += [f"{key[0]} ({key[1]}, {key[2]}): no such mutant" for key in known]
    return result
