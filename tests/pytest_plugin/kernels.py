"""PTX for the tests of the plugin: two small kernels, one with a missing proxy fence."""

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"

_KERNEL = """
.visible .entry {name}(.param .u64 {name}_out)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p1;
    .shared .align 128 .b8 {name}_tile[512];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, {name}_tile;
    mad.lo.u32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3], %r1;
{fence}    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    ld.param.u64 %rd1, [{name}_out];
    cvta.to.global.u64 %rd2, %rd1;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
DONE:
    ret;
}}
"""


def clean(name: str = "clean") -> str:
    """Return a kernel without findings when it is run by 128 threads."""
    return _KERNEL.format(name=name, fence="    fence.proxy.async.shared::cta;\n")


def hazard(name: str = "hazard") -> str:
    """Return the same kernel without its proxy fence: PTX101."""
    return _KERNEL.format(name=name, fence="")


def module(*kernels: str) -> str:
    """Return a PTX module with these kernels."""
    return HEADER + "".join(kernels)
