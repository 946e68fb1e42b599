"""``.loc`` chains."""

from collections.abc import Callable

import pytest

from ptxlint.ptx.parser import parse, parse_plain
from ptxlint.ptx.syntax import Module
from tests.ptx.compare import FIXTURES, HEADER, body


def chains(module: Module) -> list[list[tuple[str, int, int]]]:
    assert module.problems == ()
    return [
        [(place.file, place.line, place.column) for place in module.source_chain(at)]
        for function in module.functions
        for at in function.instructions
    ]


def test_fixture() -> None:
    module = parse((FIXTURES / "syntax" / "locations.sm_90a.ptx").read_text("utf-8"))
    helper, kernel = "include/helper.h", "kernel.cu"
    assert chains(module) == [
        [(kernel, 70, 0)],
        [(kernel, 77, 5)],
        [(helper, 373, 9), (kernel, 63, 5), (kernel, 77, 5)],
        [(helper, 373, 9), (kernel, 63, 5), (kernel, 81, 5)],
        [(kernel, 90, 7)],
        [(kernel, 91, 7)],
        [("python/helper.py", 12, 3), ("kernel.py", 40, 9), ("kernel.py", 50, 1)],
        [],
        [(kernel, 99, 1), (kernel, 91, 7)],
    ]


def test_none_before_the_first_and_anew_in_each_function() -> None:
    text = body("ret;\n.loc 1 5 1\nret;") + body("ret;").split("\n", 3)[3].replace("entry k", "entry m")
    assert chains(parse(text)) == [[], [("<file 1>", 5, 1)], []]


def test_places_are_looked_up_in_the_same_function() -> None:
    first = ".loc 1 20 1\n.loc 1 5 1, function_name F, inlined_at 1 20 1\nret;"
    second = ".loc 1 7 1, function_name F, inlined_at 1 5 1\nret;"
    text = body(first) + body(second).split("\n", 3)[3].replace("entry k", "entry m")
    file = "<file 1>"
    assert chains(parse(text)) == [[(file, 5, 1), (file, 20, 1)], [(file, 7, 1), (file, 5, 1)]]


@pytest.mark.parametrize(
    "text",
    [
        ".loc 1 5 1\n{ ret; }",
        ".loc 1 5 1 {\nret; }",
        ".loc 1 5 1{ret; }",
        "{ .loc 1 5 1\n } ret;",
        ".loc\t1\t5\t1 // x.py:5:1\nL: ret;",
        ".loc 1 5 1 ret;",
        "/* before */ .loc 1 5 1 /* after */ ret;",
    ],
)
def test_places_of_the_directive(text: str) -> None:
    assert chains(parse(body(text))) == [[("<file 1>", 5, 1)]]


def test_local_is_not_loc() -> None:
    module = parse(body(".local .b32 x;.local\t.b32 y; ret;"))
    assert chains(module) == [[]]
    assert [each.name for each in module.functions[0].variables] == ["x", "y"]


def test_a_place_inlined_at_itself_ends() -> None:
    module = parse(body(".loc 1 5 1, function_name F, inlined_at 1 5 1\nret;\n" * 500))
    assert max(map(len, chains(module))) == 64


def test_line_zero_is_where_it_was_inlined() -> None:
    text = ".loc 1 9 2\n.loc 1 0 0, function_name F, inlined_at 1 9 2\nret;"
    assert chains(parse(body(text))) == [[("<file 1>", 9, 2)]]


@pytest.mark.parametrize(
    ("written", "place"),
    [
        (".loc 1 23 \n5", ("a.cu", 23, 5)),
        (".loc\n1\n23\n\t5", ("a.cu", 23, 5)),
        (".loc 0x1 0x17 05", ("a.cu", 23, 5)),
        (".loc 1 23U 5", ("a.cu", 23, 5)),
        (".loc 1 09 5", ("a.cu", 9, 5)),
    ],
)
@pytest.mark.parametrize("read", [parse, parse_plain])
def test_forms_of_numbers_and_blanks(
    read: Callable[[str], Module], written: str, place: tuple[str, int, int]
) -> None:
    module = read(f'{HEADER}.file 0x1 "a.cu"\n.entry k() {{\n{written}\nret;\n}}\n')
    assert module.problems == ()
    [link] = module.source_chain(module.functions[0].instructions[0])
    assert (link.file, link.line, link.column) == place


def test_inlined_over_several_lines() -> None:
    text = f'{HEADER}.file 1 "a.cu"\n.entry k() {{\n.loc 1 2 3\n.loc 1 9 5, function_name L,\n inlined_at 1 2\n 0x3\nret; L: }}'
    for read in (parse, parse_plain):
        module = read(text)
        assert module.problems == ()
        chain = module.source_chain(module.functions[0].instructions[0])
        assert [(link.line, link.column) for link in chain] == [(9, 5), (2, 3)]
