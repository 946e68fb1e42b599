"""Semantics of control flow: branches, calls, returns and the ends of a thread (9.7.12, 9.7.19).

Part of ``model/semantics.py``.
"""

from ptxlint.model.effects import Branch, Call, Exit, IndirectBranch, Return, Trap
from ptxlint.model.opcodes import (
    BadOperands,
    Builder,
    Effects,
    Handler,
    NameList,
    Operands,
    all_names,
    check,
    constant,
    words,
)
from ptxlint.ptx.syntax import Group, Name, Operand


def _name(operand: Operand) -> str:
    if isinstance(operand, Name):
        return operand.text
    raise BadOperands("name expected")


def _no_names(operands: Operands) -> tuple[NameList, NameList]:
    return (), ()


def _branch(opcode: str, modifiers: list[str]) -> Handler:
    """``bra`` (9.7.12.3)."""
    check(opcode, modifiers, words("uni"))
    uniform = bool(modifiers)
    return Handler(lambda operands: (Branch(_name(operands[0]), uniform),), 0, roles=_no_names)


def _indirect(opcode: str, modifiers: list[str]) -> Handler:
    """``brx.idx`` (9.7.12.4)."""
    check(opcode, modifiers, words("idx uni"))
    return Handler(
        lambda operands: (IndirectBranch(operands[0], _name(operands[1])),),
        0,
        roles=lambda operands: ((), all_names(operands[:1])),
    )


def _parts(operands: Operands) -> tuple[Operands, Operand, Operands, str | None]:
    """Split ``(returns), function, (arguments), table`` (9.7.12.5)."""
    rest = list(operands)
    returns: Operands = ()
    if isinstance(rest[0], Group):
        returns = rest.pop(0).elements  # type: ignore[union-attr]
    function = rest.pop(0)
    arguments: Operands = ()
    if rest and isinstance(rest[0], Group):
        arguments = rest.pop(0).elements  # type: ignore[union-attr]
    return returns, function, arguments, _name(rest[0]) if rest else None


def _is_register(name: str, table: str | None) -> bool:
    return table is not None or name.startswith("%")


def _call_roles(operands: Operands) -> tuple[NameList, NameList]:
    returns, function, arguments, table = _parts(operands)
    read = all_names(arguments)
    if isinstance(function, Name) and _is_register(function.text, table):
        read = (function.text, *read)
    return all_names(returns), read


def _call(opcode: str, modifiers: list[str]) -> Handler:
    """``call``: through a register when it names a table or prototype."""
    check(opcode, modifiers, words("uni"))

    def decode(operands: Operands) -> Effects:
        returns, function, arguments, table = _parts(operands)
        name = _name(function)
        return (Call(None if _is_register(name, table) else name, arguments, returns, table),)

    return Handler(decode, roles=_call_roles)


def _return(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("uni"))
    return constant(Return())


def _exit(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, frozenset())
    return constant(Exit())


def _trap(opcode: str, modifiers: list[str]) -> Handler:
    """``trap``; ``brkpt`` ends the path as well: nothing after it is of interest to ordering."""
    check(opcode, modifiers, frozenset())
    return constant(Trap())


BUILDERS: dict[str, Builder] = {
    "bra": _branch,
    "brx": _indirect,
    "call": _call,
    "ret": _return,
    "exit": _exit,
    "trap": _trap,
    "brkpt": _trap,
}
