"""One run from inputs to report: what the command line, the library and plugins share.

:func:`analyse_input` finds everything there is, whatever is asked for, so that its result may be kept
and made elsewhere. A :class:`Session` knows the settings of each input and makes the report of them:
suppressions, selection, severities, names.
"""

import time
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import ptxlint
from ptxlint import filters
from ptxlint.config import Config, Configurations
from ptxlint.inputs import Input
from ptxlint.names import demangled
from ptxlint.records import record, replace
from ptxlint.report.finding import FileReport, KernelReport, Report
from ptxlint.settings import Settings
from ptxlint.suppressions import Suppressions


class Session:
    """The settings of one run: configuration files, and what was chosen over them.

    *choices* are fields of :class:`Settings`; None and () mean no choice. Without *hide_known* baselines
    hide nothing.
    """

    def __init__(
        self, configurations: Configurations, choices: Mapping[str, Any], hide_known: bool = True
    ) -> None:
        self._configurations = configurations
        self._choices = choices
        self._hide_known = hide_known
        self._baselines: set[str] = set()

    def settings_of(self, item: Input) -> Settings:
        """Return what applies to *item*: the nearest configuration, for standard input that of the folder.

        Raises:
            UserError: a configuration, or the baseline that it names, cannot be read.
        """
        settings = self.chosen(self._configurations.of_folder(item.folder))
        if self._hide_known and settings.baseline is not None and settings.baseline not in self._baselines:
            from ptxlint.baseline import Baseline

            Baseline.read(settings.baseline)  # before the work, rather than after it
            self._baselines.add(settings.baseline)
        return settings

    def settings_here(self) -> Settings:
        """Return what applies to the run as a whole: the output format.

        Raises:
            ConfigError: the configuration of the working directory cannot be read.
        """
        return self.chosen(self._configurations.of_folder())

    def is_excluded(self, path: str) -> bool:
        """Return whether the configuration nearest to *path* leaves it out.

        Raises:
            ConfigError: a configuration cannot be read.
        """
        return filters.is_excluded(path, self.chosen(self._configurations.of_file(path)))

    def chosen(self, config: Config) -> Settings:
        """Return the settings of *config* with what was chosen over them."""
        return config.settings.with_choices(**self._choices)

    def report(self, analysed: Iterable[tuple[FileReport, Settings]]) -> Report:
        """Make the report of what :func:`analyse_input` found, each with its settings.

        Raises:
            UserError: a baseline cannot be read.
        """
        return finish(analysed, self._hide_known)


def check_input(item: Input, settings: Settings) -> FileReport:
    """Check one input; what is wrong with it is in the report's ``error``.

    Raises:
        UserError: the baseline of the settings cannot be read.
    """
    return finish([(analyse_input(item, settings), settings)]).files[0]


def analyse_input(item: Input, settings: Settings) -> FileReport:
    """Find everything in one input, off-by-default advice included; errors are in ``error``.

    Of the settings only those of the launch count (*block*, *cluster*, *kernels*, *max_steps*). A kernel that
    cannot be analysed costs only itself.
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

        self._settings = launch_settings(item, settings)
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


def launch_settings(item: Input, settings: Settings) -> Settings:
    """Return the settings that change what is found in *item*, with what its producer tells of the launch."""
    return Settings(
        block=settings.block or item.block,
        cluster=settings.cluster or item.cluster,
        kernels=settings.kernels,
        max_steps=settings.max_steps,
    )


def finish(analysed: Iterable[tuple[FileReport, Settings]], hide_known: bool = True) -> Report:
    """Make the report of what was found: what comments do not hide, the settings ask for, and is not known.

    The reports that are given stay as they are.

    Raises:
        UserError: the baseline of some settings cannot be read.
    """
    suppressions = Suppressions()
    files = []
    for file, settings in analysed:
        shown = suppressions.apply(file, settings) if settings.ignore_comments else file
        files.append((shown, settings))
    suppressions.report_useless()
    report = demangled(Report([filters.apply(file, settings) for file, settings in files]))
    paths = [settings.baseline for _, settings in files]
    if not hide_known or not any(paths):
        return report
    from ptxlint import baseline

    return baseline.hide_known(report, paths)


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
