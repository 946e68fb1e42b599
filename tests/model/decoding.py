"""From one line of PTX to its effects, and short names for operands."""

from ptxlint.model import semantics
from ptxlint.model.effects import Effect
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Address, Immediate, Instruction, Name, Operand, Sink, Vector

I = Immediate  # noqa: E741
N = Name
NO = Sink()


def A(base: str | None, offset: int = 0, *rest: Operand) -> Address:
    """Return an address operand."""
    return Address(N(base) if base is not None else None, offset, rest)


def R(*registers: str) -> tuple[Operand, ...]:
    """Return several register operands."""
    return tuple(N(name) for name in registers)


def V(*registers: str) -> Vector:
    """Return a vector operand of registers."""
    return Vector(R(*registers))


def instruction(text: str) -> Instruction:
    """Return the one instruction that *text* holds."""
    module = parse(f".version 9.0\n.target sm_100a\n.address_size 64\n.entry k()\n{{\n{text};\n}}\n")
    assert not module.problems, module.problems[0].message
    (found,) = module.functions[0].instructions
    return found


def effects_of(text: str) -> tuple[Effect, ...]:
    """Return the effects of the one instruction that *text* holds."""
    return semantics.decode(instruction(text))


def roles_of(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that the instruction in *text* writes and reads."""
    found = instruction(text)
    return semantics.definitions(found), semantics.uses(found)
