"""mbarriers, fences, barriers, collectives, launch control (PTX ISA 9.7.9.5-6, 9.7.13)."""

import pytest

from ptxlint.model.effects import (
    ClusterArrive,
    ClusterWait,
    Collective,
    Compute,
    CtaBarrier,
    Effect,
    GridDependency,
    LaunchCancel,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInitFence,
    MbarrierInvalidate,
    MbarrierWait,
    Nothing,
    Order,
    ProxyFence,
    Space,
    ThreadFence,
    WarpBarrier,
)
from ptxlint.ptx.syntax import Not
from tests.model.decoding import NO, A, I, N, R, effects_of

SHARED, CLUSTER, GENERIC = Space.SHARED, Space.CLUSTER, Space.GENERIC
ALL = frozenset({"shared", "cluster", "global"})

ROWS: list[tuple[str, Effect]] = [
    # mbarrier
    ("mbarrier.init.shared::cta.b64 [%r1], 128", MbarrierInit(A("%r1"), I(128), SHARED)),
    ("mbarrier.init.shared.b64 [bar+8], %r2", MbarrierInit(A("bar", 8), N("%r2"), SHARED)),
    ("mbarrier.init.b64 [%rd1], 1", MbarrierInit(A("%rd1"), I(1), GENERIC)),
    ("mbarrier.init.layout::v1.shared::cta.b64 [%r1], 1", MbarrierInit(A("%r1"), I(1), SHARED)),
    ("mbarrier.inval.shared::cta.b64 [%r1]", MbarrierInvalidate(A("%r1"), SHARED)),
    ("mbarrier.inval.b64 [%rd1]", MbarrierInvalidate(A("%rd1"), GENERIC)),
    ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 512", MbarrierExpect(A("%r1"), I(512), SHARED)),
    ("mbarrier.expect_tx.b64 [%rd1], %r2", MbarrierExpect(A("%rd1"), N("%r2"), GENERIC)),
    ("mbarrier.complete_tx.shared::cluster.b64 [%r1], 16", MbarrierComplete(A("%r1"), I(16), CLUSTER)),
    ("mbarrier.arrive.shared::cta.b64 _, [%r1]", MbarrierArrive(A("%r1"), dst=NO)),
    ("mbarrier.arrive.shared.b64 %rd1, [%r1], 4", MbarrierArrive(A("%r1"), I(4), dst=N("%rd1"))),
    ("mbarrier.arrive.b64 %rd1, [%rd2]", MbarrierArrive(A("%rd2"), space=GENERIC, dst=N("%rd1"))),
    (
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]",
        MbarrierArrive(A("%r1"), space=CLUSTER, scope="cluster", dst=NO),
    ),
    (
        "mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%r1], %r2",
        MbarrierArrive(A("%r1"), N("%r2"), order=Order.RELAXED, scope="cluster", dst=NO),
    ),
    (
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16384",
        MbarrierArrive(A("%r1"), expect=I(16384), dst=NO),
    ),
    (
        "mbarrier.arrive.expect_tx.shared::cluster.multicast::cluster::32b.b64 _, [%r1], 64, %r2",
        MbarrierArrive(A("%r1"), expect=I(64), space=CLUSTER, dst=NO),
    ),
    (
        "mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [%r1], %r2",
        MbarrierArrive(A("%r1"), space=CLUSTER, dst=NO),
    ),
    (
        "mbarrier.arrive.noComplete.shared.b64 %rd1, [%r1], 2",
        MbarrierArrive(A("%r1"), I(2), no_complete=True, dst=N("%rd1")),
    ),
    (
        "mbarrier.arrive_drop.shared::cta.b64 %rd1, [%r1]",
        MbarrierArrive(A("%r1"), drop=True, dst=N("%rd1")),
    ),
    (
        "mbarrier.arrive_drop.expect_tx.relaxed.cta.shared.b64 %rd1, [%r1], 32",
        MbarrierArrive(A("%r1"), expect=I(32), drop=True, order=Order.RELAXED, dst=N("%rd1")),
    ),
    (
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2",
        MbarrierWait(A("%r1"), N("%p1"), N("%r2")),
    ),
    (
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0, 10000000",
        MbarrierWait(A("%r1"), N("%p1"), I(0), scope="cluster"),
    ),
    (
        "mbarrier.try_wait.relaxed.cta.b64 %p1, [%rd1], %rd2",
        MbarrierWait(A("%rd1"), N("%p1"), None, N("%rd2"), True, GENERIC, Order.RELAXED),
    ),
    (
        "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1",
        MbarrierWait(A("%r1"), N("%p1"), None, N("%rd1"), False),
    ),
    (
        "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], %r2",
        MbarrierWait(A("%r1"), N("%p1"), N("%r2"), None, False),
    ),
    ("mbarrier.pending_count.b64 %r1, %rd1", Compute("opaque", R("%r1"), ())),
    ("mbarrier.check_layout.layout::v1.shared::cta.b64 %p1, [%r1]", Compute("opaque", R("%p1"), (), 1)),
    # fences
    ("fence.proxy.async", ProxyFence("async", ALL)),
    ("fence.proxy.async.global", ProxyFence("async", frozenset({"global"}))),
    ("fence.proxy.async.shared::cta", ProxyFence("async", frozenset({"shared"}))),
    ("fence.proxy.async.shared::cluster", ProxyFence("async", frozenset({"shared", "cluster"}))),
    (
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        ProxyFence("async", frozenset({"shared"}), "release", "cluster"),
    ),
    (
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
        ProxyFence("async", frozenset({"shared", "cluster"}), "acquire", "cluster"),
    ),
    (
        "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster",
        ProxyFence("async", frozenset({"shared", "cluster"}), "release", "cluster", reads_only=True),
    ),
    ("fence.proxy.alias", ProxyFence("alias")),
    ("fence.proxy.alias.release.sys", ProxyFence("alias", half="release", scope="sys")),
    ("fence.proxy.tensormap::generic.release.gpu", ProxyFence("tensormap", half="release", scope="gpu")),
    (
        "fence.proxy.tensormap::generic.acquire.sys [%rd1], 128",
        ProxyFence("tensormap", half="acquire", scope="sys", address=A("%rd1"), size=128),
    ),
    (
        "fence.proxy.generic::fabric.alias.release.sys",
        ProxyFence("fabric", half="release", scope="sys"),
    ),
    ("membar.proxy.async.global", ProxyFence("async", frozenset({"global"}))),
    ("fence.mbarrier_init.release.cluster", MbarrierInitFence()),
    ("fence.acq_rel.gpu", ThreadFence(Order.ACQ_REL, "gpu")),
    ("fence.sc.sys", ThreadFence(Order.SC, "sys")),
    ("fence.cta", ThreadFence(Order.ACQ_REL, "cta")),
    ("fence.release.cta", ThreadFence(Order.RELEASE, "cta")),
    ("fence.acquire.sync_restrict::shared::cluster.cluster", ThreadFence(Order.ACQUIRE, "cluster")),
    ("membar.gl", ThreadFence(Order.SC, "gpu")),
    ("membar.cta", ThreadFence(Order.SC, "cta")),
    # barriers
    ("bar.sync 0", CtaBarrier(I(0), None)),
    ("bar.sync %r1, %r2", CtaBarrier(N("%r1"), N("%r2"))),
    ("bar.arrive 4, 128", CtaBarrier(I(4), I(128), True)),
    ("bar.cta.sync 1, 64", CtaBarrier(I(1), I(64))),
    ("barrier.sync 1", CtaBarrier(I(1), None, aligned=False)),
    ("barrier.cta.sync.aligned 1, 64", CtaBarrier(I(1), I(64))),
    ("barrier.arrive 2, 96", CtaBarrier(I(2), I(96), True, False)),
    (
        "bar.red.popc.u32 %r1, 0, %p1",
        CtaBarrier(I(0), None, dst=N("%r1"), src=N("%p1"), extra=("popc",)),
    ),
    (
        "barrier.red.and.pred %p1, 2, 64, !%p2",
        CtaBarrier(I(2), I(64), False, False, N("%p1"), Not(N("%p2")), ("and",)),
    ),
    ("bar.warp.sync -1", WarpBarrier(I(-1))),
    ("bar.warp.sync %r1", WarpBarrier(N("%r1"))),
    ("barrier.cluster.arrive", ClusterArrive(False, False)),
    ("barrier.cluster.arrive.relaxed.aligned", ClusterArrive(True, True)),
    ("barrier.cluster.arrive.release.aligned", ClusterArrive(False, True)),
    ("barrier.cluster.wait.acquire.aligned", ClusterWait(True)),
    ("barrier.cluster.wait", ClusterWait(False)),
    # collectives
    (
        "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1",
        Collective("shfl_idx", (N("%r1"), NO), (N("%r2"), I(0), I(31)), I(-1)),
    ),
    (
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, %r3",
        Collective("shfl_bfly", R("%r1", "%p1"), (N("%r2"), I(16), I(31)), N("%r3")),
    ),
    (
        "shfl.up.b32 %r1, %r2, 1, 0",
        Collective("shfl_up", (N("%r1"), NO), (N("%r2"), I(1), I(0)), None),
    ),
    (
        "vote.sync.any.pred %p1, !%p2, 0xffffffff",
        Collective("vote_any", (N("%p1"), NO), (Not(N("%p2")),), I(0xFFFFFFFF)),
    ),
    (
        "vote.sync.ballot.b32 %r1, %p1, %r2",
        Collective("vote_ballot", (N("%r1"), NO), (N("%p1"),), N("%r2")),
    ),
    ("vote.all.pred %p1, %p2", Collective("vote_all", (N("%p1"), NO), (N("%p2"),), None)),
    (
        "match.any.sync.b64 %r1, %rd1, -1",
        Collective("match_any", (N("%r1"), NO), (N("%rd1"),), I(-1)),
    ),
    (
        "match.all.sync.b32 %r1|%p1, %r2, -1",
        Collective("match_all", R("%r1", "%p1"), (N("%r2"),), I(-1)),
    ),
    (
        "redux.sync.min.s32 %r1, %r2, -1",
        Collective("redux", (N("%r1"), NO), (N("%r2"),), I(-1), ("min",), True),
    ),
    (
        "redux.sync.xor.b32 %r1, %r2, -1",
        Collective("redux", (N("%r1"), NO), (N("%r2"),), I(-1), ("xor",)),
    ),
    (
        "redux.sync.max.abs.NaN.f32 %f1, %f2, -1",
        Collective("redux", (N("%f1"), NO), (N("%f2"),), I(-1), ("max", "abs", "NaN", "f32")),
    ),
    ("elect.sync _|%p1, -1", Collective("elect", (NO, N("%p1")), (), I(-1))),
    ("activemask.b32 %r1", Collective("activemask", (N("%r1"), NO), (), None)),
    # launch control
    (
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2]",
        LaunchCancel(A("%r1"), A("%r2"), False),
    ),
    (
        "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
        "[%rd1], [%rd2]",
        LaunchCancel(A("%rd1"), A("%rd2"), True),
    ),
    (
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1",
        Compute("query", R("%p1"), R("%rq1"), 1, extra=("is_canceled", "")),
    ),
    (
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, _}, %rq1",
        Compute("query", (*R("%r1", "%r2", "%r3"), NO), R("%rq1"), extra=("get_first_ctaid", "")),
    ),
    ("griddepcontrol.wait", GridDependency(True)),
    ("griddepcontrol.launch_dependents", GridDependency(False)),
    ("setmaxnreg.dec.sync.aligned.u32 40", Nothing()),
    ("nanosleep.u32 20", Nothing()),
    ("pmevent 7", Nothing()),
]


@pytest.mark.parametrize(("text", "expected"), ROWS, ids=[text for text, _ in ROWS])
def test_synchronisation(text: str, expected: Effect) -> None:
    assert effects_of(text) == (expected,)


def test_reports_of_a_wait_are_opaque() -> None:
    text = "mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 %p1|%p2, %rs1, [%r1], %r2"
    assert effects_of(text) == (
        MbarrierWait(A("%r1"), N("%p1"), N("%r2")),
        Compute("opaque", R("%p2", "%rs1"), ()),
    )
