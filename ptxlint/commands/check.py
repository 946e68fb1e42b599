"""``ptxlint check``."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ptxlint.commands.options import block_option, cluster_option, code_prefixes, complete_code
from ptxlint.commands.output import output_targets, publish, spare_inputs
from ptxlint.commands.progress import progress_bar
from ptxlint.commands.reading import CheckCommand, reading_options
from ptxlint.config import Configurations
from ptxlint.inputs import STDIN, InputOptions
from ptxlint.report.finding import Report, Severity
from ptxlint.report.formats import FORMATS, FormatOptions
from ptxlint.report.output import Target
from ptxlint.report.printable import printable, printable_lines
from ptxlint.session import Session
from ptxlint.settings import Triple, UserError

if TYPE_CHECKING:
    from ptxlint.baseline import Baseline
    from ptxlint.runner import Running

FINDINGS = 1
FAILURE = 2
STALE_SHOWN = 10


@click.command(cls=CheckCommand)
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True, readable=False))
@click.option(
    "--output-format",
    type=click.Choice([*FORMATS]),
    help="How to print findings; by default full.",
)
@click.option(
    "--output-file",
    "targets",
    metavar="[FORMAT=]FILE",
    multiple=True,
    callback=output_targets,
    help="Write the report to FILE, not to standard output; with FORMAT, that format, and print as well.",
)
@click.option(
    "--omit-hidden",
    is_flag=True,
    help="Leave suppressed findings out of SARIF, for readers that do not know of suppressions.",
)
@click.option("--statistics", is_flag=True, help="Add totals: findings, coverage, what is unknown, time.")
@click.option(
    "--select",
    metavar="CODES",
    multiple=True,
    callback=code_prefixes,
    shell_complete=complete_code,
    help="Report only these codes; beginnings count (PTX1).",
)
@click.option(
    "--ignore",
    metavar="CODES",
    multiple=True,
    callback=code_prefixes,
    shell_complete=complete_code,
    help="Do not report these codes.",
)
@click.option(
    "--extend-select",
    metavar="CODES",
    multiple=True,
    callback=code_prefixes,
    shell_complete=complete_code,
    help="Report these codes besides, also those that are off by default.",
)
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    help="The least severity that makes the exit status 1; by default warning.",
)
@click.option(
    "--strict/--no-strict",
    default=None,
    help="What could not be analysed (PTX990, PTX991) is an error.",
)
@block_option
@cluster_option
@click.option(
    "--source-root",
    "source_roots",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Look here too for source files that the PTX names; outside the project only where this says so.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    help="Take this configuration, not the pyproject.toml or ptxlint.toml that is nearest to a file.",
)
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option(
    "--show-settings",
    is_flag=True,
    help="Print what applies to each file, and from where, and check nothing.",
)
@click.option(
    "--ignore-comments/--no-ignore-comments",
    default=None,
    help="Whether `ptxlint: ignore[CODE] reason` comments hide findings; by default they do.",
)
@click.option("--baseline", metavar="FILE", type=click.Path(), help="Hide the findings that FILE knows.")
@click.option(
    "--write-baseline",
    metavar="FILE",
    type=click.Path(),
    help="Write what is found to FILE, for --baseline; nothing is a failure then.",
)
@reading_options
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[str, ...],
    output_format: str | None,
    targets: tuple[Target, ...],
    omit_hidden: bool,
    statistics: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_select: tuple[str, ...],
    fail_on: str | None,
    strict: bool | None,
    block: Triple | None,
    cluster: Triple | None,
    source_roots: tuple[str, ...],
    config: str | None,
    isolated: bool,
    ignore_comments: bool | None,
    baseline: str | None,
    write_baseline: str | None,
    show_settings: bool,
    reading: InputOptions,
    running: "Running",
) -> None:
    """Check PTX: in .ptx files, in folders, from standard input (-), in compiled files and wheels, of CUDA source.

    FILES are told apart by what is in them. CUDA source (.cu) is compiled by nvcc with NVCC_ARGUMENTS.
    """
    choices = {
        "select": select,
        "ignore": ignore,
        "extend_select": extend_select,
        "block": block,
        "cluster": cluster,
        "strict": strict,
        "fail_on": None if fail_on is None else Severity(fail_on),
        "output_format": output_format,
        "source_roots": source_roots,
        "ignore_comments": ignore_comments,
        "baseline": baseline,
    }
    try:
        if config is not None and isolated:
            raise click.UsageError("--config and --isolated contradict each other.")
        configurations = Configurations(config, isolated)
        session = Session(configurations, choices, hide_known=write_baseline is None)
        here = session.settings_here()
        if show_settings:
            click.echo(settings_text(files, configurations, session, choices, output_format))
            return
        if not files and reading.compile_commands is None:
            raise click.UsageError("Missing argument 'FILES...'.")
        spare_inputs("--output-file", (target.path for target in targets), files)
        known = None if write_baseline is None else baseline_to_write(write_baseline)
        report = check_all(files, session, replace(reading, is_excluded=session.is_excluded), running)
    except UserError as error:
        complain(error)
        ctx.exit(FAILURE)
    written = True
    if known is not None:
        try:
            report = write_known(known, report)
        except UserError as error:
            complain(error)
            written = False
    options = FormatOptions(statistics, hidden=not omit_hidden)
    written = publish(report, here.output_format, targets, options) and written
    tell(report)
    ctx.exit(exit_status(report) if written else FAILURE)


def baseline_to_write(path: str) -> "Baseline":
    """Return the baseline at *path* as it is, empty when there is none.

    Raises:
        UserError: what is there is no baseline, or it could not be written.
    """
    from ptxlint.commands import known

    return known.to_write(path)


def write_known(known: "Baseline", report: Report) -> Report:
    """Write what is found down, and return the report without it.

    Raises:
        UserError: something was not checked, or the file cannot be written.
    """
    from ptxlint.commands.known import write

    return write(known, report).hide(report)


def check_all(files: tuple[str, ...], session: Session, reading: InputOptions, running: "Running") -> Report:
    """Check what *files* name, with a bar on the terminal while that takes long."""
    from ptxlint.runner import analyse_all

    with progress_bar() as progress:
        return session.report(analyse_all(files, reading, session.settings_of, running, progress))


def tell(report: Report) -> None:
    """Say on standard error how inputs were read, where that matters, and what went wrong."""
    paths: dict[str, list[str]] = {}
    for file in report.files:
        for note in file.notes:
            paths.setdefault(note, []).append(file.path)
    for note, (first, *others) in paths.items():
        more = f" and {len(others)} more" if others else ""
        click.echo(f"ptxlint: note: {printable(first)}{more}: {printable(note)}", err=True)
    for entry in report.stale[:STALE_SHOWN]:
        click.echo(f"ptxlint: note: stale in the baseline: {printable(entry)}", err=True)
    for file in report.files:
        if file.error is not None:
            error = "\n".join(printable_lines(file.error))
            click.echo(f"ptxlint: error: {printable(file.path)}: {error}", err=True)


def complain(error: Exception) -> None:
    """Say what is wrong, on standard error, a line for each thing."""
    for line in str(error).split("\n"):
        click.echo(f"ptxlint: error: {printable(line)}", err=True)


def settings_text(
    files: tuple[str, ...],
    configurations: Configurations,
    session: Session,
    choices: dict[str, Any],
    output_format: str | None,
) -> str:
    """Return what applies to each of *files*, or to the working directory, as TOML or JSON."""
    from ptxlint.config.show import Shown, as_json, as_text

    shown = []
    for file in files or (".",):
        is_folder = file == STDIN or os.path.isdir(file)
        folder = "" if file == STDIN else file
        config = configurations.of_folder(folder) if is_folder else configurations.of_file(file)
        shown.append(Shown(file, config, session.chosen(config), choices))
    return as_json(shown) if output_format == "json" else as_text(shown)


def exit_status(report: Report) -> int:
    """Return 2 when something could not be checked, 1 with findings as bad as the settings say, else 0."""
    if any(file.error is not None for file in report.files):
        return FAILURE
    return FINDINGS if any(file.fails() for file in report.files) else 0
