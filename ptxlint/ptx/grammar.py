"""The Lark parser made from ``grammar/ptx.lark``, loaded when it is first needed."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ptxlint._data import data_dir
from ptxlint.ptx.quick import quick_tree

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

STARTS = ("module", "prototype", "statement", "toplevel", "operands")

_WORDS = {
    "NAME": "a name",
    "LABEL": "a label",
    "OPCODE": "an instruction",
    "INTEGER": "an integer",
    "FLOAT": "a floating constant",
    "NUMBERS": "a list of numbers",
    "STRING": "a string",
    "SINK": '"_"',
    "SPACE": "a state space",
    "TYPE": "a type",
    "WIDTH": "a vector width",
    "LINKAGE": "a linkage directive",
    "DIRECTIVE": "a directive",
    "VERSION": "a version number",
    "SECTION": "a .section",
    "REG": '".reg"',
    "_LOC": '".loc"',
    "SLASH": "an operator",
    "PERCENT": "an operator",
    "$END": "the end",
}
_OPERATORS = frozenset(
    {"OR_OR", "AND_AND", "BAR", "CARET", "AMPERSAND", "EQUALITY", "RELATION", "SHIFT"}
    | {"PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "TILDE", "BANG", "QMARK"}
)
_WORD = re.compile(r"[\w$%.:@]{1,40}|.", re.ASCII | re.DOTALL)


class Mismatch(Exception):
    """Text that the grammar does not know: *offset* in the text given, what was found, what fits."""

    def __init__(self, offset: int, message: str, expected: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.expected = expected


@cache
def load() -> "Lark":
    """Return the parser; Lark is imported here and not before."""
    from lark import Lark

    return Lark(
        (data_dir("grammar") / "ptx.lark").read_text(encoding="utf-8"),
        parser="lalr",
        start=list(STARTS),
        propagate_positions=True,
        maybe_placeholders=False,
        g_regex_flags=re.ASCII,
    )


def parse_tree(text: str, start: str) -> "Tree[Token]":
    """Parse *text* by the rule *start*; what is common is read without Lark (``quick.py``).

    Raises:
        Mismatch: the grammar does not know the text.
    """
    quick = quick_tree(text, start)
    return quick if quick is not None else parse_with_lark(text, start)  # type: ignore[return-value]


def parse_with_lark(text: str, start: str) -> "Tree[Token]":
    """Parse *text* by the rule *start* of the grammar.

    Raises:
        Mismatch: the grammar does not know the text.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    parser = load()
    try:
        return parser.parse(text, start=start)
    except UnexpectedToken as error:
        try:
            names = set(error.accepts or error.expected)
        except RecursionError:  # a very deep stack of unfinished brackets cannot be copied
            names = set(error.expected)
        at = len(text.rstrip()) if error.token.type == "$END" else error.token.start_pos or 0
        raise _mismatch(text, at, names) from None
    except UnexpectedCharacters as error:
        raise _mismatch(text, error.pos_in_stream or 0, set(error.allowed)) from None
    except UnexpectedInput as error:  # no other kind is known; say so rather than stop
        raise Mismatch(0, str(error).splitlines()[0]) from None


def _mismatch(text: str, offset: int, names: "set[Any]") -> Mismatch:
    expected = expected_words(names)
    if offset >= len(text):
        found = "unexpected end"
    else:
        if text.startswith("/*", offset):
            return Mismatch(offset, "this comment is not closed", ('"*/"',))
        word = _WORD.match(text, offset)
        shown = word.group() if word else text[offset]
        found = f'unexpected "{shown}"' if shown.isprintable() else f"unexpected {shown!r}"
    return Mismatch(offset, found, expected)


def expected_words(names: "set[Any]") -> tuple[str, ...]:
    """Return the terminals *names* in plain words, sorted, operators as one."""
    words = set()
    literal = _literals()
    for name in names:
        if name in _OPERATORS:
            words.add("an operator")
        elif name in _WORDS:
            words.add(_WORDS[name])
        elif name in literal:
            words.add(f'"{literal[name]}"')
    return tuple(sorted(words))


@cache
def _literals() -> dict[str, str]:
    return {
        terminal.name: terminal.pattern.value
        for terminal in load().terminals
        if terminal.pattern.type == "str"
    }
