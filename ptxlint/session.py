"""One input from text to report: what the command line, the library and plugins share.

:func:`analyse_input` finds everything there is, whatever is asked for, so that its result may be kept
and made elsewhere; :func:`check_input` keeps what the settings ask for.
"""

import traceback
from collections.abc import Iterable
from pathlib import Path

import ptxlint
from ptxlint import filters
from ptxlint.inputs import Input
from ptxlint.records import replace
from ptxlint.report.finding import FileReport, KernelReport
from ptxlint.settings import Settings


def check_input(item: Input, settings: Settings) -> FileReport:
    """Check one input; whatever goes wrong is in the report's ``error``."""
    return filters.apply(analyse_input(item, settings), settings)


def analyse_input(item: Input, settings: Settings) -> FileReport:
    """Find everything in one input, off-by-default advice included; errors are in ``error``.

    Of the settings only those of the launch count (*block*, *cluster*, *max_steps*). A kernel that cannot be
    analysed costs only itself.
    """
    text = ParsedInput(item, settings)
    parts = [text.kernel(number) for number in range(text.kernels)]
    return join(text.report, parts)


class ParsedInput:
    """One input with its kernels, which are analysed one by one.

    *report* says what concerns the whole input and has no kernels, *kernels* how many there are, *failed*
    whether it could not even be parsed for reasons that are not its own.
    """

    def __init__(self, item: Input, settings: Settings) -> None:
        from ptxlint import linter

        self._settings = launch_of(item, settings)
        self.report = FileReport(item.path, error=item.error, text=item.text, notes=list(item.notes))
        self.kernels = 0
        self.failed = False
        if item.error is not None:
            return
        try:
            self._module, report = linter.read_text(item.text, item.path)
            self._functions = linter.kernels_of(self._module)
            self.kernels = len(self._functions)
            self.report = replace(report, notes=list(item.notes))
        except Exception as error:
            self.failed = True
            self.report.error = internal_error(error)

    def kernel(self, number: int) -> KernelReport | str:
        """Return what was found in one kernel, or what went wrong."""
        from ptxlint import linter

        function = self._functions[number]
        try:
            return linter.analyse_kernel(self._module, function, self._settings)
        except Exception as error:
            return f"kernel {function.name}: {internal_error(error)}"


def join(head: FileReport, parts: Iterable[KernelReport | str]) -> FileReport:
    """Return the report of an input from that of the whole and those of its kernels, errors among them."""
    kernels: list[KernelReport] = []
    errors = [] if head.error is None else [head.error]
    for part in parts:
        if isinstance(part, str):
            errors.append(part)
        else:
            kernels.append(part)
    return replace(head, kernels=kernels, error="\n".join(errors) if errors else None)


def launch_of(item: Input, settings: Settings) -> Settings:
    """Return the settings that change what is found in *item*, with what its producer tells of the launch."""
    return Settings(
        block=settings.block or item.block,
        cluster=settings.cluster or item.cluster,
        max_steps=settings.max_steps,
    )


def internal_error(error: Exception) -> str:
    """Return what to say about an exception that nothing expected."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {_module_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    detail = f": {error}" if str(error) else ""
    return (
        f"internal error, a bug of ptxlint {ptxlint.__version__}: {type(error).__name__}{place}{detail}. "
        "Please report it with this line and the PTX"
    )


def _module_path(filename: str) -> str:
    path = Path(filename)
    package = Path(ptxlint.__file__).parent
    return path.relative_to(package).as_posix() if path.is_relative_to(package) else path.name
