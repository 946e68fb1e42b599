"""A Triton kernel for the tests, compiled for sm_90 on a machine without a GPU.

What matters of it is inline assembly, so that its PTX does not depend on Triton's version.
"""

from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

CLEAN = """{
    .shared .align 128 .b8 tile[128];
    .reg .b32 at;
    mov.u32 at, tile;
    st.shared.u32 [at], $1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    cp.async.bulk.global.shared::cta.bulk_group [$2], [at], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.u32 $0, $1;
    }"""
HAZARD = CLEAN.replace("fence.proxy.async.shared::cta;", "")  # PTX101


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def store(out, ASM: tl.constexpr):  # type: ignore[no-untyped-def]
    """Store a tile in bulk that each thread has written."""
    tl.inline_asm_elementwise(ASM, "=r,r,l", [7, out], dtype=tl.int32, is_pure=False, pack=1)


def compiled(asm: str, num_warps: int = 4) -> Any:
    """Compile the kernel with this inline assembly."""
    source = ASTSource(fn=store, signature={"out": "*i32", "ASM": "constexpr"}, constexprs={"ASM": asm})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": num_warps})
