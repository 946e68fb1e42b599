"""The command line: ``ptxlint check`` and ``ptxlint dump``.

Exit status: 0 nothing to report, 1 findings, 2 bad usage, an input that cannot be read or parsed, or
an internal error.
"""

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

import ptxlint
from ptxlint.inputs import Input, read_input, read_inputs
from ptxlint.report.finding import FileReport, Report, Severity
from ptxlint.report.formats import FORMATS, Settings, render
from ptxlint.report.output import OutputError, Target, write_file
from ptxlint.report.printable import printable
from ptxlint.report.summary import Summary

if TYPE_CHECKING:
    from ptxlint.linter import Options

FINDINGS = 1
FAILURE = 2
INTERRUPTED = 130

# The codes that no check of ptxlint.checks reports: the tool's own limits.
_OWN_CODES = ("PTX990", "PTX991", "PTX999")


Triple = tuple[int, int, int]


def shape(
    limits: Triple, most: int, what: str
) -> Callable[[click.Context, click.Parameter, str | None], Triple | None]:
    """Return a callback that reads ``X[,Y[,Z]]``: positive numbers, 1 where absent, within the limits."""

    def convert(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Triple | None:
        if value is None:
            return None
        parts = value.split(",")
        if len(parts) > 3 or not all(part.strip().isdecimal() for part in parts):
            raise click.BadParameter(f"{value!r} is not of the form X[,Y[,Z]].")
        x, y, z = [int(part) for part in parts] + [1] * (3 - len(parts))
        for number, limit in zip((x, y, z), limits, strict=True):
            if not 1 <= number <= limit:
                raise click.BadParameter(f"{number} is not between 1 and {limit}.")
        if x * y * z > most:
            raise click.BadParameter(f"{x * y * z} {what} are more than {most}.")
        return x, y, z

    return convert


def code_prefixes(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read codes or their beginnings, repeated or in comma lists: ``PTX101,PTX2``."""
    prefixes: list[str] = []
    for value in values:
        parts = [part.strip().upper() for part in value.split(",")]
        prefixes += [known_prefix(part) for part in parts if part]
        if not any(parts):
            raise click.BadParameter(f"{value!r} names no code.")
    return tuple(prefixes)


def known_prefix(prefix: str) -> str:
    """Return *prefix* if a code begins with it.

    Raises:
        click.BadParameter: none does; the message names the nearest that would.
    """
    codes = known_codes()
    if any(code.startswith(prefix) for code in codes):
        return prefix
    beginnings = sorted({code[:length] for code in codes for length in (4, len(code))})
    near = get_close_matches(prefix, beginnings, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else "."
    raise click.BadParameter(f"no rule's code begins with {prefix!r}{hint}")


def known_codes() -> tuple[str, ...]:
    """Return the codes that can be reported, in order."""
    from ptxlint.checks import ALL_CHECKS

    return tuple(sorted({*(check.code for check in ALL_CHECKS), *_OWN_CODES}))


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


_block_option = click.option(
    "--block",
    metavar="X[,Y[,Z]]",
    callback=shape((1024, 1024, 64), 1024, "threads"),
    help="Threads a CTA, where the PTX does not say.",
)
_cluster_option = click.option(
    "--cluster",
    metavar="X[,Y[,Z]]",
    callback=shape((16, 16, 16), 16, "CTAs"),
    help="CTAs a cluster, where the PTX does not say.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(ptxlint.__version__, "-V", "--version", prog_name="ptxlint")
def cli() -> None:
    """Find missing orderings around the async proxy in PTX."""


@cli.command()
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
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.WARNING.value,
    show_default=True,
    help="The least severity that makes the exit status 1.",
)
@click.option("--strict", is_flag=True, help="What could not be analysed (PTX990, PTX991) is an error.")
@_block_option
@_cluster_option
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[str, ...],
    output_format: str,
    targets: tuple[Target, ...],
    statistics: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    strict: bool,
    block: Triple | None,
    cluster: Triple | None,
) -> None:
    """Check PTX files, folders of them, or standard input (-)."""
    from ptxlint.linter import Options

    options = Options(select, ignore, strict, block, cluster)
    report = Report([check_input(item, options) for item in read_inputs(files)])
    written = publish(report, output_format, targets, Settings(Severity(fail_on), statistics))
    for file in report.files:
        if file.error is not None:
            click.echo(f"ptxlint: error: {printable(file.path)}: {printable(file.error)}", err=True)
    ctx.exit(exit_status(report, Severity(fail_on)) if written else FAILURE)


@cli.command()
@click.argument("file", type=click.Path(allow_dash=True, readable=False))
@click.option("--effects", "stage", flag_value="effects", help="What each instruction does.")
@click.option("--cfg", "stage", flag_value="cfg", help="The basic blocks and their edges.")
@click.option("--events", "stage", flag_value="events", help="What one run of the CTA does, in order.")
@click.option("--kernel", metavar="NAME", help="Only this kernel.")
@_block_option
@_cluster_option
@click.pass_context
def dump(
    ctx: click.Context,
    file: str,
    stage: str | None,
    kernel: str | None,
    block: Triple | None,
    cluster: Triple | None,
) -> None:
    """Print what a stage of the analysis made of the kernels in a PTX file."""
    from ptxlint.linter import Options, dump_text

    if stage is None:
        raise click.UsageError("give one of --effects, --cfg, --events")
    item = read_input(file)
    if item.error is None:
        options = Options(block=block, cluster=cluster)
        try:
            click.echo(dump_text(item.text, item.path, options, stage, kernel).rstrip("\n"))
            return
        except Exception as error:
            unknown = isinstance(error, KeyError) and kernel is not None and error.args == (kernel,)
            item = Input(item.path, error=f"no kernel {kernel}" if unknown else internal_error(error))
    click.echo(f"ptxlint: error: {printable(item.path)}: {printable(item.error or '')}", err=True)
    ctx.exit(FAILURE)


@cli.command()
@click.argument("code", metavar="CODE")
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


@cli.command()
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


def check_input(item: Input, options: "Options") -> FileReport:
    """Check one input; whatever goes wrong is in the report's ``error``."""
    from ptxlint.linter import check_text

    if item.error is not None:
        return FileReport(item.path, error=item.error)
    try:
        return check_text(item.text, item.path, options)
    except Exception as error:
        return FileReport(item.path, error=internal_error(error), text=item.text)


def internal_error(error: Exception) -> str:
    """Return what to say about an exception that nothing expected."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {_module_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    detail = f": {error}" if str(error) else ""
    return (
        f"internal error, a bug of ptxlint {ptxlint.__version__}: {type(error).__name__}{place}{detail}. "
        "Please report it with this line and the PTX"
    )


def _module_path(filename: str) -> str:
    path = Path(filename)
    package = Path(ptxlint.__file__).parent
    return path.relative_to(package).as_posix() if path.is_relative_to(package) else path.name


def exit_status(report: Report, fail_on: Severity) -> int:
    """Return 2 when something could not be checked, 1 with findings of *fail_on* or worse, else 0."""
    if any(file.error is not None for file in report.files):
        return FAILURE
    if any(finding.severity.rank >= fail_on.rank for finding in report.findings()):
        return FINDINGS
    return 0


def publish(report: Report, output_format: str, targets: tuple[Target, ...], settings: Settings) -> bool:
    """Write *report* to the files of *targets*, and print it unless one of them takes the place of that.

    A summary goes to standard error where nothing is printed. Return whether all files were written.
    """
    written = True
    for target in targets:
        try:
            write_file(target.path, render(report, target.format or output_format, settings))
        except OutputError as error:
            click.echo(f"ptxlint: error: {printable(str(error))}", err=True)
            written = False
    if all(target.format is not None for target in targets):
        print_report(report, output_format, settings)
    else:
        click.echo(str(Summary.of(report)), err=True)
    return written


def print_report(report: Report, output_format: str, settings: Settings) -> None:
    """Print *report* to standard output, in colours only on a terminal."""
    if output_format == "full" and sys.stdout.isatty():
        from ptxlint.report import text

        console = Console(highlight=False, markup=False, emoji=False)
        for line in text.render(report, settings.statistics):
            console.print(line, soft_wrap=True)
    else:
        click.echo(render(report, output_format, settings), nl=False)


def main() -> None:
    """Run the command line; the entry point of the ``ptxlint`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets its number
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run())


def run() -> int:
    """Run the command line and return its exit status; nothing is raised."""
    try:
        status = cli(prog_name="ptxlint", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit:  # click and rich say so when nobody reads the output any more
        return FAILURE
    except OSError as error:  # standard output is closed, or its disk is full
        with contextlib.suppress(OSError):
            click.echo(f"ptxlint: error: cannot write the report: {error.strerror}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is buffered goes nowhere at exit
        return FAILURE
    except Exception as error:
        click.echo(f"ptxlint: error: {printable(internal_error(error))}", err=True)
        return FAILURE
