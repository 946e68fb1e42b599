"""The command line: ``ptxlint check`` and the other commands.

Exit status: 0 nothing to report, 1 findings, 2 bad usage, an input that cannot be read or parsed, or
an internal error.
"""

import contextlib
import io
import os
import sys

import click

import ptxlint
from ptxlint.commands.cache import cache
from ptxlint.commands.check import check
from ptxlint.commands.doctor import doctor
from ptxlint.commands.dump import dump
from ptxlint.commands.rules import rule, rules
from ptxlint.commands.schema import schema
from ptxlint.report.printable import printable
from ptxlint.session import internal_error

FAILURE = 2
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(ptxlint.__version__, "-V", "--version", prog_name="ptxlint")
def cli() -> None:
    """Find missing orderings around the async proxy in PTX."""


for command in (cache, check, doctor, dump, rule, rules, schema):
    cli.add_command(command)


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
