"""Run every launch specification on a GPU, and write what was seen: ``python -m tests.evidence [NAMES]``.

Each ``fixtures/*/NAME.toml`` goes through ``ptxlint confirm``. The results become ``fixtures/EVIDENCE.md`` and the
section "Evidence" of the rules' pages. NAMES are parts of paths (``ptx202``, ``two_stage_copy``); what was not run
keeps its row, and nothing is written where nothing could be run. ``--output FOLDER`` also writes there: ``evidence.jsonl``, a line a specification, as each ends, and
``EVIDENCE.md``. ``--from FILE`` takes such lines instead of running anything: no GPU is needed then.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
TABLE = FIXTURES / "EVIDENCE.md"
VARIANTS = ("as it is, natural", "as it is, witness", "repaired, natural", "repaired, witness")
NONE = "-"
HAZARDS, CORRECT, FAILED = "Hazards", "Correct kernels", "Not run"


@dataclass(frozen=True)
class Hazard:
    """A row: wrong runs of runs for each variant, as they are printed."""

    name: str
    code: str
    cells: tuple[str, ...]

    def line(self) -> str:
        return f"| [{self.name}]({self.name}.toml) | {self.code} | {' | '.join(self.cells)} |"


@dataclass(frozen=True)
class Correct:
    """A row: schedules besides the natural one, runs of all together, wrong runs."""

    name: str
    schedules: int
    runs: int
    wrong: int
    lost: str = ""

    def line(self) -> str:
        return (
            f"| [{self.name}]({self.name}.toml) | {self.schedules} | {self.runs} | {self.wrong}{self.lost} |"
        )


@dataclass(frozen=True)
class Failed:
    """A row: why a specification could not be run."""

    name: str
    reason: str

    def line(self) -> str:
        return f"| [{self.name}]({self.name}.toml) | {self.reason} |"


Row = Hazard | Correct | Failed


def specifications(names: Iterable[str] = ()) -> list[Path]:
    """Return the specifications whose path holds one of *names*; all where there are none."""
    wanted = list(names)
    found = sorted(FIXTURES.glob("*/*.toml"))
    return [p for p in found if not wanted or any(n in p.relative_to(FIXTURES).as_posix() for n in wanted)]


def name_of(path: Path) -> str:
    return path.relative_to(FIXTURES).with_suffix("").as_posix()


def confirmed(path: Path, runs: int) -> dict[str, Any]:
    """Return the report of ``ptxlint confirm``, or what it said instead."""
    command = [sys.executable, "-m", "ptxlint", "confirm", str(path), "--runs", str(runs)]
    done = subprocess.run(
        [*command, "--output-format", "json"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    result: dict[str, Any] = {"spec": name_of(path), "date": date.today().isoformat()}
    try:
        told: dict[str, Any] = json.loads(done.stdout)
        return result | told
    except ValueError:
        said = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        return result | {"error": said.removeprefix("ptxlint: error: ").replace("|", "/")}


def cell(variant: dict[str, Any]) -> str:
    """Return the wrong runs of the runs of one variant."""
    lost = ", then no end" if variant["hang"] else ", then a fault" if variant["fault"] else ""
    return f"{variant['wrong_runs']}/{variant['runs']}{lost}"


def row_of(result: dict[str, Any]) -> Row:
    """Return the row of one report."""
    if "error" in result:
        return Failed(result["spec"], result["error"])
    variants = result["variants"]
    if result["finding"] is not None:
        cells = {variant["name"]: cell(variant) for variant in variants}
        code = result["finding"]["code"]
        return Hazard(result["spec"], code, tuple(cells.get(name, NONE) for name in VARIANTS))
    wrong = sum(variant["wrong_runs"] for variant in variants)
    lost = ", no end" * any(v["hang"] for v in variants) + ", a fault" * any(v["fault"] for v in variants)
    runs = sum(variant["runs"] for variant in variants)
    return Correct(result["spec"], len(variants) - 1, runs, wrong, lost)


_LINK = r"\[(?P<name>[\w/]+)\]\([\w/]+\.toml\)"
_CELL = r"(\d+/\d+[^|]*|-)"
_HAZARD = re.compile(rf"^\| {_LINK} \| (?P<code>PTX\d+) \| {_CELL} \| {_CELL} \| {_CELL} \| {_CELL} \|$")
_CORRECT = re.compile(
    rf"^\| {_LINK} \| (?P<schedules>\d+) \| (?P<runs>\d+) \| (?P<wrong>\d+)(?P<lost>[^|]*) \|$"
)
_FAILED = re.compile(rf"^\| {_LINK} \| (?P<reason>[^|]+) \|$")


def read_table(text: str) -> tuple[str, list[Row]]:
    """Return what a table was seen on, and its rows."""
    seen = re.search(r"^Seen on (.+)\.$", text, re.MULTILINE)
    rows: list[Row] = []
    for line in text.splitlines():
        if match := _HAZARD.match(line):
            rows.append(Hazard(match["name"], match["code"], match.groups()[2:]))
        elif match := _CORRECT.match(line):
            schedules, runs, wrong = map(int, match.group("schedules", "runs", "wrong"))
            rows.append(Correct(match["name"], schedules, runs, wrong, match["lost"]))
        elif match := _FAILED.match(line):
            rows.append(Failed(match["name"], match["reason"]))
    return seen[1] if seen else "", rows


def as_table(seen: str, rows: Iterable[Row]) -> str:
    """Return the text of ``EVIDENCE.md``."""
    ordered = sorted(rows, key=lambda row: row.name)
    hazards = [row for row in ordered if isinstance(row, Hazard)]
    correct = [row for row in ordered if isinstance(row, Correct)]
    failed = [row for row in ordered if isinstance(row, Failed)]
    lines = [
        "# What a GPU shows",
        "",
        "Written by `python -m tests.evidence`; do not edit.",
        "",
        f"Seen on {seen}.",
        "",
        "Each kernel is run as its specification (the `.toml`) says, on new random data every time. A witness schedule is a",
        "legal schedule of the same program in which the access that should come first comes late (README, Show a hazard on a",
        "GPU). A count is the wrong runs of all runs; a hazard that does not show is a hazard all the same.",
        "",
        f"## {HAZARDS}",
        "",
        f"{summary(hazards)}",
        "",
        "| kernel | finding | as it is | as it is, witness | repaired | repaired, witness |",
        "|---|---|---|---|---|---|",
        *(row.line() for row in hazards),
        "",
        f"## {CORRECT}",
        "",
        f"{len(correct)} kernels of which nothing is reported, under {sum(row.schedules for row in correct)} witness schedules of"
        f" their asynchronous operations: wrong in {sum(row.wrong for row in correct)} of"
        f" {sum(row.runs for row in correct)} runs.",
        "",
        "| kernel | schedules | runs | wrong |",
        "|---|---|---|---|",
        *(row.line() for row in correct),
    ]
    if failed:
        lines += ["", f"## {FAILED}", "", "| kernel | why |", "|---|---|", *(row.line() for row in failed)]
    return "\n".join(lines) + "\n"


def summary(rows: list[Hazard]) -> str:
    """Return in words what the hazards showed."""
    natural = sum(is_wrong(row.cells[0]) for row in rows)
    witness = sum(is_wrong(row.cells[1]) for row in rows)
    repaired = sum(is_wrong(row.cells[2]) or is_wrong(row.cells[3]) for row in rows)
    return (
        f"Of {len(rows)} hazards {natural} showed as they are and {witness} under their witness schedule;"
        f" {repaired} were wrong once repaired."
    )


def is_wrong(text: str) -> bool:
    """Return whether a cell tells of a wrong run, or of one that gave no result."""
    return text != NONE and not re.fullmatch(r"0/\d+", text)


def write_pages(seen: str, rows: Iterable[Row]) -> None:
    """Write the section of each rule's page that has rows, before its last."""
    hazards = [row for row in rows if isinstance(row, Hazard)]
    for page in sorted((ROOT / "rules").glob("PTX*.md")):
        text = page.read_text("utf-8")
        changed = with_section(text, section(page.stem, seen, hazards))
        if changed != text:
            page.write_text(changed, "utf-8")


