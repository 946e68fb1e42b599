"""Comments that hide findings: where they count, and what is said about those that do not."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxlint.suppressions import parse
from tests.conftest import FIXTURES, ROOT
from tests.test_cli import Run, run

__all__ = ["run"]

FOLDER = FIXTURES / "ptx201"
PTX = (FOLDER / "two_stage_copy.sm_90a.ptx").read_text("utf-8")
CUDA = (FOLDER / "two_stage_copy.cu").read_text("utf-8")
READ, WRITE = 146, 172  # the two accesses of its only finding, in the PTX
FIRST, SECOND = 84, 88  # the statements in the kernel's function
WRAPPER = next(n for n, line in enumerate(CUDA.split("\n"), 1) if "bulk_load(stages[stage]" in line)


def with_line(text: str, number: int, *, above: str = "", after: str = "") -> str:
    """Return *text* with something put at the end of a line, or on a line of its own above it."""
    lines = text.split("\n")
    lines[number - 1] += after
    if above:
        lines.insert(number - 1, above)
    return "\n".join(lines)


def check(run: Run, ptx: str, cuda: str | None = None, *arguments: str) -> tuple[int, list[str], list[str]]:
    """Return the status, the codes that are reported, and the reasons of what is hidden."""
    Path("two_stage_copy.sm_90a.ptx").write_text(ptx, "utf-8")
    if cuda is not None:
        Path("two_stage_copy.cu").write_text(cuda, "utf-8")
    result = run("check", "--output-format", "json", *arguments, "two_stage_copy.sm_90a.ptx")
    [file] = json.loads(result.out)["files"]
    findings = [*file["problems"], *(found for kernel in file["kernels"] for found in kernel["findings"])]
    hidden = [*file["hidden"], *(found for kernel in file["kernels"] for found in kernel["hidden"])]
    assert all(found["by"] == "comment" for found in hidden)
    return result.status, [found["code"] for found in findings], [found["reason"] for found in hidden]


@pytest.mark.parametrize("line", [READ, WRITE])
@pytest.mark.parametrize("comment", ["ignore[PTX201]", "ignore[PTX2]", "ignore[ptx101, PTX201]"])
def test_a_comment_in_ptx_hides_a_finding_at_either_access(run: Run, line: int, comment: str) -> None:
    for above in (False, True):
        text = f"  // ptxlint: {comment} one thread does both"
        ptx = with_line(PTX, line, **({"above": text} if above else {"after": text}))
        status, codes, reasons = check(run, ptx)
        assert status == 0
        assert reasons == ["one thread does both"]
        assert codes == (["PTX992"] if "101" in comment else [])


@pytest.mark.parametrize("line", [FIRST, SECOND, WRAPPER])
def test_a_comment_in_source_hides_a_finding_by_any_link_of_the_chain(run: Run, line: int) -> None:
    comment = "// ptxlint: ignore[PTX201] see above"
    assert check(run, PTX, with_line(CUDA, line, after=comment)) == (0, [], ["see above"])


def test_comments_in_python(run: Run) -> None:
    """Triton writes the chain of inlined functions into a comment of its ``.loc``."""
    ptx = PTX.replace('"two_stage_copy.cu"', '"kernel.py"')
    ptx = re.sub(
        r"(\.loc\t1 \d+ \d+), .*inlined_at 1 (\d+) (\d+)", r"\1 // kernel.py:0:0 @[ kernel.py:\2:\3 ]", ptx
    )
    Path("kernel.py").write_text("\n" * 200, "utf-8")
    chains = [line for line in ptx.split("\n") if "@[" in line]
    assert chains
    called_at = {int(line.split("kernel.py:")[-1].split(":")[0]) for line in chains}
    hidden = []
    for number in called_at:
        lines = [""] * 200
        lines[number - 1] = "# ptxlint: ignore[PTX201] ordered by the caller"
        lines[number - 1] = f"copy()  {lines[number - 1]}"
        Path("kernel.py").write_text("\n".join(lines), "utf-8")
        status, _, reasons = check(run, ptx)
        hidden += reasons if status == 0 else []
    assert hidden
    assert set(hidden) == {"ordered by the caller"}


def test_a_comment_alone_counts_for_the_next_line_of_code(run: Run) -> None:
    moved = PTX.replace('"two_stage_copy.cu"', '"two_stage_copy.cu"')
    above = with_line(CUDA, SECOND, above="  // ptxlint: ignore[PTX201] see above")
    lines = above.split("\n")
    del lines[0]  # keep the numbers that .loc has
    assert check(run, moved, "\n".join(lines)) == (0, [], ["see above"])


def test_comments_in_wrong_places_hide_nothing_and_are_reported(run: Run) -> None:
    comment = " // ptxlint: ignore[PTX201] hopefully"
    assert check(run, with_line(PTX, WRITE - 1, after=comment))[:2] == (1, ["PTX992", "PTX201"])
    assert check(run, with_line(PTX, READ, after=comment.replace("201", "202")))[1] == ["PTX992", "PTX201"]
    with_code = next(n for n, line in enumerate(CUDA.split("\n"), 1) if "mbarrier.init" in line)
    assert check(run, PTX, with_line(CUDA, with_code, after=comment))[:2] == (1, ["PTX992", "PTX201"])
    # beside a line that no code is made of, nothing can be said
    assert check(run, PTX, with_line(CUDA, 1, after=comment))[:2] == (1, ["PTX201"])


def test_what_is_said_about_them(run: Run) -> None:
    text = with_line(PTX, READ, after=" // ptxlint: ignore[PTX2O1] why")
    text = with_line(text, WRITE, after=" /* ptxlint: ignore[PTX201] */ // more")
    text = with_line(text, 1, above="// ptxlint: ignore everything")
    Path("k.ptx").write_text(text, "utf-8")
    result = run("check", "k.ptx", "--output-format", "concise", "--fail-on", "note")
    lines = [line.replace("k.ptx:", "") for line in result.out.splitlines()]
    assert lines[0].startswith("1:1: PTX992 this comment hides nothing that it should: it names no code")
    assert "did you mean PTX201?" in lines[1]
    assert "[warning" in lines[1]
    assert lines[2].startswith(f"{WRITE + 1}:")
    assert "PTX993 this comment hides PTX201 and does not say why" in lines[2]
    assert run("check", "k.ptx", "--ignore", "PTX992,PTX993", "--fail-on", "note").status == 0


def test_syntax_errors_are_never_hidden(run: Run) -> None:
    broken = PTX + "\n.entry bad() { mov.u32 %r1 %r2; } // ptxlint: ignore[PTX999] no\n"
    status, codes, _ = check(run, broken)
    assert status == 2
    assert "PTX999" in codes


def test_all_comments_can_be_put_aside(run: Run) -> None:
    ptx = with_line(PTX, READ, after="// ptxlint: ignore[PTX201, PTX1] x")
    assert check(run, ptx, None, "--no-ignore-comments") == (1, ["PTX201"], [])


def test_one_comment_in_source_serves_all_files_and_is_judged_by_all(run: Run, tmp_path: Path) -> None:
    (tmp_path / "two_stage_copy.cu").write_text(
        with_line(CUDA, SECOND, after=" // ptxlint: ignore[PTX201] x"), "utf-8"
    )
    fixed = PTX.replace("cp.async.bulk.wait_group 1;", "cp.async.bulk.wait_group 0;")
    (tmp_path / "a.ptx").write_text(fixed, "utf-8")
    (tmp_path / "b.ptx").write_text(PTX, "utf-8")
    assert "PTX992" in run("check", "--output-format", "concise", "a.ptx").out
    assert run("check", "--output-format", "concise", "a.ptx", "b.ptx").out == ""
    assert "; 1 hidden by comments" in run("check", "a.ptx", "b.ptx").out


def test_the_comment_of_the_readme(run: Run) -> None:
    section = (ROOT / "README.md").read_text("utf-8").split("## Suppress a finding\n", 1)[1]
    line = section.split("```cuda\n", 1)[1].split("\n", 1)[0]
    lines = CUDA.split("\n")
    assert lines[SECOND - 1].split(";")[0].strip() == line.split(";")[0]
    lines[SECOND - 1] = line
    assert check(run, PTX, "\n".join(lines)) == (0, [], ["the store is waited for in load"])


@given(
    st.lists(
        st.sampled_from(
            ["//", "#", "/*", "*/", " ", "ptxlint:", "ignore", "[", "]", "PTX101", ",", "x", ".loc"]
        ),
        max_size=12,
    )
)
def test_any_line_is_read(parts: list[str]) -> None:
    line = "".join(parts)
    for suppression in parse([line, "code();"]):
        assert suppression.codes or suppression.wrong
        assert suppression.line == 1
        assert suppression.applies_to in (1, 2)
        assert line[suppression.column - 1] in "/#"


def test_parsing() -> None:
    lines = [
        "x = 1  # ptxlint: ignore[PTX101] python",
        "// ptxlint: ignore[PTX102]: with a colon",
        "",
        "// another comment",
        "code();",
        "/* ptxlint: ignore[PTX2, PTX301] block */ code();",
        "// ptxlint:ignore[PTX101]",
        "// not ptxlint ignore[PTX101]",
        "ptxlint: ignore[PTX101] no comment",
    ]
    found = [(s.line, s.applies_to, s.codes, s.reason) for s in parse(lines)]
    assert found == [
        (1, 1, ("PTX101",), "python"),
        (2, 5, ("PTX102",), "with a colon"),
        (6, 6, ("PTX2", "PTX301"), "block"),
        (7, 9, ("PTX101",), ""),
    ]
