"""PTX of growing size: a ring of stages that one warp fills by bulk loads and other warps read.

The kernels are correct: full and empty barriers, a proxy fence before a stage is given back.
"""

from dataclasses import dataclass

STAGE_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Size:
    """What grows: stages of the ring, warps that read, copies of the loop's body, kernels in the file."""

    stages: int = 4
    warps: int = 4
    unrolled: int = 1
    kernels: int = 1

    @property
    def name(self) -> str:
        """The name of the generated file."""
        return f"ring_s{self.stages}_w{self.warps}_u{self.unrolled}_k{self.kernels}"


SERIES: dict[str, tuple[Size, ...]] = {
    "stages": tuple(Size(stages=n) for n in (2, 4, 8, 16)),
    "warps": tuple(Size(warps=n) for n in (1, 4, 8, 15)),
    "unrolled": tuple(Size(unrolled=n) for n in (1, 8, 64, 256)),
    "kernels": tuple(Size(kernels=n) for n in (1, 8, 64, 256)),
}


def ring(size: Size) -> str:
    """Return the PTX text of *size*."""
    head = ".version 8.7\n.target sm_90a\n.address_size 64\n"
    return head + "".join(_kernel(size, number) for number in range(size.kernels))


def _wait(label: str, barrier: str, parity: str) -> str:
    return f"""{label}:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [{barrier}], {parity};
    @!%p1 bra {label};
"""


def _advance(size: Size) -> str:
    return f"""    add.s32 %r10, %r10, 1;
    setp.eq.s32 %p2, %r10, {size.stages};
    selp.b32 %r10, 0, %r10, %p2;
    selp.b32 %r11, 1, 0, %p2;
    xor.b32 %r12, %r12, %r11;
    mul.lo.s32 %r13, %r10, 8;
    add.s32 %r14, %r2, %r13;
    add.s32 %r15, %r3, %r13;
    mul.lo.s32 %r16, %r10, {STAGE_BYTES};
    add.s32 %r17, %r1, %r16;
"""


def _kernel(size: Size, number: int) -> str:
    name = f"ring{number}"
    threads = 32 * (size.warps + 1)
    inits = "".join(
        f"    mbarrier.init.shared::cta.b64 [full{number}+{8 * s}], 1;\n"
        f"    mbarrier.init.shared::cta.b64 [empty{number}+{8 * s}], {size.warps};\n"
        for s in range(size.stages)
    )
    load = f"""    xor.b32 %r18, %r12, 1;
{{wait}}    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], {STAGE_BYTES};
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%rd1], {STAGE_BYTES}, [%r14];
    add.s64 %rd1, %rd1, {STAGE_BYTES};
"""
    loads = "".join(
        load.format(wait=_wait(f"$L_empty{number}_{copy}", "%r15", "%r18")) + _advance(size)
        for copy in range(size.unrolled)
    )
    reads = "".join(
        _wait(f"$L_full{number}_{copy}", "%r14", "%r12")
        + """    add.s32 %r19, %r17, %r5;
    ld.shared.u32 %r20, [%r19];
    add.s32 %r21, %r21, %r20;
    fence.proxy.async.shared::cta;
    bar.warp.sync -1;
    @%p4 mbarrier.arrive.shared::cta.b64 _, [%r15];
"""
        + _advance(size)
        for copy in range(size.unrolled)
    )
    return f"""
.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out, .param .u32 {name}_turns)
.maxntid {threads}, 1, 1
{{
    .reg .pred %p<8>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<8>;
    .shared .align 128 .b8 stages{number}[{size.stages * STAGE_BYTES}];
    .shared .align 8 .b8 full{number}[{8 * size.stages}];
    .shared .align 8 .b8 empty{number}[{8 * size.stages}];
    ld.param.u64 %rd1, [{name}_in];
    ld.param.u64 %rd2, [{name}_out];
    ld.param.u32 %r6, [{name}_turns];
    mov.u32 %r4, %tid.x;
    mov.u32 %r1, stages{number};
    mov.u32 %r2, full{number};
    mov.u32 %r3, empty{number};
    and.b32 %r7, %r4, 31;
    shl.b32 %r5, %r7, 2;
    shr.u32 %r8, %r4, 5;
    mov.b32 %r10, 0;
    mov.b32 %r12, 0;
    mov.b32 %r14, %r2;
    mov.b32 %r15, %r3;
    mov.b32 %r17, %r1;
    mov.b32 %r21, 0;
    mov.b32 %r22, 0;
    setp.ne.s32 %p3, %r4, 0;
    setp.eq.s32 %p4, %r7, 0;
    @%p3 bra $L_ready{number};
{inits}    fence.mbarrier_init.release.cluster;
$L_ready{number}:
    bar.sync 0;
    setp.ne.s32 %p5, %r8, {size.warps};
    @%p5 bra $L_read{number};
    @!%p4 bra $L_end{number};
$L_load{number}:
{loads}    add.s32 %r22, %r22, 1;
    setp.lt.s32 %p6, %r22, %r6;
    @%p6 bra $L_load{number};
    bra $L_end{number};
$L_read{number}:
{reads}    add.s32 %r22, %r22, 1;
    setp.lt.s32 %p6, %r22, %r6;
    @%p6 bra $L_read{number};
    st.global.u32 [%rd2], %r21;
$L_end{number}:
    ret;
}}
"""