def section(code: str, seen: str, hazards: Iterable[Hazard]) -> str:
    """Return the section of the page of *code*; empty where it has no rows."""
    rows = [row for row in sorted(hazards, key=lambda row: row.name) if row.code == code]
    if not rows:
        return ""
    lines = [
        "## Evidence",
        "",
        f"Wrong runs of all runs, on {seen} (`fixtures/EVIDENCE.md`):",
        "",
        "| kernel | as it is | as it is, witness | repaired | repaired, witness |",
        "|---|---|---|---|---|",
        *(f"| {row.name} | {' | '.join(row.cells)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n\n"


def with_section(page: str, text: str) -> str:
    """Return *page* with *text* in the place of its section "Evidence"."""
    page = re.sub(r"^## Evidence\n.*?(?=^## )", "", page, flags=re.MULTILINE | re.DOTALL)
    return page.replace("## See also\n", f"{text}## See also\n", 1)


def seen_on(results: list[dict[str, Any]]) -> str:
    """Return card, versions and dates of *results*."""
    cards = {
        f"{r['device']['card']}, driver {r['device']['driver']}, CuPy {r['device']['cupy']}"
        for r in results
        if r.get("device")
    }
    return "; ".join([*sorted(cards), *sorted({r["date"] for r in results})])


def merged(results: list[dict[str, Any]]) -> tuple[str, list[Row]]:
    """Return what the table is to say: *results*, and what it said of what was not run this time."""
    seen, before = read_table(TABLE.read_text("utf-8")) if TABLE.is_file() else ("", [])
    present = {name_of(path) for path in specifications()}
    rows = {row.name: row for row in before if row.name in present}
    for row in map(row_of, results):
        if not isinstance(row, Failed) or row.name not in rows:
            rows[row.name] = row
    kept = seen.split("; ") if set(rows) - {result["spec"] for result in results} else []
    parts = {*kept, *seen_on(results).split("; ")}
    cards = [part for part in parts if not part[:1].isdigit()]
    return "; ".join([*sorted(cards), *sorted(parts - {*cards})]), [*rows.values()]


def run_all(paths: list[Path], runs: int, jobs: int) -> Iterator[dict[str, Any]]:
    """Yield the report of each specification as it ends."""
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(confirmed, path, runs) for path in paths]):
            yield done.result()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.evidence", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the paths of specifications")
    parser.add_argument("--runs", type=int, default=10, help="runs of each text")
    parser.add_argument("-j", "--jobs", type=int, default=4, help="specifications at the same time")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="also write the results there")
    parser.add_argument("--from", dest="lines", type=Path, nargs="+", metavar="FILE", help="lines of results")
    options = parser.parse_args(arguments)
    results = []
    if options.lines:
        results = [
            json.loads(line) for path in options.lines for line in path.read_text("utf-8").splitlines()
        ]
    else:
        paths = specifications(options.names)
        if options.output is not None:
            options.output.mkdir(parents=True, exist_ok=True)
        for result in run_all(paths, options.runs, options.jobs):
            results.append(result)
            print(f"{len(results)}/{len(paths)} {row_of(result).line()}", flush=True)
            if options.output is not None:
                with open(options.output / "evidence.jsonl", "a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
    if not any(result.get("device") for result in results):
        print("nothing could be run, and nothing is written" if results else "there is no such specification")
        return 2
    seen, rows = merged(results)
    TABLE.write_text(as_table(seen, rows), "utf-8")
    write_pages(seen, rows)
    if options.output is not None:
        (options.output / TABLE.name).write_text(TABLE.read_text("utf-8"), "utf-8")
    bad = [
        r["spec"] for r in results if r.get("repaired_is_wrong") or r.get("clean_is_wrong") or "error" in r
    ]
    print(f"{len(results)} specifications; wrong or not run: {', '.join(sorted(bad)) or 'none'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
