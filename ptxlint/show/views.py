"""From a PTX text to the views of its kernels."""

from ptxlint.linter import analysis_of, kernels_of, read_text, report_of
from ptxlint.report.finding import FileReport
from ptxlint.session import finish
from ptxlint.settings import Settings
from ptxlint.show.build import build_view
from ptxlint.show.model import View


def views_of_text(
    text: str, path: str, settings: Settings, kernel: str | None = None
) -> tuple[list[View], FileReport]:
    """Return the views of the kernels of *text* that have something asynchronous, and the report of the text.

    With *kernel* only that one is analysed.

    Raises:
        KeyError: there is no kernel of that name; its argument names those that there are.
    """
    module, found = read_text(text, path)
    functions = kernels_of(module)
    if kernel is not None:
        names = [function.name for function in functions]
        if kernel not in names and found.error is None:
            raise KeyError(", ".join(names) or "none")
        functions = [function for function in functions if function.name == kernel]
    analyses = [analysis_of(module, function, settings) for function in functions]
    found.kernels = [report_of(analysis) for analysis in analyses]
    report = finish([(found, settings)]).files[0]
    views = [
        build_view(analysis, shown.findings, shown.coverage.notes)
        for analysis, shown in zip(analyses, report.kernels, strict=True)
        if analysis.main is not None
    ]
    return views, report
