"""``ptxlint rule`` and ``ptxlint rules``."""

import sys
from difflib import get_close_matches

import click

from ptxlint.codes import known_codes
from ptxlint.commands.options import complete_code
from ptxlint.report.printable import printable


@click.command()
@click.argument("code", metavar="CODE", shell_complete=complete_code)
def rule(code: str) -> None:
    """Show the page of a rule: what it reports, why, and how to repair it."""
    from ptxlint.report.rule_page import read_page

    wanted = code.upper()
    if wanted not in known_codes():
        close = get_close_matches(wanted, known_codes(), 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise click.BadParameter(f"there is no rule {printable(code)!r}{hint}", param_hint="CODE")
    page = read_page(wanted)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page.text))
    else:
        click.echo(page.text)


@click.command()
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to print the table."
)
@click.option("--markdown", is_flag=True, help="Print the table as README.md has it.")
def rules(output_format: str, markdown: bool) -> None:
    """List all rules."""
    from ptxlint import rule_table

    if markdown:
        click.echo(rule_table.as_markdown())
    else:
        click.echo(rule_table.as_json() if output_format == "json" else rule_table.as_text())
