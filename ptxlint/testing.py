"""For tests: :func:`assert_ptx_clean` fails with the report when a kernel has findings.

It needs no GPU, and neither pytest nor the compiler that made the kernel is imported here.
"""

import os
from collections.abc import Iterable

from ptxlint.inputs import InputError
from ptxlint.kernel_check import Checker, Shape, failure
from ptxlint.kernel_objects import kernel_inputs
from ptxlint.settings import UserError

__all__ = ["InputError", "PtxFindings", "UserError", "assert_ptx_clean"]


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
    baseline: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    isolated: bool = False,
    arch: str = "sm_90a",
) -> None:
    """Check a kernel, and fail with the report if it has findings.

    What is not chosen here is as the configuration says that is nearest to the file, or to the working
    directory.

    Args:
        kernel: PTX text (``str`` or ``bytes``), the path of what ``ptxlint check`` takes, a compiled Triton
            kernel, a compiled CuTe DSL function, or a CuPy ``RawModule`` or ``RawKernel``.
        select: report only findings whose code begins with one of these.
        ignore: do not report findings whose code begins with one of these.
        extend_select: report these besides, also codes that are off by default.
        fail_on: the least severity that fails: ``note``, ``warning`` (by default) or ``error``.
        strict: what could not be analysed (PTX990, PTX991) is an error.
        block: threads a CTA, ``128`` or ``(x, y, z)``, where the PTX does not say. Of a Triton kernel they
            are known from its ``num_warps``.
        cluster: CTAs a cluster, likewise; of a Triton kernel known from its ``num_ctas``.
        baseline: a file of known findings, which do not fail.
        config: the configuration file to use.
        isolated: use no configuration file.
        arch: the target that the source of a CuPy object is compiled for, where its options name none.

    Raises:
        PtxFindings: an ``AssertionError`` whose text is the report; PTX that cannot be parsed counts.
        TypeError: *kernel* is nothing of that kind; the text names what is accepted.
        InputError: *kernel* holds no PTX; the text says why.
        ValueError: an option has no such value.
        UserError: the configuration or the baseline cannot be read.
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not this one
    choices = {
        "select": select,
        "ignore": ignore,
        "extend_select": extend_select,
        "fail_on": fail_on,
        "strict": strict,
        "block": block,
        "cluster": cluster,
        "baseline": None if baseline is None else os.fspath(baseline),
    }
    report = Checker(choices, config, isolated).check(kernel_inputs(kernel, arch))
    text = failure(report)
    if text is not None:
        raise PtxFindings(text)
