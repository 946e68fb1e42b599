"""Fuzz for some time: ``python -m tests.fuzz --seconds 60``.

Each failure is written to a folder, cut down to the lines that matter. Exit status 1 says that there were some.
"""

import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import click

from tests.fuzz.run import Failure, inputs, reduce, trial


@click.command(context_settings={"show_default": True})
@click.option("--seconds", type=float, default=60.0, help="How long.")
@click.option("--inputs", "most", type=int, default=None, help="End after this many inputs.")
@click.option("--seed", type=int, default=0, help="Where choices begin: the same seed, the same inputs.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["generated", "statements", "text"]),
    help="Only these.",
)
@click.option("--parser-only", is_flag=True, help="Do not analyse: many times as many inputs.")
@click.option(
    "--keep", type=click.Path(path_type=Path), default=Path("fuzz-failures"), help="Where failures go."
)
@click.option("--reduce/--no-reduce", "reducing", default=True, help="Cut failures down.")
def main(
    seconds: float,
    most: int | None,
    seed: int,
    kinds: tuple[str, ...],
    parser_only: bool,
    keep: Path,
    reducing: bool,
) -> None:
    """Make up and break PTX, and see that ptxlint keeps its promises."""
    end = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    reasons: set[str] = set()
    slowest = 0.0
    for number, item in enumerate(inputs(seed, kinds)):
        if time.monotonic() >= end or number == most:
            break
        before = time.process_time()
        failure, notes = trial(item, Random(f"{seed}/{number}"), parser_only)
        slowest = max(slowest, time.process_time() - before)
        counts[item.kind] += 1
        counts.update(notes)
        if failure is None:
            continue
        counts["failures"] += 1
        reason = failure.signature
        if reason in reasons:
            continue
        reasons.add(reason)
        if reducing:
            failure = reduce(failure, deadline=time.monotonic() + 60)
        click.echo(f"failure: {save(failure, keep, seed, number)}: {failure.message}")
    total = sum(counts[kind] for kind in ("generated", "statements", "text"))
    click.echo(f"{total} inputs: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    click.echo(f"{len(reasons)} distinct failures; the slowest input took {slowest:.1f} s")
    sys.exit(bool(reasons))


def save(failure: Failure, folder: Path, seed: int, number: int) -> Path:
    """Write the input of *failure* and return where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{failure.property}.{seed}.{number}.ptx"
    path.write_text(failure.text, "utf-8", errors="surrogatepass")
    return path


if __name__ == "__main__":
    main()
