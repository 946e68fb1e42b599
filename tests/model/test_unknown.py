"""What the tables do not know must be said, never guessed at."""

import pytest

from ptxlint.model import semantics
from ptxlint.model.effects import BulkCommit, Compute, Nothing, Unknown
from ptxlint.ptx.syntax import Instruction
from tests.model.decoding import I, N, R, effects_of

ROWS = [
    # text, the part that the message must name
    ("frobnicate.u32 %r1, %r2", "frobnicate.u32"),
    ("add.frob.u32 %r1, %r2, %r3", ".frob"),
    ("ld.global.u33 %r1, [%rd1]", ".u33"),
    ("ld.shared::ctaa.u32 %r1, [%r2]", ".shared::ctaa"),
    ("st.shared.v3.u32 [%r1], {%r2, %r3, %r4}", ".v3"),
    ("atom.global.nand.b32 %r1, [%rd1], %r2", ".nand"),
    ("red.global.u32 [%rd1], %r1", "operation"),
    ("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1, %r2, %r3}, [%r4]", ".x3"),
    ("multimem.frob.global.u32 [%rd1], %r1", "multimem.frob"),
    ("cp.async.bulk.frobnicate", ".frobnicate"),
    ("cp.async.frob.shared.global [%r1], [%rd1], 16", ".frob"),
    ("cp.sync.bulk [%r1], [%rd1], 16", "cp.sync.bulk"),
    ("cp.async.bulk.wait_all", ".wait_all"),
    ("cp.async.bulk.global.shared::cta [%rd1], [%r1], 16", "completion mechanism"),
    ("cp.async.bulk.shared::cta.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2]", "state spaces"),
    (
        "cp.async.bulk.tensor.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], [%r2]",
        "dimension",
    ),
    ("mbarrier.arrive.expect_tx.acq_rel.cta.shared.b64 _, [%r1], 16", ".acq_rel"),
    ("mbarrier.frob.shared.b64 [%r1]", "mbarrier.frob"),
    ("mbarrier.try_wait.shared::cluster.b64 %p1, [%r1], %rd1", ".shared::cluster"),
    ("fence.proxy.async.global::cta", ".global::cta"),
    ("fence.proxy.texture", ".texture"),
    ("fence.proxy.async::generic.release.cluster", "restriction"),
    ("fence.acq_rel", "scope"),
    ("fence.acquire.sync_restrict::global.cluster", ".sync_restrict::global"),
    ("bar.frob 0", ".frob"),
    ("barrier.cluster.sync", ".sync"),
    ("elect.frob _|%p1, -1", ".frob"),
    ("shfl.sync.rotate.b32 %r1, %r2, 0, 31, -1", ".rotate"),
    ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f24.f24 {%f1}, %rd1, %rd2, 1", ".f24"),
    ("wgmma.frob.sync.aligned", "wgmma.frob"),
    ("tcgen05.frob.cta_group::1 [%r1]", "tcgen05.frob"),
    ("tcgen05.mma.kind::f16 [%r1], %rd1, %rd2, %r2, %p1", "cta_group"),
    ("tcgen05.mma.cta_group::1.kind::f128 [%r1], %rd1, %rd2, %r2, %p1", ".kind::f128"),
    ("tcgen05.mma.cta_group::3.kind::f16 [%r1], %rd1, %rd2, %r2, %p1", ".cta_group::3"),
    ("tcgen05.cp.cta_group::1 [%r1], %rd1", "shape"),
    ("tensormap.frob [%rd1]", "tensormap.frob"),
    ("clusterlaunchcontrol.frob [%r1]", "clusterlaunchcontrol.frob"),
    ("griddepcontrol.frob", "griddepcontrol.frob"),
    ("fabric.try_get.async [%r1], %r2", "fabric.try_get.async"),
    ("setmaxnreg.set.sync.aligned.u32 40", ".set"),
]


@pytest.mark.parametrize(("text", "part"), ROWS, ids=[row[0] for row in ROWS])
def test_unknown_part_is_named(text: str, part: str) -> None:
    (effect,) = effects_of(text)
    assert isinstance(effect, Unknown)
    assert part in effect.what


@pytest.mark.parametrize(
    "text",
    [
        "ld.global.u32 %r1, %r2",
        "ld.global.u32 %r1",
        "st.shared.u32 %r1, %r2",
        "mov.u32 %r1",
        "mov.b64 {%r1, %r2}, {%r3}",
        "cp.async.bulk.wait_group %r1",
        "cp.async.wait_group",
        "mbarrier.init.shared.b64 %r1, 1",
        "mbarrier.arrive.shared.b64 %rd1",
        "mbarrier.try_wait.parity.shared.b64 %p1, [%r1]",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16",
        "wgmma.wait_group.sync.aligned",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 %r1, %r2",
        "bar.sync",
    ],
)
def test_operands_of_another_form_are_unknown(text: str) -> None:
    opcode = text.split()[0]
    assert effects_of(text) == (Unknown(f"operands of {opcode}"),)


@pytest.mark.parametrize(
    "text", ["bra", "call", "brx.idx %r1", "ld.u32", "atom.global.add.u32", "elect.sync"]
)
def test_names_of_incomplete_instructions(text: str) -> None:
    opcode, _, rest = text.partition(" ")
    operands = (N(rest),) if rest else ()
    made = Instruction(opcode, operands, None, 0, 0, -1, 0)
    assert semantics.definitions(made) == ()
    assert semantics.uses(made) == ((rest,) if rest else ())
    assert semantics.decode(made) == (Unknown(f"operands of {opcode}"),)


def test_plain_effects() -> None:
    assert semantics.is_plain((Compute("add", R("%r1"), (N("%r2"), I(1))), Nothing()))
    assert semantics.is_plain(())
    assert not semantics.is_plain((BulkCommit(),))
    assert not semantics.is_plain((Unknown("opcode x"),))
