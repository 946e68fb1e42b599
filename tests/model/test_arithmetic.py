"""Computations (PTX ISA 9.7.1-8, 9.7.9.3-4, 9.7.9.19-24)."""

import pytest

from ptxlint.model.effects import Compute, Unknown
from ptxlint.ptx.syntax import FloatImmediate, Not, Symbolic
from tests.model.decoding import NO, I, N, R, effects_of


def opaque(*dsts: str, bits: int = 32) -> Compute:
    return Compute("opaque", R(*dsts), (), bits)


ROWS: list[tuple[str, Compute]] = [
    # integer arithmetic
    ("add.s32 %r1, %r2, -4", Compute("add", R("%r1"), (N("%r2"), I(-4)), 32, True)),
    ("add.u64 %rd1, %rd2, %rd3", Compute("add", R("%rd1"), R("%rd2", "%rd3"), 64)),
    ("add.s16 %rs1, %rs2, %rs3", Compute("add", R("%rs1"), R("%rs2", "%rs3"), 16, True)),
    ("add.cc.u32 %r1, %r2, %r3", Compute("add", R("%r1"), R("%r2", "%r3"))),
    ("addc.u32 %r1, %r2, %r3", opaque("%r1")),
    ("addc.cc.s64 %rd1, %rd2, %rd3", opaque("%rd1", bits=64)),
    ("add.sat.s32 %r1, %r2, %r3", opaque("%r1")),
    ("add.u16x2 %r1, %r2, %r3", opaque("%r1")),
    ("sub.s64 %rd1, %rd2, %rd3", Compute("sub", R("%rd1"), R("%rd2", "%rd3"), 64, True)),
    ("subc.u32 %r1, %r2, %r3", opaque("%r1")),
    ("mul.lo.s32 %r1, %r2, 12", Compute("mul", R("%r1"), (N("%r2"), I(12)), 32, True)),
    ("mul.hi.u32 %r1, %r2, %r3", Compute("mulhi", R("%r1"), R("%r2", "%r3"))),
    ("mul.wide.u32 %rd1, %r2, %r3", Compute("mulwide", R("%rd1"), R("%r2", "%r3"), 64, False, 32)),
    ("mul.wide.s16 %r1, %rs2, 4", Compute("mulwide", R("%r1"), (N("%rs2"), I(4)), 32, True, 16)),
    ("mad.lo.s32 %r1, %r2, %r3, %r4", Compute("mad", R("%r1"), R("%r2", "%r3", "%r4"), 32, True)),
    ("mad.lo.cc.u32 %r1, %r2, %r3, %r4", Compute("mad", R("%r1"), R("%r2", "%r3", "%r4"))),
    ("mad.hi.s64 %rd1, %rd2, %rd3, %rd4", Compute("madhi", R("%rd1"), R("%rd2", "%rd3", "%rd4"), 64, True)),
    (
        "mad.wide.u32 %rd1, %r2, %r3, %rd4",
        Compute("madwide", R("%rd1"), R("%r2", "%r3", "%rd4"), 64, False, 32),
    ),
    ("madc.lo.u32 %r1, %r2, %r3, %r4", opaque("%r1")),
    ("mad.hi.sat.s32 %r1, %r2, %r3, %r4", opaque("%r1")),
    ("mul24.lo.u32 %r1, %r2, %r3", opaque("%r1")),
    ("mad24.hi.sat.s32 %r1, %r2, %r3, %r4", opaque("%r1")),
    ("div.u32 %r1, %r2, %r3", Compute("div", R("%r1"), R("%r2", "%r3"))),
    ("rem.s64 %rd1, %rd2, 3", Compute("rem", R("%rd1"), (N("%rd2"), I(3)), 64, True)),
    ("min.s32 %r1, %r2, %r3", Compute("min", R("%r1"), R("%r2", "%r3"), 32, True)),
    ("max.u64 %rd1, %rd2, %rd3", Compute("max", R("%rd1"), R("%rd2", "%rd3"), 64)),
    ("min.relu.s32 %r1, %r2, %r3", opaque("%r1")),
    ("max.s16x2 %r1, %r2, %r3", opaque("%r1")),
    ("abs.s32 %r1, %r2", Compute("abs", R("%r1"), R("%r2"), 32, True)),
    ("neg.s64 %rd1, %rd2", Compute("neg", R("%rd1"), R("%rd2"), 64, True)),
    ("sad.u32 %r1, %r2, %r3, %r4", Compute("sad", R("%r1"), R("%r2", "%r3", "%r4"))),
    ("popc.b64 %r1, %rd2", Compute("popc", R("%r1"), R("%rd2"), 32, False, 64)),
    ("clz.b32 %r1, %r2", Compute("clz", R("%r1"), R("%r2"), 32, False, 32)),
    ("bfind.s64 %r1, %rd2", Compute("bfind", R("%r1"), R("%rd2"), 32, True, 64)),
    ("bfind.shiftamt.u32 %r1, %r2", opaque("%r1")),
    ("brev.b32 %r1, %r2", Compute("brev", R("%r1"), R("%r2"))),
    ("bfe.u32 %r1, %r2, 4, 14", Compute("bfe", R("%r1"), (N("%r2"), I(4), I(14)))),
    ("bfe.s64 %rd1, %rd2, %r3, %r4", Compute("bfe", R("%rd1"), R("%rd2", "%r3", "%r4"), 64, True)),
    ("bfi.b64 %rd1, %rd2, %rd3, %r4, 8", Compute("bfi", R("%rd1"), (*R("%rd2", "%rd3", "%r4"), I(8)), 64)),
    ("fns.b32 %r1, %r2, %r3, %r4", Compute("fns", R("%r1"), R("%r2", "%r3", "%r4"))),
    ("bmsk.clamp.b32 %r1, %r2, %r3", Compute("bmsk", R("%r1"), R("%r2", "%r3"), extra=("clamp",))),
    ("szext.wrap.s32 %r1, %r2, %r3", Compute("szext", R("%r1"), R("%r2", "%r3"), 32, True, extra=("wrap",))),
    (
        "dp4a.u32.s32 %r1, %r2, %r3, %r4",
        Compute("dp4a", R("%r1"), R("%r2", "%r3", "%r4"), 32, True, extra=("u32", "s32")),
    ),
    ("dp2a.lo.u32.u32 %r1, %r2, %r3, %r4", opaque("%r1")),
    ("clmad.lo.u64 %rd1, %rd2, %rd3, %rd4", opaque("%rd1", bits=64)),
    # floats
    ("add.rn.ftz.f32 %f1, %f2, %f3", opaque("%f1")),
    ("add.f32x2 %rd1, %rd2, %rd3", opaque("%rd1", bits=64)),
    ("fma.rn.f64 %fd1, %fd2, %fd3, %fd4", opaque("%fd1", bits=64)),
    ("mul.bf16x2 %r1, %r2, %r3", opaque("%r1")),
    ("max.ftz.NaN.xorsign.abs.f32 %f1, %f2, %f3", opaque("%f1")),
    ("ex2.approx.ftz.f32 %f1, %f2", opaque("%f1")),
    ("rsqrt.approx.f32 %f1, %f2", opaque("%f1")),
    ("tanh.approx.bf16x2 %r1, %r2", opaque("%r1")),
    ("copysign.f64 %fd1, %fd2, %fd3", opaque("%fd1", bits=64)),
    ("testp.notanumber.f32 %p1, %f1", opaque("%p1", bits=1)),
    # comparison and selection
    (
        "setp.lt.s32 %p1, %r1, %r2",
        Compute("setp", (N("%p1"), NO), R("%r1", "%r2"), 1, True, 32, ("lt",)),
    ),
    (
        "setp.ne.b16 %p1|%p2, %rs1, 0",
        Compute("setp", R("%p1", "%p2"), (N("%rs1"), I(0)), 1, False, 16, ("ne",)),
    ),
    (
        "setp.hs.and.u64 %p1|_, %rd1, %rd2, %p3",
        Compute("setp", (N("%p1"), NO), R("%rd1", "%rd2", "%p3"), 1, False, 64, ("hs", "and")),
    ),
    (
        "setp.eq.or.u32 %p1, %r1, %r2, !%p3",
        Compute("setp", (N("%p1"), NO), (*R("%r1", "%r2"), Not(N("%p3"))), 1, False, 32, ("eq", "or")),
    ),
    ("setp.gtu.ftz.f32 %p1, %f1, %f2", Compute("opaque", (N("%p1"), NO), (), 1)),
    ("setp.eq.f16x2 %p1|%p2, %r1, %r2", opaque("%p1", "%p2", bits=1)),
    (
        "set.eq.u32.s64 %r1, %rd1, %rd2",
        Compute("set", R("%r1"), R("%rd1", "%rd2"), 32, True, 64, ("eq",)),
    ),
    ("set.lt.f32.s32 %f1, %r1, %r2", opaque("%f1")),
    ("set.gt.ftz.u32.f32 %r1, %f1, %f2", opaque("%r1")),
    ("selp.b32 %r1, %r2, 0, %p1", Compute("selp", R("%r1"), (N("%r2"), I(0), N("%p1")))),
    ("selp.f64 %fd1, %fd2, %fd3, %p1", Compute("selp", R("%fd1"), R("%fd2", "%fd3", "%p1"), 64)),
    ("slct.u32.s32 %r1, %r2, %r3, %r4", Compute("slct", R("%r1"), R("%r2", "%r3", "%r4"))),
    ("slct.u64.f32 %rd1, %rd2, %rd3, %f1", opaque("%rd1", bits=64)),
    # logic and shifts
    ("and.b32 %r1, %r2, 3", Compute("and", R("%r1"), (N("%r2"), I(3)))),
    ("or.pred %p1, %p2, %p3", Compute("or", R("%p1"), R("%p2", "%p3"), 1)),
    ("xor.b64 %rd1, %rd2, %rd3", Compute("xor", R("%rd1"), R("%rd2", "%rd3"), 64)),
    ("not.pred %p1, %p2", Compute("not", R("%p1"), R("%p2"), 1)),
    ("cnot.b16 %rs1, %rs2", Compute("cnot", R("%rs1"), R("%rs2"), 16)),
    (
        "lop3.b32 %r1, %r2, %r3, %r4, 0xE8",
        Compute("lop3", R("%r1"), (*R("%r2", "%r3", "%r4"), I(0xE8))),
    ),
    ("shl.b64 %rd1, %rd2, 4", Compute("shl", R("%rd1"), (N("%rd2"), I(4)), 64)),
    ("shr.s32 %r1, %r2, 31", Compute("shr", R("%r1"), (N("%r2"), I(31)), 32, True)),
    ("shr.b16 %rs1, %rs2, 1", Compute("shr", R("%rs1"), (N("%rs2"), I(1)), 16)),
    (
        "shf.l.wrap.b32 %r1, %r2, %r3, %r4",
        Compute("shf_l", R("%r1"), R("%r2", "%r3", "%r4"), extra=("wrap",)),
    ),
    (
        "shf.r.clamp.b32 %r1, %r2, %r3, 8",
        Compute("shf_r", R("%r1"), (*R("%r2", "%r3"), I(8)), extra=("clamp",)),
    ),
    ("prmt.b32 %r1, %r2, %r3, 0x5410", Compute("prmt", R("%r1"), (*R("%r2", "%r3"), I(0x5410)))),
    (
        "prmt.b32.rc16 %r1, %r2, %r3, %r4",
        Compute("prmt", R("%r1"), R("%r2", "%r3", "%r4"), extra=("rc16",)),
    ),
    # moves
    ("mov.u32 %r1, %tid.x", Compute("mov", R("%r1"), R("%tid.x"))),
    ("mov.u32 %r1, smem", Compute("mov", R("%r1"), R("smem"))),
    ("mov.u32 %r1, smem+16", Compute("mov", R("%r1"), (Symbolic(N("smem"), 16),))),
    ("mov.pred %p1, %p2", Compute("mov", R("%p1"), R("%p2"), 1)),
    ("mov.s64 %rd1, -1", Compute("mov", R("%rd1"), (I(-1),), 64, True)),
    ("mov.f32 %f1, 0f3F800000", Compute("mov", R("%f1"), (FloatImmediate("0f3F800000"),))),
    ("mov.b64 %rd1, {%r1, %r2}", Compute("pack", R("%rd1"), R("%r1", "%r2"), 64)),
    (
        "mov.b64 %rd1, {%rs1, %rs2, %rs3, %rs4}",
        Compute("pack", R("%rd1"), R("%rs1", "%rs2", "%rs3", "%rs4"), 64),
    ),
    ("mov.b128 %rq1, {%rd1, %rd2}", Compute("pack", R("%rq1"), R("%rd1", "%rd2"), 128)),
    ("mov.b64 {%r1, %r2}, %rd1", Compute("unpack", R("%r1", "%r2"), R("%rd1"), 32, False, 64)),
    ("mov.b64 {%r1, _}, %rd1", Compute("unpack", (N("%r1"), NO), R("%rd1"), 32, False, 64)),
    ("mov.b128 {%rd1, %rd2}, %rq1", Compute("unpack", R("%rd1", "%rd2"), R("%rq1"), 64, False, 128)),
    # conversions and addresses
    ("cvt.u64.u32 %rd1, %r1", Compute("cvt", R("%rd1"), R("%r1"), 64, False, 32)),
    ("cvt.s64.s32 %rd1, %r1", Compute("cvt", R("%rd1"), R("%r1"), 64, True, 32)),
    ("cvt.u16.u64 %rs1, %rd1", Compute("cvt", R("%rs1"), R("%rd1"), 16, False, 64)),
    ("cvt.s32.s8 %r1, %r2", Compute("cvt", R("%r1"), R("%r2"), 32, True, 8)),
    ("cvt.sat.u8.u32 %r1, %r2", opaque("%r1", bits=8)),
    ("cvt.rn.f32.s32 %f1, %r1", opaque("%f1")),
    ("cvt.rzi.s32.f32 %r1, %f1", opaque("%r1")),
    ("cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2", opaque("%rs1", bits=16)),
    ("cvt.rs.satfinite.e2m1x4.f32 %rs1, {%f1, %f2, %f3, %f4}, %r1", opaque("%rs1", bits=16)),
    ("cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4", opaque("%r1", bits=8)),
    ("cvta.shared.u64 %rd1, %rd2", Compute("cvta", R("%rd1"), R("%rd2"), 64, extra=("shared",))),
    ("cvta.to.shared.u64 %rd1, %rd2", Compute("cvta_to", R("%rd1"), R("%rd2"), 64, extra=("shared",))),
    ("cvta.to.shared::cta.u64 %rd1, %rd2", Compute("cvta_to", R("%rd1"), R("%rd2"), 64, extra=("shared",))),
    (
        "cvta.shared::cluster.u64 %rd1, %rd2",
        Compute("cvta", R("%rd1"), R("%rd2"), 64, extra=("shared::cluster",)),
    ),
    ("cvta.param.u64 %rd1, arg", Compute("cvta", R("%rd1"), R("arg"), 64, extra=("param",))),
    (
        "isspacep.shared::cluster %p1, %rd1",
        Compute("isspacep", R("%p1"), R("%rd1"), 1, False, 64, ("shared::cluster",)),
    ),
    (
        "mapa.shared::cluster.u32 %r1, %r2, 0",
        Compute("mapa", R("%r1"), (N("%r2"), I(0)), 32, False, 32, ("shared::cluster",)),
    ),
    ("mapa.u64 %rd1, %rd2, %r3", Compute("mapa", R("%rd1"), R("%rd2", "%r3"), 64, False, 64)),
    ("getctarank.u64 %r1, %rd2", Compute("getctarank", R("%r1"), R("%rd2"), 32, False, 64)),
    # registers only
    ("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2", opaque("%r1", bits=16)),
    ("createpolicy.fractional.L2::evict_last.b64 %rd1, 0.5", opaque("%rd1", bits=64)),
    ("alloca.u64 %rd1, 16", opaque("%rd1", bits=64)),
    ("vadd.u32.u32.s32.sat %r1, %r2.b0, %r3.h1", opaque("%r1")),
    ("vset4.u32.u32.lt %r1, %r2, %r3, %r4", opaque("%r1")),
]


