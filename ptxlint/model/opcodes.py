"""What the parts of ``model/semantics.py`` share: operand types, known modifiers, handlers.

A dotted opcode is taken apart once. The result is a ``Handler``: a closure bound to the modifiers
that places the operands, and how many leading operands are written. Section numbers in these
modules are those of PTX ISA 9.1.
"""

from collections.abc import Callable, Iterable

from ptxlint.model.effects import Effect, Nothing, Order, Space, Unknown
from ptxlint.ptx.syntax import (
    Address,
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

Operands = tuple[Operand, ...]
Effects = tuple[Effect, ...]
Decoder = Callable[[Operands], Effects]
NameList = tuple[str, ...]
Roles = Callable[[Operands], tuple[NameList, NameList]]


class UnknownOpcode(Exception):
    """An opcode or modifier that is in no table; the argument says which."""


class BadOperands(ValueError):
    """The operands do not have the form that the opcode asks for."""


class Handler:
    """How to read the operands of one opcode.

    ``written`` leading operands are destinations (an address ends them), also read when ``updated``.
    ``roles`` returns (written, read) names itself, for opcodes whose operands are not all values.
    """

    __slots__ = ("decode", "roles", "updated", "written")

    def __init__(
        self, decode: Decoder, written: int = 1, updated: bool = False, roles: Roles | None = None
    ) -> None:
        self.decode = decode
        self.written = written
        self.updated = updated
        self.roles = roles


Builder = Callable[[str, list[str]], Handler]


def words(text: str, *more: Iterable[str]) -> frozenset[str]:
    """Return the blank-separated words of *text* and all of *more* as a set."""
    return frozenset(text.split()).union(*more)


# --- types ---------------------------------------------------------------------------------------

# Fundamental and packed types with their bits (5.2, 9.7.14.2).
TYPE_BITS: dict[str, int] = {
    "pred": 1, "b1": 1, "b8": 8, "b16": 16, "b32": 32, "b64": 64, "b128": 128, "b1024": 1024,
    "u2": 2, "s2": 2, "u4": 4, "s4": 4, "u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32,
    "u64": 64, "s64": 64, "u128": 128, "s128": 128, "u8x4": 32, "s8x4": 32, "u16x2": 32, "s16x2": 32,
    "f16": 16, "f16x2": 32, "bf16": 16, "bf16x2": 32, "f32": 32, "f32x2": 64, "f64": 64, "tf32": 32,
    "e4m3": 8, "e5m2": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4, "ue8m0": 8, "ue4m3": 8,
    "e4m3x2": 16, "e5m2x2": 16, "e2m1x2": 8, "e2m3x2": 16, "e3m2x2": 16, "ue8m0x2": 16, "s2f6x2": 16,
    "ue4m3x2": 16, "ue5m3": 8, "ue5m3x2": 16, "b2": 2, "b4": 4,
    "e4m3x4": 32, "e5m2x4": 32, "e2m1x4": 16, "e2m3x4": 32, "e3m2x4": 32,
}  # fmt: skip

TYPES = frozenset(TYPE_BITS)

INTEGER_TYPES = words("b8 b16 b32 b64 b128 u8 s8 u16 s16 u32 s32 u64 s64 u128 s128")

SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})

ORDERS: dict[str, Order] = {
    "weak": Order.WEAK,
    "relaxed": Order.RELAXED,
    "acquire": Order.ACQUIRE,
    "release": Order.RELEASE,
    "acq_rel": Order.ACQ_REL,
    "sc": Order.SC,
    "volatile": Order.VOLATILE,
}

SPACES: dict[str, Space] = {
    "shared": Space.SHARED,
    "shared::cta": Space.SHARED,
    "shared::cluster": Space.CLUSTER,
    "global": Space.GLOBAL,
    "local": Space.LOCAL,
    "const": Space.CONST,
    "param": Space.PARAM,
    "param::entry": Space.PARAM,
    "param::func": Space.PARAM,
}


def check(opcode: str, modifiers: Iterable[str], known: frozenset[str]) -> None:
    """Raise ``UnknownOpcode`` for the first of *modifiers* that is not *known*."""
    for modifier in modifiers:
        if modifier not in known:
            raise UnknownOpcode(f"modifier .{modifier} of {opcode}")


