"""PTX as text: what the program says, with names resolved and nothing interpreted.

The parser flattens nested ``{ }`` scopes: a register, label or variable declared in an inner scope
under a name that is not unique in the function is renamed ``name#k`` (k counts the scopes of the
function), so that within one function equal names mean the same thing.
"""

from collections.abc import Mapping, Sequence

from ptxlint.ptx.source import Position, Source, SourceLocation
from ptxlint.records import field, mutable_record, record


@record
class Name:
    """A register, variable, label, function or special register (``%tid.x``), as resolved."""

    text: str


@record
class Immediate:
    """An integer constant, or a constant expression already folded; negative as written."""

    value: int


@record
class FloatImmediate:
    """A floating constant as written: ``0f3F800000``, ``0d…``, ``1.5``."""

    text: str


@record
class Sink:
    """The ``_`` operand."""


@record
class Not:
    """A negated predicate operand, ``!%p1``."""

    operand: Name


@record
class Vector:
    """``{a, b, …}`` outside an address."""

    elements: "tuple[Operand, ...]"


@record
class Pair:
    """``d|p`` of ``shfl``, ``setp``, ``elect.sync``."""

    first: "Operand"
    second: "Operand"


@record
class Address:
    """``[base]``, ``[base+offset]``, ``[12]``; *base* is None for a bare number.

    ``rest`` holds what follows in the bracket: the coordinates of ``[map, {c0, c1}]`` (a Vector),
    and any further operand.
    """

    base: Name | None
    offset: int = 0
    rest: "tuple[Operand, ...]" = ()


@record
class Symbolic:
    """``name+const`` outside brackets (``mov.u32 %r, sym+16``), or a call such as ``generic(sym)``."""

    base: Name
    offset: int = 0
    function: str | None = None


@record
class Group:
    """A parenthesised operand list, as in ``call (ret), f, (a, b)``."""

    elements: "tuple[Operand, ...]"


Operand = Name | Immediate | FloatImmediate | Sink | Not | Vector | Pair | Address | Symbolic | Group


@record
class Guard:
    """``@p`` or ``@!p`` before an instruction."""

    register: str
    negated: bool


class Instruction:
    """One instruction of a function body.

    ``opcode`` is the dotted name with its modifiers and without blanks; ``offset`` and ``end`` are
    character offsets of the statement (the guard included) in the source; ``loc`` indexes
    ``Module.locations`` (-1: none); ``index`` is the place in ``Function.instructions``.
    """

    __slots__ = ("end", "guard", "index", "loc", "offset", "opcode", "operands")

    def __init__(
        self,
        opcode: str,
        operands: tuple[Operand, ...],
        guard: Guard | None,
        offset: int,
        end: int,
        loc: int,
        index: int,
    ) -> None:
        self.opcode = opcode
        self.operands = operands
        self.guard = guard
        self.offset = offset
        self.end = end
        self.loc = loc
        self.index = index

    def __repr__(self) -> str:
        return f"<{self.index}: {self.opcode}>"


@record
class Variable:
    """A declared variable: ``.shared .align 128 .b8 tile[4096]``; sizes in bytes.

    ``size`` is None for an unsized ``extern`` array. ``space`` has no dot: ``shared``, ``global``,
    ``const``, ``local``, ``param``. ``initial`` are the initialisers' names and numbers, flattened.
    """

    name: str
    space: str
    align: int
    size: int | None
    offset: int
    external: bool = False
    initial: tuple[str | int, ...] = ()


@mutable_record
class Function:
    """An ``.entry`` or ``.func`` with its flattened body (empty for a declaration).

    ``registers`` maps each register name to its type without dot (``pred``, ``b32``, ``u64``…); a
    ranged declaration ``%r<9>`` is in ``ranges`` as prefix → (type, count). ``labels`` maps a label to
    the index of the instruction after it (the number of instructions when at the end).
    ``targets`` maps a ``.branchtargets``/``.calltargets`` label to its names.
    ``directives`` maps a performance directive without dot to its numbers: ``{"reqntid": (128, 1, 1)}``.
    ``is_declaration`` tells a prototype from a function with an empty body.
    """

    name: str
    is_entry: bool
    offset: int
    end: int
    parameters: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    directives: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    registers: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    instructions: Sequence[Instruction] = ()
    is_declaration: bool = False

    def register_type(self, name: str) -> str | None:
        """Return the declared type of register *name*, or None when it is no register."""
        found = self.registers.get(name)
        if found is not None:
            return found
        stem = name.rstrip("0123456789")
        entry = self.ranges.get(stem)
        if entry is None or stem == name or int(name[len(stem) :]) >= entry[1]:
            return None
        return entry[0]


@record
class SyntaxProblem:
    """A statement that the grammar does not know (PTX999)."""

    position: Position
    message: str
    expected: tuple[str, ...]
    function: str | None


@record
class Comment:
    """A ``//`` comment that holds a directive of ours (``ptxlint: ignore[...]``)."""

    offset: int
    text: str


@mutable_record
class Module:
    """One PTX file. ``locations`` holds the ``.loc`` entries, innermost link first, each a chain."""

    source: Source
    version: str
    targets: tuple[str, ...]
    address_size: int
    functions: tuple[Function, ...]
    variables: tuple[Variable, ...]
    locations: Sequence[tuple[SourceLocation, ...]]
    problems: tuple[SyntaxProblem, ...] = ()
    comments: tuple[Comment, ...] = ()

    def position(self, instruction: Instruction) -> Position:
        """Return where *instruction* starts in the PTX text."""
        return self.source.position(instruction.offset)

    def source_chain(self, instruction: Instruction) -> tuple[SourceLocation, ...]:
        """Return the CUDA positions of *instruction*: where it is written, then where inlined."""
        return self.locations[instruction.loc] if instruction.loc >= 0 else ()
