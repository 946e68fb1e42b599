"""Loads, stores, atomics, matrices, hints (PTX ISA 9.7.9.8-18, 9.7.10-11, 9.7.13.5-6, 9.7.14)."""

import pytest

from ptxlint.model.effects import BulkZero, Compute, Effect, MemoryAccess, Nothing, Order, Rw, Space
from tests.model.decoding import A, I, N, R, effects_of

READ, WRITE, ATOMIC = Rw.READ, Rw.WRITE, Rw.ATOMIC

ROWS: list[tuple[str, Effect]] = [
    # loads
    ("ld.global.u32 %r1, [%rd1]", MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 4, R("%r1"), (), 4)),
    ("ld.shared.s16 %rs1, [%r1+6]", MemoryAccess(READ, Space.SHARED, A("%r1", 6), 2, R("%rs1"), (), 2, True)),
    ("ld.shared::cta.b8 %rs1, [buf]", MemoryAccess(READ, Space.SHARED, A("buf"), 1, R("%rs1"), (), 1)),
    ("ld.shared::cluster.f32 %f1, [%r1]", MemoryAccess(READ, Space.CLUSTER, A("%r1"), 4, R("%f1"), (), 4)),
    ("ld.u64 %rd1, [%rd2+8]", MemoryAccess(READ, Space.GENERIC, A("%rd2", 8), 8, R("%rd1"), (), 8)),
    ("ld.local.u32 %r1, [%rd1]", MemoryAccess(READ, Space.LOCAL, A("%rd1"), 4, R("%r1"), (), 4)),
    ("ld.const.f64 %fd1, [table+8]", MemoryAccess(READ, Space.CONST, A("table", 8), 8, R("%fd1"), (), 8)),
    ("ld.param.u64 %rd1, [k_param_0]", MemoryAccess(READ, Space.PARAM, A("k_param_0"), 8, R("%rd1"), (), 8)),
    ("ld.param::func.b32 %r1, [p0]", MemoryAccess(READ, Space.PARAM, A("p0"), 4, R("%r1"), (), 4)),
    (
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]",
        MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 16, R("%f1", "%f2", "%f3", "%f4"), (), 4),
    ),
    (
        "ld.shared.v2.b64 {%rd1, %rd2}, [%r1]",
        MemoryAccess(READ, Space.SHARED, A("%r1"), 16, R("%rd1", "%rd2"), (), 8),
    ),
    (
        "ld.global.L2::evict_last.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]",
        MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 32, R(*(f"%r{i}" for i in range(1, 9))), (), 4),
    ),
    ("ld.global.b128 %rq1, [%rd1]", MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 16, R("%rq1"), (), 16)),
    (
        "ld.global.nc.L1::no_allocate.L2::256B.s32 %r1, [%rd1]",
        MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 4, R("%r1"), (), 4, True, noncoherent=True),
    ),
    ("ldu.global.f32 %f1, [%rd1]", MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 4, R("%f1"), (), 4)),
    (
        "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2",
        MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 4, R("%r1"), (), 4),
    ),
    (
        "ld.volatile.shared.u32 %r1, [%r2]",
        MemoryAccess(READ, Space.SHARED, A("%r2"), 4, R("%r1"), (), 4, order=Order.VOLATILE),
    ),
    (
        "ld.acquire.gpu.global.u32 %r1, [%rd1]",
        MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 4, R("%r1"), (), 4, order=Order.ACQUIRE, scope="gpu"),
    ),
    (
        "ld.relaxed.cta.b64 %rd1, [%rd2]",
        MemoryAccess(READ, Space.GENERIC, A("%rd2"), 8, R("%rd1"), (), 8, order=Order.RELAXED, scope="cta"),
    ),
    (
        "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1]",
        MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 4, R("%r1"), (), 4, order=Order.RELAXED, scope="sys"),
    ),
    (
        "ld.proxy::readonly.global.u32 %r1, [%rd1]",
        MemoryAccess(READ, Space.GLOBAL, A("%rd1"), 4, R("%r1"), (), 4, extra=("proxy::readonly",)),
    ),
    # stores
    ("st.shared.u32 [%r1+4], %r2", MemoryAccess(WRITE, Space.SHARED, A("%r1", 4), 4, (), R("%r2"), 4)),
    ("st.shared.u32 [%r1], 0", MemoryAccess(WRITE, Space.SHARED, A("%r1"), 4, (), (I(0),), 4)),
    (
        "st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5}",
        MemoryAccess(WRITE, Space.SHARED, A("%r1"), 16, (), R("%r2", "%r3", "%r4", "%r5"), 4),
    ),
    ("st.shared::cluster.u32 [%r1], %r2", MemoryAccess(WRITE, Space.CLUSTER, A("%r1"), 4, (), R("%r2"), 4)),
    ("st.f64 [%rd1], %fd1", MemoryAccess(WRITE, Space.GENERIC, A("%rd1"), 8, (), R("%fd1"), 8)),
    ("st.local.s8 [%rd1], %rs1", MemoryAccess(WRITE, Space.LOCAL, A("%rd1"), 1, (), R("%rs1"), 1, True)),
    ("st.param.b64 [param0], %rd1", MemoryAccess(WRITE, Space.PARAM, A("param0"), 8, (), R("%rd1"), 8)),
    (
        "st.weak.global.cs.v2.b64 [%rd1], {%rd2, %rd3}",
        MemoryAccess(WRITE, Space.GLOBAL, A("%rd1"), 16, (), R("%rd2", "%rd3"), 8),
    ),
    (
        "st.release.gpu.global.u32 [%rd1], %r1",
        MemoryAccess(WRITE, Space.GLOBAL, A("%rd1"), 4, (), R("%r1"), 4, order=Order.RELEASE, scope="gpu"),
    ),
    ("st.bulk.weak.shared::cta [%r1], %rd1, 0", BulkZero(A("%r1"), N("%rd1"), Space.SHARED)),
    ("st.bulk [%rd1], 4096, 0", BulkZero(A("%rd1"), I(4096), Space.GENERIC)),
    # atomics
    (
        "atom.shared.add.u32 %r1, [%r2], 1",
        MemoryAccess(
            ATOMIC, Space.SHARED, A("%r2"), 4, R("%r1"), (I(1),), 4,
            order=Order.RELAXED, scope="gpu", extra=("add",),
        ),
    ),
    (
        "atom.acq_rel.cta.shared::cluster.cas.b64 %rd1, [%r1], %rd2, %rd3",
        MemoryAccess(
            ATOMIC, Space.CLUSTER, A("%r1"), 8, R("%rd1"), R("%rd2", "%rd3"), 8,
            order=Order.ACQ_REL, scope="cta", extra=("cas",),
        ),
    ),
    (
        "atom.global.add.noftz.L2::cache_hint.v2.f16x2 {%r1, %r2}, [%rd1], {%r3, %r4}, %rd2",
        MemoryAccess(
            ATOMIC, Space.GLOBAL, A("%rd1"), 8, R("%r1", "%r2"), R("%r3", "%r4"), 4,
            order=Order.RELAXED, scope="gpu", extra=("add",),
        ),
    ),
    (
        "atom.exch.b128 %rq1, [%rd1], %rq2",
        MemoryAccess(
            ATOMIC, Space.GENERIC, A("%rd1"), 16, R("%rq1"), R("%rq2"), 16,
            order=Order.RELAXED, scope="gpu", extra=("exch",),
        ),
    ),
    (
        "red.release.sys.global.max.s32 [%rd1], %r1",
        MemoryAccess(
            ATOMIC, Space.GLOBAL, A("%rd1"), 4, (), R("%r1"), 4, True,
            order=Order.RELEASE, scope="sys", extra=("max",),
        ),
    ),
    (
        "red.shared.or.b32 [flags], %r1",
        MemoryAccess(
            ATOMIC, Space.SHARED, A("flags"), 4, (), R("%r1"), 4,
            order=Order.RELAXED, scope="gpu", extra=("or",),
        ),
    ),
    # multimem
    (
        "multimem.ld_reduce.weak.global.add.acc::f32.v4.bf16x2 {%r1, %r2, %r3, %r4}, [%rd1]",
        MemoryAccess(
            READ, Space.GLOBAL, A("%rd1"), 16, R("%r1", "%r2", "%r3", "%r4"), (), 4,
            extra=("add",), multimem=True,
        ),
    ),
    (
        "multimem.ld_reduce.acquire.gpu.global.min.u32 %r1, [%rd1]",
        MemoryAccess(
            READ, Space.GLOBAL, A("%rd1"), 4, R("%r1"), (), 4,
            order=Order.ACQUIRE, scope="gpu", extra=("min",), multimem=True,
        ),
    ),
    (
        "multimem.st.release.sys.global.u64 [%rd1], %rd2",
        MemoryAccess(
            WRITE, Space.GLOBAL, A("%rd1"), 8, (), R("%rd2"), 8,
            order=Order.RELEASE, scope="sys", multimem=True,
        ),
    ),
    (
        "multimem.red.release.sys.global.add.s32 [%rd1], 1",
        MemoryAccess(
            ATOMIC, Space.GLOBAL, A("%rd1"), 4, (), (I(1),), 4,
            order=Order.RELEASE, scope="sys", extra=("add",), multimem=True,
        ),
    ),
    # matrices
    (
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5]",
        MemoryAccess(READ, Space.SHARED, A("%r5"), 16, R("%r1", "%r2", "%r3", "%r4"), (), 2, matrix=4),
    ),
    (
        "ldmatrix.sync.aligned.x1.trans.m8n8.b16 {%r1}, [%rd1]",
        MemoryAccess(READ, Space.GENERIC, A("%rd1"), 16, R("%r1"), (), 2, matrix=1),
    ),
    (
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r5]",
        MemoryAccess(READ, Space.SHARED, A("%r5"), 16, R("%r1", "%r2"), (), 1, matrix=2),
    ),
    (
        "ldmatrix.sync.aligned.m8n16.x2.shared::cta.b8x16.b4x16_p64 {%r1, %r2}, [%r5]",
        MemoryAccess(READ, Space.SHARED, A("%r5"), 16, R("%r1", "%r2"), (), 1, matrix=2),
    ),
    (
        "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r1], {%r2, %r3}",
        MemoryAccess(WRITE, Space.SHARED, A("%r1"), 16, (), R("%r2", "%r3"), 2, matrix=2),
    ),
    (
        "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%r1], {%r2, %r3, %r4, %r5}",
        MemoryAccess(WRITE, Space.SHARED, A("%r1"), 16, (), R("%r2", "%r3", "%r4", "%r5"), 1, matrix=4),
    ),
    # hints, textures, surfaces
    ("prefetch.global.L2 [%rd1]", Nothing()),
    ("prefetch.param.tensormap [map]", Nothing()),
    ("prefetchu.L1 [%rd1]", Nothing()),
    ("applypriority.global.L2::evict_normal [%rd1], 128", Nothing()),
    ("discard.global.L2 [%rd1], 128", MemoryAccess(WRITE, Space.GLOBAL, A("%rd1"), 128)),
    ("sust.b.2d.v4.b32.trap [surf, {%r1, %r2}], {%r3, %r4, %r5, %r6}", Nothing()),
    ("sured.b.add.1d.u32.clamp [surf, {%r1}], %r2", Nothing()),
    ("suld.b.1d.v2.b32.zero {%r1, %r2}, [surf, {%r3}]", Compute("opaque", R("%r1", "%r2"), ())),
    (
        "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex, {%r1, %r2}]",
        Compute("opaque", R("%f1", "%f2", "%f3", "%f4"), ()),
    ),
    ("txq.width.b32 %r1, [tex]", Compute("opaque", R("%r1"), ())),
    ("istypep.texref %p1, %rd1", Compute("opaque", R("%p1"), (), 1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ROWS, ids=[text for text, _ in ROWS])
def test_access(text: str, expected: Effect) -> None:
    assert effects_of(text) == (expected,)


@pytest.mark.parametrize(
    ("stride", "size"),
    [
        ("", 512),  # dense: 16 rows of 16 halves
        (", 16", 512),
        (", 24", 32),  # 8 halves of padding after each row: only the first row is certain
        (", %r9", 32),
    ],
)
def test_wmma_load_covers_the_tile_only_where_rows_are_contiguous(stride: str, size: int) -> None:
    registers = ", ".join(f"%r{i}" for i in range(8))
    text = f"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{{registers}}}, [%rd1]{stride}"
    (effect,) = effects_of(text)
    assert isinstance(effect, MemoryAccess)
    assert (effect.rw, effect.space, effect.size) == (READ, Space.SHARED, size)
    assert len(effect.dsts) == 8


def test_wmma_store_by_columns() -> None:
    registers = ", ".join(f"%f{i}" for i in range(8))
    text = f"wmma.store.d.sync.aligned.col.m8n32k16.global.f32 [%rd1], {{{registers}}}, 8"
    (effect,) = effects_of(text)
    assert isinstance(effect, MemoryAccess)
    assert (effect.rw, effect.space, effect.size) == (WRITE, Space.GLOBAL, 8 * 32 * 4)
    assert len(effect.data) == 8
