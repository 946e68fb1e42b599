from pathlib import Path

import pytest
from rich.console import Console

from ptxlint.records import replace
from ptxlint.report import text
from ptxlint.report.finding import Confidence, Coverage, FileReport, Finding, Report, Severity, Site, Step
from tests.report.reports import LOAD, STORE, at, report, weak_wait, write_sources


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plain(result: Report) -> str:
    return "\n".join(line.plain for line in text.render(result))


def test_both_ends_in_cuda_source(folder: Path) -> None:
    write_sources(folder)
    assert (
        plain(report(weak_wait()))
        == """\
error[PTX201]: the stage is refilled while the store that reads it may be pending
 --> copy.cu:9:3
  |
6 |         store(to, stages[c % 2]);
  |         ----- (1) reads 4096 bytes of stages
7 |         commit();
8 |         wait<1>();
  |         ------- leaves the newest group pending
9 |         load(stages[c % 2], from);
  |         ^^^^ (2) writes 4096 bytes of stages
  |
  = path:
    1. async unit: access (1), at copy.cu:6
    2. warp 0 lane 0: commits the bulk async-group, at copy.cu:7
    3. warp 0 lane 0: leaves the newest group pending, at copy.cu:8
    4. async unit: access (2), at copy.cu:9
  = help: wait for all groups before the refill
    ptx:  cp.async.bulk.wait_group.read 0;
    cuda: asm volatile("cp.async.bulk.wait_group.read 0;"
                       ::: "memory");
  = note: cause: count, confidence: medium, met 3 times
  = ptx: (1) copy.sm_90a.ptx:6:2, (2) copy.sm_90a.ptx:8:2

kernel copy (sm_90a): analysed 8/8 async ops, 40/40 shared accesses, 15/15 mbarrier ops, 27/27 events; complete
1 error in 1 kernel of 1 file"""
    )


def test_ptx_where_the_source_is_not_on_disk() -> None:
    finding = weak_wait(cause=None, confidence=Confidence.HIGH, fix=None, count=1)
    assert (
        plain(report(finding))
        == """\
error[PTX201]: the stage is refilled while the store that reads it may be pending
 --> copy.sm_90a.ptx:8:2
  |
6 |     cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 4096;
  |     ------------------------------------------- (1) reads 4096 bytes of stages
7 |     @%p1 cp.async.bulk.wait_group.read 1;
  |     ---------------------------------- leaves the newest group pending
8 |     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 4096, [%r2];
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (2) writes 4096 bytes of stages
  |
  = path:
    1. async unit: access (1), at copy.sm_90a.ptx:6
    2. warp 0 lane 0: commits the bulk async-group, at copy.sm_90a.ptx:6
    3. warp 0 lane 0: leaves the newest group pending, at copy.sm_90a.ptx:7
    4. async unit: access (2), at copy.sm_90a.ptx:8
  = source: (1) copy.cu:6:3, (2) copy.cu:9:3

kernel copy (sm_90a): analysed 8/8 async ops, 40/40 shared accesses, 15/15 mbarrier ops, 27/27 events; complete
1 error in 1 kernel of 1 file"""
    )


def test_two_files_and_a_primary_place_that_is_the_first_access(folder: Path) -> None:
    write_sources(folder)
    (folder / "wide.cuh").write_text("\n" * 119 + "exit:  return;\n", "utf-8")
    exit_ = Site(9, 2, (replace(STORE.source[0], file="wide.cuh", line=120, column=8),))
    finding = Finding(
        "PTX206",
        "bulk-store-pending-at-exit",
        None,
        Severity.WARNING,
        Confidence.HIGH,
        "the thread exits while its store may be pending",
        STORE,
        (Step("async unit", STORE, "reads", "first"), Step("warp 0", exit_, "exits", "second")),
    )
    assert (
        plain(report(finding))
        == """\
warning[PTX206]: the thread exits while its store may be pending
   --> copy.cu:6:3
    |
  6 |         store(to, stages[c % 2]);
    |         ^^^^^ (1) reads
   ::: wide.cuh:120:8
    |
120 | exit:  return;
    |        ------ (2) exits
    |
    = path:
      1. async unit: access (1), at copy.cu:6
      2. warp 0: access (2), at wide.cuh:120
    = ptx: (1) copy.sm_90a.ptx:6:2, (2) copy.sm_90a.ptx:9:2

kernel copy (sm_90a): analysed 8/8 async ops, 40/40 shared accesses, 15/15 mbarrier ops, 27/27 events; complete
1 warning in 1 kernel of 1 file"""
    )


def test_a_problem_without_a_trace_and_a_file_that_was_not_read() -> None:
    problem = Finding(
        "PTX999", "syntax-error", None, Severity.ERROR, Confidence.HIGH, "expected ';'", Site(4, 16)
    )
    broken = FileReport(
        "broken.ptx", "line 4, column 16: expected ';'", [], [problem], "\n\n\n  mov.u32 %r1, 1\n"
    )
    assert (
        plain(Report([broken, FileReport("none.ptx", "no such file or directory")]))
        == """\
error[PTX999]: expected ';'
 --> broken.ptx:4:16
  |
4 |   mov.u32 %r1, 1
  |                ^
  |

1 error in 0 kernels of 2 files; 2 files not checked completely"""
    )


