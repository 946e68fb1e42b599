"""For tests: :func:`assert_ptx_clean` fails with the report when a kernel has findings.

It needs no GPU, and neither pytest nor the compiler that made the kernel is imported here.
"""

from collections.abc import Iterable

from ptxlint.inputs import InputError
from ptxlint.kernel_check import Shape, check_item, failure, make_settings
from ptxlint.kernel_objects import kernel_inputs
from ptxlint.settings import Settings

__all__ = ["InputError", "PtxFindings", "assert_ptx_clean"]


class PtxFindings(AssertionError):
    """A kernel has findings; the text of the exception is the report as ``ptxlint check`` prints it."""


def assert_ptx_clean(
    kernel: object,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    fail_on: str | None = None,
    strict: bool | None = None,
    block: Shape | None = None,
    cluster: Shape | None = None,
    settings: Settings | None = None,
    arch: str = "sm_90a",
) -> None:
    """Check a kernel, and fail with the report if it has findings.

    Args:
        kernel: PTX text (``str`` or ``bytes``), the path of what ``ptxlint check`` takes, a compiled Triton
            kernel, a compiled CuTe DSL function, or a CuPy ``RawModule`` or ``RawKernel``.
        select: report only findings whose code begins with one of these.
        ignore: do not report findings whose code begins with one of these.
        extend_select: report these besides, also codes that are off by default.
        fail_on: the least severity that fails: ``note``, ``warning`` (the default) or ``error``.
        strict: what could not be analysed (PTX990, PTX991) is an error.
        block: threads a CTA, ``128`` or ``(x, y, z)``, where the PTX does not say. Of a Triton kernel they
            are known from its ``num_warps``.
        cluster: CTAs a cluster, likewise; of a Triton kernel known from its ``num_ctas``.
        settings: what applies where the other arguments say nothing, as ``ptxlint.find_settings`` reads it.
        arch: the target that the source of a CuPy object is compiled for, where its options name none.

    Raises:
        PtxFindings: an ``AssertionError`` whose text is the report; PTX that cannot be parsed counts.
        TypeError: *kernel* is nothing of that kind; the text names what is accepted.
        InputError: *kernel* holds no PTX; the text says why.
        ValueError: an option has no such value.
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not this one
    chosen = make_settings(
        select=select,
        ignore=ignore,
        extend_select=extend_select,
        fail_on=fail_on,
        strict=strict,
        block=block,
        cluster=cluster,
        settings=settings,
    )
    text = failure([check_item(item, chosen) for item in kernel_inputs(kernel, arch)])
    if text is not None:
        raise PtxFindings(text)
