"""``ptxlint confirm`` and ``ptxlint witness``."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptxlint.commands.options import block_option, cluster_option
from ptxlint.commands.output import fail, spare_inputs
from ptxlint.inputs import read_input
from ptxlint.report.output import OutputError, write_file
from ptxlint.report.printable import printable
from ptxlint.settings import Settings, Triple

if TYPE_CHECKING:
    from ptxlint.device.results import Confirmation

FINDINGS = 1
FAILURE = 2


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--runs", type=click.IntRange(1, 1000), help="Runs of each text; by default what SPEC says, or 10."
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print.",
)
@click.pass_context
def confirm(ctx: click.Context, spec: Path, runs: int | None, output_format: str) -> None:
    """Run a kernel, its witness schedule and its repair on a GPU, as the TOML file SPEC says, and count what is wrong.

    A kernel of which nothing is reported is run under every witness schedule of its asynchronous operations instead,
    and must be right under each. The exit status is 1 when the repaired kernel, or such a clean one, is ever wrong; a
    hazard that does not show is said not to be reproduced, which does not make it fine.
    """
    from ptxlint.device.confirm import confirm as run
    from ptxlint.device.results import ConfirmError
    from ptxlint.device.spec import SpecError, read_spec

    try:
        found = run(read_spec(spec), Settings(), runs)
    except (SpecError, ConfirmError) as error:
        fail(ctx, str(error))
        return
    click.echo(json.dumps(as_json(found), indent=2) if output_format == "json" else "\n".join(as_text(found)))
    ctx.exit(FINDINGS if found.repaired_is_wrong or found.clean_is_wrong else 0)


def as_text(found: "Confirmation") -> Iterator[str]:
    """Yield the lines of the report."""
    if found.finding is not None:
        yield printable(f"{found.finding.code}: {found.finding.message}")
    yield printable(f"witness: {found.what}")
    if found.finding is not None:
        yield printable(f"repair: {found.repair}")
    if found.about:
        yield printable(
            f"on {found.about['card']}, driver {found.about['driver']}, CuPy {found.about['cupy']}"
        )
    width = max(map(len, found.tallies), default=0)
    for name, tally in found.tallies.items():
        lost = "; a run did not end" if tally.hang else f"; {tally.fault}" if tally.fault else ""
        yield printable(
            f"  {name:{width}}  {tally.wrong_runs} of {tally.runs} runs wrong, "
            f"{tally.wrong_words} of {tally.words} words{lost}"
        )
    if found.finding is None:
        wrong = "gave wrong results" if found.clean_is_wrong else "was right under each"
        yield f"nothing is reported of the kernel, and it {wrong}"
    elif not found.is_reproduced:
        yield "not reproduced: no run of the kernel as it is gave a wrong result"
    if found.repaired_is_wrong:
        yield "the repaired kernel gave wrong results"


def as_json(found: "Confirmation") -> dict[str, Any]:
    """Return the report as data."""
    finding = found.finding
    return {
        "finding": None
        if finding is None
        else {"code": finding.code, "message": finding.message, "fingerprint": finding.fingerprint},
        "witness": found.what,
        "repair": found.repair,
        "device": found.about,
        "variants": [
            {
                "name": name,
                "runs": tally.runs,
                "wrong_runs": tally.wrong_runs,
                "wrong_words": tally.wrong_words,
                "words": tally.words,
                "hang": tally.hang,
                "fault": tally.fault,
            }
            for name, tally in found.tallies.items()
        ],
        "reproduced": finding is not None and found.is_reproduced,
        "repaired_is_wrong": found.repaired_is_wrong,
        "clean_is_wrong": found.clean_is_wrong,
    }


@click.command()
@click.argument("file", type=click.Path(allow_dash=True, readable=False))
@click.option(
    "--finding",
    "wanted",
    metavar="ID",
    required=True,
    help="The finding to witness: its fingerprint, or a beginning of it, or a code that is reported once.",
)
@click.option(
    "--output", metavar="FILE", type=click.Path(), help="Write the PTX to FILE, not to standard output."
)
@block_option
@cluster_option
@click.pass_context
def witness(
    ctx: click.Context,
    file: str,
    wanted: str,
    output: str | None,
    block: Triple | None,
    cluster: Triple | None,
) -> None:
    """Rewrite a kernel into a legal schedule of the same program in which a hazard shows.

    The access that should come first comes as late as the program's own synchronisation allows: a bulk store at the
    wait that forces it, anything else after a delay in its thread.
    """
    from ptxlint.device.witness import WitnessError, witness_text
    from ptxlint.linter import check_text

    spare_inputs("--output", (output,), (file,))
    item = read_input(file)
    if item.error is not None:
        fail(ctx, f"{item.path}: {item.error}")
    report = check_text(
        item.text, item.path, Settings(block=block or item.block, cluster=cluster or item.cluster)
    )
    if report.error is not None:
        fail(ctx, f"{item.path}: {report.error}")
    findings = [(k.name, f) for k in report.kernels for f in k.findings]
    matching = [
        (kernel, f) for kernel, f in findings if f.code == wanted.upper() or f.fingerprint.startswith(wanted)
    ]
    if len(matching) != 1:
        offered = ", ".join(f"{f.code} {f.fingerprint}" for _, f in findings if f.fingerprint) or "none"
        which = "no finding is" if not matching else "several findings are"
        fail(ctx, f"{item.path}: {which} called {wanted!r}; there are {offered}")
    name, finding = matching[0]
    try:
        made = witness_text(item.text, item.path, name, finding)
        if output is None:
            click.echo(made.text, nl=False)
        else:
            write_file(output, made.text)
    except (WitnessError, OutputError) as error:
        fail(ctx, str(error))
    click.echo(f"{finding.code} of {name}: {printable(made.what)}", err=True)
