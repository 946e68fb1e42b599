"""``ptxlint cache``."""

from pathlib import Path

import click

from ptxlint.commands.reading import cache_dir_option
from ptxlint.report.printable import printable

FAILURE = 2


@click.group()
def cache() -> None:
    """Show or remove what earlier checks found."""


@cache.command("dir")
@cache_dir_option
def cache_directory(cache_dir: Path | None) -> None:
    """Print the folder of the cache."""
    from ptxlint.cache import default_dir

    click.echo(cache_dir or default_dir())


@cache.command()
@cache_dir_option
@click.pass_context
def clean(ctx: click.Context, cache_dir: Path | None) -> None:
    """Remove all results."""
    from ptxlint.cache import CacheError, default_dir
    from ptxlint.cache import clean as remove

    try:
        count = remove(cache_dir or default_dir())
    except CacheError as error:
        click.echo(f"ptxlint: error: {printable(str(error))}", err=True)
        ctx.exit(FAILURE)
    click.echo(f"{count} result{'' if count == 1 else 's'} removed")
