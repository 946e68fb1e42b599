"""What is read without Lark gives the trees that the grammar gives, and refuses what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxlint.ptx import grammar, operands, parser
from ptxlint.ptx.grammar import Mismatch, parse_with_lark
from ptxlint.ptx.quick import quick_tree
from tests.ptx.compare import FIXTURES

PIECES = st.sampled_from(
    [
        *(
            "%r1",
            "a",
            "_",
            "%p1.x",
            "7",
            "0x1F",
            "1.5",
            "0f3F800000",
            "WARP_SZ",
            "-",
            "+",
            "!",
            "|",
            "%",
            " ",
        ),
        *(
            "[",
            "]",
            "{",
            "}",
            "(",
            ")",
            ",",
            ";",
            "<",
            ">",
            "=",
            ":",
            "@",
            '"s"',
            "\n",
            "/",
            "// c\n",
            "mov.u32 ",
        ),
        *(
            ".reg",
            ".pred",
            ".shared",
            ".align",
            ".b8",
            ".param",
            ".ptr",
            ".entry",
            ".func",
            ".target",
            ".file",
        ),
        *(
            ".v4",
            ".extern",
            ".maxntid",
            ".version",
            "8.7",
            ".branchtargets",
            ".pragma",
            ".f32",
            ".e4m3",
            ".loc",
        ),
    ]
)
STARTS = ("operands", "statement", "toplevel", "prototype")


def shape(node: Any) -> Any:
    if isinstance(node, str):
        token: Any = node
        return token.type, str(token), token.start_pos, token.end_pos
    place = (node.meta.start_pos, node.meta.end_pos) if node.children else ()
    return node.data, place, tuple(shape(child) for child in node.children)


def asked(path: Path, monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Return what parsing a file asks of the grammar."""
    questions: set[tuple[str, str]] = set()

    def ask(text: str, start: str) -> Any:
        questions.add((text, start))
        return grammar.parse_tree(text, start)

    monkeypatch.setattr(parser, "parse_tree", ask)
    monkeypatch.setattr(operands, "parse_tree", ask)
    parser.parse(path.read_text("utf-8"), path.name)
    return questions


def test_fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    questions: set[tuple[str, str]] = set()
    for path in sorted(FIXTURES.rglob("*.ptx"))[::4]:
        questions |= asked(path, monkeypatch)
    read = [(text, start) for text, start in sorted(questions) if quick_tree(text, start) is not None]
    assert len(read) > 0.9 * len(questions)
    for text, start in read:
        assert shape(quick_tree(text, start)) == shape(parse_with_lark(text, start)), text


@settings(max_examples=1500, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=9), st.sampled_from(STARTS))
def test_any_text(pieces: list[str], start: str) -> None:
    text = "".join(pieces)
    quick = quick_tree(text, start)
    if quick is not None:
        assert shape(quick) == shape(parse_with_lark(text, start))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("%r1, [%rd2+8], {%f1, _}, !%p1, %p1|%q1, -4, (%r1, 5)", "operands"),
        ("@!%p1 cp.async.bulk .L2::cache_hint [%rd1, {%r1, 0}], [%r2];", "statement"),
        ("$L_1: .branchtargets $L_2, $L_3;", "statement"),
        (".reg .b32 %r<10>, a, b;", "statement"),
        (".global .align 4 .b8 text[3] = {104, 105, 0};", "toplevel"),
        (".version 8.7", "toplevel"),
        (
            ".visible .entry k(.param .u64 .ptr .global .align 16 k_0, .param .b8 k_1[8]) .maxntid 128, 1, 1",
            "prototype",
        ),
    ],
)
def test_common_forms_are_read(text: str, start: str) -> None:
    assert shape(quick_tree(text, start)) == shape(parse_with_lark(text, start))


@pytest.mark.parametrize("text", ["%r1, ", "[%r1", "%r1 %r2", "", "[]", "1.5 + %r1 +", ".align"])
def test_errors_are_left_to_the_grammar(text: str) -> None:
    assert quick_tree(text, "operands") is None
    with pytest.raises(Mismatch):
        parse_with_lark(text, "operands")
