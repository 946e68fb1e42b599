"""``ptxlint show``."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ptxlint.commands.options import block_option, cluster_option
from ptxlint.commands.output import fail, spare_inputs
from ptxlint.inputs import read_input
from ptxlint.report.output import OutputError, write_file
from ptxlint.session import internal_error, launch_settings
from ptxlint.settings import Settings, Triple

if TYPE_CHECKING:
    from ptxlint.report.finding import FileReport
    from ptxlint.show.model import View

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
    from ptxlint.show.views import views_of_text

    spare_inputs("--output-file", (output_file,), (file,))
    item = read_input(file)
    if item.error is not None:
        fail(ctx, f"{item.path}: {item.error}")
    settings = launch_settings(item, Settings(block=block, cluster=cluster))
    try:
        views, report = views_of_text(item.text, item.path, settings, kernel)
        text = rendered(views, report, output_format)
    except KeyError as error:
        fail(ctx, f"{item.path}: no kernel {kernel}; there are {error.args[0]}")
        return
    except Exception as error:
        fail(ctx, f"{item.path}: {internal_error(error)}")
        return
    if report.error is not None:
        fail(ctx, f"{item.path}: {report.error}")
    if not views:
        click.echo("nothing asynchronous to show", err=True)
    try:
        if output_file is None:
            click.echo(text, nl=False)
        else:
            write_file(output_file, text)
    except OutputError as error:
        fail(ctx, str(error))


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
