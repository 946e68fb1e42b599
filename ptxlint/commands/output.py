"""How reports reach their readers: files, and standard output."""

import os
import sys
from collections.abc import Iterable

import click

from ptxlint.report.finding import Report
from ptxlint.report.formats import FormatOptions, render
from ptxlint.report.output import OutputError, Target, write_file
from ptxlint.report.printable import printable
from ptxlint.report.summary import Summary

FAILURE = 2


def output_targets(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[Target, ...]:
    """Read ``FILE`` and ``FORMAT=FILE``, each file once."""
    try:
        targets = tuple(Target.parse(value) for value in values)
    except OutputError as error:
        raise click.BadParameter(f"{error}.") from None
    paths = [os.path.abspath(target.path) for target in targets]
    if len(set(paths)) < len(paths):
        raise click.BadParameter("two reports for one file.")
    return targets


def spare_inputs(option: str, outputs: Iterable[str | None], inputs: Iterable[str]) -> None:
    """See that no output is one of the files that are read.

    Raises:
        click.BadParameter: it is; the text names the file.
    """
    inputs = tuple(inputs)
    for output in outputs:
        for name in inputs:
            if output is not None and _is_same_file(output, name):
                raise click.BadParameter(f"{output} is the file to read.", param_hint=f"'{option}'")


def _is_same_file(first: str, second: str) -> bool:
    try:
        return os.path.isfile(first) and os.path.samefile(first, second)
    except (OSError, ValueError):
        return False


def publish(report: Report, output_format: str, targets: tuple[Target, ...], options: FormatOptions) -> bool:
    """Write *report* to the files of *targets*, and print it unless one of them takes the place of that.

    A summary goes to standard error where nothing is printed. Return whether all files were written.
    """
    written = True
    for target in targets:
        try:
            write_file(target.path, render(report, target.format or output_format, options))
        except OutputError as error:
            click.echo(f"ptxlint: error: {printable(str(error))}", err=True)
            written = False
    if all(target.format is not None for target in targets):
        print_report(report, output_format, options)
    else:
        click.echo(str(Summary.of(report)), err=True)
    return written


def print_report(report: Report, output_format: str, options: FormatOptions) -> None:
    """Print *report* to standard output, in colours only on a terminal."""
    if output_format == "full" and sys.stdout.isatty():
        from rich.console import Console

        from ptxlint.report import text

        console = Console(highlight=False, markup=False, emoji=False)
        for line in text.render(report, options.statistics):
            console.print(line, soft_wrap=True)
    else:
        click.echo(render(report, output_format, options), nl=False)


def fail(ctx: click.Context, message: str) -> None:
    """Say on standard error what is wrong and end with status 2."""
    click.echo(f"ptxlint: error: {printable(message)}", err=True)
    ctx.exit(FAILURE)
