"""``pytest --ptxlint``: PTX files as test items."""

import pytest

from ptxlint.pytest_plugin.collect import Entry, entries
from tests.pytest_plugin.conftest import Run
from tests.pytest_plugin.kernels import clean, hazard, module


def test_an_item_a_kernel_and_the_report_of_its_own_findings(pytester: pytest.Pytester, run: Run) -> None:
    pytester.path.joinpath("two.ptx").write_text(module(clean(), hazard()), "utf-8")
    done = run("--ptxlint", "-v")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "two.ptx::clean PASSED*",
            "two.ptx::hazard FAILED*",
            "error[[]PTX101]: cp.async.bulk reads 512 bytes of shared memory at hazard_tile *",
            "  --> two.ptx:43:5",
            "kernel hazard (sm_90a): analysed 1/1 async ops, *; complete",
            "1 error in 1 kernel of 1 file",
            "FAILED two.ptx::hazard - *PTX101*",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*pytest.fail*")


def test_off_unless_asked(pytester: pytest.Pytester, run: Run) -> None:
    pytester.path.joinpath("two.ptx").write_text(module(hazard()), "utf-8")
    pytester.makepyfile("def test_one(): pass")
    run().assert_outcomes(passed=1)


def test_a_file_is_analysed_once(pytester: pytest.Pytester, run: Run, parsed: list[str]) -> None:
    names = ["one", "two", "three"]
    pytester.path.joinpath("k.ptx").write_text(module(*map(clean, names)), "utf-8")
    run("--ptxlint").assert_outcomes(passed=3)
    assert parsed == ["k.ptx"]


def test_patterns_and_named_files(pytester: pytest.Pytester, run: Run) -> None:
    for name in ("a.ptx", "a.s", "made/b.ptx", "other/c.ptx"):
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(module(clean(path.stem)), "utf-8")
    pytester.makeini("[pytest]\nptxlint_files = *.s made/*.ptx\n")
    collected = run("--ptxlint", "--collect-only", "-q").stdout.lines
    assert collected[:2] == ["a.s::a", "made/b.ptx::b"]
    assert run("--ptxlint", "--collect-only", "-q", "other/c.ptx").stdout.lines[0] == "other/c.ptx::c"
    run("--ptxlint", "a.s::a").assert_outcomes(passed=1)


def test_a_syntax_error_fails_the_kernel_it_is_in(pytester: pytest.Pytester, run: Run) -> None:
    broken = clean("broken").replace("bar.sync 0;", "bar.sync 0 0;")
    pytester.path.joinpath("k.ptx").write_text(module(clean("fine"), broken, clean("late")), "utf-8")
    done = run("--ptxlint", "-v")
    done.stdout.fnmatch_lines(
        [
            "k.ptx::fine PASSED*",
            "k.ptx::broken FAILED*",
            "k.ptx::late PASSED*",
            "error[[]PTX999]: *; expected *",
            "  --> k.ptx:39:16",
        ]
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "k.ptx: no PTX: the file is empty, expected .version"),
        (b"\xff\xfe.\0", "k.ptx: no UTF-8 text: this is UTF-16; convert it first"),
        (b".version 8.6\n.target sm_90a\n.address_size 64\n.entr k() {}\n", " --> k.ptx:4:1"),
    ],
)
def test_a_file_without_kernels_that_cannot_be_checked_is_an_item_that_fails(
    pytester: pytest.Pytester, run: Run, data: bytes, message: str
) -> None:
    pytester.path.joinpath("k.ptx").write_bytes(data)
    done = run("--ptxlint", "-v")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["k.ptx::file FAILED*", message])


def test_workers_agree(pytester: pytest.Pytester, run: Run) -> None:
    pytester.path.joinpath("two.ptx").write_text(module(clean(), hazard()), "utf-8")
    done = run("-p", "xdist.plugin", "-p", "xdist.looponfail", "-n", "2", "--ptxlint")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["error[[]PTX101]: *", "FAILED two.ptx::hazard - *PTX101*"])


def test_the_scan_finds_what_the_parser_finds() -> None:
    text = (
        "// .entry no1() {}\n/* .entry no2() { */ .entry declared(.param .u64 x);\n"
        '.entry\n  a ( .param .u64 x ) .maxntid 1, 2, 3 .pragma "{;"; {}\n'
        ".visible .entry $b_1 {} .func f() {} .weak .entry c%() { /* } */ }\n"
    )
    assert entries(text) == [Entry("a", 3), Entry("$b_1", 5), Entry("c%", 5)]
