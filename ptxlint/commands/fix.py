"""``ptxlint fix``."""

import difflib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ptxlint.commands.options import block_option, cluster_option, code_prefixes
from ptxlint.commands.output import fail, spare_inputs
from ptxlint.config import ConfigError, Configurations
from ptxlint.inputs import read_input
from ptxlint.report.output import OutputError, write_file
from ptxlint.report.printable import printable
from ptxlint.report.summary import plural
from ptxlint.session import Session, launch_settings
from ptxlint.settings import Triple

if TYPE_CHECKING:
    from ptxlint.fix.repair import Outcome, Repair
    from ptxlint.report.finding import Finding

FINDINGS = 1
FAILURE = 2


@click.command()
@click.argument("file", type=click.Path(allow_dash=True, readable=False))
@click.option("--diff", "mode", flag_value="diff", help="Print the changes as a unified diff (the default).")
@click.option("--output", metavar="FILE", type=click.Path(), help="Write the repaired PTX to FILE.")
@click.option(
    "--in-place", "mode", flag_value="in-place", help="Write the repaired PTX over the file itself."
)
@click.option(
    "--unsafe-fixes",
    "unsafe",
    is_flag=True,
    help="Also make changes that do more than order, such as barriers.",
)
@click.option(
    "--select",
    metavar="CODES",
    multiple=True,
    callback=code_prefixes,
    help="Repair only findings of these codes.",
)
@click.option(
    "--ignore",
    metavar="CODES",
    multiple=True,
    callback=code_prefixes,
    help="Do not repair findings of these codes.",
)
@block_option
@cluster_option
@click.option("--config", metavar="FILE", type=click.Path(), help="Take this configuration.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.pass_context
def fix(
    ctx: click.Context,
    file: str,
    mode: str | None,
    output: str | None,
    unsafe: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    block: Triple | None,
    cluster: Triple | None,
    config: str | None,
    isolated: bool,
) -> None:
    """Repair the findings of a PTX file, as a diff or as a file of its own.

    Each repair was tried: the changed kernel no longer has the finding and has no new one, and ptxas, if it is
    found, takes it. The exit status is 0 when nothing is left to repair, 1 when something is.
    """
    from ptxlint.fix.repair import repair_text

    if output is not None and mode is not None:
        raise click.UsageError("give one of --diff, --output and --in-place.")
    if config is not None and isolated:
        raise click.UsageError("--config and --isolated contradict each other.")
    if mode == "in-place" and file == "-":
        raise click.UsageError("standard input cannot be written in place.")
    spare_inputs("--output", (output,), (file,))
    item = read_input(file)
    if item.error is not None:
        fail(ctx, f"{item.path}: {item.error}")
    choices = {"select": select, "ignore": ignore, "block": block, "cluster": cluster}
    try:
        settings = Session(Configurations(config, isolated), choices).settings_of(item)
    except ConfigError as error:
        fail(ctx, str(error))
    launch = launch_settings(item, settings)
    settings = settings.with_choices(block=launch.block, cluster=launch.cluster)
    outcome = repair_text(item.text, item.path, settings, unsafe)
    if outcome.error is not None:
        fail(ctx, f"{item.path}: {outcome.error}")
    target = output if output is not None else file if mode == "in-place" else None
    if target is None:
        click.echo("".join(diff(outcome, item.path)), nl=False)
    elif outcome.after != outcome.before or output is not None:
        try:
            write_file(target, outcome.after)
        except OutputError as error:
            fail(ctx, str(error))
    for line in told(outcome):
        click.echo(printable(line), err=True)
    ctx.exit(FINDINGS if outcome.left else 0)


def diff(outcome: "Outcome", path: str) -> Iterator[str]:
    """Yield the lines of a unified diff from the text before to the text after."""
    name = path.replace(os.sep, "/")
    for line in difflib.unified_diff(
        outcome.before.splitlines(keepends=True), outcome.after.splitlines(keepends=True), name, name
    ):
        yield line if line.endswith("\n") else line + "\n"


def told(outcome: "Outcome") -> Iterator[str]:
    """Yield what was done, finding by finding."""
    held = {id(repair.finding): repair for repair in outcome.held_back}
    for repair in outcome.repaired:
        yield f"{_named(repair.kernel, repair.finding)}: {_said(repair)}"
    for kernel, finding in outcome.left:
        offer = held.get(id(finding))
        reason = "no repair was found" if offer is None else f"with --unsafe-fixes: {offer.summary}"
        yield f"{_named(kernel, finding)}: not repaired; {reason}"
    if outcome.refused is not None:
        yield f"ptxas does not take the repaired text, which is therefore not given: {outcome.refused}"
    done, left = len(outcome.repaired), len(outcome.left)
    yield f"{plural(done, 'finding')} repaired, {left} left" if done or left else "nothing to repair"


def _named(kernel: str, finding: "Finding") -> str:
    return f"{finding.code} at line {finding.site.line} of {kernel}"


def _said(repair: "Repair") -> str:
    return repair.summary if repair.safe else f"{repair.summary} (unsafe)"
