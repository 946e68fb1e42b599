"""The table of what a GPU showed: rows of specifications that exist, and the pages that quote them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import evidence
from tests.conftest import ROOT
from tests.evidence import Correct, Failed, Hazard, Row, as_table, read_table, row_of, section, with_section


def variant(name: str, wrong: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "runs": 10, "wrong_runs": wrong, "hang": False, "fault": None, **more}


DEVICE = {"card": "a card", "driver": 13000, "cupy": "13.6.0"}
HAZARD = {
    "spec": "ptx202/copy_no_wait",
    "date": "2026-01-02",
    "device": DEVICE,
    "finding": {"code": "PTX202"},
    "variants": [
        variant("as it is, natural", 1),
        variant("as it is, witness", 10),
        variant("repaired, natural", 0),
        variant("repaired, witness", 0, hang=True),
    ],
    "repaired_is_wrong": True,
}
CLEAN = {
    "spec": "ptx208/broadcast_lookalike",
    "date": "2026-01-02",
    "device": DEVICE,
    "finding": None,
    "variants": [variant("as it is, natural", 0), variant("as it is, 2 bulk stores are deferred", 0)],
}
ERROR = {"spec": "ptx206/rotate_no_drain", "date": "2026-01-02", "error": "there is no GPU to run on"}
ROWS: list[Row] = [
    Hazard("ptx202/copy_no_wait", "PTX202", ("1/10", "10/10", "0/10", "0/10, then no end")),
    Failed("ptx206/rotate_no_drain", "there is no GPU to run on"),
    Correct("ptx208/broadcast_lookalike", 1, 20, 0),
]


def test_rows() -> None:
    assert [row_of(result) for result in (HAZARD, ERROR, CLEAN)] == ROWS
    short = {**HAZARD, "variants": HAZARD["variants"][:2]}  # type: ignore[index]
    assert row_of(short) == Hazard("ptx202/copy_no_wait", "PTX202", ("1/10", "10/10", "-", "-"))


def test_the_table_is_read_as_it_is_written() -> None:
    text = as_table("a card, 2026-01-02", ROWS)
    assert read_table(text)[0] == "a card, 2026-01-02"
    assert sorted(read_table(text)[1], key=lambda row: row.name) == ROWS
    assert (
        "Of 1 hazards 1 showed as they are and 1 under their witness schedule; 1 were wrong once repaired."
        in text
    )
    assert "under 1 witness schedules of their asynchronous operations: wrong in 0 of 20 runs." in text


def test_pages_quote_their_rows() -> None:
    page = "# T\n\n## What it does\n\nx\n\n## See also\n\ny\n"
    text = section("PTX202", "a card", [row for row in ROWS if isinstance(row, Hazard)])
    once = with_section(page, text)
    assert "## Evidence\n" in once
    assert "| ptx202/copy_no_wait | 1/10 | 10/10 | 0/10 | 0/10, then no end |\n\n## See also\n" in once
    assert with_section(once, text) == once
    assert with_section(once, "") == page
    assert section("PTX101", "a card", []) == ""


def test_results_are_taken_from_files_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evidence, "TABLE", tmp_path / "EVIDENCE.md")
    monkeypatch.setattr(evidence, "write_pages", lambda seen, rows: None)
    for name, results in (("a", [HAZARD, ERROR]), ("b", [CLEAN])):
        (tmp_path / name).write_text("".join(json.dumps(r) + "\n" for r in results), "utf-8")
    assert evidence.main(["--from", str(tmp_path / "a"), "--output", str(tmp_path)]) == 1
    assert "wrong or not run: ptx202/copy_no_wait, ptx206/rotate_no_drain" in capsys.readouterr().out
    assert evidence.main(["--from", str(tmp_path / "b")]) == 0
    seen, rows = read_table((tmp_path / "EVIDENCE.md").read_text("utf-8"))
    assert seen == "a card, driver 13000, CuPy 13.6.0; 2026-01-02"
    assert {row.name for row in rows} == {row.name for row in ROWS}
    # A row is not lost to a run that failed; another day is told beside the first.
    later = [{**HAZARD, "spec": ROWS[1].name, "date": "2026-01-03"}, {**ERROR, "spec": ROWS[2].name}]
    (tmp_path / "c").write_text("".join(json.dumps(r) + "\n" for r in later), "utf-8")
    assert evidence.main(["--from", str(tmp_path / "c")]) == 1
    seen, rows = read_table((tmp_path / "EVIDENCE.md").read_text("utf-8"))
    assert seen == "a card, driver 13000, CuPy 13.6.0; 2026-01-02; 2026-01-03"
    assert {row.name: type(row) for row in rows} == {
        ROWS[0].name: Hazard,
        ROWS[1].name: Hazard,
        ROWS[2].name: Correct,
    }


def test_without_a_gpu_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(path: Path, runs: int) -> dict[str, Any]:
        return {**ERROR, "spec": evidence.name_of(path), "runs": runs}

    monkeypatch.setattr(evidence, "TABLE", tmp_path / "EVIDENCE.md")
    monkeypatch.setattr(evidence, "write_pages", lambda seen, rows: None)
    monkeypatch.setattr(evidence, "confirmed", said)
    assert evidence.main(["ptx203/", "--runs", "2", "--output", str(tmp_path / "new")]) == 2
    assert not (tmp_path / "EVIDENCE.md").exists()
    lines = [
        json.loads(line) for line in (tmp_path / "new" / "evidence.jsonl").read_text("utf-8").splitlines()
    ]
    assert {line["spec"] for line in lines} == {
        evidence.name_of(p) for p in evidence.specifications(["ptx203/"])
    }
    assert {line["runs"] for line in lines} == {2}


needs_table = pytest.mark.skipif(not evidence.TABLE.is_file(), reason="nothing was run on a GPU yet")


@needs_table
def test_each_row_names_a_specification() -> None:
    text = evidence.TABLE.read_text("utf-8")
    seen, rows = read_table(text)
    assert as_table(seen, rows) == text
    assert {row.name for row in rows} <= {evidence.name_of(path) for path in evidence.specifications()}


@needs_table
def test_nothing_that_is_right_was_seen_wrong() -> None:
    rows = read_table(evidence.TABLE.read_text("utf-8"))[1]
    assert [r for r in rows if isinstance(r, Hazard) and any(map(evidence.is_wrong, r.cells[2:]))] == []
    assert [r for r in rows if isinstance(r, Correct) and (r.wrong or r.lost)] == []


@needs_table
def test_pages_are_up_to_date() -> None:
    seen, rows = read_table(evidence.TABLE.read_text("utf-8"))
    hazards = [row for row in rows if isinstance(row, Hazard)]
    for page in sorted((ROOT / "rules").glob("PTX*.md")):
        text = page.read_text("utf-8")
        assert with_section(text, section(page.stem, seen, hazards)) == text, page.name
