"""The command line: ``ptxlint check`` and the other commands.

Exit status: 0 nothing to report, 1 findings, 2 bad usage, an input that cannot be read or parsed, or
an internal error.
"""

import contextlib
import io
import os
import signal
import sys

import click

from ptxlint.commands.cache import cache
from ptxlint.commands.check import check
from ptxlint.commands.confirm import confirm, witness
from ptxlint.commands.doctor import doctor
from ptxlint.commands.dump import dump
from ptxlint.commands.fix import fix
from ptxlint.commands.rules import rule, rules
from ptxlint.commands.schema import schema
from ptxlint.commands.show import show
from ptxlint.report.printable import printable
from ptxlint.session import internal_error

SETTINGS = {"help_option_names": ["-h", "--help"]}
FAILURE = 2
INTERRUPTED = 130
TERMINATED = 143


@click.group(context_settings=SETTINGS)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, parameter, value: show_version(ctx) if value else None,
    help="Show the versions of the program, the grammar and the rules, and exit.",
)
def cli() -> None:
    """Find missing orderings around the async proxy in PTX."""


def show_version(ctx: click.Context) -> None:
    """Print the versions and end."""
    from ptxlint.versions import versions

    click.echo(versions())
    ctx.exit()


for command in (cache, check, confirm, doctor, dump, fix, rule, rules, schema, show, witness):
    command.context_settings = {**SETTINGS, **command.context_settings}  # by itself as in the group
    cli.add_command(command)


def main() -> None:
    """Run the command line; the entry point of the ``ptxlint`` command."""
    if sys.stderr is None:  # a stream that is closed
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (stays open)
    if sys.stdout is None:
        sys.stdout = open(os.devnull)  # noqa: SIM115 (to write is an error, as it should be)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets its number
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _end)
    sys.exit(run())


def _end(number: int, frame: object) -> None:
    """End as by an interrupt, so that tools and processes end too and temporary files go."""
    raise _TerminatedError


class _TerminatedError(KeyboardInterrupt):
    """Somebody asked this process to end."""


def run() -> int:
    """Run the command line and return its exit status; nothing is raised."""
    try:
        status = cli(prog_name="ptxlint", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        terminated = isinstance(error, _TerminatedError) or isinstance(error.__cause__, _TerminatedError)
        return TERMINATED if terminated else INTERRUPTED
    except SystemExit as error:  # shell completion ends so, and click and rich when nobody reads the output
        return FAILURE if error.code else 0
    except OSError as error:  # standard output is closed, or its disk is full
        with contextlib.suppress(OSError):
            click.echo(
                f"ptxlint: error: cannot write the report: {error.strerror or 'standard output is closed'}",
                err=True,
            )
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is buffered goes nowhere at exit
        return FAILURE
    except Exception as error:
        click.echo(f"ptxlint: error: {printable(internal_error(error))}", err=True)
        return FAILURE
