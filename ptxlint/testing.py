"""For tests: ``assert_ptx_clean`` fails with the report when a kernel has findings.

It needs no GPU, and neither pytest nor the compiler that made the kernel is imported here.
"""

from collections.abc import Sequence

from ptxlint.kernel_check import Settings, check, failure
from ptxlint.kernel_objects import NoPtxError, kernel_text

__all__ = ["NoPtxError", "PtxFindings", "assert_ptx_clean"]

Shape = int | Sequence[int]


class PtxFindings(AssertionError):
    """A kernel has findings; the text of the exception is the report as ``ptxlint check`` prints it."""


def assert_ptx_clean(
    kernel: object,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    fail_on: str = "warning",
    strict: bool = False,
    block: Shape | None = None,
    cluster: Shape | None = None,
    arch: str = "sm_90a",
) -> None:
    """Check a kernel, and fail with the report if it has findings.

    Args:
        kernel: PTX text (``str`` or ``bytes``), a path of a PTX file, a compiled Triton kernel, a compiled
            CuTe DSL function, or a CuPy ``RawModule`` or ``RawKernel``.
        select: report only findings whose code begins with one of these.
        ignore: do not report findings whose code begins with one of these.
        fail_on: the least severity that fails: ``note``, ``warning`` or ``error``.
        strict: what could not be analysed (PTX990, PTX991) is an error.
        block: threads a CTA, as a number or up to three, where the PTX does not say. For a Triton kernel it
            is known from its ``num_warps``.
        cluster: CTAs a cluster, likewise; for a Triton kernel known from its ``num_ctas``.
        arch: the target that CUDA source of a CuPy object is compiled for, where its options name none.

    Raises:
        PtxFindings: an ``AssertionError`` whose text is the report.
        TypeError: *kernel* is nothing of that kind; the text names what is accepted.
        NoPtxError: a ``ValueError``: *kernel* holds no PTX, and why.
        ValueError: an option has no such value.
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not this one
    item = kernel_text(kernel, arch)
    settings = Settings(tuple(select), tuple(ignore), fail_on, strict, _triple(block), _triple(cluster))
    text = failure(check(item, settings), settings)
    if text is not None:
        raise PtxFindings(text)


def _triple(shape: Shape | None) -> tuple[int, int, int] | None:
    """Return a shape with three dimensions.

    Raises:
        ValueError: it has more, or a number that is not positive.
    """
    if shape is None:
        return None
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not 1 <= len(sizes) <= 3 or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ValueError(f"{shape!r} is no shape: expected one to three positive numbers")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
