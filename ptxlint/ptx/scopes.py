"""One function in the making: its instructions, its names and its scopes.

Scopes are flattened. A name of an inner scope that is not unique in the function, or that hides a
name of the module, becomes ``name#k`` when the function is finished, k being the number of the
scope; labels may be used before they are declared, so nothing can be renamed earlier.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from ptxlint.ptx.declarations import Prototype, Register
from ptxlint.ptx.syntax import (
    Address,
    Function,
    Group,
    Guard,
    Instruction,
    Name,
    Not,
    Operand,
    Pair,
    Symbolic,
    Variable,
    Vector,
)
from ptxlint.records import replace

_DIGITS = "0123456789"


class Scope:
    """A ``{ }`` block: what it declares, and how its names are renamed at the end."""

    __slots__ = ("names", "number", "parent", "ranges", "renamed", "renamed_ranges", "targets")

    def __init__(self, number: int, parent: "Scope | None") -> None:
        self.number = number
        self.parent = parent
        self.names: dict[str, str | int | Variable] = {}
        self.ranges: dict[str, tuple[str, int]] = {}
        self.targets: dict[str, tuple[str, ...]] = {}
        self.renamed: dict[str, str] = {}
        self.renamed_ranges: dict[str, tuple[str, int, int]] = {}


class FunctionBuilder:
    """Collects the statements of one function body."""

    def __init__(self, prototype: Prototype, offset: int) -> None:
        self.prototype = prototype
        self.offset = offset
        self.instructions: list[Instruction] = []
        self.location = -1
        self.scope = Scope(0, None)
        self._root = self.scope
        self._scopes = [self.scope]
        self._marks: list[tuple[int, Scope]] = []
        self._from_ranges: dict[str, str] = {}
        for register in prototype.registers:
            self.scope.names[register.name] = register.kind
        for variable in prototype.parameters + prototype.returns:
            if variable.name not in self.scope.names:
                self.scope.names[variable.name] = variable

    @property
    def is_nested(self) -> bool:
        """Tell whether a block is open."""
        return self.scope.parent is not None

    def open(self) -> None:
        """Open a block."""
        self.scope = Scope(len(self._scopes), self.scope)
        self._scopes.append(self.scope)
        self._marks.append((len(self.instructions), self.scope))

    def close(self) -> None:
        """Close the innermost block."""
        parent = self.scope.parent
        if parent is not None:
            self.scope = parent
            self._marks.append((len(self.instructions), parent))

    def add(
        self,
        opcode: str,
        operands: tuple[Operand, ...],
        guard: Guard | None,
        offset: int,
        end: int,
    ) -> None:
        """Append an instruction."""
        instructions = self.instructions
        instructions.append(
            Instruction(opcode, operands, guard, offset, end, self.location, len(instructions))
        )

    def add_label(self, name: str) -> None:
        """Put a label before the next instruction."""
        self.scope.names[name] = len(self.instructions)

    def add_registers(self, registers: tuple[Register, ...]) -> None:
        """Declare registers in the innermost block."""
        for register in registers:
            if register.count is None:
                self.scope.names[register.name] = register.kind
            else:
                self.scope.ranges[register.name] = (register.kind, register.count)

    def add_variables(self, variables: tuple[Variable, ...]) -> None:
        """Declare variables in the innermost block."""
        for variable in variables:
            self.scope.names[variable.name] = variable

    def add_targets(self, label: str, names: tuple[str, ...]) -> None:
        """Keep a ``.branchtargets`` or ``.calltargets`` list (PTX ISA 11.3)."""
        self.scope.targets[label] = names

    def finish(self, end: int, module_names: Collection[str], declaration: bool) -> Function:
        """Rename what must be renamed and return the function."""
        if len(self._scopes) > 1:
            self._choose_names(module_names)
            self._rename_instructions()
        registers: dict[str, str] = {}
        ranges: dict[str, tuple[str, int]] = {}
        labels: dict[str, int] = {}
        targets: dict[str, tuple[str, ...]] = {}
        variables: list[Variable] = []
        parameters = self.prototype.parameters + self.prototype.returns
        for scope in self._scopes:
            for name, what in scope.names.items():
                final = scope.renamed.get(name, name)
                if isinstance(what, str):
                    registers[final] = what
                elif isinstance(what, int):
                    labels[final] = what
                elif what not in parameters:
                    variables.append(what if final == name else replace(what, name=final))
            for prefix, entry in scope.ranges.items():
                if prefix not in scope.renamed_ranges:
                    ranges[prefix] = entry
            for label, names in scope.targets.items():
                final = scope.renamed.get(label, label)
                targets[final] = tuple([self._resolve(name, scope) for name in names])
        registers.update(self._from_ranges)
        return Function(
            self.prototype.name,
            self.prototype.is_entry,
            self.offset,
            end,
            self.prototype.parameters,
            self.prototype.returns,
            self.prototype.directives,
            registers,
            ranges,
            tuple(variables),
            labels,
            targets,
            self.instructions,
            declaration,
        )

    def _choose_names(self, module_names: Collection[str]) -> None:
        counts: Counter[str] = Counter()
        stems: Counter[str] = Counter()
        longest: dict[str, int] = {}
        for scope in self._scopes:
            counts.update(scope.names.keys())
            counts.update(scope.targets.keys())
            stems.update([prefix.rstrip(_DIGITS) for prefix in scope.ranges])
            for prefix, (_, count) in scope.ranges.items():
                longest[prefix] = max(count, longest.get(prefix, 0))
        plain = {name.rstrip(_DIGITS) for name in counts if name[-1:] in _DIGITS}
        outside = {name.rstrip(_DIGITS) for name in module_names if name[-1:] in _DIGITS}
        for scope in self._scopes[1:]:
            suffix = f"#{scope.number}"
            for name in (*scope.names, *scope.targets):
                if counts[name] > 1 or name in module_names or _covered(name, longest):
                    scope.renamed[name] = name + suffix
            for prefix, (kind, count) in scope.ranges.items():
                stem = prefix.rstrip(_DIGITS)
                if stems[stem] > 1 or stem in plain or stem in outside:
                    scope.renamed_ranges[prefix] = (kind, count, scope.number)

    def _rename_instructions(self) -> None:
        changes: dict[int, bool] = {0: False}
        for scope in self._scopes[1:]:  # a parent comes before its children
            parent = scope.parent.number if scope.parent else 0
            changes[scope.number] = bool(scope.renamed or scope.renamed_ranges) or changes[parent]
        for start, stop, scope in self._segments():
            if not changes[scope.number]:
                continue
            for at in range(start, stop):
                self._rename(self.instructions[at], scope)

    def _segments(self) -> Iterator[tuple[int, int, Scope]]:
        for place, (start, scope) in enumerate(self._marks):
            following = place + 1
            stop = self._marks[following][0] if following < len(self._marks) else len(self.instructions)
            if start < stop:
                yield start, stop, scope

    def _rename(self, instruction: Instruction, scope: Scope) -> None:
        instruction.operands = tuple([self._substitute(operand, scope) for operand in instruction.operands])
        guard = instruction.guard
        if guard is not None:
            register = self._resolve(guard.register, scope)
            if register != guard.register:
                instruction.guard = Guard(register, guard.negated)

    def _resolve(self, name: str, scope: Scope) -> str:
        base, dot, element = name.partition(".")
        at: Scope | None = scope
        while at is not None and at.parent is not None:
            if base in at.names or base in at.targets:
                found = at.renamed.get(base)
                return name if found is None else found + dot + element
            prefix = _range_of(base, at.ranges)
            if prefix is not None:
                if prefix not in at.renamed_ranges:
                    return name
                kind, _, number = at.renamed_ranges[prefix]
                final = f"{base}#{number}"
                self._from_ranges[final] = kind
                return final + dot + element
            at = at.parent
        return name

    def _substitute(self, operand: Operand, scope: Scope) -> Operand:
        if isinstance(operand, Name):
            text = self._resolve(operand.text, scope)
            return operand if text == operand.text else Name(text)
        if isinstance(operand, Address):
            base = operand.base
            if base is not None:
                text = self._resolve(base.text, scope)
                base = base if text == base.text else Name(text)
            if base is operand.base and not operand.rest:
                return operand
            rest = tuple([self._substitute(part, scope) for part in operand.rest])
            return Address(base, operand.offset, rest)
        if isinstance(operand, Vector | Group):
            parts = tuple([self._substitute(part, scope) for part in operand.elements])
            return operand if parts == operand.elements else type(operand)(parts)
        if isinstance(operand, Pair):
            return Pair(self._substitute(operand.first, scope), self._substitute(operand.second, scope))
        if isinstance(operand, Not):
            return Not(Name(self._resolve(operand.operand.text, scope)))
        if isinstance(operand, Symbolic):
            base = Name(self._resolve(operand.base.text, scope))
            return Symbolic(base, operand.offset, operand.function)
        return operand


def _range_of(name: str, ranges: dict[str, tuple[str, int]]) -> str | None:
    """Return the prefix of the range that holds *name*."""
    if not ranges or name[-1:] not in _DIGITS:
        return None
    for at in range(len(name.rstrip(_DIGITS)), len(name)):
        entry = ranges.get(name[:at])
        if entry is not None and len(name) - at < 12 and int(name[at:]) < entry[1]:
            return name[:at]
    return None


def _covered(name: str, counts: dict[str, int]) -> bool:
    if name[-1:] not in _DIGITS:
        return False
    for at in range(len(name.rstrip(_DIGITS)), len(name)):
        count = counts.get(name[:at])
        if count is not None and len(name) - at < 12 and int(name[at:]) < count:
            return True
    return False
