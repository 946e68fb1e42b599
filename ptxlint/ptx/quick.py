"""Trees of the commonest PTX, without Lark: the same trees that ``grammar/ptx.lark`` gives.

Importing Lark and making its tables takes longer than checking a small file. This reads the part of
the grammar that nearly every file is made of: plain operands, register and variable declarations,
heads of functions, module directives. Anything else, and every error, is left to the grammar. A
test compares the trees with Lark's on all fixtures.
"""

import re
from collections.abc import Callable
from typing import Any

_NUMBER = r"(?:0[xX][0-9A-Fa-f]+|0[bB][01]+|\d+)[uU]?(?![\w$.])"
_NAME = (
    r"(?:[A-Za-z][\w$]*|[_$%][\w$]+)"
    r"(?:\.(?:[xyzwrgba]|[bh][0-7]{1,4})(?![\w$]))?(?![\w$%.])"
)
_TOKEN = re.compile(
    rf"""[ \t\r\n\f\v]*(?:
      (?P<NAME>{_NAME})
    | (?P<FLOAT>0[fF][0-9A-Fa-f]{{8}}(?![\w$.])|0[dD][0-9A-Fa-f]{{16}}(?![\w$.]))
    | (?P<INTEGER>{_NUMBER})
    | (?P<SINK>_(?![\w$%.]))
    | (?P<WORD>\.[A-Za-z]\w*(?:::\w+)*(?![\w$.:]))
    | (?P<STRING>"[^"\n]*")
    | (?P<MARK>[][{{}}(),;+\-|!=<>])
    | (?P<END>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)
_VERSION = re.compile(r"\.version[ \t\r\n]+(\d+\.\d+)(?![\w$.])", re.ASCII)
_NUMBERS = re.compile(r"[ \t\r\n\f\v]*(\{\s*-?\d[\s0-9a-fA-FxXuU.,\-]*\})", re.ASCII)
_GUARDED = re.compile(
    r"[ \t\r\n\f\v]*(?:@(!?)([%$\w]+)[ \t\r\n]+)?([A-Za-z]\w*(?:\s*\.\s*\w+|::\w+)*)(?![\w$.:])(?!\s*:)",
    re.ASCII,
)
_TARGETS = re.compile(
    r"[ \t\r\n\f\v]*([A-Za-z_$%][\w$]*)\s*:(?!:)\s*(?=\.(?:branchtargets|calltargets)(?![\w$.:]))", re.ASCII
)
_SPACE = re.compile(r"\.(?:shared|global|const|local|param|tex)(?:::\w+)?", re.ASCII)
_TYPE = re.compile(
    r"\.(?:[bus]\d+(?:x\d+)?|f\d+(?:x\d+)?|b?f16(?:x2)?|tf32|pred|texref|samplerref|surfref)", re.ASCII
)
_WIDTHS = frozenset({".v2", ".v4", ".v8"})
_LINKAGES = frozenset({".visible", ".extern", ".weak", ".common"})
_NO_PERFORMANCE = frozenset({".pragma", ".loc", ".attribute"})


class Token(str):
    """A piece of text with its terminal and its place."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int


class Node:
    """A tree as Lark makes it: ``data`` is the rule, ``meta`` has its place."""

    __slots__ = ("children", "data", "end_pos", "start_pos")

    def __init__(self, data: str, children: list[Any], start_pos: int, end_pos: int) -> None:
        self.data = data
        self.children = children
        self.start_pos = start_pos
        self.end_pos = end_pos

    @property
    def meta(self) -> "Node":
        """Where the tree stands in its text."""
        return self


class _Unknown(Exception):
    """Not in the part that is read here."""


def quick_tree(text: str, start: str) -> Node | None:
    """Return the tree of *text* by the rule *start*; None when the grammar must be asked."""
    reader = _READERS.get(start)
    if reader is None:
        return None
    try:
        if start == "toplevel":
            version = _VERSION.fullmatch(text.strip())
            if version is not None:
                at = text.index(version[1])
                return Node(
                    "version", [_placed(version[1], "VERSION", at)], text.index("."), at + len(version[1])
                )
        elif start == "statement":
            found = _branch_targets(text) or _instruction(text)
            if found is not None:
                return found
        return reader(_Tokens(text))
    except _Unknown:
        return None


class _Tokens:
    """The tokens of a text, one ahead."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.last_end = 0
        self._at = at
        self.kind = ""
        self.word = ""
        self.start = 0
        self.take()

    def take(self) -> Token:
        """Return the token ahead, and go on."""
        token = Token(self.word)
        token.type, token.start_pos, token.end_pos = self.kind, self.start, self.start + len(self.word)
        self.last_end = token.end_pos
        match = _TOKEN.match(self.text, self._at)
        if match is None:
            raise _Unknown
        kind = match.lastgroup
        assert kind is not None
        self.kind, self.word = kind, match[kind]
        self.start, self._at = match.start(kind), match.end()
        return token

    def numbers(self) -> Token:
        """Return the list of numbers behind the mark ahead, as one token, and go on."""
        match = _NUMBERS.match(self.text, self._at)
        if match is None:
            raise _Unknown
        self.kind, self.word, self.start, self._at = "NUMBERS", match[1], match.start(1), match.end()
        return self.take()

    def typed(self, kind: str) -> Token:
        """Return the token ahead, as a terminal of another name, and go on."""
        token = self.take()
        token.type = kind
        return token

    def need(self, kind: str) -> Token:
        """Return the token ahead, which must be of *kind*, and go on."""
        if self.kind != kind:
            raise _Unknown
        return self.take()

    def skip(self, mark: str) -> bool:
        """Go past the mark or word *mark* if it is ahead."""
        if self.word != mark or self.kind not in ("MARK", "WORD"):
            return False
        self.take()
        return True

    def expect(self, mark: str) -> None:
        """Go past the mark *mark*, which must be ahead."""
        if not self.skip(mark):
            raise _Unknown

    def end(self) -> None:
        """Nothing may be ahead."""
        if self.kind != "END":
            raise _Unknown


# -- operands ---------------------------------------------------------------------------------------

_BRACKETS = {"[": ("]", "address"), "{": ("}", "vector"), "(": (")", "group")}
_LEAVES = {"NAME": "name", "INTEGER": "integer", "FLOAT": "float", "SINK": "sink"}


def _expression(tokens: _Tokens) -> Node:
    start = tokens.start
    left = _unary(tokens)
    if tokens.kind == "MARK" and tokens.word in "+-|":
        operator = tokens.typed({"+": "PLUS", "-": "MINUS", "|": "BAR"}[tokens.word])
        right = _unary(tokens)
        left = Node("binary", [left, operator, right], start, tokens.last_end)
        if tokens.kind == "MARK" and tokens.word in "+-|":
            raise _Unknown
    return left


def _unary(tokens: _Tokens) -> Node:
    start = tokens.start
    if tokens.kind == "MARK" and tokens.word in "-!":
        operator = tokens.typed("MINUS" if tokens.word == "-" else "BANG")
        operand = _primary(tokens)
        return Node("unary", [operator, operand], start, tokens.last_end)
    return _primary(tokens)


def _primary(tokens: _Tokens) -> Node:
    start = tokens.start
    leaf = _LEAVES.get(tokens.kind)
    if leaf is not None:
        token = tokens.take()
        if tokens.word in ("(", "["):
            raise _Unknown
        return Node(leaf, [token], start, token.end_pos)
    if tokens.kind != "MARK" or tokens.word not in _BRACKETS:
        raise _Unknown
    closing, kind = _BRACKETS[tokens.word]
    tokens.take()
    parts: list[Any] = []
    if tokens.word != closing:
        parts.append(_expression(tokens))
        while tokens.skip(","):
            parts.append(_expression(tokens))
    elif kind == "address":
        raise _Unknown
    tokens.expect(closing)
    if kind == "group" and tokens.kind not in ("MARK", "END"):
        raise _Unknown  # a cast
    return Node(kind, parts, start, tokens.last_end)


def _list(tokens: _Tokens) -> Node:
    start = tokens.start
    parts: list[Any] = [_expression(tokens)]
    while tokens.skip(","):
        parts.append(_expression(tokens))
    return Node("operands", parts, start, tokens.last_end)


def _operands(tokens: _Tokens) -> Node:
    found = _list(tokens)
    tokens.end()
    return found


def _placed(text: str, kind: str, start: int) -> Token:
    token = Token(text)
    token.type, token.start_pos, token.end_pos = kind, start, start + len(text)
    return token


def _instruction(text: str) -> Node | None:
    """Return the tree of an instruction; its opcode may have blanks in it."""
    match = _GUARDED.match(text)
    if match is None:
        return None
    parts: list[Any] = []
    start = match.start(3)
    if match[2]:
        start = match.start(1) - 1
        bang = [_placed("!", "BANG", match.start(1))] if match[1] else []
        parts.append(Node("guard", [*bang, _placed(match[2], "NAME", match.start(2))], start, match.end(2)))
    parts.append(_placed(match[3], "OPCODE", match.start(3)))
    tokens = _Tokens(text, match.end(3))
    if tokens.word != ";":
        parts.append(_list(tokens))
    tokens.expect(";")
    tokens.end()
    return Node("instruction", parts, start, tokens.last_end)


def _branch_targets(text: str) -> Node | None:
    match = _TARGETS.match(text)
    if match is None:
        return None
    parts = [_placed(match[1], "LABEL", match.start(1))]
    tokens = _Tokens(text, match.end())
    tokens.take()
    parts.append(tokens.need("NAME"))
    while tokens.skip(","):
        parts.append(tokens.need("NAME"))
    tokens.expect(";")
    tokens.end()
    return Node("targets", parts, match.start(1), tokens.last_end)


# -- declarations -----------------------------------------------------------------------------------


def _qualities(tokens: _Tokens, into: list[Any]) -> None:
    while tokens.kind == "WORD":
        word = tokens.word
        start = tokens.start
        if word == ".align":
            tokens.take()
            number = tokens.need("INTEGER")
            into.append(Node("align", [number], start, number.end_pos))
        elif _TYPE.fullmatch(word):
            into.append(tokens.typed("TYPE"))
        elif word in _WIDTHS:
            into.append(tokens.typed("WIDTH"))
        elif word == ".ptr":
            return
        else:
            raise _Unknown


def _dimensions(tokens: _Tokens, into: list[Any]) -> None:
    while tokens.word == "[":
        start = tokens.start
        tokens.take()
        inside: list[Any] = []
        if tokens.word != "]":
            inside.append(_expression(tokens))
        tokens.expect("]")
        into.append(Node("dimension", inside, start, tokens.last_end))


def _variable(tokens: _Tokens) -> Node:
    start = tokens.start
    parts: list[Any] = []
    while tokens.word in _LINKAGES:
        parts.append(tokens.typed("LINKAGE"))
    if tokens.kind != "WORD" or not _SPACE.fullmatch(tokens.word):
        raise _Unknown
    parts.append(tokens.typed("SPACE"))
    _qualities(tokens, parts)
    while True:
        at = tokens.start
        inside: list[Any] = [tokens.need("NAME")]
        _dimensions(tokens, inside)
        if tokens.word == "=":
            numbers = tokens.numbers()
            inside.append(Node("numbers", [numbers], numbers.start_pos, numbers.end_pos))
        parts.append(Node("declarator", inside, at, tokens.last_end))
        if not tokens.skip(","):
            break
    tokens.expect(";")
    tokens.end()
    return Node("variable", parts, start, tokens.last_end)


def _registers(tokens: _Tokens) -> Node:
    start = tokens.start
    parts: list[Any] = [tokens.typed("REG")]
    _qualities(tokens, parts)
    while True:
        at = tokens.start
        inside: list[Any] = [tokens.need("NAME")]
        if tokens.skip("<"):
            inside.append(tokens.need("INTEGER"))
            tokens.expect(">")
        parts.append(Node("register", inside, at, tokens.last_end))
        if not tokens.skip(","):
            break
    tokens.expect(";")
    tokens.end()
    return Node("registers", parts, start, tokens.last_end)


def _pragma(tokens: _Tokens) -> Node:
    start = tokens.start
    tokens.take()
    parts = [tokens.need("STRING")]
    while tokens.skip(","):
        parts.append(tokens.need("STRING"))
    tokens.expect(";")
    tokens.end()
    return Node("pragma", parts, start, tokens.last_end)


def _statement(tokens: _Tokens) -> Node:
    if tokens.word == ".pragma":
        return _pragma(tokens)
    return _registers(tokens) if tokens.word == ".reg" else _variable(tokens)


def _toplevel(tokens: _Tokens) -> Node:
    start = tokens.start
    word = tokens.word
    if word == ".target":
        tokens.take()
        parts = [tokens.need("NAME")]
        while tokens.skip(","):
            parts.append(tokens.need("NAME"))
        tokens.end()
        return Node("target", parts, start, tokens.last_end)
    if word == ".address_size":
        tokens.take()
        parts = [tokens.need("INTEGER")]
        tokens.end()
        return Node("address_size", parts, start, tokens.last_end)
    if word == ".file":
        tokens.take()
        parts = [tokens.need("INTEGER"), tokens.need("STRING")]
        if tokens.kind == "STRING":
            parts.append(tokens.take())
        while tokens.skip(","):
            parts.append(tokens.need("INTEGER"))
        tokens.end()
        return Node("file", parts, start, tokens.last_end)
    return _variable(tokens)


# -- heads of functions -----------------------------------------------------------------------------


def _parameters(tokens: _Tokens) -> Node:
    start = tokens.start
    tokens.expect("(")
    parts: list[Any] = []
    while tokens.word != ")":
        at = tokens.start
        inside: list[Any] = []
        if tokens.word == ".reg":
            inside.append(tokens.typed("REG"))
        elif tokens.kind == "WORD" and _SPACE.fullmatch(tokens.word):
            inside.append(tokens.typed("SPACE"))
        else:
            raise _Unknown
        _qualities(tokens, inside)
        if tokens.word == ".ptr":
            inside.append(_pointer(tokens))
        if tokens.kind in ("NAME", "SINK"):
            inside.append(tokens.take())
        _dimensions(tokens, inside)
        parts.append(Node("parameter", inside, at, tokens.last_end))
        if not tokens.skip(","):
            break
    tokens.expect(")")
    return Node("parameters", parts, start, tokens.last_end)


def _pointer(tokens: _Tokens) -> Node:
    start = tokens.start
    tokens.take()
    parts: list[Any] = []
    if tokens.kind == "WORD" and _SPACE.fullmatch(tokens.word):
        parts.append(tokens.typed("SPACE"))
    if tokens.word == ".align":
        at = tokens.start
        tokens.take()
        number = tokens.need("INTEGER")
        parts.append(Node("align", [number], at, number.end_pos))
    return Node("pointer", parts, start, tokens.last_end)


def _prototype(tokens: _Tokens) -> Node:
    start = tokens.start
    parts: list[Any] = []
    while tokens.word in _LINKAGES:
        parts.append(tokens.typed("LINKAGE"))
    word = tokens.word
    if word not in (".entry", ".func"):
        raise _Unknown
    tokens.take()
    if word == ".func" and tokens.word == "(":
        parts.append(_parameters(tokens))
    parts.append(tokens.need("NAME"))
    if tokens.word == "(":
        parts.append(_parameters(tokens))
    while tokens.kind == "WORD":
        at = tokens.start
        if tokens.word in _NO_PERFORMANCE:
            raise _Unknown
        inside = [tokens.typed("DIRECTIVE")]
        if tokens.kind == "INTEGER":
            inside.append(tokens.take())
            while tokens.skip(","):
                inside.append(tokens.need("INTEGER"))
        parts.append(Node("performance", inside, at, tokens.last_end))
    tokens.end()
    return Node(word[1:], parts, start, tokens.last_end)


_READERS: dict[str, Callable[[_Tokens], Node]] = {
    "operands": _operands,
    "statement": _statement,
    "toplevel": _toplevel,
    "prototype": _prototype,
}
