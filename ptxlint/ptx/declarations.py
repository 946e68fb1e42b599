"""Declarations: variables, parameters, registers and the heads of functions, from their trees."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ptxlint.ptx.constants import integer
from ptxlint.ptx.grammar import Mismatch
from ptxlint.ptx.operands import OperandReader
from ptxlint.ptx.syntax import (
    FloatImmediate,
    Group,
    Immediate,
    Name,
    Operand,
    Symbolic,
    Variable,
    Vector,
)
from ptxlint.records import field, mutable_record, record, replace

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = "Tree[Token]"

_OPAQUE = 8
_WIDTHS = {
    ".pred": 1,
    ".f16x2": 4,
    ".bf16": 2,
    ".bf16x2": 4,
    ".tf32": 4,
    ".texref": _OPAQUE,
    ".samplerref": _OPAQUE,
    ".surfref": _OPAQUE,
}


@record
class Register:
    """A declared register, or a range ``name<count>``; *kind* is the type without its dot."""

    name: str
    kind: str
    count: int | None


@record
class Prototype:
    """The head of a function: everything before its body."""

    name: str
    is_entry: bool
    parameters: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    registers: tuple[Register, ...] = ()
    directives: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@mutable_record
class _Qualities:
    space: str = ""
    align: int | None = None
    kind: str = ".b8"
    lanes: int = 1
    external: bool = False

    @property
    def width(self) -> int:
        """Bytes of one element."""
        return type_width(self.kind) * self.lanes


def type_width(kind: str) -> int:
    """Return the bytes of a fundamental or opaque type such as ``.b32`` (PTX ISA 5.2)."""
    width = _WIDTHS.get(kind)
    if width is not None:
        return width
    base, _, count = kind[1:].partition("x")
    bits = int(base.lstrip("abcdefghijklmnopqrstuvwxyz") or 8) if base[1:].isdigit() else 8
    return max(1, bits * int(count or 1) // 8)


def moved(variables: tuple[Variable, ...], by: int) -> tuple[Variable, ...]:
    """Return the variables with their offsets moved."""
    if not by:
        return variables
    return tuple([replace(variable, offset=variable.offset + by) for variable in variables])


class DeclarationReader:
    """Reads declaration trees over one text."""

    def __init__(self, operands: OperandReader) -> None:
        self._operands = operands
        self.widths: dict[str, int] = {}
        """Bytes of one element of each variable read so far."""

    def registers(self, node: "Node") -> tuple[Register, ...]:
        """Return the registers of a ``.reg`` statement (PTX ISA 5.1.1)."""
        qualities = _qualities(node.children)
        kind = qualities.kind[1:]
        found = []
        for child in _trees(node, "register"):
            name, *count = child.children
            found.append(Register(str(name), kind, _number(count[0]) if count else None))
        return tuple(found)

    def variables(self, node: "Node", text: str) -> tuple[Variable, ...]:
        """Return the variables of a declaration (PTX ISA 5.4)."""
        qualities = _qualities(node.children)
        return tuple(self._declarator(child, qualities, text) for child in _trees(node, "declarator"))

    def prototype(self, node: "Node", text: str) -> Prototype:
        """Return the head of an ``.entry`` or ``.func`` (PTX ISA 11.2)."""
        name = ""
        before: tuple[Variable, ...] = ()
        after: tuple[Variable, ...] = ()
        directives: dict[str, tuple[int, ...]] = {}
        children: list[Any] = node.children
        for child in children:
            if _is_token(child, "NAME"):
                name = str(child)
            elif _is_tree(child, "parameters"):
                variables = self._parameters(child, text)
                if name:
                    after = variables
                else:
                    before = variables
            elif _is_tree(child, "performance"):
                word, *numbers = child.children
                directives[str(word)[1:]] = tuple(_number(number) for number in numbers)
        registers = tuple(
            register for child in _trees(node, "parameters") for register in _register_parameters(child)
        )
        return Prototype(name, node.data == "entry", after, before, registers, directives)

    def _parameters(self, node: "Node", text: str) -> tuple[Variable, ...]:
        return tuple(
            self._declarator(child, _qualities(child.children), text) for child in _trees(node, "parameter")
        )

    def _declarator(self, node: "Node", qualities: _Qualities, text: str) -> Variable:
        name = "_"
        offset: int = node.meta.start_pos
        length: int | None = 1
        initial: tuple[str | int, ...] = ()
        children: list[Any] = node.children
        for child in children:
            if _is_token(child, "NAME"):
                name = str(child)
                offset = child.start_pos
            elif _is_tree(child, "dimension"):
                size = self._dimension(child, text)
                length = None if size is None or length is None else length * size
            elif _is_tree(child, "numbers"):
                initial = _numbers(child.children[0])
            elif not isinstance(child, str) and child.data not in _QUALITY_TREES:
                initial = tuple(_flatten(self._operands.read(child, text)))
        width = self.widths[name] = qualities.width
        if length is None and initial:
            length = len(initial)
        return Variable(
            name,
            qualities.space,
            width if qualities.align is None else qualities.align,
            None if length is None else length * width,
            offset,
            qualities.external,
            initial,
        )

    def _dimension(self, node: "Node", text: str) -> int | None:
        if not node.children:
            return None
        child: Any = node.children[0]
        value = self._operands.read(child, text)
        if not isinstance(value, Immediate):
            raise Mismatch(child.meta.start_pos, "the size of an array must be a constant")
        return value.value


_QUALITY_TREES = frozenset({"align", "attribute", "pointer"})


def _register_parameters(node: "Node") -> list[Register]:
    found = []
    for child in _trees(node, "parameter"):
        names = [str(part) for part in child.children if _is_token(part, "NAME")]
        qualities = _qualities(child.children)
        if qualities.space == "reg" and names:
            found.append(Register(names[0], qualities.kind[1:], None))
    return found


def _qualities(children: list[Any]) -> _Qualities:
    found = _Qualities()
    for child in children:
        if _is_tree(child, "align"):
            found.align = _number(child.children[0])
        elif _is_token(child, "SPACE") or _is_token(child, "REG"):
            found.space = str(child)[1:].partition("::")[0]
        elif _is_token(child, "TYPE"):
            found.kind = str(child)
        elif _is_token(child, "WIDTH"):
            found.lanes = int(child[2:])
        elif _is_token(child, "LINKAGE"):
            found.external = found.external or child == ".extern"
    return found


def _numbers(text: str) -> tuple[str | int, ...]:
    return tuple([_plain_number(part.strip()) for part in text.strip("{} \t\r\n").split(",")])


def _plain_number(text: str) -> str | int:
    if text.isdigit() and text[0] != "0":
        return int(text[:40])
    negative = text.startswith("-")
    digits = "".join(text[1:].split()) if negative else text
    if not digits or "." in digits or digits[:2] in ("0f", "0F", "0d", "0D") or _is_decimal(digits):
        return text
    value = integer(digits, 0)
    return -value if negative else value


def _is_decimal(text: str) -> bool:
    return text[:2] not in ("0x", "0X") and ("e" in text or "E" in text)


def _flatten(operand: Operand) -> list[str | int]:
    if isinstance(operand, Vector | Group):
        return [part for element in operand.elements for part in _flatten(element)]
    if isinstance(operand, Immediate):
        return [operand.value]
    if isinstance(operand, Name | FloatImmediate):
        return [operand.text]
    if isinstance(operand, Symbolic):
        return [operand.base.text]
    return []


def _trees(node: "Node", kind: str) -> "list[Node]":
    return [child for child in node.children if _is_tree(child, kind)]  # type: ignore[misc]


def _is_tree(child: Any, kind: str) -> bool:
    return not isinstance(child, str) and child.data == kind


def _is_token(child: Any, kind: str) -> bool:
    return isinstance(child, str) and child.type == kind  # type: ignore[attr-defined]


def _number(token: Any) -> int:
    return integer(str(token), token.start_pos)
