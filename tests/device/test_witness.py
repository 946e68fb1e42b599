"""Witness schedules: what is rewritten, and that it is PTX; what they compute is for tests/test_device.py."""

import re
import shutil

import pytest

from ptxlint.device.witness import (
    WitnessError,
    all_witnesses,
    defer_stores,
    held_back,
    is_bulk_store,
    witness,
    witness_text,
)
from ptxlint.fix.repair import assembly_error
from ptxlint.linter import check_text
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Module
from ptxlint.report.finding import Finding
from ptxlint.settings import Settings
from tests.conftest import FIXTURES

STORES = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry stores(.param .u64 target, .param .u64 sums)
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	.shared .align 128 .b8 tile[1024];
	ld.param.u64 %rd1, [target];
	ld.param.u64 %rd2, [sums];
	mov.u32 %r1, tile;
	mov.u32 %r2, 512;
	mov.u32 %r3, %tid.x;
	setp.eq.u32 %p1, %r3, 0;
	@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;
	@%p1 cp.async.bulk.commit_group;
	@!%p1 cp.async.bulk.wait_group.read 3;
	{
		.reg .b64 %rd1;
		.reg .pred %q;
		add.u64 %rd1, %rd2, 512;
		setp.ne.u32 %q, %r3, 0;
		@!%q cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 256;
	}
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 1;
	@%p1 ret;
	cp.async.bulk.wait_group.read 0;
	ret;
}
"""


def kernel(text: str) -> tuple[Module, Function]:
    module = parse(text)
    assert not module.problems
    return module, next(f for f in module.functions if f.is_entry)


def fixture(name: str) -> str:
    return (FIXTURES / f"{name}.sm_90a.ptx").read_text("utf-8")


def reported(text: str) -> Finding:
    report = check_text(text, "kernel.ptx", Settings())
    return next(f for k in report.kernels for f in k.findings)


def assembles(text: str) -> None:
    module, _ = kernel(text)
    assert assembly_error(text, module) is None


def count(text: str, *kinds: type[fx.Effect]) -> int:
    _, function = kernel(text)
    return sum(isinstance(e, kinds) for i in function.instructions for e in semantics.decode(i))


def test_commits_and_waits_are_replaced() -> None:
    text = defer_stores(*kernel(STORES)).text
    assembles(text)
    # The program's own counts are kept in a register: one step a commit, one limit a wait.
    assert len(re.findall(r"add\.u32 %ptxlint_group, %ptxlint_group, 1;", text)) == 2
    assert re.findall(r"sub\.s32 %ptxlint_limit, %ptxlint_group, (\d+);", text) == ["3", "1", "0"]
    # What is forced is one new group: a commit a flush (3 waits, 2 ends, 2 full queues), and all of it is waited for.
    assert count(text, fx.BulkCommit) == 7
    waits = [e for i in kernel(text)[1].instructions for e in semantics.decode(i) if isinstance(e, fx.BulkWait)]  # fmt: skip
    assert [(wait.pending, wait.read) for wait in waits] == [(0, True), (0, False), (0, True)]
    assert defer_stores(*kernel(STORES)).what == "2 bulk stores are deferred to the waits that force them"


def test_guards_and_scopes() -> None:
    text = defer_stores(*kernel(STORES)).text
    # Each store, commit, wait and end is skipped where its guard does not hold.
    assert len(re.findall(r"@!%p1 bra ptxlint_skip;", text)) == 3  # store, commit, ret
    assert len(re.findall(r"@%p1 bra ptxlint_skip;", text)) == 1  # wait
    assert len(re.findall(r"@%q bra ptxlint_skip;", text)) == 1  # reduction
    # No store is issued where it stood; each flush can issue both, with operands out of the queue.
    assert all(i.guard is None for i in kernel(text)[1].instructions if is_bulk_store(i))
    flushes = 7
    assert count(text, fx.BulkCopy) == 2 * flushes
    assert not re.search(r"bulk_group(\.add\.u32)? \[%rd1\]", text)
    # The inner %rd1 is what the reduction keeps, the outer what the store keeps.
    inner = text[text.index("add.u64 %rd1") :]
    assert inner.index("st.local.b64 [%ptxlint_at+8], %rd1;") < inner.index("wait_group")


def test_registers_keep_their_width_and_the_queue_is_large_enough() -> None:
    text = defer_stores(*kernel(STORES)).text
    # Two words of 4 bytes, then 8 bytes a register: %rd1, %r1, %r2 are the most.
    assert f".local .align 8 .b8 __ptxlint_queue[{64 * (8 + 8 * 3)}];" in text
    assert "st.local.b32 [%ptxlint_at+16], %r1;" in text
    assert "ld.local.b64 %ptxlint_o0, [%ptxlint_at+8];" in text
    # When it is full, what is queued goes out first.
    assert text.count("setp.lt.u32 %ptxlint_p, %ptxlint_a, 64;") == 2


def test_the_queue_is_declared_outside_of_loops_and_scopes() -> None:
    loop = STORES.replace("ld.param.u64 %rd1", "// {\n$L_again:\n\t{ ld.param.u64 %rd1", 1).replace(
        "ld.param.u64 %rd2, [sums];", "ld.param.u64 %rd2, [sums]; }\n\t@%p2 bra $L_again;", 1
    )
    text = defer_stores(*kernel(loop.replace("{\n\t.reg", "/* { */ { // {\n\t.reg", 1))).text
    assembles(text)
    assert text.index("mov.b32 %ptxlint_group, 0;") < text.index("$L_again:")


def test_calls_are_refused() -> None:
    text = fixture("ptx202/drain_in_helper_lookalike")
    with pytest.raises(WitnessError, match="calls functions"):
        defer_stores(*kernel(text))
    # What needs no deferral can still be held back.
    assert all_witnesses(*kernel(text)) == []


def test_the_first_access_is_held_back() -> None:
    text = fixture("ptx304/warp_lists_constant_parity")
    made = witness(*kernel(text), reported(text))
    assert made.what == "cp.async.bulk is held back in its thread"
    assembles(made.text)
    lines = made.text.splitlines()
    at = next(n for n, line in enumerate(lines) if "nanosleep" in line)
    assert "cp.async.bulk" in lines[at + 1]
    assert [line for line in text.splitlines() if line not in lines] == []


def test_only_the_warp_of_the_first_access_is_late() -> None:
    text = fixture("ptx302/pair_without_barrier")
    made = witness(*kernel(text), reported(text))
    assert made.what == "ld.shared.v4 is held back in warp 1"
    assembles(made.text)
    assert made.text.count("setp.ne.u32 %ptxlint_p, %ptxlint_i, 1;") == 1
    assert "%ptxlint_i, %ptxlint_i, 5;" in made.text


def test_what_comes_after_the_release_is_late() -> None:
    text = fixture("ptx303/scales_read_after_release")
    finding = reported(text)
    assert finding.code == "PTX303"
    made = witness(*kernel(text), finding)
    assert made.what == "ld.shared.f32 is held back in warp 0"
    assembles(made.text)


def test_of_two_ctas_one_is_late() -> None:
    text = fixture("ptx606/row_written_late")
    made = witness(*kernel(text), reported(text))
    assert made.what == "st.shared.u32 is held back in the CTAs of odd rank"
    assembles(made.text)
    assert "mov.u32 %ptxlint_i, %cluster_ctarank;" in made.text


def test_nothing_is_late_where_the_guard_does_not_hold() -> None:
    module, function = kernel(STORES)
    anchors = [i for i in function.instructions if i.guard is not None][:3]
    text = held_back(module, anchors)
    assembles(text)
    assert re.findall(r"(@!?%p1) bra ptxlint_skip;", text) == ["@!%p1", "@!%p1", "@%p1"]


def test_what_is_forced_is_late() -> None:
    # One delay a wait, where anything is queued; none at the ends and where the queue is full.
    text = defer_stores(*kernel(STORES)).text
    assert text.count("nanosleep") == 3
    assert len(re.findall(r"@%ptxlint_p bra ptxlint_hurry\d+;", text)) == 3


def test_every_copy_of_an_unrolled_loop() -> None:
    text = fixture("ptx201/three_stage_copy_unrolled")
    module, function = kernel(text)
    made = witness(module, function, reported(text))
    sites = sum(map(is_bulk_store, function.instructions))
    assert sites > 1
    assert made.what.startswith(f"{sites} bulk stores")
    assembles(made.text)


def test_all_witnesses() -> None:
    text = fixture("ptx201/two_stage_copy_fixed")
    module, function = kernel(text)
    made = all_witnesses(module, function)
    loads = sum(any(isinstance(e, (fx.BulkCopy, fx.MbarrierArrive)) for e in semantics.decode(i)) and not is_bulk_store(i) for i in function.instructions)  # fmt: skip
    assert len(made) == loads + 1
    assert len({m.text for m in made}) == len(made)
    assert len({m.what for m in made}) == len(made)
    for each in made:
        assembles(each.text)
    assert all_witnesses(*kernel(fixture("ptx401/own_bytes_no_barrier_lookalike"))) == []


def test_by_name() -> None:
    text = fixture("ptx202/scale_no_wait")
    finding = reported(text)
    assert witness_text(text, "kernel.ptx", "scale_no_wait", finding).what.endswith("that force them")
    with pytest.raises(WitnessError, match="no kernel 'other'"):
        witness_text(text, "kernel.ptx", "other", finding)


def test_a_finding_of_one_place_has_no_witness() -> None:
    text = fixture("ptx202/scale_no_wait")
    finding = reported(text)
    from dataclasses import replace

    with pytest.raises(WitnessError, match="PTX202 does not name two accesses"):
        witness(*kernel(text), replace(finding, trace=()))


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas")
@pytest.mark.parametrize("name", ["ptx201/relu_predicated", "ptx206/nothing_more_to_add", "ptx203/lanes_store_first_commits"])  # fmt: skip
def test_fixtures_assemble(name: str) -> None:
    text = fixture(name)
    assembles(witness(*kernel(text), reported(text)).text)
