"""Asynchronous copies, their groups, st.async (PTX ISA 9.7.9.12, 9.7.9.25-27)."""

import pytest

from ptxlint.model.effects import (
    BulkCommit,
    BulkCopy,
    BulkKind,
    BulkWait,
    CpAsync,
    CpAsyncArrive,
    CpAsyncCommit,
    CpAsyncWait,
    Effect,
    Order,
    Space,
    StoreAsync,
)
from tests.model.decoding import A, I, N, V, effects_of

SHARED, CLUSTER, GLOBAL, GENERIC = Space.SHARED, Space.CLUSTER, Space.GLOBAL, Space.GENERIC
DONE = "mbarrier::complete_tx::bytes"
TILE = A("%rd1", 0, V("%r3", "%r4"))

ROWS: list[tuple[str, Effect]] = [
    # cp.async
    ("cp.async.cg.shared.global [%r1], [%rd1], 16", CpAsync(A("%r1"), A("%rd1"), 16)),
    ("cp.async.ca.shared::cta.global.L2::128B [%r1+4], [%rd1], 4, %r2", CpAsync(A("%r1", 4), A("%rd1"), 4)),
    ("cp.async.commit_group", CpAsyncCommit()),
    ("cp.async.wait_group 2", CpAsyncWait(2)),
    ("cp.async.wait_all", CpAsyncWait(0, True)),
    ("cp.async.mbarrier.arrive.b64 [%rd1]", CpAsyncArrive(A("%rd1"), False)),
    ("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1]", CpAsyncArrive(A("%r1"), True)),
    # bulk copies
    (
        f"cp.async.bulk.shared::cta.global.{DONE} [%r1], [%rd1], 1024, [%r2]",
        BulkCopy(BulkKind.COPY, SHARED, GLOBAL, A("%r1"), A("%rd1"), I(1024), A("%r2"), cta_local=True),
    ),
    (
        f"cp.async.bulk.shared::cluster.global.{DONE}.L2::cache_hint [%r1], [%rd1], %r3, [%r2], %rd2",
        BulkCopy(BulkKind.COPY, CLUSTER, GLOBAL, A("%r1"), A("%rd1"), N("%r3"), A("%r2")),
    ),
    (
        f"cp.async.bulk.shared::cluster.global.{DONE}.multicast::cluster [%r1], [%rd1], %r3, [%r2], %rs1",
        BulkCopy(
            BulkKind.COPY, CLUSTER, GLOBAL, A("%r1"), A("%rd1"), N("%r3"), A("%r2"), multicast=N("%rs1")
        ),
    ),
    (
        f"cp.async.bulk.shared::cluster.global.{DONE}.multicast::cluster::32b.L2::cache_hint "
        "[%r1], [%rd1], %r3, [%r2], %r4, %rd2",
        BulkCopy(
            BulkKind.COPY, CLUSTER, GLOBAL, A("%r1"), A("%rd1"), N("%r3"), A("%r2"), multicast=N("%r4")
        ),
    ),
    (
        f"cp.async.bulk.shared::cta.global.{DONE}.ignore_oob [%r1], [%rd1], %r3, %r4, %r5, [%r2]",
        BulkCopy(BulkKind.COPY, SHARED, GLOBAL, A("%r1"), A("%rd1"), N("%r3"), A("%r2"), cta_local=True),
    ),
    (
        f"cp.async.bulk.shared::cluster.shared::cta.{DONE} [%r1], [%r2], 64, [%r3]",
        BulkCopy(BulkKind.COPY, CLUSTER, SHARED, A("%r1"), A("%r2"), I(64), A("%r3")),
    ),
    (
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 1024",
        BulkCopy(BulkKind.COPY, GLOBAL, SHARED, A("%rd1"), A("%r1"), I(1024), bulk_group=True),
    ),
    (
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], [%r1], 16, %rd2, %rs1",
        BulkCopy(
            BulkKind.COPY, GLOBAL, SHARED, A("%rd1"), A("%r1"), I(16), bulk_group=True, byte_mask=True
        ),
    ),
    (
        "cp.async.bulk.prefetch.L2.global [%rd1], 2048",
        BulkCopy(BulkKind.PREFETCH, GLOBAL, GLOBAL, None, A("%rd1"), I(2048)),
    ),
    # bulk reductions
    (
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd1], [%r1], 256",
        BulkCopy(BulkKind.REDUCE, GLOBAL, SHARED, A("%rd1"), A("%r1"), I(256), bulk_group=True),
    ),
    (
        f"cp.reduce.async.bulk.shared::cluster.shared::cta.{DONE}.inc.u32 [%r1], [%r2], 16, [%r3]",
        BulkCopy(BulkKind.REDUCE, CLUSTER, SHARED, A("%r1"), A("%r2"), I(16), A("%r3")),
    ),
    (
        "multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64",
        BulkCopy(BulkKind.COPY, GLOBAL, SHARED, A("%rd1"), A("%r1"), I(64), bulk_group=True),
    ),
    (
        "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], 64",
        BulkCopy(BulkKind.REDUCE, GLOBAL, SHARED, A("%rd1"), A("%r1"), I(64), bulk_group=True),
    ),
    # tensor copies
    (
        f"cp.async.bulk.tensor.2d.shared::cta.global.tile.{DONE} [%r1], [%rd1, {{%r3, %r4}}], [%r2]",
        BulkCopy(
            BulkKind.TENSOR_COPY, SHARED, GLOBAL, A("%r1"), None, None, A("%r2"),
            tensor_map=TILE, cta_local=True,
        ),
    ),
    (
        f"cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.{DONE}.multicast::cluster"
        ".L2::cache_hint [%r1], [%rd1, {%r3, %r4}], [%r2], %rs1, %rd2",
        BulkCopy(
            BulkKind.TENSOR_COPY, CLUSTER, GLOBAL, A("%r1"), None, None, A("%r2"),
            tensor_map=TILE, multicast=N("%rs1"), cta_group=2,
        ),
    ),
    (
        f"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.{DONE}.multicast::cluster "
        "[%r1], [%rd1, {%r3, %r4, %r5}], [%r2], {%rs2}, %rs1",
        BulkCopy(
            BulkKind.TENSOR_COPY, CLUSTER, GLOBAL, A("%r1"), None, None, A("%r2"),
            tensor_map=A("%rd1", 0, V("%r3", "%r4", "%r5")), multicast=N("%rs1"),
        ),
    ),
    (
        f"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.{DONE}.cta_group::1 "
        "[%r1], [%rd1, {%r3, %r4, %r5, %r6, %r7}], [%r2]",
        BulkCopy(
            BulkKind.TENSOR_COPY, SHARED, GLOBAL, A("%r1"), None, None, A("%r2"),
            tensor_map=A("%rd1", 0, V("%r3", "%r4", "%r5", "%r6", "%r7")), cta_group=1, cta_local=True,
        ),
    ),
    (
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r3, %r4}], [%r1]",
        BulkCopy(
            BulkKind.TENSOR_COPY, GLOBAL, SHARED, None, A("%r1"), None, bulk_group=True, tensor_map=TILE
        ),
    ),
    (
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group.L2::cache_hint "
        "[%rd1, {%r3, %r4}], [%r1], %rd2",
        BulkCopy(
            BulkKind.TENSOR_COPY, GLOBAL, SHARED, None, A("%r1"), None, bulk_group=True, tensor_map=TILE
        ),
    ),
    (
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r3, %r4}], [%r1]",
        BulkCopy(
            BulkKind.TENSOR_REDUCE, GLOBAL, SHARED, None, A("%r1"), None, bulk_group=True, tensor_map=TILE
        ),
    ),
    (
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r3, %r4}]",
        BulkCopy(BulkKind.TENSOR_PREFETCH, GLOBAL, GLOBAL, None, None, None, tensor_map=TILE),
    ),
    (
        "applypriority.async.bulk.global.bulk_group.L2::evict_normal [%rd1], 4096",
        BulkCopy(BulkKind.PREFETCH, GLOBAL, GLOBAL, None, A("%rd1"), I(4096), bulk_group=True),
    ),
    # groups
    ("cp.async.bulk.commit_group", BulkCommit()),
    ("cp.async.bulk.wait_group 0", BulkWait(0, False)),
    ("cp.async.bulk.wait_group.read 3", BulkWait(3, True)),
    # st.async, red.async
    (
        f"st.async.weak.shared::cluster.{DONE}.v4.b32 [%r1], {{%r2, %r3, %r4, %r5}}, [%r6]",
        StoreAsync(A("%r1"), A("%r6"), 16, False, CLUSTER),
    ),
    (f"st.async.{DONE}.u64 [%rd1], %rd2, [%rd3]", StoreAsync(A("%rd1"), A("%rd3"), 8, False, GENERIC)),
    (
        "st.async.mmio.release.sys.global.u32 [%rd1], %r1",
        StoreAsync(A("%rd1"), None, 4, False, GLOBAL, Order.RELEASE),
    ),
    (
        f"red.async.relaxed.cluster.shared::cluster.{DONE}.add.u64 [%r1], %rd1, [%r2]",
        StoreAsync(A("%r1"), A("%r2"), 8, True, CLUSTER, Order.RELAXED),
    ),
    (
        "red.async.release.gpu.global.add.s64 [%rd1], %rd2",
        StoreAsync(A("%rd1"), None, 8, True, GLOBAL, Order.RELEASE),
    ),
    (
        "multimem.red.async.release.sys.add.u64 [%rd1], %rd2",
        StoreAsync(A("%rd1"), None, 8, True, GLOBAL, Order.RELEASE),
    ),
    (
        "multimem.st.async.release.gpu.global.u32 [%rd1], %r1",
        StoreAsync(A("%rd1"), None, 4, False, GLOBAL, Order.RELEASE),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ROWS, ids=[text for text, _ in ROWS])
def test_asynchronous_operation(text: str, expected: Effect) -> None:
    assert effects_of(text) == (expected,)


def test_overrides_of_a_tensor_map_stay_in_its_address() -> None:
    text = (
        f"cp.async.bulk.tensor.1d.shared::cta.global.tile.{DONE}.override::global_address"
        ".override::global_dim [%r1], [%rd1, %rd2, {%rs1}, {%r3}], [%r2]"
    )
    (effect,) = effects_of(text)
    assert isinstance(effect, BulkCopy)
    assert effect.tensor_map == A("%rd1", 0, N("%rd2"), V("%rs1"), V("%r3"))
    assert effect.mbarrier == A("%r2")
