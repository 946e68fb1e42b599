"""Bad text: where the problem is, and what is still read."""

import time

import pytest

from ptxlint.ptx.parser import parse, parse_plain
from ptxlint.ptx.syntax import SyntaxProblem
from tests.ptx.compare import HEADER, body


def only_problem(text: str) -> SyntaxProblem:
    (problem,) = parse(text).problems
    return problem


@pytest.mark.parametrize(
    ("statement", "column", "found", "expected"),
    [
        ("mov.u32 %r1, ;", 14, '";"', "a name"),
        ("mov.u32 %r1 %r2;", 13, '"%r2"', '","'),
        ("mov.u32 %r1, [%r2;", 18, '";"', '"]"'),
        ("mov.u32 %r1, {%r2;", 18, '";"', '"}"'),
        ("st.shared.v2.u32 [%r1], {%r1 %r2};", 30, '"%r2"', '"}"'),
        ("@ mov.u32 %r1, %r2;", 6, '".u32"', "an instruction"),
        (".reg .b32 ;", 11, '";"', "a name"),
        (".frobnicate 5;", 1, '".frobnicate"', "an instruction"),
        ("5;", 1, '"5"', "an instruction"),
        ("mov.u32 %r1, #;", 14, '"#"', "an integer"),
    ],
)
def test_where_and_what(statement: str, column: int, found: str, expected: str) -> None:
    text = body(f"mov.u32 %r0, 0;\n{statement}\nret;")
    module = parse(text)
    (problem,) = module.problems
    assert (problem.position.line, problem.position.column) == (8, column)
    assert problem.message == f"unexpected {found}"
    assert expected in problem.expected
    assert problem.function == "k"
    assert [at.opcode for at in module.functions[0].instructions] == ["mov.u32", "ret"]
    (plain,) = parse_plain(text).problems
    assert plain.position == problem.position
    assert plain.message == problem.message


def test_missing_semicolon_keeps_the_next_statement() -> None:
    module = parse(body("mov.u32 %r1, %r2\nadd.s32 %r1, %r1, 1;\nret;"))
    (problem,) = module.problems
    assert (problem.position.line, problem.position.column) == (8, 1)
    assert '";"' in problem.expected
    assert [at.opcode for at in module.functions[0].instructions] == ["add.s32", "ret"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("mul.lo.s32 %r1, %r2 * %r3, 1;", "constant expression"),
        ("mov.u32 %r1, 1/0;", "division by zero"),
        ("mov.u32 %r1, 089;", "no integer"),
        ("mov.u32 %r1, 1" + "0" * 5000 + ";", "too large"),
        ("ld.shared.u32 %r1, [1.5];", "not an address"),
        ("mov.u32 %r1, " + "(" * 5000 + ";", "too deeply"),
        ("mov.u32 %r1, " + "-" * 50000 + "1;", "too deeply"),
        ("mov.u32 %r1, " + "1+" * 50000 + "1;", "too deeply"),
    ],
)
def test_operands_that_are_none(statement: str, message: str) -> None:
    module = parse(body(f"{statement}\nret;"))
    (problem,) = module.problems
    assert message in problem.message
    assert problem.function == "k"
    assert [at.opcode for at in module.functions[0].instructions] == ["ret"]


def test_other_functions_are_still_read() -> None:
    good = ".entry good() { ret; }\n"
    for bad in (
        ".entry bad( { ret; }\n",
        ".entry bad() { mov.u32 %r1, ; ret; }\n",
        ".entry bad() { mov.u32 %r1, { ; ret; }\n",
        ".entry bad() { ret;\n",
        ".entry bad() { { { ret; }\n",
        ".entry bad\n",
        ".entry 5 { ret; }\n",
        ".global .b32 x = ;\n",
        ".global .b32 x\n",
        "}\n",
        "garbage garbage\n",
        ".version\n",
        '.file 1 "x\n',
    ):
        module = parse(HEADER + good + bad + good.replace("good", "after"))
        assert [each.name for each in module.functions if each.name != "bad"] == ["good", "after"], bad
        assert module.problems, bad
        assert module.problems[0].function == ("bad" if ".entry bad" in bad else None), bad


@pytest.mark.parametrize("text", ["", "\n\n", "// only a comment\n", "\0"])
def test_no_text(text: str) -> None:
    assert only_problem(text).message == "there is no PTX in the text"


def test_unclosed_body() -> None:
    problem = only_problem(HEADER + ".entry k() {\n{ ret;\n}\n")
    assert problem.message == "the body of k is not closed"
    assert problem.position.line == 7


def test_text_cut_anywhere_is_read_without_an_exception() -> None:
    text = body("{ .reg .pred p; @p st.v2 [a, {b, c}], {d, e}; L: } // comment\n.loc 1 2 3\nret;")
    for length in range(len(text)):
        parse(text[:length])


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "}",
        "(",
        "/*",
        "//",
        '"',
        ";",
        "\\",
        "@",
        "a ",
        "a\n",
        "/",
        ".entry a\n",
        ".entry a() {\n",
        ".global .b32 a\n",
        ".global .b32 a = {\n",
        "\x00\x7f\xff\u2028",
        ".loc 1 1 1\n",
        "[[",
        "mov.u32 %r1, ;\n",
        ".section x {",
        "# 1\n",
        "0",
        "-",
    ],
)
def test_masses_of_junk_take_no_time(piece: str) -> None:
    junk = piece * (300_000 // len(piece))
    for text in (junk, HEADER + junk, body(junk), HEADER + ".entry k() {" + junk):
        start = time.process_time()
        parse(text)
        assert time.process_time() - start < 5


def test_deep_blocks() -> None:
    depth = 20_000
    module = parse(body("{" * depth + "ret;" + "}" * depth))
    assert module.problems == ()
    assert len(module.functions[0].instructions) == 1


def test_many_errors_end() -> None:
    module = parse(body("mov.u32 %r1, ;\n" * 1000) + ".entry after() { ret; }\n")
    assert len(module.problems) < 30
    assert "too many" in module.problems[-1].message
    assert [each.name for each in module.functions] == ["k", "after"]
