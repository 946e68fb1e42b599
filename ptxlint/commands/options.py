"""Options that several commands have, and how their values are read."""

from collections.abc import Callable

import click

from ptxlint.codes import known_codes, read_prefixes
from ptxlint.settings import BLOCK_LIMITS, CLUSTER_LIMITS, Triple, read_shape


def shape(
    limits: Triple, most: int, what: str
) -> Callable[[click.Context, click.Parameter, str | None], Triple | None]:
    """Return a callback that reads ``X[,Y[,Z]]``: positive numbers, 1 where absent, within the limits."""

    def convert(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Triple | None:
        if value is None:
            return None
        try:
            return read_shape(value, limits, most, what)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return convert


def code_prefixes(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read codes or their beginnings, repeated or in comma lists: ``PTX101,PTX2``."""
    try:
        return read_prefixes(values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def complete_code(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes that the last one in a list may become, for shell completion."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{code}" for code in known_codes() if code.startswith(last.upper())]


block_option = click.option(
    "--block",
    metavar="X[,Y[,Z]]",
    callback=shape(*BLOCK_LIMITS),
    help="Threads a CTA, where the PTX does not say.",
)
cluster_option = click.option(
    "--cluster",
    metavar="X[,Y[,Z]]",
    callback=shape(*CLUSTER_LIMITS),
    help="CTAs a cluster, where the PTX does not say.",
)