@pytest.mark.parametrize(("text", "expected"), ROWS, ids=[text for text, _ in ROWS])
def test_computation(text: str, expected: Compute) -> None:
    assert effects_of(text) == (expected,)


def test_lop3_with_a_predicate_destination() -> None:
    both = effects_of("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2")
    assert both == (
        Compute("lop3", R("%r1"), (*R("%r2", "%r3", "%r4"), I(0x80))),
        opaque("%p1", bits=1),
    )
    assert effects_of("lop3.or.b32 _|%p1, %r2, %r3, %r4, 0x80, %p2") == (opaque("%p1", bits=1),)


def test_move_between_vectors_is_a_move_of_each_element() -> None:
    assert effects_of("mov.b64 {%r1, %r2}, {%r3, %r4}") == (
        Compute("mov", R("%r1"), R("%r3")),
        Compute("mov", R("%r2"), R("%r4")),
    )


def test_tensor_core_multiplication_in_registers_is_opaque() -> None:
    text = (
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}"
    )
    assert effects_of(text) == (opaque("%f1", "%f2", "%f3", "%f4"),)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("setp.lg.s32 %p1, %r1, %r2", ".lg"),
        ("setp.ftz.f32 %p1, %f1, %f2", "comparison"),
        ("mul.s32 %r1, %r2, %r3", "half"),
        ("shf.l.b32 %r1, %r2, %r3, %r4", "direction or mode"),
        ("cvta.u64 %rd1, %rd2", "state space"),
        ("cvt.u32 %r1, %r2", "types"),
        ("mov.x32 %r1, %r2", ".x32"),
    ],
)
def test_incomplete_computation_is_unknown(text: str, part: str) -> None:
    (effect,) = effects_of(text)
    assert isinstance(effect, Unknown)
    assert part in effect.what
