"""Operands: from the trees of the grammar, and from text by shapes that were seen before.

A *shape* is an operand list with its names and numbers taken out. The grammar reads each shape
once; after that its operands are bound from the text.
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ptxlint.ptx.constants import fold_binary, fold_unary, integer
from ptxlint.ptx.grammar import Mismatch, parse_tree
from ptxlint.ptx.syntax import (
    Address,
    FloatImmediate,
    Group,
    Immediate,
    Name,
    Not,
    Operand,
    Pair,
    Sink,
    Symbolic,
    Vector,
)

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = "Tree[Token]"

Values: TypeAlias = "Sequence[Operand]"
Binder: TypeAlias = Callable[[Values], Any]

ELEMENT = "[]"
"""``Symbolic.function`` of ``a[3]`` until the width of *a* is known (PTX ISA 6.4.2)."""

_ATOM = re.compile(r"[\w$%.]+", re.ASCII)
_NAME = re.compile(r"(?:[A-Za-z][\w$]*|[_$%][\w$]+)(?:\.(?:[xyzwrgba]|[bh][0-7]{1,4}))?", re.ASCII)
_INTEGER = re.compile(r"(?:0[xX][0-9A-Fa-f]+|0[bB][01]+|\d+)[uU]?", re.ASCII)
_WARP_SIZE = 32
_DEEPEST = 64


class Unbound(Exception):
    """A shape that must be read anew each time, or a piece that is no operand by itself."""


class OperandReader:
    """Reads the operand trees of one text; names are shared."""

    def __init__(self) -> None:
        self._names: dict[str, Name] = {}
        self.sink = Sink()

    def name(self, text: str) -> Name:
        """Return the one ``Name`` for *text*."""
        found = self._names.get(text)
        if found is None:
            found = self._names[text] = Name(text)
        return found

    def read(self, node: "Node", text: str) -> Operand:
        """Return the operand of an expression tree over *text*.

        Raises:
            Mismatch: the expression is no operand, such as a product of registers.
        """
        kind = node.data
        children: list[Any] = node.children
        if kind == "name":
            if children[0] == "WARP_SZ":
                return Immediate(_WARP_SIZE)
            return self.name(str(children[0]))
        if kind == "integer":
            return Immediate(integer(children[0], children[0].start_pos))
        if kind == "float":
            return FloatImmediate(str(children[0]))
        if kind == "sink":
            return self.sink
        if kind == "vector":
            return Vector(tuple(self.read(child, text) for child in children))
        if kind == "group":
            return Group(tuple(self.read(child, text) for child in children))
        if kind == "address":
            first, *rest = [self.read(child, text) for child in children]
            return make_address(first, tuple(rest), node)
        if kind == "unary":
            return self._unary(node, str(children[0]), self.read(children[1], text))
        if kind == "cast":
            return self._cast(node, str(children[0]), self.read(children[1], text))
        if kind == "binary":
            left, right = self.read(children[0], text), self.read(children[2], text)
            return self._binary(node, left, str(children[1]), right, text)
        if kind == "choice":
            condition, yes, no = [_scalar(self.read(child, text)) for child in children]
            if not isinstance(condition, Immediate):
                raise _no_constant(node)
            return yes if condition.value else no
        if kind == "applied":
            inner = _scalar(self.read(children[1], text))
            if isinstance(inner, Name):
                return Symbolic(inner, 0, str(children[0]))
            if isinstance(inner, Symbolic) and inner.function is None:
                return Symbolic(inner.base, inner.offset, str(children[0]))
            raise _no_constant(node)
        if kind == "element":
            index = _scalar(self.read(children[1], text))
            if not isinstance(index, Immediate):
                raise _no_constant(node)
            return Symbolic(self.name(str(children[0])), index.value, ELEMENT)
        raise AssertionError(kind)

    def _unary(self, node: "Node", operator: str, operand: Operand) -> Operand:
        operand = _scalar(operand)
        if operator == "!" and isinstance(operand, Name):
            return Not(operand)
        if isinstance(operand, Immediate):
            return Immediate(fold_unary(operator, operand.value))
        if isinstance(operand, FloatImmediate) and operator in "+-":
            return FloatImmediate(operand.text if operator == "+" else _negated(operand.text))
        raise _no_constant(node)

    def _cast(self, node: "Node", kind: str, operand: Operand) -> Operand:
        operand = _scalar(operand)
        if isinstance(operand, Immediate):
            return Immediate(fold_unary(kind, operand.value))
        if isinstance(operand, FloatImmediate):
            return operand
        raise _no_constant(node)

    def _binary(self, node: "Node", left: Operand, operator: str, right: Operand, text: str) -> Operand:
        if operator == "|" and _may_pair(left) and _may_pair(right):
            return Pair(left, right)
        left, right = _scalar(left), _scalar(right)
        if isinstance(left, Immediate) and isinstance(right, Immediate):
            try:
                return Immediate(fold_binary(operator, left.value, right.value))
            except ZeroDivisionError:
                raise Mismatch(node.meta.start_pos, "division by zero") from None
        if operator == "+" and isinstance(left, Immediate):
            left, right = right, left
        if operator in ("+", "-") and isinstance(right, Immediate):
            return make_sum(left, right.value if operator == "+" else -right.value, node)
        if isinstance(left, FloatImmediate | Immediate) and isinstance(right, FloatImmediate | Immediate):
            written = text[node.meta.start_pos : node.meta.end_pos]
            return FloatImmediate("".join(written.split()))
        raise _no_constant(node)


def _negated(text: str) -> str:
    return text[1:] if text.startswith("-") else f"-{text}"


def _may_pair(operand: Operand) -> bool:
    return isinstance(operand, Name | Sink | Not)


def _scalar(operand: Operand) -> Operand:
    """Take the parentheses off a constant."""
    if isinstance(operand, Group) and len(operand.elements) == 1:
        return operand.elements[0]
    return operand


def unwrap(operand: Operand) -> Operand:
    """Take the parentheses off a constant operand; other groups stay."""
    inner = _scalar(operand)
    return inner if isinstance(inner, Immediate | FloatImmediate) else operand


def _no_constant(node: "Node") -> Mismatch:
    return Mismatch(node.meta.start_pos, "neither an operand nor a constant expression")


def make_sum(base: Operand, offset: int, node: "Node | None" = None) -> Operand:
    """Return ``base + offset``."""
    if isinstance(base, Name):
        return Symbolic(base, offset)
    if isinstance(base, Symbolic) and base.function != ELEMENT:
        return Symbolic(base.base, base.offset + offset, base.function)
    if node is None:
        raise Unbound
    raise _no_constant(node)


def make_address(first: Operand, rest: tuple[Operand, ...], node: "Node | None" = None) -> Address:
    """Return the address ``[first, rest…]``."""
    first = _scalar(first)
    if isinstance(first, Name):
        return Address(first, 0, rest)
    if isinstance(first, Symbolic) and first.function is None:
        return Address(first.base, first.offset, rest)
    if isinstance(first, Immediate):
        return Address(None, first.value, rest)
    if node is None:
        raise Unbound
    raise Mismatch(node.meta.start_pos, "not an address")


class OperandTexts(dict[str, Operand]):
    """Operands by their text; a text not seen before is read by its shape, or by the grammar."""

    def __init__(self, reader: OperandReader) -> None:
        super().__init__()
        self.reader = reader
        self._shapes: dict[tuple[str, tuple[type, ...]], Binder | None] = {}

    def __missing__(self, text: str) -> Operand:
        if _NAME.fullmatch(text):
            value: Operand = Immediate(_WARP_SIZE) if text == "WARP_SZ" else self.reader.name(text)
        elif _INTEGER.fullmatch(text):
            value = Immediate(integer(text, 0))
        elif text != text.strip():
            value = self[text.strip()]
        elif _ATOM.fullmatch(text):
            value = self._read(text)[0]
        elif text.count("[") != text.count("]") or not text:
            raise Unbound
        else:
            operands = self.read_list(text)
            if len(operands) != 1:
                raise Unbound
            value = operands[0]
        self[text] = value
        return value

    def read_list(self, text: str) -> tuple[Operand, ...]:
        """Return the operands of a list separated by commas.

        Raises:
            Mismatch: the grammar does not know the list.
        """
        try:
            values = list(map(self.__getitem__, _ATOM.findall(text)))
        except (Mismatch, Unbound):
            return self._read(text)
        key = (_ATOM.sub("a", text), tuple(map(type, values)))
        try:
            binder = self._shapes[key]
        except KeyError:
            operands = self._read(text)
            self._shapes[key] = self._compile(text, values, operands)
            return operands
        if binder is None:
            return self._read(text)
        result: tuple[Operand, ...] = binder(values)
        return result

    def _read(self, text: str) -> tuple[Operand, ...]:
        check_depth(text)
        tree = parse_tree(text, "operands")
        nodes: list[Any] = tree.children
        try:
            operands = tuple([self.reader.read(node, text) for node in nodes])
        except RecursionError:
            raise Mismatch(0, "nested too deeply") from None
        for operand in operands:
            if isinstance(operand, Symbolic) and operand.function == ELEMENT:
                raise Unbound
        return operands

    def _compile(self, text: str, values: Values, operands: tuple[Operand, ...]) -> Binder | None:
        starts = {match.start(): place for place, match in enumerate(_ATOM.finditer(text))}
        ends = {match.start(): match.end() for match in _ATOM.finditer(text)}
        tree = parse_tree(text, "operands")
        try:
            bind = _bind_all([_bind(child, starts, ends, values) for child in tree.children])
            same = bind(values) == operands
        except (Unbound, RecursionError):
            return None
        return bind if same else None


def check_depth(text: str) -> None:
    """Refuse brackets nested so deeply that no tree should be made of them.

    Raises:
        Mismatch: more than 64 levels.
    """
    depth = 0
    if text.count("(") + text.count("[") + text.count("{") <= _DEEPEST:
        return
    for at, letter in enumerate(text):
        if letter in "([{":
            depth += 1
            if depth > _DEEPEST:
                raise Mismatch(at, "brackets nested too deeply")
        elif letter in ")]}":
            depth -= 1


def _bind_all(binders: "list[Binder]") -> Binder:
    if len(binders) == 1:
        (only,) = binders
        return lambda values: (only(values),)
    return lambda values: tuple([bind(values) for bind in binders])


def _bind(node: Any, starts: dict[int, int], ends: dict[int, int], values: Values) -> Binder:
    kind = node.data
    children = node.children
    if kind in ("name", "integer", "float"):
        return _leaf(_place(children[0], starts, ends))
    if kind == "sink":
        _place(children[0], starts, ends)
        sink = Sink()
        return lambda _: sink
    if kind in ("vector", "group"):
        return _bind_list(kind, children, starts, ends, values)
    if kind == "address":
        return _bind_address(children, starts, ends, values)
    if kind == "unary":
        operand = _leaf_of(children[1], starts, ends)
        if children[0] == "!" and isinstance(values[operand], Name):
            return lambda given: Not(given[operand])  # type: ignore[arg-type]
        if children[0] == "-" and isinstance(values[operand], Immediate):
            return lambda given: Immediate(-given[operand].value)  # type: ignore[union-attr]
    if kind == "binary" and children[1] == "|":
        left = _bind(children[0], starts, ends, values)
        right = _bind(children[2], starts, ends, values)
        return lambda given: Pair(left(given), right(given))
    if kind == "binary" and children[1] in ("+", "-"):
        base, offset = _bind_sum(node, starts, ends, values)
        return lambda given: Symbolic(given[base], offset(given))  # type: ignore[arg-type]
    raise Unbound


def _bind_list(
    kind: str, children: list[Any], starts: dict[int, int], ends: dict[int, int], values: Values
) -> Binder:
    make = Vector if kind == "vector" else Group
    if all(child.data in ("name", "integer", "float") for child in children):
        places = [_place(child.children[0], starts, ends) for child in children]
        if places and places == list(range(places[0], places[-1] + 1)):
            first, last = places[0], places[-1] + 1
            return lambda given: make(tuple(given[first:last]))
    inner = [_bind(child, starts, ends, values) for child in children]
    return lambda given: make(tuple([bind(given) for bind in inner]))


def _bind_address(
    children: list[Any], starts: dict[int, int], ends: dict[int, int], values: Values
) -> Binder:
    head, *tail = children
    rest = [_bind(child, starts, ends, values) for child in tail]
    if head.data == "name" and not rest:
        place = _leaf_of(head, starts, ends)
        return lambda given: make_address(given[place], ())
    if head.data == "binary":
        base, offset = _bind_sum(head, starts, ends, values)
        if not rest:
            return lambda given: Address(given[base], offset(given))  # type: ignore[arg-type]
        return lambda given: Address(
            given[base],  # type: ignore[arg-type]
            offset(given),
            tuple([bind(given) for bind in rest]),
        )
    first = _bind(head, starts, ends, values)
    return lambda given: make_address(first(given), tuple([bind(given) for bind in rest]))


def _bind_sum(
    node: Any, starts: dict[int, int], ends: dict[int, int], values: Values
) -> tuple[int, Callable[[Values], int]]:
    """Bind ``name ± integer``; the integer may be negative."""
    left, operator, right = node.children
    if operator not in ("+", "-"):
        raise Unbound
    base = _leaf_of(left, starts, ends)
    negative = operator == "-"
    if right.data == "unary" and right.children[0] == "-":
        negative = not negative
        right = right.children[1]
    number = _leaf_of(right, starts, ends)
    if not (isinstance(values[base], Name) and isinstance(values[number], Immediate)):
        raise Unbound
    if negative:
        return base, lambda given: -given[number].value
    return base, lambda given: given[number].value


def _leaf(place: int) -> Binder:
    return lambda given: given[place]


def _leaf_of(node: Any, starts: dict[int, int], ends: dict[int, int]) -> int:
    if node.data not in ("name", "integer"):
        raise Unbound
    return _place(node.children[0], starts, ends)


def _place(token: Any, starts: dict[int, int], ends: dict[int, int]) -> int:
    """Return which atom the token is; the two must cover the same text."""
    start = token.start_pos
    if ends.get(start) != token.end_pos:
        raise Unbound
    return starts[start]
