"""One input from text to report: what the command line, the library and plugins share.

:func:`analyse_input` finds everything there is, whatever is asked for, so that its result may be kept
and made elsewhere; :func:`check_input` keeps what the settings ask for.
"""

import time
import traceback
from collections.abc import Iterable
from pathlib import Path

import ptxlint
from ptxlint import filters
from ptxlint.inputs import Input
from ptxlint.records import record, replace
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
    parsed = ParsedInput(item, settings)
    return join(parsed.report, [parsed.kernel(number) for number in range(parsed.kernels)])


@record
class Part:
    """What was found in one kernel, or the *error* that hindered it, and the seconds it took."""

    report: KernelReport | None
    error: str | None = None
    seconds: float = 0.0


class ParsedInput:
    """One input with its kernels, which are analysed one by one.

    *report* says what concerns the whole input and has no kernels, *kernels* how many there are, *failed*
    whether it could not even be parsed for reasons that are not its own.
    """

    def __init__(self, item: Input, settings: Settings) -> None:
        from ptxlint import linter

        self._settings = launch_of(item, settings)
        self.report = FileReport(item.path, error=item.error, text=item.text)
        self.kernels = 0
        self.failed = False
        start = time.perf_counter()
        if item.error is None:
            try:
                self._module, self.report = linter.read_text(item.text, item.path)
                self._functions = linter.kernels_of(self._module)
                self.kernels = len(self._functions)
            except Exception as error:
                self.failed = True
                self.report.error = internal_error(error)
        self.report.notes = list(item.notes)
        self.report.seconds = time.perf_counter() - start

    def kernel(self, number: int) -> Part:
        """Analyse one kernel."""
        from ptxlint import linter

        function = self._functions[number]
        start = time.perf_counter()
        try:
            report = linter.analyse_kernel(self._module, function, self._settings)
        except Exception as error:
            return Part(None, f"kernel {function.name}: {internal_error(error)}")
        return Part(report, seconds=time.perf_counter() - start)


def join(head: FileReport, parts: Iterable[Part]) -> FileReport:
    """Return the report of an input from that of the whole and those of its kernels, errors among them."""
    parts = list(parts)
    errors = [error for error in (head.error, *(part.error for part in parts)) if error is not None]
    return replace(
        head,
        kernels=[part.report for part in parts if part.report is not None],
        error="\n".join(errors) if errors else None,
        seconds=head.seconds + sum(part.seconds for part in parts),
    )


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
