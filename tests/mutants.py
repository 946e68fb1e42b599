"""Breaks correct kernels, one instruction at a time, and counts how many of the breaks are reported.

usage: python -m tests.mutants [NAME ...]

Each mutant deletes, weakens or replaces one synchronising instruction of a clean fixture. A mutant is caught if
it has a finding of severity warning or higher. What survives is listed: a survivor is either a hazard that is
missed, or a change that the model allows (a fence that another fence covers, a wait that another wait repeats).
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ptxlint.linter import check_text
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Instruction, Module
from ptxlint.report.finding import Severity
from ptxlint.settings import Settings
from tests.conftest import ROOT

KERNELS = (
    "clean/gemm_warp_specialised.sm_90a",
    "clean/gemm_persistent.sm_90a",
    "clean/gemm_tcgen05.sm_100a",
    "clean/triton_matmul.sm_90a",
    "clean/triton_pipelined.sm_90a",
    "clean/rms_norm_in_place.sm_90a",
    "ptx102/two_stage_combine_fixed.sm_90a",
    "ptx102/ldmatrix_ring_fixed.sm_90a",
    "ptx102/wgmma_reads_lookalike.sm_90a",
    "ptx201/two_stage_copy_fixed.sm_90a",
    "ptx201/four_stage_copy_lookalike.sm_90a",
    "ptx201/three_stage_copy_unrolled_fixed.sm_90a",
    "ptx201/square_two_buffers_fixed.sm_90a",
    "ptx202/store_warp_lookalike.sm_90a",
    "ptx202/wait_at_loop_top_lookalike.sm_90a",
    "ptx204/copy_loader_waits_fixed.sm_90a",
    "ptx206/rotate_no_drain_fixed.sm_90a",
    "ptx301/leader_waits_alone_fixed.sm_90a",
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed kernel: what was done, on which line of the PTX, and the text."""

    what: str
    line: int
    text: str


def mutants(text: str) -> Iterator[Mutant]:
    """Yield the mutants of a PTX text."""
    module = parse(text, "mutant.ptx")
    for function in module.functions:
        for instruction in function.instructions:
            for effect in semantics.decode(instruction):
                for what, replacement in changes(module, instruction, effect):
                    changed = text[: instruction.offset] + replacement + text[instruction.end :]
                    yield Mutant(what, module.position(instruction).line, changed)


def changes(module: Module, instruction: Instruction, effect: fx.Effect) -> Iterator[tuple[str, str]]:
    """Yield (description, new statement) for each way to break *instruction*."""
    statement = module.source.text[instruction.offset : instruction.end]
    if isinstance(effect, fx.ProxyFence) and effect.kind == "async" and "shared" in effect.spaces:
        yield "proxy fence deleted", ""
        yield "proxy fence made a thread fence", "fence.acq_rel.cta;"
        yield "proxy fence made one of global memory", "fence.proxy.async.global;"
    elif isinstance(effect, fx.BulkWait):
        yield "wait_group deleted", ""
        number = str(effect.pending)
        at = statement.rindex(number)
        yield "wait_group weakened", statement[:at] + str(effect.pending + 1) + statement[at + len(number) :]
    elif isinstance(effect, fx.BulkCommit):
        yield "commit_group deleted", ""
    elif isinstance(effect, fx.MbarrierWait) and hasattr(effect.dst, "text"):
        yield "mbarrier wait taken as done", f"setp.eq.u32 {effect.dst.text.split('#')[0]}, 0, 0;"
    elif isinstance(effect, fx.MbarrierArrive) and effect.expect is None:
        yield "arrive deleted", "" if effect.dst is None or not hasattr(effect.dst, "text") else statement
    elif isinstance(effect, fx.WgmmaWait):
        yield "wgmma wait deleted", ""
    elif isinstance(effect, fx.TensorCommit):
        yield "tcgen05 commit deleted", ""
    elif isinstance(effect, fx.CtaBarrier) and not effect.arrive_only and effect.dst is None:
        yield "CTA barrier deleted", ""


def caught(text: str) -> list[str]:
    """Return the codes of severity warning or higher that *text* is reported with."""
    report = check_text(text, "mutant.ptx", Settings())
    findings = [finding for kernel in report.kernels for finding in kernel.findings]
    return sorted({f.code for f in findings if f.severity is not Severity.NOTE})


def main(names: list[str]) -> int:
    """Print the score; return 1 if a kernel is reported unchanged."""
    total = found = 0
    wrong = False
    for name in KERNELS:
        if names and not any(part in name for part in names):
            continue
        path: Path = ROOT / "fixtures" / f"{name}.ptx"
        text = path.read_text("utf-8")
        if codes := caught(text):
            print(f"{name}: reported unchanged: {', '.join(codes)}")
            wrong = True
            continue
        for mutant in mutants(text):
            if mutant.text == text:
                continue
            total += 1
            codes = caught(mutant.text)
            if codes:
                found += 1
            else:
                print(f"{name}:{mutant.line}: survived: {mutant.what}")
    score = 100 * found / total if total else 0.0
    print(f"{found} of {total} mutants caught ({score:.1f} %)")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
