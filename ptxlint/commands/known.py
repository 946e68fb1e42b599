"""Known findings on the command line: hide them, or write them down."""

import os

import click

from ptxlint.baseline import Baseline, BaselineError, Change, render
from ptxlint.report.finding import Report
from ptxlint.report.output import OutputError, write_file
from ptxlint.report.printable import printable
from ptxlint.report.summary import plural


def read_known(read_from: str | None, write_to: str | None) -> Baseline | None:
    """Return the baseline of a run: that which is to be written anew, if it is there, or read.

    Raises:
        BaselineError: it cannot be read, or what is to be written over is no baseline.
    """
    if write_to is not None:
        folder = os.path.dirname(write_to) or "."
        if not os.path.isdir(folder):
            raise BaselineError(f"{write_to}: there is no folder {folder}")
        return Baseline.read(write_to) if os.path.lexists(write_to) else Baseline(write_to)
    return None if read_from is None else Baseline.read(read_from)


def write_known(known: Baseline, report: Report) -> Baseline:
    """Write what is found to the file of *known*, say what changed, and return what is known now.

    Raises:
        BaselineError: something was not checked, or the file cannot be written; it is as it was.
    """
    change = known.updated(report)
    try:
        write_file(known.path, render(change.entries))
    except OutputError as error:
        raise BaselineError(str(error)) from None
    for line in _told(known.path, change):
        click.echo(printable(line), err=True)
    return Baseline(known.path, change.entries)


def _told(path: str, change: Change) -> list[str]:
    counts = f"{len(change.added)} added, {len(change.removed)} removed"
    lines = [f"{path}: {plural(len(change.entries), 'known finding')}; {counts}"]
    if change.kept:
        lines[0] += f", {change.kept} kept of files that were not checked"
    lines += [f"+ {entry}" for entry in change.added]
    lines += [f"- {entry}" for entry in change.removed]
    return lines
