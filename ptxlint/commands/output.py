"""Write a report to standard output, in the format that is asked for."""

import sys
from collections.abc import Iterable

import click
from rich.console import Console

from ptxlint.report import concise, json, text
from ptxlint.report.finding import Report


def print_report(report: Report, output_format: str) -> None:
    """Print *report* to standard output, in colours only on a terminal."""
    if output_format == "json":
        click.echo(json.render(report))
    elif output_format == "concise":
        _print_lines(concise.render(report))
    elif sys.stdout.isatty():
        console = Console(highlight=False, markup=False, emoji=False)
        for line in text.render(report):
            console.print(line, soft_wrap=True)
    else:
        _print_lines(line.plain for line in text.render(report))


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
