"""The harness itself: each way in which markers and findings can differ is told."""

from pathlib import Path

import pytest

from ptxlint.ptx.source import SourceLocation
from ptxlint.records import replace
from ptxlint.report.finding import Confidence, Finding, Severity, Site, Step
from tests.expect import MarkerError, compare, parse
from tests.expect_update import update


def found(
    code: str, *lines: int, sure: bool = True, message: str = "m", via: tuple[int, ...] = ()
) -> Finding:
    """A finding whose chain passes *lines* of k.cu, innermost first."""
    confidence = Confidence.HIGH if sure else Confidence.MEDIUM
    steps = tuple(Step("warp 0", Site(1, 1, (SourceLocation("k.cu", line, 1),)), "n") for line in via)
    chain = tuple(SourceLocation("k.cu", line, 1) for line in lines)
    return Finding(code, "n", None, Severity.ERROR, confidence, message, Site(99, 1, chain), steps)


def check(text: str, *findings: Finding, name: str = "k.cu") -> list[str]:
    return compare(parse(text, name), findings)


def test_a_match() -> None:
    assert check("a;  // expect: PTX101", found("PTX101", 1)) == []


def test_any_link_of_the_chain_counts() -> None:
    assert check("\n\na;  // expect: PTX101", found("PTX101", 1, 3, 7)) == []


def test_lines_of_another_file_do_not_count() -> None:
    header = Finding(
        "PTX101", "n", None, Severity.ERROR, Confidence.HIGH, "m", Site(1, 1, (SourceLocation("x.h", 1, 1),))
    )
    assert len(check("a;  // expect: PTX101", header)) == 2


def test_ptx_files_count_their_own_lines() -> None:
    finding = Finding("PTX101", "n", None, Severity.ERROR, Confidence.HIGH, "m", Site(2, 1))
    assert check("\nst;  // expect: PTX101", finding, name="k.ptx") == []
    assert check("st;  // expect: PTX101", finding, name="k.ptx") != []


def test_a_finding_without_a_cuda_position_is_anywhere_in_it() -> None:
    assert check("\n\n// expect: PTX990", found("PTX990")) == []


def test_absent() -> None:
    assert check("a;  // expect: PTX101") == ["k.cu:1: PTX101 is not reported"]


def test_another_code_or_line() -> None:
    assert len(check("a;  // expect: PTX101", found("PTX102", 1))) == 2
    assert len(check("a;  // expect: PTX101", found("PTX101", 2))) == 2


def test_extra() -> None:
    assert check("a;  // expect-clean", found("PTX101", 1)) == ["k.cu:1: PTX101 (high) without a marker: m"]


def test_one_marker_takes_one_finding() -> None:
    assert len(check("a;  // expect: PTX101", found("PTX101", 1), found("PTX101", 1))) == 1
    assert check("a;  // expect: PTX101 expect: PTX101", found("PTX101", 1), found("PTX101", 1)) == []


def test_markers_are_given_to_findings_so_that_all_agree() -> None:
    text = "a;  // expect: PTX101\nb;  // expect: PTX101"
    assert check(text, found("PTX101", 1, 2), found("PTX101", 1)) == []
    assert check(text, found("PTX101", 1), found("PTX101", 1, 2)) == []


def test_confidence() -> None:
    assert check("a;  // expect: PTX101 may", found("PTX101", 1, sure=False)) == []
    assert "drop the word may" in check("a;  // expect: PTX101 may", found("PTX101", 1))[0]
    assert "add the word may" in check("a;  // expect: PTX101", found("PTX101", 1, sure=False))[0]


def test_trace() -> None:
    text = "a;  // #one\nb;  // #two\nc;  // expect: PTX101 via #one, #two"
    assert check(text, found("PTX101", 3, via=(1, 3, 2))) == []
    assert "does not pass one, two" in check(text, found("PTX101", 3, via=(2, 1)))[0]


def test_cause_and_near_miss() -> None:
    text = "a;  // #fence\nb;  // expect: PTX101 because no-fence despite #fence"
    site = Site(1, 1, (SourceLocation("k.cu", 1, 1),))
    there = replace(found("PTX101", 2), cause="no-fence", trace=(Step("warp 0", site, "n", "near-miss"),))
    assert check(text, there) == []
    assert "the cause is count, not no-fence" in check(text, replace(there, cause="count"))[0]
    assert "#fence is not told as a near miss" in check(text, replace(there, trace=()))[0]
    passed = replace(there, trace=(Step("warp 0", site, "n", "path"),))
    assert "#fence is not told as a near miss" in check(text, passed)[0]


def test_text() -> None:
    assert check('a;  // expect: PTX101 "fence"', found("PTX101", 1, message="no fence here")) == []
    assert (
        "no 'wait'" in check('a;  // expect: PTX101 "fence" "wait"', found("PTX101", 1, message="fence"))[0]
    )


