"""The command line: ``ptxlint check`` and ``ptxlint dump``.

Exit status: 0 nothing to report, 1 findings, 2 bad usage, an input that cannot be read or parsed, or
an internal error.
"""

import io
import sys
import traceback
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

import ptxlint
from ptxlint.inputs import Input, read_input, read_inputs
from ptxlint.report import concise, json, text
from ptxlint.report.finding import FileReport, Report, Severity
from ptxlint.report.printable import printable

if TYPE_CHECKING:
    from ptxlint.linter import Options

FINDINGS = 1
FAILURE = 2
INTERRUPTED = 130

# The codes that no check of ptxlint.checks reports: the tool's own limits.
_OWN_CODES = ("PTX990", "PTX991", "PTX999")


class Shape(click.ParamType[tuple[int, int, int]]):
    """``X[,Y,Z]``: up to three positive numbers, 1 where absent, with limits for each and the product."""

    name = "X[,Y[,Z]]"

    def __init__(self, limits: tuple[int, int, int], most: int, what: str) -> None:
        self.limits = limits
        self.most = most
        self.what = what

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int, int]:
        parts = str(value).split(",")
        if not 1 <= len(parts) <= 3 or not all(part.strip().isdecimal() for part in parts):
            self.fail(f"{value!r} is not of the form X[,Y[,Z]]", param, ctx)
        x, y, z = [int(part) for part in parts] + [1] * (3 - len(parts))
        for number, limit in zip((x, y, z), self.limits, strict=True):
            if not 1 <= number <= limit:
                self.fail(f"{number} is not between 1 and {limit}", param, ctx)
        if x * y * z > self.most:
            self.fail(f"{x * y * z} {self.what} are more than {self.most}", param, ctx)
        return x, y, z


class Codes(click.ParamType[tuple[str, ...]]):
    """A comma-separated list of codes or their beginnings: ``PTX101,PTX2``."""

    name = "CODES"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        known = known_codes()
        prefixes = tuple(part.strip().upper() for part in str(value).split(",") if part.strip())
        if not prefixes:
            self.fail("a code or the beginning of one is missing", param, ctx)
        for prefix in prefixes:
            if not any(code.startswith(prefix) for code in known):
                families = {code[:length] for code in known for length in (3, 4, len(code))}
                near = get_close_matches(prefix, sorted(families), n=1, cutoff=0.5)
                hint = f"; did you mean {near[0]}?" if near else ""
                self.fail(f"no rule's code begins with {prefix!r}{hint}", param, ctx)
        return prefixes


def known_codes() -> tuple[str, ...]:
    """Return the codes that can be reported, in order."""
    from ptxlint.checks import ALL_CHECKS

    return tuple(sorted({*(check.code for check in ALL_CHECKS), *_OWN_CODES}))


BLOCK = Shape((1024, 1024, 64), 1024, "threads")
CLUSTER = Shape((16, 16, 16), 16, "CTAs")
CODES = Codes()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(ptxlint.__version__, "-V", "--version", prog_name="ptxlint")
def cli() -> None:
    """Find missing orderings around the async proxy in PTX."""


@cli.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--output-format",
    type=click.Choice(["full", "concise", "json"]),
    default="full",
    show_default=True,
    help="How to print findings.",
)
@click.option("--select", type=CODES, multiple=True, help="Report only these codes; beginnings count (PTX1).")
@click.option("--ignore", type=CODES, multiple=True, help="Do not report these codes.")
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.WARNING.value,
    show_default=True,
    help="The least severity that makes the exit status 1.",
)
@click.option("--strict", is_flag=True, help="What could not be analysed (PTX990, PTX991) is an error.")
@click.option("--block", type=BLOCK, help="Threads a CTA, where the PTX does not say.")
@click.option("--cluster", type=CLUSTER, help="CTAs a cluster, where the PTX does not say.")
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[str, ...],
    output_format: str,
    select: tuple[tuple[str, ...], ...],
    ignore: tuple[tuple[str, ...], ...],
    fail_on: str,
    strict: bool,
    block: tuple[int, int, int] | None,
    cluster: tuple[int, int, int] | None,
) -> None:
    """Check PTX files, folders of them, or standard input (-)."""
    from ptxlint.linter import Options

    options = Options(_flat(select), _flat(ignore), strict, block, cluster)
    report = Report([check_input(item, options) for item in read_inputs(files)])
    print_report(report, output_format)
    for file in report.files:
        if file.error is not None:
            click.echo(f"ptxlint: error: {printable(file.path)}: {printable(file.error)}", err=True)
    ctx.exit(exit_status(report, Severity(fail_on)))


@cli.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--effects", "stage", flag_value="effects", help="What each instruction does.")
@click.option("--cfg", "stage", flag_value="cfg", help="The basic blocks and their edges.")
@click.option("--events", "stage", flag_value="events", help="What one run of the CTA does, in order.")
@click.option("--kernel", metavar="NAME", help="Only this kernel.")
@click.option("--block", type=BLOCK, help="Threads a CTA, where the PTX does not say.")
@click.option("--cluster", type=CLUSTER, help="CTAs a cluster, where the PTX does not say.")
@click.pass_context
def dump(
    ctx: click.Context,
    file: str,
    stage: str | None,
    kernel: str | None,
    block: tuple[int, int, int] | None,
    cluster: tuple[int, int, int] | None,
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
        except ValueError as error:
            item = Input(item.path, error=str(error))
        except Exception as error:
            item = Input(item.path, error=internal_error(error))
    click.echo(f"ptxlint: error: {printable(item.path)}: {printable(item.error or '')}", err=True)
    ctx.exit(FAILURE)


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
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    detail = f": {error}" if str(error) else ""
    return (
        f"internal error, a bug of ptxlint {ptxlint.__version__}: {type(error).__name__}{place}{detail}. "
        "Please report it with this line and the PTX"
    )


def exit_status(report: Report, fail_on: Severity) -> int:
    """Return 2 when something could not be checked, 1 with findings of *fail_on* or worse, else 0."""
    if any(file.error is not None or file.problems for file in report.files):
        return FAILURE
    if any(finding.severity.rank >= fail_on.rank for finding in report.findings()):
        return FINDINGS
    return 0


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


def _flat(groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(prefix for group in groups for prefix in group)


def main() -> None:
    """Run the command line; the entry point of the ``ptxlint`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets its number
            stream.reconfigure(errors="backslashreplace")
    run: Callable[..., object] = cli
    try:
        status = run(prog_name="ptxlint", standalone_mode=False)
    except click.Abort:
        status = INTERRUPTED
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    sys.exit(status if isinstance(status, int) else 0)
