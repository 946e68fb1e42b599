"""Write down on the command line what is known."""

import os

import click

from ptxlint.baseline import Baseline, BaselineError, Change, render
from ptxlint.report.finding import Report
from ptxlint.report.output import OutputError, write_file
from ptxlint.report.printable import printable
from ptxlint.report.summary import plural

SHOWN = 20  # added or removed entries that are told


def to_write(path: str) -> Baseline:
    """Return the baseline at *path* as it is, empty when there is none.

    Raises:
        BaselineError: what is there is no baseline, or there is no such folder.
    """
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise BaselineError(f"{path}: there is no folder {folder}")
    return Baseline.read(path) if os.path.lexists(path) else Baseline(path)


def write(known: Baseline, report: Report) -> Baseline:
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
        lines[0] += f", {change.kept} kept of what was not checked"
    for sign, entries in (("+", change.added), ("-", change.removed)):
        lines += [f"{sign} {entry}" for entry in entries[:SHOWN]]
        if len(entries) > SHOWN:
            lines.append(f"{sign} and {len(entries) - SHOWN} more")
    return lines
