"""A module in the making: what both ways of parsing feed."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ptxlint.ptx.constants import integer
from ptxlint.ptx.declarations import DeclarationReader, moved
from ptxlint.ptx.grammar import Mismatch
from ptxlint.ptx.locations import Locations
from ptxlint.ptx.operands import ELEMENT, OperandReader, unwrap
from ptxlint.ptx.scopes import FunctionBuilder
from ptxlint.ptx.source import Source
from ptxlint.ptx.syntax import (
    Address,
    Comment,
    Function,
    Guard,
    Module,
    Operand,
    Symbolic,
    SyntaxProblem,
    Variable,
)
from ptxlint.records import replace

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = "Tree[Token]"

_DEFAULT_ADDRESS_SIZE = 32
_MARKER = "ptxlint:"
_TEXTS_AND_COMMENTS = re.compile(r'"[^"\n]*"|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)')
_BLANKS = re.compile(r"\s+")


class ModuleBuilder:
    """Collects what one PTX text declares."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.reader = OperandReader()
        self.declarations = DeclarationReader(self.reader)
        self.locations = Locations()
        self.function: FunctionBuilder | None = None
        self.functions: list[Function] = []
        self.problems: list[SyntaxProblem] = []
        self._variables: dict[str, Variable] = {}
        self._names: set[str] = set()
        self._version = ""
        self._targets: tuple[str, ...] = ()
        self._address_size = _DEFAULT_ADDRESS_SIZE
        self._guards: dict[tuple[str, bool], Guard] = {}

    def guard(self, register: str, negated: bool) -> Guard:
        """Return the one ``Guard`` of this register and sense."""
        found = self._guards.get((register, negated))
        if found is None:
            found = self._guards[register, negated] = Guard(register, negated)
        return found

    def problem(self, offset: int, mismatch: Mismatch, function: str | None) -> None:
        """Record text that the grammar does not know."""
        position = self.source.position(min(offset, len(self.source.text)))
        self.problems.append(SyntaxProblem(position, mismatch.message, mismatch.expected, function))

    def start_function(self, node: "Node", text: str, base: int, offset: int) -> FunctionBuilder:
        """Begin the function whose prototype is *node*; it stands at *offset* of the file."""
        prototype = self.declarations.prototype(node, text)
        prototype = replace(
            prototype,
            parameters=moved(prototype.parameters, base),
            returns=moved(prototype.returns, base),
        )
        self.locations.start_function()
        self.function = FunctionBuilder(prototype, offset)
        return self.function

    def end_function(self, end: int, declaration: bool = False) -> None:
        """Finish the function that is open."""
        if self.function is not None:
            done = self.function.finish(end, self._names, declaration)
            self.functions.append(done)
            self._names.add(done.name)
            self.function = None

    def apply(self, node: "Node", text: str, base: int) -> None:
        """Take one statement or one item of the module; *base* is where *text* stands in the file.

        Raises:
            Mismatch: an operand that is neither a place nor a constant.
        """
        kind = node.data
        if kind in _HANDLERS:
            _HANDLERS[kind](self, node, text, base)

    def finish(self) -> Module:
        """Return the module."""
        return Module(
            self.source,
            self._version,
            self._targets,
            self._address_size,
            tuple(self.functions),
            tuple(self._variables.values()),
            self.locations.chains(),
            tuple(self.problems),
            _marked_comments(self.source.text),
        )

    def settle(self, opcode: str, operands: Sequence[Operand]) -> tuple[Operand, ...]:
        """Resolve what depends on the instruction: parenthesised constants, array elements."""
        call = opcode.startswith("call")
        settled = []
        for operand in operands:
            if isinstance(operand, Symbolic) and operand.function == ELEMENT:
                width = self.declarations.widths.get(operand.base.text, 1)
                if opcode.startswith("mov"):
                    operand = Symbolic(operand.base, operand.offset * width)
                else:
                    operand = Address(operand.base, operand.offset * width)
            settled.append(operand if call else unwrap(operand))
        return tuple(settled)

    def declare(self, variables: tuple[Variable, ...]) -> None:
        """Take variables of the module or of the open function."""
        if self.function is not None:
            self.function.add_variables(variables)
            return
        for variable in variables:
            self._variables[variable.name] = variable
            self._names.add(variable.name)

    def _instruction(self, node: "Node", text: str, base: int) -> None:
        guard: Guard | None = None
        opcode = ""
        operands: tuple[Operand, ...] = ()
        for child in node.children:
            if isinstance(child, str):
                opcode = _BLANKS.sub("", child)
            elif child.data == "guard":
                guard = self.guard(str(child.children[-1]), len(child.children) > 1)
            else:
                nodes: list[Any] = child.children
                operands = tuple([self.reader.read(operand, text) for operand in nodes])
        if self.function is not None:
            start, end = base + node.meta.start_pos, base + node.meta.end_pos
            operands = self.settle(opcode, operands)
            self.function.add(opcode, operands, guard, start, end)

    def _label(self, node: "Node", text: str, base: int) -> None:
        if self.function is not None:
            self.function.add_label(str(node.children[0]))

    def _registers(self, node: "Node", text: str, base: int) -> None:
        registers = self.declarations.registers(node)
        if self.function is not None:
            self.function.add_registers(registers)

    def _variable(self, node: "Node", text: str, base: int) -> None:
        self.declare(moved(self.declarations.variables(node, text), base))

    def _branch_targets(self, node: "Node", text: str, base: int) -> None:
        label, *names = [str(child) for child in node.children]
        if self.function is not None:
            self.function.add_targets(label, tuple(names))

    def _loc(self, node: "Node", text: str, base: int) -> None:
        numbers = [child for child in node.children if isinstance(child, str)]
        parent = None
        for child in node.children:
            if not isinstance(child, str) and child.data == "inlined_at":
                parent = " ".join(map(str, child.children))
        end = base + node.meta.end_pos
        self.add_location(" ".join(numbers), parent, _rest_of_line(self.source.text, end))

    def add_location(self, place: str, parent: str | None, comment: str | None) -> None:
        """Take a ``.loc``: the instructions that follow come from there."""
        index = self.locations.add(place, parent, comment)
        if self.function is not None:
            self.function.location = index

    def _file(self, node: "Node", text: str, base: int) -> None:
        index = integer(str(node.children[0]), 0)
        paths = [str(child)[1:-1] for child in node.children if str(child).startswith('"')]
        self.locations.files[index] = "/".join(paths)

    def _set_version(self, node: "Node", text: str, base: int) -> None:
        self._version = self._version or str(node.children[0])

    def _set_target(self, node: "Node", text: str, base: int) -> None:
        self._targets = self._targets or tuple(map(str, node.children))

    def _set_address_size(self, node: "Node", text: str, base: int) -> None:
        self._address_size = integer(str(node.children[0]), 0)


_Handler: TypeAlias = "Callable[[ModuleBuilder, Node, str, int], None]"
_HANDLERS: "dict[str, _Handler]" = {
    "instruction": ModuleBuilder._instruction,
    "label": ModuleBuilder._label,
    "registers": ModuleBuilder._registers,
    "variable": ModuleBuilder._variable,
    "targets": ModuleBuilder._branch_targets,
    "loc": ModuleBuilder._loc,
    "file": ModuleBuilder._file,
    "version": ModuleBuilder._set_version,
    "target": ModuleBuilder._set_target,
    "address_size": ModuleBuilder._set_address_size,
}


def _rest_of_line(text: str, offset: int) -> str:
    end = text.find("\n", offset)
    rest = text[offset : end if end >= 0 else len(text)]
    return rest.strip() if rest.lstrip(" \t").startswith("//") else ""


def _marked_comments(text: str) -> tuple[Comment, ...]:
    if _MARKER not in text:
        return ()
    return tuple(
        Comment(match.start(), match.group().rstrip())
        for match in _TEXTS_AND_COMMENTS.finditer(text)
        if match.group().startswith("/") and _MARKER in match.group()
    )
