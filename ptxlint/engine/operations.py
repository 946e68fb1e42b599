"""Integer operations on values: concrete where possible, linear where they stay linear.

Each operation is a function of Python ints (operands unsigned, reduced to their width). A lane
vector is computed by lane. On unknowns, additions and multiplications by constants stay linear;
anything else becomes an atom that is a function of its operands (``Unknowns.function``).
"""

from collections.abc import Callable

from ptxlint.engine.values import (
    LANES,
    Linear,
    Scalar,
    Unknowns,
    Value,
    add_offsets,
    add_terms,
    centre,
    combine,
    lanes_of,
    parts,
    scale,
    settle,
)

IntFunction = Callable[..., int]

MOST_KEPT = 256  # results of one operation on lane vectors: loops come back to the same ones
SHARED_WINDOW = 1 << 56
LOCAL_WINDOW = 1 << 57


def _divide(a: int, b: int) -> int:
    if b == 0:
        return -1
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _remainder(a: int, b: int) -> int:
    return a if b == 0 else a - b * _divide(a, b)


def _prmt(a: int, b: int, selector: int) -> int:
    source = (a & 0xFFFFFFFF) | (b & 0xFFFFFFFF) << 32
    result = 0
    for i in range(4):
        pick = selector >> (4 * i)
        byte = source >> (8 * (pick & 7)) & 0xFF
        if pick & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * i)
    return result


def _lop3(a: int, b: int, c: int, table: int) -> int:
    result = 0
    if table & 0x01:
        result |= ~a & ~b & ~c
    if table & 0x02:
        result |= ~a & ~b & c
    if table & 0x04:
        result |= ~a & b & ~c
    if table & 0x08:
        result |= ~a & b & c
    if table & 0x10:
        result |= a & ~b & ~c
    if table & 0x20:
        result |= a & ~b & c
    if table & 0x40:
        result |= a & b & ~c
    if table & 0x80:
        result |= a & b & c
    return result


def _bfind(a: int, signed: bool, bits: int) -> int:
    if signed:
        a = centre(a, bits)
        a = ~a if a < 0 else a
    return a.bit_length() - 1 if a else 0xFFFFFFFF