def pick(modifiers: Iterable[str], choices: Iterable[str]) -> str:
    """Return the first of *modifiers* that is one of *choices*, or ``""``."""
    for modifier in modifiers:
        if modifier in choices:
            return modifier
    return ""


def space_of(modifiers: Iterable[str]) -> Space:
    """Return the state space that *modifiers* name; generic when they name none."""
    for modifier in modifiers:
        found = SPACES.get(modifier)
        if found is not None:
            return found
    return Space.GENERIC


def order_of(modifiers: Iterable[str], default: Order) -> Order:
    """Return the ``.sem`` that *modifiers* name, or *default*."""
    for modifier in modifiers:
        found = ORDERS.get(modifier)
        if found is not None:
            return found
    return default


def scope_of(modifiers: Iterable[str], default: str) -> str:
    """Return the scope that *modifiers* name, or *default*."""
    return pick(modifiers, SCOPES) or default


def types_of(modifiers: Iterable[str]) -> list[str]:
    """Return the types among *modifiers* in order."""
    return [modifier for modifier in modifiers if modifier in TYPE_BITS]


def last_type(opcode: str, modifiers: Iterable[str]) -> str:
    """Return the last type of *opcode*.

    Raises ``UnknownOpcode`` when there is none.
    """
    found = types_of(modifiers)
    if not found:
        raise UnknownOpcode(f"type of {opcode}")
    return found[-1]


# --- operands ------------------------------------------------------------------------------------


def address(operand: Operand) -> Address:
    """Return *operand* as an address; raises ``BadOperands`` when it is none."""
    if isinstance(operand, Address):
        return operand
    raise BadOperands("address expected")


def integer(operand: Operand) -> int:
    """Return the value of an immediate; raises ``BadOperands`` for anything else."""
    if isinstance(operand, Immediate):
        return operand.value
    raise BadOperands("integer constant expected")


def flat(operand: Operand) -> Operands:
    """Return the registers of *operand*: a vector's elements, the members of a pair, or itself."""
    if isinstance(operand, (Vector, Group)):
        return operand.elements
    if isinstance(operand, Pair):
        return flat(operand.first) + flat(operand.second)
    return (operand,)


def pair(operand: Operand) -> tuple[Operand, Operand]:
    """Return both members of ``d|p``; the second is ``_`` when it is absent."""
    if isinstance(operand, Pair):
        return operand.first, operand.second
    return operand, Sink()


def split_at_address(operands: Operands) -> tuple[Operands, Address, Operands]:
    """Return what stands before the first address, the address, and what follows."""
    for at, operand in enumerate(operands):
        if isinstance(operand, Address):
            return operands[:at], operand, operands[at + 1 :]
    raise BadOperands("address expected")


def names(operand: Operand, found: list[str]) -> None:
    """Append every name inside *operand* to *found*."""
    if isinstance(operand, Name):
        found.append(operand.text)
    elif isinstance(operand, Address):
        if operand.base is not None:
            found.append(operand.base.text)
        for part in operand.rest:
            names(part, found)
    elif isinstance(operand, (Vector, Group)):
        for part in operand.elements:
            names(part, found)
    elif isinstance(operand, Pair):
        names(operand.first, found)
        names(operand.second, found)
    elif isinstance(operand, Not):
        found.append(operand.operand.text)
    elif isinstance(operand, Symbolic):
        found.append(operand.base.text)


def all_names(operands: Iterable[Operand]) -> NameList:
    """Return every name inside *operands*."""
    found: list[str] = []
    for operand in operands:
        names(operand, found)
    return tuple(found)


# --- common handlers -----------------------------------------------------------------------------

_NOTHING: Effects = (Nothing(),)


def constant(effect: Effect, written: int = 0) -> Handler:
    """Return a handler that answers *effect* whatever the operands are."""
    effects = (effect,)
    return Handler(lambda operands: effects, written)


def nothing(written: int = 0) -> Handler:
    """Return a handler for an instruction of no interest to ordering."""
    return Handler(lambda operands: _NOTHING, written)


def unknown(what: str, written: int) -> Handler:
    """Return a handler that answers ``Unknown(what)``."""
    return constant(Unknown(what), written)
