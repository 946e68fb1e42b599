"""Turns instructions into effects: the only part of ptxlint that knows opcodes.

This module decides by the first word of an opcode; the families live beside it in ``arithmetic.py``,
``memory_ops.py``, ``async_ops.py``, ``sync_ops.py``, ``tensor_ops.py`` and ``control_ops.py``, on top
of ``opcodes.py``. Together they are what the rest of the project calls semantics.

An opcode string is taken apart once and remembered. A word that no table knows gives ``Unknown``, so
that a typo or a new modifier is seen and not guessed at.
"""

from ptxlint.model import arithmetic, async_ops, control_ops, memory_ops, sync_ops, tensor_ops
from ptxlint.model.effects import Compute, Effect, Nothing, Unknown
from ptxlint.model.opcodes import Builder, Handler, NameList, UnknownOpcode, names, unknown, words
from ptxlint.ptx.syntax import Address, Instruction, Name
from ptxlint.records import fields


def _by_second_word(opcode: str, modifiers: list[str]) -> Handler:
    """``st``, ``red``, ``multimem`` and ``applypriority`` have asynchronous forms."""
    head = opcode.split(".", 1)[0]
    if head == "multimem":
        if modifiers[:1] == ["cp"]:
            return async_ops.multimem_copy(opcode, modifiers)
        if modifiers[1:2] == ["async"]:
            return async_ops.store_async(opcode, modifiers[1:])
        return memory_ops.multimem(opcode, modifiers)
    if modifiers[:1] == ["async"]:
        if head == "applypriority":
            return async_ops.asynchronous_priority(opcode, modifiers)
        return async_ops.store_async(opcode, modifiers)
    return memory_ops.BUILDERS[head](opcode, modifiers)


_BUILDERS: dict[str, Builder] = {
    **arithmetic.BUILDERS,
    **memory_ops.BUILDERS,
    **sync_ops.BUILDERS,
    **tensor_ops.BUILDERS,
    **control_ops.BUILDERS,
    "cp": async_ops.copy,
    "st": _by_second_word,
    "red": _by_second_word,
    "multimem": _by_second_word,
    "applypriority": _by_second_word,
}

# Families without a destination register, for opcodes whose modifiers are not known.
_WRITES_NOTHING = words(
    "st red bar barrier bra brx ret exit trap brkpt cp fence membar prefetch prefetchu discard "
    "applypriority sust sured stmatrix setmaxnreg nanosleep pmevent stackrestore griddepcontrol "
    "tensormap fabric"
)

_handlers: dict[str, Handler] = {}


def _handler(opcode: str) -> Handler:
    """Return the handler of *opcode*, made at its first use."""
    head, *modifiers = opcode.split(".")
    build = _BUILDERS.get(head)
    try:
        if build is None:
            raise UnknownOpcode(f"opcode {opcode}")
        handler = build(opcode, modifiers)
    except UnknownOpcode as error:
        handler = unknown(str(error), _default_written(head, modifiers))
    _handlers[opcode] = handler
    return handler


def _default_written(head: str, modifiers: list[str]) -> int:
    if head in _WRITES_NOTHING or (head == "tcgen05" and modifiers[:1] != ["ld"]):
        return 0
    return 1


def decode(instruction: Instruction) -> tuple[Effect, ...]:
    """Return the effects of *instruction* (guards are not considered here).

    An opcode, a modifier or a form of operands that is not known gives ``Unknown`` alone.
    """
    handler = _handlers.get(instruction.opcode) or _handler(instruction.opcode)
    try:
        effects = handler.decode(instruction.operands)
    except (IndexError, ValueError):
        return (Unknown(f"operands of {instruction.opcode}"),)
    for effect in effects:
        kind = effect.__class__
        if kind is not Compute and any(
            isinstance(getattr(effect, name), Address) for name in _numbers_of(kind)
        ):
            return (Unknown(f"operands of {instruction.opcode}"),)
    return effects


# Operands that are numbers, in a register or written: no address in brackets can stand there.
_NUMBERS = words("size multicast count expect bytes parity state membermask barrier columns idesc index")


_numbers: dict[type[Effect], tuple[str, ...]] = {}


def _numbers_of(kind: type[Effect]) -> tuple[str, ...]:
    found = _numbers.get(kind)
    if found is None:
        found = _numbers[kind] = tuple(name for name in fields(kind) if name in _NUMBERS)
    return found


def families() -> tuple[str, ...]:
    """Return the first words of all opcodes that are known."""
    return tuple(_BUILDERS)


def is_plain(effects: tuple[Effect, ...]) -> bool:
    """Return whether *effects* only compute registers, or do nothing of interest."""
    return all(effect.__class__ is Compute or effect.__class__ is Nothing for effect in effects)


def definitions(instruction: Instruction) -> NameList:
    """Return the names of the registers that *instruction* writes; ``_`` is left out."""
    handler = _handlers.get(instruction.opcode) or _handler(instruction.opcode)
    operands = instruction.operands
    if handler.roles is not None:
        return handler.roles(operands)[0] if operands else ()
    if not handler.written or not operands:
        return ()
    first = operands[0]
    if handler.written == 1 and first.__class__ is Name:
        return (first.text,)
    found: list[str] = []
    for operand in operands[: handler.written]:
        if isinstance(operand, Address):
            break
        names(operand, found)
    return tuple(found)


def uses(instruction: Instruction) -> NameList:
    """Return the names that *instruction* reads, the guard's register first; they may repeat.

    Address bases, tensor coordinates and the elements of vectors are included; variables and special
    registers too. Labels and the functions of direct calls are not.
    """
    handler = _handlers.get(instruction.opcode) or _handler(instruction.opcode)
    operands = instruction.operands
    found: list[str] = []
    if instruction.guard is not None:
        found.append(instruction.guard.register)
    if handler.roles is not None:
        if operands:
            found.extend(handler.roles(operands)[1])
        return tuple(found)
    start = 0
    if not handler.updated:
        end = min(handler.written, len(operands))
        while start < end and operands[start].__class__ is not Address:
            start += 1
    for operand in operands[start:]:
        if operand.__class__ is Name:
            found.append(operand.text)
        else:
            names(operand, found)
    return tuple(found)
