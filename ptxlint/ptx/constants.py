"""Constants and constant expressions (PTX ISA 4.5): 64-bit integers with C's operators."""

from collections.abc import Callable

from ptxlint.ptx.grammar import Mismatch

_BITS = 64
_SPAN = 1 << _BITS
_LONGEST = 66


def integer(text: str, offset: int) -> int:
    """Return the value of a decimal, hexadecimal, octal or binary integer; a U at the end is dropped.

    Raises:
        Mismatch: a wrong octal digit, or a number that no 64 bits hold.
    """
    digits = text.rstrip("uU")
    if len(digits) > _LONGEST:
        raise Mismatch(offset, "integer constant too large")
    try:
        if digits[0] == "0" and digits.isdigit():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        raise Mismatch(offset, f'"{text}" is no integer') from None


def fold_unary(operator: str, value: int) -> int:
    """Return the value of ``+ - ! ~`` or of the casts ``.s64`` and ``.u64``."""
    if operator == "-":
        return -value
    if operator == "!":
        return int(not value)
    if operator == "~":
        return ~value
    if operator == ".u64":
        return value % _SPAN
    if operator == ".s64":
        return _signed(value)
    return value


def fold_binary(operator: str, left: int, right: int) -> int:
    """Return the value of a binary operator.

    Raises:
        ZeroDivisionError: division by zero.
    """
    value = _BINARY[operator](left, right)
    return value if -_SPAN < value < _SPAN else _signed(value)


def _signed(value: int) -> int:
    value %= _SPAN
    return value - _SPAN if value >> (_BITS - 1) else value


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return -quotient if (left < 0) != (right < 0) else quotient


def _shift_left(left: int, right: int) -> int:
    return left << right if 0 <= right < _BITS else 0


def _shift_right(left: int, right: int) -> int:
    return left >> right if 0 <= right < _BITS else 0


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "<<": _shift_left,
    ">>": _shift_right,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}