def test_what_was_not_analysed_is_said() -> None:
    coverage = Coverage((1, 2), (0, 0), (3, 3), (4, 5), 2, 1, False, ["1 address is not known"])
    assert (
        plain(report(coverage=coverage))
        == """\
kernel copy (sm_90a): analysed 1/2 async ops, 0/0 shared accesses, 3/3 mbarrier ops, 4/5 events; \
incomplete: 1 address is not known; 1 unknown instruction
no findings in 1 kernel of 1 file; 1 kernel not analysed completely"""
    )


def test_what_was_not_analysed_has_places_and_no_order() -> None:
    steps = (Step("ptxlint", at(8, 2), "1 of 5 events was not reached"), Step("ptxlint", at(6, 2), "more"))
    finding = weak_wait(code="PTX990", severity=Severity.NOTE, trace=steps, fix=None, site=at(4, 1))
    assert (
        "\n  = where:\n    1 of 5 events was not reached, at copy.sm_90a.ptx:8\n"
        "    more, at copy.sm_90a.ptx:6\n"
    ) in plain(report(finding))


def test_forced_completions_are_a_reason() -> None:
    line = plain(report(coverage=Coverage(forced_completions=2, complete=False))).split("\n")[0]
    assert line.endswith("incomplete: 2 forced mbarrier completions")


def test_a_file_without_a_kernel_is_not_called_clean() -> None:
    assert (
        plain(Report([FileReport("lib.ptx", text="")]))
        == """\
lib.ptx: no kernel (.entry) to analyse
no findings in 0 kernels of 1 file"""
    )


def test_several_files_name_the_file_of_each_kernel() -> None:
    files = [*report().files, *report().files]
    assert plain(Report(files)).startswith("copy.sm_90a.ptx: kernel copy (sm_90a): analysed")


def test_brackets_and_control_characters_are_text(folder: Path) -> None:
    finding = weak_wait(message="[red]a[/red] \x1b[31mb :smile: \u202e", trace=(), site=at(6, 2))
    result = report(finding)
    result.files[0].kernels[0].name = "k\x07"
    console = Console(file=(folder / "out").open("w"), highlight=False, markup=False, emoji=False, width=20)
    for line in text.render(result):
        console.print(line, soft_wrap=True)
    console.file.close()
    printed = (folder / "out").read_text("utf-8")
    assert "error[PTX201]: [red]a[/red] \\x1b[31mb :smile: \\u202e\n" in printed
    assert "kernel k\\x07 (sm_90a)" in printed
    assert printed == plain(result) + "\n"


def test_tabs_before_the_place_move_the_mark(folder: Path) -> None:
    (folder / "copy.cu").write_text("\tint\tx;\n", "utf-8")
    printed = plain(report(weak_wait(trace=(), fix=None, site=at(6, 2, (1, 6)))))
    assert "1 |     int x;\n  |         ^\n" in printed


@pytest.mark.parametrize("column", [0, 99])
def test_a_column_outside_of_the_line_marks_the_whole_line(folder: Path, column: int) -> None:
    (folder / "copy.cu").write_text("  a b;  \n", "utf-8")
    finding = weak_wait(trace=(), fix=None, site=at(6, 2, (1, column)))
    assert "1 |   a b;\n  |   ^^^^\n" in plain(report(finding))


def test_two_labels_on_one_line(folder: Path) -> None:
    write_sources(folder)
    trace = (Step("a", STORE, "one", "first"), Step("b", at(6, 2, (2, 55), (6, 3)), "two", "second"))
    finding = weak_wait(trace=trace, site=trace[1].site, fix=None)
    printed = plain(report(finding))
    assert "store(char* to" in printed
    assert "load(char* stage" in printed
    same = weak_wait(trace=(trace[0], replace(trace[0], role="second", note="two")), site=STORE, fix=None)
    assert "  |                                                ^^^ (1) one\n" in plain(report(same))
    assert "  |                                                --- (2) two\n" in plain(report(same))


def test_a_line_past_the_end_of_a_changed_source_falls_back_to_ptx(folder: Path) -> None:
    (folder / "copy.cu").write_text("// shorter now\n", "utf-8")
    assert " --> copy.sm_90a.ptx:8:2\n" in plain(report(weak_wait()))


def test_source_beside_the_ptx_is_found_from_another_folder(folder: Path) -> None:
    (folder / "build").mkdir()
    write_sources(folder / "build")
    result = report(weak_wait())
    result.files[0].path = "build/copy.sm_90a.ptx"
    assert " --> build/copy.cu:9:3\n" in plain(result)


def test_one_end_is_shown_where_the_wrapper_of_an_asm_statement_is_called(folder: Path) -> None:
    write_sources(folder)
    assert " --> copy.cu:9:3\n" in plain(report(weak_wait(trace=())))
    only = Site(8, 2, LOAD.source[:1])
    assert " --> copy.cu:2:55\n" in plain(report(weak_wait(trace=(), site=only)))


def test_a_link_in_a_header_that_is_not_on_disk_is_skipped_outward(folder: Path) -> None:
    write_sources(folder)
    header = replace(LOAD.source[0], file="cuda/ptx.h")
    site = Site(8, 2, (header, LOAD.source[1]))
    assert " --> copy.cu:9:3\n" in plain(report(weak_wait(trace=(), site=site)))
