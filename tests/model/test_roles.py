"""Which names an instruction writes and reads, whatever its opcode."""

import pytest

from tests.model.decoding import roles_of

DONE = "mbarrier::complete_tx::bytes"

ROWS: list[tuple[str, str, str]] = [
    # text, written, read
    ("add.s32 %r1, %r2, %r3", "%r1", "%r2 %r3"),
    ("add.s32 %r1, %r1, 4", "%r1", "%r1"),
    ("mov.u32 %r1, %tid.x", "%r1", "%tid.x"),
    ("mov.u32 %r1, smem+64", "%r1", "smem"),
    ("mov.b64 %rd1, {%r1, %r2}", "%rd1", "%r1 %r2"),
    ("mov.b64 {%r1, _}, %rd1", "%r1", "%rd1"),
    ("@%p1 mov.u32 %r1, 1", "%r1", "%p1"),
    ("@!%p1 add.s32 %r1, %r2, %r3", "%r1", "%p1 %r2 %r3"),
    ("setp.lt.s32 %p1|%p2, %r1, %r2", "%p1 %p2", "%r1 %r2"),
    ("setp.eq.and.s32 %p1|_, %r1, %r2, !%p3", "%p1", "%r1 %r2 %p3"),
    ("selp.b32 %r1, %r2, %r3, %p1", "%r1", "%r2 %r3 %p1"),
    ("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2", "%r1 %p1", "%r2 %r3 %r4 %p2"),
    ("vadd.u32.u32.u32.add %r1.b0, %r2.h1, %r3, %r4", "%r1", "%r1 %r2 %r3 %r4"),
    ("vadd.u32.u32.u32 %r1, %r2.b3, %r3", "%r1", "%r2 %r3"),
    # memory
    ("ld.global.u32 %r1, [%rd1+8]", "%r1", "%rd1"),
    ("ld.shared.v2.u32 {%r1, %r2}, [buf]", "%r1 %r2", "buf"),
    ("ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2", "%r1", "%rd1 %rd2"),
    ("st.shared.v2.u32 [%r1], {%r2, %r3}", "", "%r1 %r2 %r3"),
    ("st.global.u32 [%rd1], 0", "", "%rd1"),
    ("st.bulk.shared::cta [%r1], %rd1, 0", "", "%r1 %rd1"),
    ("atom.shared.cas.b32 %r1, [%r2], %r3, %r4", "%r1", "%r2 %r3 %r4"),
    ("atom.global.add.u32 _, [%rd1], 1", "", "%rd1"),
    ("red.global.add.u32 [%rd1], %r1", "", "%rd1 %r1"),
    ("multimem.ld_reduce.global.add.u32 %r1, [%rd1]", "%r1", "%rd1"),
    ("multimem.st.global.u32 [%rd1], %r1", "", "%rd1 %r1"),
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3]", "%r1 %r2", "%r3"),
    ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2}", "", "%r1 %r2"),
    ("prefetch.global.L2 [%rd1]", "", "%rd1"),
    ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex, {%r1}]", "%f1 %f2 %f3 %f4", "tex %r1"),
    ("sust.b.1d.b32.trap [surf, {%r1}], %r2", "", "surf %r1 %r2"),
    # asynchronous copies
    ("cp.async.ca.shared.global [%r1], [%rd1], 8, %r2", "", "%r1 %rd1 %r2"),
    ("cp.async.wait_group 1", "", ""),
    ("cp.async.bulk.wait_group.read 0", "", ""),
    (f"cp.async.bulk.shared::cta.global.{DONE} [%r1], [%rd1], %r2, [%r3]", "", "%r1 %rd1 %r2 %r3"),
    (
        f"cp.async.bulk.tensor.2d.shared::cluster.global.{DONE}.multicast::cluster "
        "[%r1], [%rd1, {%r2, %r3}], [%r4], %rs1",
        "",
        "%r1 %rd1 %r2 %r3 %r4 %rs1",
    ),
    (
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.L2::cache_hint [%rd1, {%r1}], [%r2], %rd2",
        "",
        "%rd1 %r1 %r2 %rd2",
    ),
    (f"st.async.shared::cluster.{DONE}.v2.b32 [%r1], {{%r2, %r3}}, [%r4]", "", "%r1 %r2 %r3 %r4"),
    # synchronisation
    ("mbarrier.init.shared.b64 [%r1], %r2", "", "%r1 %r2"),
    ("mbarrier.arrive.shared.b64 %rd1, [%r1]", "%rd1", "%r1"),
    ("mbarrier.arrive.shared::cluster.b64 _, [%r1], %r2", "", "%r1 %r2"),
    ("mbarrier.arrive.expect_tx.shared.b64 _, [%r1], %r2", "", "%r1 %r2"),
    ("mbarrier.arrive.shared::cta.b64 [%r1], %r2", "", "%r1 %r2"),
    ("mbarrier.expect_tx.shared.b64 [%r1], %r2", "", "%r1 %r2"),
    ("mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2, %r3", "%p1", "%r1 %r2 %r3"),
    (
        "mbarrier.try_wait.phase_type::primary.b64 %p1|%p2, %rs1, [%rd1], %rd2",
        "%p1 %p2 %rs1",
        "%rd1 %rd2",
    ),
    ("mbarrier.pending_count.b64 %r1, %rd1", "%r1", "%rd1"),
    ("fence.proxy.async", "", ""),
    ("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128", "", "%rd1"),
    ("bar.sync %r1, %r2", "", "%r1 %r2"),
    ("bar.red.popc.u32 %r1, 0, %p1", "%r1", "%p1"),
    ("barrier.red.or.pred %p1, %r1, %r2, !%p2", "%p1", "%r1 %r2 %p2"),
    ("barrier.arrive %r1, %r2", "", "%r1 %r2"),
    ("bar.warp.sync %r1", "", "%r1"),
    ("shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, %r4", "%r1 %p1", "%r2 %r3 %r4"),
    ("vote.sync.all.pred %p1, !%p2, %r1", "%p1", "%p2 %r1"),
    ("elect.sync %r1|%p1, %r2", "%r1 %p1", "%r2"),
    ("elect.sync _|%p1, -1", "%p1", ""),
    ("activemask.b32 %r1", "%r1", ""),
    ("setmaxnreg.inc.sync.aligned.u32 232", "", ""),
    ("nanosleep.u32 %r1", "", "%r1"),
    ("stackrestore.u64 %rd1", "", "%rd1"),
    (
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %rq1",
        "%r1",
        "%rq1",
    ),
    # tensor cores
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0",
        "%f1 %f2 %f3 %f4",
        "%f1 %f2 %f3 %f4 %rd1 %rd2 %p1",
    ),
    ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], %r2", "", "%r1 %r2"),
    ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, %r2", "", "%r1 %r2"),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1", "", "%r1 %rd1 %rd2 %r2 %p1"),
    ("tcgen05.cp.cta_group::1.128x256b [%r1], %rd1", "", "%r1 %rd1"),
    ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3]", "%r1 %r2", "%r3"),
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, %r3, [%r4]", "%r1 %r2 %r3", "%r4"),
    ("tcgen05.st.sync.aligned.32x32b.x2.b32 [%r3], {%r1, %r2}", "", "%r3 %r1 %r2"),
    ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1]", "", "%rd1"),
    ("tensormap.replace.tile.rank.global.b1024.b32 [%rd1], %r1", "", "%rd1 %r1"),
    # not in the tables
    ("frobnicate.u32 %r1, [%r2], %r3", "%r1", "%r2 %r3"),
    ("frobnicate.u32 [%r2], %r3", "", "%r2 %r3"),
    ("add.frob.u32 %r1, %r2", "%r1", "%r2"),
    ("cp.async.bulk.frobnicate %r1, %r2", "", "%r1 %r2"),
    ("tcgen05.dealloc.frob.cta_group::1 %r1, %r2", "", "%r1 %r2"),
    ("fabric.submit %r1", "", "%r1"),
]


@pytest.mark.parametrize(("text", "written", "read"), ROWS, ids=[row[0] for row in ROWS])
def test_written_and_read_names(text: str, written: str, read: str) -> None:
    assert roles_of(text) == (tuple(written.split()), tuple(read.split()))