def test_another_line() -> None:
    assert check("// expect@+1: PTX101\na;", found("PTX101", 2)) == []
    assert check("a;\n\n// expect@-2: PTX101", found("PTX101", 1)) == []


def test_known_mistakes() -> None:
    assert check("a;  // expect-spurious: PTX101", found("PTX101", 1)) == []
    assert "is gone" in check("a;  // expect-spurious: PTX101")[0]
    assert check("a;  // expect-missing: PTX101") == []
    assert "change expect-missing" in check("a;  // expect-missing: PTX101", found("PTX101", 1))[0]


def test_prose_before_a_marker_is_prose() -> None:
    parsed = parse("a;  // refills too early, see #12. expect: PTX201 may", "k.cu")
    assert [str(marker) for marker in parsed.markers] == ["expect: PTX201 may"]


def test_all_of_the_language_on_one_line() -> None:
    all_of_it = 'expect: PTX101 may because no-fence despite #here via #here, #here "a b"'
    parsed = parse(f"x;  // #here {all_of_it} expect-missing: PTX102", "k.cu")
    assert [str(marker) for marker in parsed.markers] == [
        all_of_it,
        "expect-missing: PTX102",
    ]


def test_settings() -> None:
    text = "// launch: grid=1 block=32\n// check: --select PTX1 --block 64\n// expect-clean"
    parsed = parse(text, "k.cu")
    assert parsed.launch == "grid=1 block=32"
    assert parsed.arguments == ("--select", "PTX1", "--block", "64")


@pytest.mark.parametrize(
    "text",
    [
        "a;",
        "a;  // fence.proxy.async, then mbarrier.arrive.expect_tx",
        "expect(&full, kBytes);  // arrive",
    ],
)
def test_no_marker_is_an_error(text: str) -> None:
    with pytest.raises(MarkerError, match="no marker"):
        parse(text, "k.cu")


@pytest.mark.parametrize(
    "text",
    [
        "// expect: PTX20",
        "// expect PTX201",
        "// expected: PTX201",
        "// expect-mising: PTX201",
        "// expect@1: PTX201",
        "// expect: PTX201 maybe",
        "// expect: PTX201 via store",
        "// expect: PTX201, PTX202",
        "// expect-clean now",
        "// #store the write",
    ],
)
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(MarkerError, match="cannot read"):
        parse(text + "\n// expect-clean", "k.cu")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("// #a\n// #a", "already"),
        ("// expect: PTX101 via #b", "no line is named #b"),
        ("// expect: PTX101 despite #b", "no line is named #b"),
        ("// expect-clean\n// expect: PTX101", "other markers too"),
    ],
)
def test_contradictions_are_errors(text: str, error: str) -> None:
    with pytest.raises(MarkerError, match=error):
        parse(text, "k.cu")


@pytest.mark.parametrize(
    ("before", "findings", "after"),
    [
        ("a;  // expect-clean\nb;\n", [found("PTX101", 2)], "a;\nb;  // expect: PTX101\n"),
        ("a;  // why. expect: PTX101\n", [], "a;  // why. expect-clean\n"),
        ("a;\nb;  // expect: PTX101\n", [], "a;  // expect-clean\nb;\n"),
        ("a;  // expect: PTX101\n", [found("PTX101", 1, sure=False)], "a;  // expect: PTX101 may\n"),
        ("// #x\na;  // expect: PTX101 via #x\n", [found("PTX101", 2)], "// #x\na;  // expect: PTX101\n"),
        (
            "// #x\na;  // expect: PTX101 because a-b despite #x\n",
            [found("PTX101", 2)],
            "// #x\na;  // expect: PTX101\n",
        ),
        ('a;  // expect: PTX101 "no" "m"\n', [found("PTX101", 1)], 'a;  // expect: PTX101 "m"\n'),
        (
            "// expect@+1: PTX101\na;\n",
            [found("PTX101", 2, sure=False)],
            "// expect@+1: PTX101 may\na;\n",
        ),
    ],
)
def test_update(tmp_path: Path, before: str, findings: list[Finding], after: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(before, "utf-8")
    assert update(path, parse(before, "k.cu"), findings)
    assert path.read_text("utf-8") == after
    assert compare(parse(after, "k.cu"), findings) == []
    assert not update(path, parse(after, "k.cu"), findings)


@pytest.mark.parametrize(
    ("text", "findings"),
    [("a;  // expect-missing: PTX101\n", [found("PTX101", 1)]), ("a;  // expect-spurious: PTX101\n", [])],
)
def test_update_leaves_judgements(tmp_path: Path, text: str, findings: list[Finding]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text, "utf-8")
    assert not update(path, parse(text, "k.cu"), findings)
    assert path.read_text("utf-8") == text
