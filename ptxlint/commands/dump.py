"""``ptxlint dump``."""

import click

from ptxlint.commands.options import block_option, cluster_option
from ptxlint.inputs import Input, read_input
from ptxlint.report.printable import printable
from ptxlint.session import internal_error
from ptxlint.settings import Settings, Triple

FAILURE = 2


@click.command()
@click.argument("file", type=click.Path(allow_dash=True, readable=False))
@click.option("--effects", "stage", flag_value="effects", help="What each instruction does.")
@click.option("--cfg", "stage", flag_value="cfg", help="The basic blocks and their edges.")
@click.option("--events", "stage", flag_value="events", help="What one run of the CTA does, in order.")
@click.option("--kernel", metavar="NAME", help="Only this kernel.")
@block_option
@cluster_option
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
    from ptxlint.linter import dump_text

    if stage is None:
        raise click.UsageError("give one of --effects, --cfg, --events")
    item = read_input(file)
    if item.error is None:
        settings = Settings(block=block, cluster=cluster)
        try:
            click.echo(dump_text(item.text, item.path, settings, stage, kernel).rstrip("\n"))
            return
        except Exception as error:
            unknown = isinstance(error, KeyError) and kernel is not None and error.args == (kernel,)
            item = Input(item.path, error=f"no kernel {kernel}" if unknown else internal_error(error))
    click.echo(f"ptxlint: error: {printable(item.path)}: {printable(item.error or '')}", err=True)
    ctx.exit(FAILURE)
