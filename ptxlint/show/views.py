"""From a PTX text to the views of its kernels."""

from collections.abc import Mapping

from ptxlint.engine.run import MAX_STEPS, analyse, prepare
from ptxlint.linter import kernels_of, launch_of
from ptxlint.ptx.parser import parse
from ptxlint.report.finding import Finding
from ptxlint.settings import Settings
from ptxlint.show.build import build_view
from ptxlint.show.model import View


def views_of_text(
    text: str,
    path: str,
    settings: Settings,
    findings: Mapping[str, list[Finding]],
    notes: Mapping[str, list[str]],
    kernel: str | None = None,
) -> list[View]:
    """Return the views of the kernels of *text*, or of *kernel* alone, that have something asynchronous.

    *findings* and *notes* (what was not analysed) are those of the kernels by name.
    """
    module = parse(text, path)
    views = []
    for function in kernels_of(module):
        if kernel is not None and function.name != kernel:
            continue
        steps = settings.max_steps or MAX_STEPS
        analysis = analyse(prepare(module, function, *launch_of(function.name, settings)), steps)
        if analysis.main is not None:
            views.append(build_view(analysis, findings.get(function.name, []), notes.get(function.name, [])))
    return views
