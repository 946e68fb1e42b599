"""``ptxlint doctor``."""

import click

from ptxlint.report.printable import printable


@click.command()
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to print what is found."
)
def doctor(output_format: str) -> None:
    """Show which helpers are found (nvcc, cuobjdump, …), where, and what each is for."""
    import json

    from ptxlint import doctor

    helpers = doctor.examine()
    if output_format == "json":
        click.echo(json.dumps(doctor.as_json(helpers), indent=2))
    else:
        for line in doctor.as_text(helpers):
            click.echo(printable(line))
