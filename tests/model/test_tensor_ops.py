"""wgmma, tcgen05, tensormap (PTX ISA 9.7.9.28, 9.7.13.16, 9.7.15-16)."""

import pytest

from ptxlint.model.effects import (
    Effect,
    Space,
    TensorAlloc,
    TensorCommit,
    TensorCopy,
    TensorDealloc,
    TensorFence,
    TensorLoad,
    TensormapCopyFence,
    TensormapReplace,
    TensorMma,
    TensorRelinquish,
    TensorShift,
    TensorStore,
    TensorWait,
    WgmmaCommit,
    WgmmaFence,
    WgmmaOp,
    WgmmaWait,
)
from tests.model.decoding import A, I, N, R, effects_of

SHARED, CLUSTER, GENERIC, GLOBAL = Space.SHARED, Space.CLUSTER, Space.GENERIC, Space.GLOBAL
FOUR = "{%f1, %f2, %f3, %f4}"
F4 = R("%f1", "%f2", "%f3", "%f4")
R4 = R("%r1", "%r2", "%r3", "%r4")
COMMIT = "mbarrier::arrive::one"

ROWS: list[tuple[str, Effect]] = [
    # wgmma
    ("wgmma.fence.sync.aligned", WgmmaFence()),
    ("wgmma.commit_group.sync.aligned", WgmmaCommit()),
    ("wgmma.wait_group.sync.aligned 1", WgmmaWait(1)),
    (
        f"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {FOUR}, %rd1, %rd2, %p1, 1, 1, 0, 0",
        WgmmaOp(N("%rd1"), N("%rd2"), (64, 8, 16), 16, F4),
    ),
    (
        f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {FOUR}, {{%r1, %r2, %r3, %r4}}, %rd2, 1, 1, 1, 0",
        WgmmaOp(None, N("%rd2"), (64, 8, 16), 16, F4, R4),
    ),
    (
        f"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {FOUR}, %rd1, %rd2, 0, 1, 1",
        WgmmaOp(N("%rd1"), N("%rd2"), (64, 8, 8), 32, F4),
    ),
    (
        f"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {FOUR}, %rd1, %rd2, 1, 1, 1",
        WgmmaOp(N("%rd1"), N("%rd2"), (64, 8, 32), 8, F4),
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8.satfinite {%r1, %r2, %r3, %r4}, %rd1, %rd2, 1",
        WgmmaOp(N("%rd1"), N("%rd2"), (64, 8, 32), 8, R4),
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r1, %r2, %r3, %r4}, %rd1, %rd2, 1",
        WgmmaOp(N("%rd1"), N("%rd2"), (64, 8, 256), 1, R4),
    ),
    (
        f"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {FOUR}, %rd1, %rd2, %r9, 0, 1, 1, 1, 0, 0",
        WgmmaOp(N("%rd1"), N("%rd2"), (64, 8, 32), 16, F4),
    ),
    # tcgen05: tensor memory
    (
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 512",
        TensorAlloc(A("%r1"), I(512), 1, SHARED),
    ),
    (
        "tcgen05.alloc.cta_group::2.sync.aligned.b32 [%rd1], %r2",
        TensorAlloc(A("%rd1"), N("%r2"), 2, GENERIC),
    ),
    ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 256", TensorDealloc(N("%r1"), I(256), 1)),
    ("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned", TensorRelinquish(2)),
    (
        "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %r2, %r3, %r4}, [%r5]",
        TensorLoad(A("%r5"), R4, 4),
    ),
    (
        "tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%r1, %r2, %r3, %r4}, [%r5]",
        TensorLoad(A("%r5"), R4, 8),
    ),
    (
        "tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%r1, %r2, %r3, %r4}, [%r5], 4",
        TensorLoad(A("%r5"), R4, 4),
    ),
    (
        "tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.f32 {%r1, %r2, %r3, %r4}, %f1, [%r5]",
        TensorLoad(A("%r5"), (*R4, N("%f1")), 4),
    ),
    (
        "tcgen05.st.sync.aligned.16x128b.x2.b32 [%r5], {%r1, %r2, %r3, %r4}",
        TensorStore(A("%r5"), R4, 8),
    ),
    (
        "tcgen05.st.sync.aligned.16x32bx2.x4.unpack::16b.b32 [%r5], 8, {%r1, %r2, %r3, %r4}",
        TensorStore(A("%r5"), R4, 4),
    ),
    ("tcgen05.wait::ld.sync.aligned", TensorWait(True)),
    ("tcgen05.wait::st.sync.aligned", TensorWait(False)),
    # tcgen05: mma, cp, shift
    (
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1",
        TensorMma(A("%r1"), N("%rd1"), N("%rd2"), False, 1, (), "f16"),
    ),
    (
        "tcgen05.mma.cta_group::2.kind::tf32.collector::a::fill [%r1], [%r3], %rd2, %r2, "
        "{%r4, %r5, %r6, %r7}, %p1, 1",
        TensorMma(A("%r1"), A("%r3"), N("%rd2"), True, 2, (), "tf32"),
    ),
    (
        "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r1], %rd1, %rd2, %r2, "
        "[%r3], [%r4+2], %p1",
        TensorMma(A("%r1"), N("%rd1"), N("%rd2"), False, 1, (A("%r3"), A("%r4", 2)), "mxf8f6f4"),
    ),
    (
        "tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, [%r5], %r2, "
        "[%r3], [%r4], %p1",
        TensorMma(A("%r1"), N("%rd1"), N("%rd2"), False, 1, (A("%r3"), A("%r4")), "mxf4"),
    ),
    (
        "tcgen05.mma.sp.cta_group::1.kind::i8 [%r1], %rd1, %rd2, [%r5], %r2, %p1",
        TensorMma(A("%r1"), N("%rd1"), N("%rd2"), False, 1, (), "i8"),
    ),
    (
        "tcgen05.mma.ws.cta_group::1.kind::f8f6f4.collector::b1::lastuse [%r1], [%r3], %rd2, %r2, %p1, %rd3",
        TensorMma(A("%r1"), A("%r3"), N("%rd2"), True, 1, (), "f8f6f4"),
    ),
    (
        "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.decompress::lut::b.block32 "
        "[%r1], %rd1, %rd2, [%r5], %r2, [%r3], [%r4], %p1",
        TensorMma(A("%r1"), N("%rd1"), N("%rd2"), False, 1, (A("%r3"), A("%r4")), "mxf8f6f4"),
    ),
    ("tcgen05.cp.cta_group::1.128x256b [%r1], %rd1", TensorCopy(A("%r1"), N("%rd1"), 1, 128, 32)),
    ("tcgen05.cp.cta_group::2.32x128b.warpx4 [%r1], %rd1", TensorCopy(A("%r1"), N("%rd1"), 2, 32, 16)),
    (
        "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13.b8x16.b6x16_p32 [%r1], %rd1",
        TensorCopy(A("%r1"), N("%rd1"), 1, 64, 16),
    ),
    ("tcgen05.shift.cta_group::1.down [%r1]", TensorShift(A("%r1"), 1)),
    # tcgen05: completion
    (f"tcgen05.commit.cta_group::1.{COMMIT}.b64 [%rd1]", TensorCommit(A("%rd1"), 1)),
    (
        f"tcgen05.commit.cta_group::1.{COMMIT}.shared::cluster.b64 [%r1]",
        TensorCommit(A("%r1"), 1, None, CLUSTER),
    ),
    (
        f"tcgen05.commit.cta_group::2.{COMMIT}.shared::cluster.multicast::cluster.b64 [%r1], %rs1",
        TensorCommit(A("%r1"), 2, N("%rs1"), CLUSTER),
    ),
    (
        f"tcgen05.commit.cta_group::1.{COMMIT}.multicast::cluster::32b.b64 [%rd1], %r1",
        TensorCommit(A("%rd1"), 1, N("%r1")),
    ),
    ("tcgen05.fence::before_thread_sync", TensorFence(True)),
    ("tcgen05.fence::after_thread_sync", TensorFence(False)),
    # tensormap
    (
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd1",
        TensormapReplace(A("%r1"), SHARED),
    ),
    (
        "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, %r1",
        TensormapReplace(A("%rd1"), GLOBAL),
    ),
    (
        "tensormap.replace.tile.swizzle_mode.b1024.b32 [%rd1], 3",
        TensormapReplace(A("%rd1"), GENERIC),
    ),
    (
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%rd1], [%r1], 128",
        TensormapCopyFence(A("%rd1"), A("%r1"), "gpu"),
    ),
]


@pytest.mark.parametrize(("text", "expected"), ROWS, ids=[text for text, _ in ROWS])
def test_tensor_operation(text: str, expected: Effect) -> None:
    assert effects_of(text) == (expected,)
