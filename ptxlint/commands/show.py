"""``ptxlint show``."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ptxlint.commands.options import block_option, cluster_option
from ptxlint.commands.output import spare_inputs
from ptxlint.inputs import Input, read_input
from ptxlint.report.output import OutputError, write_file
from ptxlint.report.printable import printable
from ptxlint.session import check_input, internal_error, launch_settings
from ptxlint.settings import Settings, Triple

if TYPE_CHECKING:
    from ptxlint.report.finding import FileReport
    from ptxlint.show.model import View

FAILURE = 2
FORMATS = ("text", "json", "html", "mermaid", "dot")


@click.command()
@click.argument("file", type=click.Path(allow_dash=True, readable=False))
@click.option("--kernel", metavar="NAME", help="Only this kernel, by its name in the PTX.")
@click.option(
    "--output-format", type=click.Choice(FORMATS), default="text", show_default=True, help="How to show it."
)
@click.option(
    "--output-file", metavar="FILE", type=click.Path(), help="Write to FILE, not to standard output."
)
@block_option
@cluster_option
@click.pass_context
def show(
    ctx: click.Context,
    file: str,
    kernel: str | None,
    output_format: str,
    output_file: str | None,
    block: Triple | None,
    cluster: Triple | None,
) -> None:
    """Show the asynchronous pipeline of a kernel: buffers, barriers, roles, and one steady turn with what orders it."""
    spare_inputs("--output-file", (output_file,), (file,))
    item = read_input(file)
    if item.error is not None:
        fail(ctx, item.path, item.error)
    settings = launch_settings(item, Settings(block=block, cluster=cluster))
    report = check_input(item, settings)
    if report.error is not None:
        fail(ctx, item.path, report.error)
    names = [k.name for k in report.kernels]
    if kernel is not None and kernel not in names:
        fail(ctx, item.path, f"no kernel {kernel}; there are {', '.join(names) or 'none'}")
    try:
        views = views_of(report, settings, kernel)
        text = rendered(views, report, output_format)
    except Exception as error:
        fail(ctx, item.path, internal_error(error))
        return
    if not views:
        click.echo("nothing asynchronous to show", err=True)
    try:
        if output_file is None:
            click.echo(text, nl=False)
        else:
            write_file(output_file, text)
    except OutputError as error:
        click.echo(f"ptxlint: error: {printable(str(error))}", err=True)
        ctx.exit(FAILURE)


def fail(ctx: click.Context, path: str, message: str) -> None:
    """Say what is wrong and end with status 2."""
    click.echo(f"ptxlint: error: {printable(path)}: {printable(message)}", err=True)
    ctx.exit(FAILURE)


def views_of(report: "FileReport", settings: Settings, kernel: str | None = None) -> "list[View]":
    """Return the views of the kernels of a checked file that have something asynchronous."""
    from ptxlint.show.views import views_of_text

    findings = {k.name: k.findings for k in report.kernels}
    notes = {k.name: k.coverage.notes for k in report.kernels}
    return views_of_text(report.text, report.path, settings, findings, notes, kernel)


def rendered(views: "list[View]", report: "FileReport", output_format: str) -> str:
    """Return *views* in a format."""
    if output_format == "json":
        from ptxlint.show.data import document

        return json.dumps(document(views), indent=2) + "\n"
    if output_format == "html":
        return html_page(views, report)
    return "".join(f"{line}\n" for line in _lines(views, output_format))


def _lines(views: "list[View]", output_format: str) -> Iterator[str]:
    from ptxlint.show import graph, text

    render = {"text": text.render, "mermaid": graph.mermaid, "dot": graph.dot}[output_format]
    for number, view in enumerate(views):
        if number:
            yield ""
        yield from render(view)


def html_page(views: "list[View]", report: "FileReport") -> str:
    """Return the page for one file."""
    from ptxlint.show.html import page
    from ptxlint.show.lines import FileLines

    return page(views, FileLines(report), f"ptxlint: {report.path}")


__all__ = ["Input", "show"]
