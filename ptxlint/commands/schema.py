"""``ptxlint schema``."""

import click


@click.command()
def schema() -> None:
    """Print the JSON schema of `check --output-format json`."""
    from ptxlint.report.json import schema_text

    click.echo(schema_text(), nl=False)