def int_function(
    op: str, bits: int, signed: bool, source_bits: int, extra: tuple[str, ...]
) -> IntFunction | None:
    """Return the concrete function for *op*, or None when it has none."""
    mask = (1 << bits) - 1
    sb = source_bits or bits
    smask = (1 << sb) - 1

    def s(x: int, width: int = sb) -> int:
        return centre(x, width) if signed else x & ((1 << width) - 1)

    def shift_right(a: int, n: int) -> int:
        a = s(a, bits)
        return (a >> min(n, bits)) & mask

    def funnel_left(a: int, b: int, n: int) -> int:
        n = min(n, 32) if "clamp" in extra else n & 31
        return ((b << 32 | a) << n >> 32) & 0xFFFFFFFF

    def funnel_right(a: int, b: int, n: int) -> int:
        n = min(n, 32) if "clamp" in extra else n & 31
        return ((b << 32 | a) >> n) & 0xFFFFFFFF

    def field_extract(a: int, position: int, length: int) -> int:
        position, length = position & 0xFF, length & 0xFF
        if not length:
            return 0
        value = (s(a, bits) >> position) & ((1 << length) - 1)
        if signed and length < bits:
            top = min(position + length - 1, bits - 1)
            if a >> top & 1:
                value |= mask & ~((1 << length) - 1)
        return value & mask

    def field_insert(a: int, b: int, position: int, length: int) -> int:
        position, length = position & 0xFF, length & 0xFF
        hole = (((1 << length) - 1) << position) & mask
        return (b & ~hole & mask) | ((a << position) & hole)

    table: dict[str, IntFunction] = {
        "mov": lambda a: a & mask,
        "add": lambda a, b: (a + b) & mask,
        "sub": lambda a, b: (a - b) & mask,
        "mul": lambda a, b: (a * b) & mask,
        "mulhi": lambda a, b: (s(a, bits) * s(b, bits) >> bits) & mask,
        "mulwide": lambda a, b: (s(a, bits // 2) * s(b, bits // 2)) & mask,
        "mad": lambda a, b, c: (a * b + c) & mask,
        "madhi": lambda a, b, c: ((s(a, bits) * s(b, bits) >> bits) + c) & mask,
        "madwide": lambda a, b, c: (s(a, bits // 2) * s(b, bits // 2) + c) & mask,
        "div": lambda a, b: _divide(s(a), s(b)) & mask,
        "rem": lambda a, b: _remainder(s(a), s(b)) & mask,
        "min": lambda a, b: min(s(a), s(b)) & mask,
        "max": lambda a, b: max(s(a), s(b)) & mask,
        "abs": lambda a: abs(centre(a, bits)) & mask,
        "neg": lambda a: -a & mask,
        "not": lambda a: ~a & mask,
        "cnot": lambda a: 0 if a & mask else 1,
        "and": lambda a, b: a & b & mask,
        "or": lambda a, b: (a | b) & mask,
        "xor": lambda a, b: (a ^ b) & mask,
        "shl": lambda a, n: (a << n) & mask if n < bits else 0,
        "shr": shift_right,
        "shf_l": funnel_left,
        "shf_r": funnel_right,
        "bfe": field_extract,
        "bfi": field_insert,
        "prmt": _prmt,
        "popc": lambda a: bin(a & smask).count("1"),
        "clz": lambda a: sb - (a & smask).bit_length(),
        "brev": lambda a: int(format(a & mask, f"0{bits}b")[::-1], 2),
        "bfind": lambda a: _bfind(a & smask, signed, sb),
        "lop3": lambda a, b, c, t: _lop3(a, b, c, t) & mask,
        "sad": lambda a, b, c: (abs(s(a) - s(b)) + c) & mask,
        "selp": lambda a, b, p: (a if p else b) & mask,
        "slct": lambda a, b, c: (a if centre(c, 32) >= 0 else b) & mask,
        "cvt": lambda a: s(a, sb) & mask,
        "bmsk": lambda a, b: (((1 << min(b, 32)) - 1) << min(a, 32)) & 0xFFFFFFFF,
        "cvta": lambda a: _to_generic(a, extra),
        "cvta_to": lambda a: _from_generic(a, extra),
        "mapa": lambda a, rank: a & ~0xFF000000 | (rank & 0x7F) << 24,
        "getctarank": lambda a: a >> 24 & 0x7F,
        "isspacep": lambda a: _is_space(a, extra),
    }
    return table.get(op)


def _to_generic(address: int, extra: tuple[str, ...]) -> int:
    if extra and extra[0].startswith("shared"):
        return address if address >= SHARED_WINDOW else address + SHARED_WINDOW
    if extra and extra[0] == "local":
        return address if address >= LOCAL_WINDOW else address + LOCAL_WINDOW
    return address


def _from_generic(address: int, extra: tuple[str, ...]) -> int:
    if extra and extra[0].startswith("shared") and address >= SHARED_WINDOW:
        return address & (SHARED_WINDOW - 1)
    if extra and extra[0] == "local" and address >= LOCAL_WINDOW:
        return address & (LOCAL_WINDOW - 1)
    return address


def _is_space(address: int, extra: tuple[str, ...]) -> int:
    shared = SHARED_WINDOW <= address < LOCAL_WINDOW
    if extra and extra[0].startswith("shared"):
        return int(shared)
    if extra and extra[0] == "local":
        return int(address >= LOCAL_WINDOW)
    return int(address < SHARED_WINDOW)


class Operation:
    """A bound operation: call it with values."""

    __slots__ = ("bits", "extra", "function", "op", "signed", "source_bits", "unknowns", "vectors")

    def __init__(
        self,
        unknowns: Unknowns,
        op: str,
        bits: int,
        signed: bool,
        source_bits: int,
        extra: tuple[str, ...],
        function: IntFunction,
    ) -> None:
        self.unknowns = unknowns
        self.op = op
        self.bits = bits
        self.signed = signed
        self.source_bits = source_bits or bits
        self.extra = extra
        self.function = function
        self.vectors: dict[tuple[Value, ...], Value] = {}  # results for operands with no unknown in them

    def __call__(self, *values: Value) -> Value:
        """Return the result for operands that are not all ints."""
        kept = self.vectors.get(values)
        if kept is not None:
            return kept
        function = self.function
        plain = True
        for value in values:
            if value.__class__ is int:
                continue
            plain = False
            if value.__class__ is not tuple:
                break
            for lane in value:
                if lane.__class__ is not int:
                    break
            else:
                continue
            break
        else:
            if plain:
                return function(*values)
            columns = [v if v.__class__ is tuple else (v,) * LANES for v in values]
            made = settle([function(*row) for row in zip(*columns)])  # noqa: B905
            if len(self.vectors) >= MOST_KEPT:
                self.vectors.clear()
            self.vectors[values] = made
            return made
        linear = self._linear(values)
        if linear is not None:
            return linear
        if all(not _varies(value) for value in values):
            return self._opaque(values)  # type: ignore[arg-type]
        rows = list(zip(*(lanes_of(value) for value in values), strict=True))
        lanes = [self._simple(row) for row in rows]
        left = [lane for lane, found in enumerate(lanes) if found is None]
        if len(left) > 4:
            # Unknown data in many lanes: taken to be alike in all of them.
            shared = self._opaque(rows[left[0]])
            return settle([shared if found is None else found for found in lanes])
        return settle([self._opaque(rows[i]) if found is None else found for i, found in enumerate(lanes)])

    def _simple(self, row: tuple[Scalar, ...]) -> Scalar | None:
        """Return the result in one lane if it takes no new unknown."""
        if all(value.__class__ is int for value in row):
            return self.function(*row)
        return self._linear(row)  # type: ignore[return-value]

    def _linear(self, values: tuple[Value, ...]) -> Value | None:
        op, bits = self.op, self.bits
        if op in ("mov", "cvt"):
            if op == "cvt" and bits < 32:
                return None
            return values[0]
        if op in ("cvta", "cvta_to"):
            return values[0]
        if op in ("add", "sub"):
            a, b = parts(values[0], bits), parts(values[1], bits)
            if a is None or b is None:
                return None
            sign = 1 if op == "add" else -1
            return combine(add_terms(a[0], b[0], sign), add_offsets(a[1], b[1], sign), bits)
        if op == "neg":
            a = parts(values[0], bits)
            if a is None:
                return None
            return combine(add_terms((), a[0], -1), add_offsets(0, a[1], -1), bits)
        if op in ("mul", "mad", "mulwide", "madwide"):
            width = bits // 2 if op.endswith("wide") else bits
            product = self._product(values[0], values[1], width)
            if product is None or op in ("mul", "mulwide"):
                return product
            a, b = parts(product, bits), parts(values[2], bits)
            if a is None or b is None:
                return None
            return combine(add_terms(a[0], b[0]), add_offsets(a[1], b[1]), bits)
        if op == "shl" and values[1].__class__ is int:
            count: int = values[1]
            return self._product(values[0], 1 << count if count < bits else 0, bits)
        if op == "selp" and values[2].__class__ is int:
            return values[0] if values[2] else values[1]
        if op in ("and", "or", "xor"):
            ones = (1 << bits) - 1
            for known, other in (values[1::-1], values[:2]):
                if known.__class__ is not int:
                    continue
                if known == (ones if op == "and" else 0):
                    return other
                if op != "xor" and known == (0 if op == "and" else ones):
                    return known
        if op in ("shr", "div") and values[1] == (0 if op == "shr" else 1):
            return values[0]
        if op == "mapa" and values[0].__class__ is int and isinstance(values[1], Linear):
            # A rank that is not known is taken for a peer's.
            return values[0] & ~0xFF000000 | 1 << 24
        return None

    def _product(self, a: Value, b: Value, bits: int) -> Value | None:
        if not isinstance(b, int):
            a, b = b, a
        if not isinstance(b, int):
            return None
        wide = self.op.endswith("wide") and not self.signed
        factor = b & ((1 << bits) - 1) if wide else centre(b, bits)
        if isinstance(a, Linear):
            terms, offset = scale(a, factor)
            return combine(terms, offset, self.bits)
        form = parts(a, bits)
        if form is None:
            return None
        return combine((), add_offsets(0, form[1], factor), self.bits)

    def _opaque(self, values: tuple[Scalar, ...]) -> Scalar:
        unknowns = self.unknowns
        arguments = tuple(value if value.__class__ is int else unknowns.resolve(value) for value in values)
        width = (1 << self.source_bits) - 1
        if all(value.__class__ is int for value in arguments):
            return self.function(*(value & width for value in arguments))  # type: ignore[operator]
        linear = self._linear(arguments)
        if linear is not None:
            return linear  # type: ignore[return-value]
        key = (
            self.op,
            self.bits,
            self.signed,
            self.source_bits,
            self.extra,
            *tuple(value_key(value) for value in arguments),
        )
        function, bits, signed = self.function, self.bits, self.signed

        def evaluate(*known: int) -> int:
            result = function(*(value & width for value in known))
            return centre(result, bits) if signed else result

        low, high = self._bounds(arguments)
        return unknowns.function(key, evaluate, arguments, low, high)

    def _bounds(self, arguments: tuple[Scalar, ...]) -> tuple[int, int]:
        op = self.op
        top = (1 << (self.bits - 1)) - 1
        last = arguments[-1]
        if op == "and":
            for argument in arguments:
                if isinstance(argument, int) and argument >= 0 and argument <= top:
                    return 0, argument
            return 0, top
        if op == "rem" and isinstance(last, int) and 0 < last <= top:
            return (-(last - 1) if self.signed and self._may_be_negative(arguments[0]) else 0), last - 1
        if op in ("shr", "div") and isinstance(last, int) and last > 0:
            low, high = self._interval(arguments[0])
            if op == "shr":
                return low >> last, high >> last
            return (-(-low // last) if low < 0 else low // last), high // last
        if op in ("popc", "clz"):
            return 0, 64
        if op in ("setp", "selp"):
            return 0, 1
        if op in ("min", "max") and len(arguments) == 2:
            (al, ah), (bl, bh) = self._interval(arguments[0]), self._interval(arguments[1])
            pick = min if op == "min" else max
            return pick(al, bl), pick(ah, bh)
        if op in ("or", "xor", "not", "mulhi", "bfe", "lop3"):
            return 0, top
        return -top - 1, top

    def _interval(self, value: Scalar) -> tuple[int, int]:
        if isinstance(value, int):
            return value, value
        assert isinstance(value.offset, int)
        _, g, low, high = self.unknowns.range_of(value.terms)
        a, b = (g * low, g * high) if g > 0 else (g * high, g * low)
        return a + value.offset, b + value.offset

    def _may_be_negative(self, value: Scalar) -> bool:
        return self._interval(value)[0] < 0


def _varies(value: Value) -> bool:
    return isinstance(value, tuple) or (isinstance(value, Linear) and isinstance(value.offset, tuple))


def value_key(value: Scalar) -> object:
    """Return something equal for equal values."""
    if isinstance(value, int):
        return value
    return tuple((atom.key, k) for atom, k in value.terms), value.offset
