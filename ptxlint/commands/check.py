"""``ptxlint check``."""

import click

from ptxlint.commands.options import block_option, cluster_option, code_prefixes
from ptxlint.commands.output import output_targets, publish
from ptxlint.inputs import read_inputs
from ptxlint.report.finding import Report, Severity
from ptxlint.report.formats import FORMATS, FormatOptions
from ptxlint.report.output import Target
from ptxlint.report.printable import printable
from ptxlint.session import check_input
from ptxlint.settings import Settings, Triple

FINDINGS = 1
FAILURE = 2


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True, readable=False))
@click.option(
    "--output-format",
    type=click.Choice([*FORMATS]),
    default="full",
    show_default=True,
    help="How to print findings.",
)
@click.option(
    "--output-file",
    "targets",
    metavar="[FORMAT=]FILE",
    multiple=True,
    callback=output_targets,
    help="Write the report to FILE, not to standard output; with FORMAT, that format, and print as well.",
)
@click.option("--statistics", is_flag=True, help="Add totals: findings, coverage, what is unknown, time.")
@click.option(
    "--select",
    metavar="CODES",
    multiple=True,
    callback=code_prefixes,
    help="Report only these codes; beginnings count (PTX1).",
)
@click.option(
    "--ignore", metavar="CODES", multiple=True, callback=code_prefixes, help="Do not report these codes."
)
@click.option(
    "--extend-select",
    metavar="CODES",
    multiple=True,
    callback=code_prefixes,
    help="Report these codes besides, also those that are off by default.",
)
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.WARNING.value,
    show_default=True,
    help="The least severity that makes the exit status 1.",
)
@click.option("--strict", is_flag=True, help="What could not be analysed (PTX990, PTX991) is an error.")
@block_option
@cluster_option
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[str, ...],
    output_format: str,
    targets: tuple[Target, ...],
    statistics: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_select: tuple[str, ...],
    fail_on: str,
    strict: bool,
    block: Triple | None,
    cluster: Triple | None,
) -> None:
    """Check PTX files, folders of them, or standard input (-)."""
    settings = Settings(
        select=select,
        ignore=ignore,
        extend_select=extend_select,
        block=block,
        cluster=cluster,
        strict=strict,
        fail_on=Severity(fail_on),
        output_format=output_format,
    )
    report = Report([check_input(item, settings) for item in read_inputs(files)])
    options = FormatOptions(settings.fail_on, statistics)
    written = publish(report, output_format, targets, options)
    for file in report.files:
        if file.error is not None:
            click.echo(f"ptxlint: error: {printable(file.path)}: {printable(file.error)}", err=True)
    ctx.exit(exit_status(report, settings.fail_on) if written else FAILURE)


def exit_status(report: Report, fail_on: Severity) -> int:
    """Return 2 when something could not be checked, 1 with findings of *fail_on* or worse, else 0."""
    if any(file.error is not None for file in report.files):
        return FAILURE
    if any(finding.severity.rank >= fail_on.rank for finding in report.findings()):
        return FINDINGS
    return 0
