"""One input from text to report: what the command line, the library and plugins share.

:func:`analyse_input` finds everything there is, whatever is asked for, so that its result may be kept
and made elsewhere; :func:`check_input` keeps what the settings ask for.
"""

import traceback
from pathlib import Path

import ptxlint
from ptxlint import filters
from ptxlint.inputs import Input
from ptxlint.report.finding import FileReport
from ptxlint.settings import Settings


def check_input(item: Input, settings: Settings) -> FileReport:
    """Check one input; whatever goes wrong is in the report's ``error``."""
    return filters.apply(analyse_input(item, settings), settings)


def analyse_input(item: Input, settings: Settings) -> FileReport:
    """Find everything in one input, off-by-default advice included; errors are in ``error``.

    Of the settings only those of the launch count (*block*, *cluster*, *max_steps*).
    """
    from ptxlint import linter

    if item.error is not None:
        return FileReport(item.path, error=item.error)
    options = linter.Options(block=settings.block, cluster=settings.cluster, max_steps=settings.max_steps)
    try:
        return linter.analyse_text(item.text, item.path, options)
    except Exception as error:
        return FileReport(item.path, error=internal_error(error), text=item.text)


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
