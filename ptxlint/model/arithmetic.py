"""Semantics of computations: integer, float, comparison, logic, move and conversion instructions.

Part of ``model/semantics.py``. Integers keep their meaning; what floats compute is opaque, but moves
and selections of floats carry their bits.
"""

from ptxlint.model.effects import Compute, Effect
from ptxlint.model.opcodes import (
    INTEGER_TYPES,
    TYPE_BITS,
    TYPES,
    Builder,
    Effects,
    Handler,
    NameList,
    Operands,
    UnknownOpcode,
    all_names,
    check,
    flat,
    last_type,
    names,
    nothing,
    pair,
    pick,
    types_of,
    words,
)
from ptxlint.ptx.syntax import Name, Operand, Sink, Vector

_SINK = Sink()
_ROUNDING = "rn rz rm rp rna rs ftz sat"


def opaque(bits: int, written: int = 1) -> Handler:
    """Return a handler for a computation whose result is not followed."""
    if written == 1:

        def single(operands: Operands) -> Effects:
            first = operands[0]
            return (Compute("opaque", (first,) if isinstance(first, Name) else flat(first), (), bits),)

        return Handler(single)

    def several(operands: Operands) -> Effects:
        dsts: tuple[Operand, ...] = ()
        for operand in operands[:written]:
            dsts += flat(operand)
        return (Compute("opaque", dsts, (), bits),)

    return Handler(several, written)


# How many sources a computation has.
_SOURCES = {
    **dict.fromkeys(words("mov abs neg not cnot popc clz brev bfind getctarank"), 1),
    **dict.fromkeys(words("add sub mul mulhi mulwide div rem min max and or xor shl shr"), 2),
    **dict.fromkeys(words("bmsk szext mapa"), 2),
    **dict.fromkeys(words("mad madhi madwide sad bfe fns prmt shf_l shf_r dp4a selp slct"), 3),
    "bfi": 4,
}


def plain(
    op: str,
    bits: int,
    signed: bool = False,
    source_bits: int = 0,
    extra: tuple[str, ...] = (),
    arity: int | None = None,
) -> Handler:
    """Return a handler for ``op d, a, b…`` with *arity* sources, more are passed over (None: as the ISA has it)."""
    expected = _SOURCES.get(op) if arity is None else arity

    def decode(operands: Operands) -> Effects:
        sources = operands[1:] if arity is None else operands[1 : 1 + arity]
        if expected is not None and len(sources) != expected:
            raise ValueError
        return (Compute(op, (operands[0],), sources, bits, signed, source_bits, extra),)

    return Handler(decode)


# Words that make an integer operation one whose exact result is not followed.
_INEXACT = frozenset({"sat", "satfinite", "relu"})


def _simple(op: str, known: frozenset[str]) -> Builder:
    """``op.type d, a…`` for integers, opaque for floats and packed types."""

    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, known)
        kind = last_type(opcode, modifiers)
        bits = TYPE_BITS[kind]
        if kind != "pred" and (kind not in INTEGER_TYPES or not _INEXACT.isdisjoint(modifiers)):
            return opaque(bits)
        return plain(op, bits, kind[0] == "s")

    return build


def _opaque(known: frozenset[str]) -> Builder:
    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, known)
        kinds = types_of(modifiers)
        return opaque(TYPE_BITS[kinds[0]] if kinds else 32)

    return build


def _counting(op: str) -> Builder:
    """``popc``, ``clz``, ``bfind``: a 32-bit result of a 32- or 64-bit operand (9.7.1.14-16)."""

    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, words("shiftamt b32 b64 u32 s32 u64 s64"))
        kind = last_type(opcode, modifiers)
        if "shiftamt" in modifiers:
            return opaque(32)
        return plain(op, 32, kind[0] == "s", TYPE_BITS[kind])

    return build


def _multiply(low: str, high: str, wide: str, known: frozenset[str]) -> Builder:
    """``mul``, ``mad`` and their ``.cc`` forms (9.7.1.3-4, 9.7.2.5)."""

    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, known)
        kind = last_type(opcode, modifiers)
        bits = TYPE_BITS[kind]
        if kind not in INTEGER_TYPES or not _INEXACT.isdisjoint(modifiers):
            return opaque(bits)
        signed = kind[0] == "s"
        if "wide" in modifiers:
            return plain(wide, 2 * bits, signed, bits)
        if "hi" in modifiers:
            return plain(high, bits, signed)
        if "lo" not in modifiers:
            raise UnknownOpcode(f"half of {opcode}")
        return plain(low, bits, signed)

    return build


def _funnel(opcode: str, modifiers: list[str]) -> Handler:
    """``shf`` (9.7.8.7)."""
    check(opcode, modifiers, words("l r clamp wrap b32"))
    direction = pick(modifiers, ("l", "r"))
    mode = pick(modifiers, ("clamp", "wrap"))
    if not direction or not mode:
        raise UnknownOpcode(f"direction or mode of {opcode}")
    return plain("shf_" + direction, 32, extra=(mode,))


def _permute(opcode: str, modifiers: list[str]) -> Handler:
    """``prmt`` (9.7.9.7)."""
    check(opcode, modifiers, words("b32 f4e b4e rc8 ecl ecr rc16"))
    mode = pick(modifiers, ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))
    return plain("prmt", 32, extra=(mode,) if mode else ())


def _mask(opcode: str, modifiers: list[str]) -> Handler:
    """``bmsk``, ``szext`` (9.7.1.21-22)."""
    check(opcode, modifiers, words("clamp wrap b32 u32 s32"))
    mode = pick(modifiers, ("clamp", "wrap"))
    op = opcode.split(".", 1)[0]
    return plain(op, 32, last_type(opcode, modifiers) == "s32", extra=(mode,) if mode else ())


def _lop3(opcode: str, modifiers: list[str]) -> Handler:
    """``lop3`` (9.7.8.6); with a predicate destination the predicate is opaque."""
    check(opcode, modifiers, words("or and xor b32"))

    def decode(operands: Operands) -> Effects:
        d, p = pair(operands[0])
        result: tuple[Effect, ...] = ()
        if not isinstance(d, Sink):
            if len(operands) < 5:
                raise ValueError
            result = (Compute("lop3", (d,), operands[1:5], 32),)
        if not isinstance(p, Sink):
            result += (Compute("opaque", (p,), (), 1),)
        return result or (Compute("opaque", (), (), 1),)

    return Handler(decode)


def _dot(opcode: str, modifiers: list[str]) -> Handler:
    """``dp4a``, ``dp2a`` (9.7.1.23-24)."""
    check(opcode, modifiers, words("lo hi u32 s32"))
    kinds = types_of(modifiers)
    if opcode.startswith("dp2a") or len(kinds) != 2:
        return opaque(32)
    return plain("dp4a", 32, "s32" in kinds, extra=tuple(kinds))


# --- comparison and selection (9.7.6, 9.7.7) -----------------------------------------------------

_COMPARISONS = words("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan")
_BOOLEANS = frozenset({"and", "or", "xor"})
_SETP = words("ftz", _COMPARISONS, _BOOLEANS, TYPES)


def _relation(opcode: str, modifiers: list[str]) -> tuple[str, tuple[str, ...]]:
    relation = modifiers[0] if modifiers else ""
    if relation not in _COMPARISONS:
        raise UnknownOpcode(f"comparison of {opcode}")
    boolean = modifiers[1] if len(modifiers) > 1 and modifiers[1] in _BOOLEANS else ""
    return relation, (relation, boolean) if boolean else (relation,)


def _setp(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, _SETP)
    _, extra = _relation(opcode, modifiers)
    kind = last_type(opcode, modifiers)
    sources = 4 if len(extra) > 1 else 3
    if kind not in INTEGER_TYPES:
        return Handler(lambda operands: (Compute("opaque", pair(operands[0]), (), 1),))
    signed = kind[0] == "s"
    bits = TYPE_BITS[kind]

    def decode(operands: Operands) -> Effects:
        first = operands[0]
        dsts = (first, _SINK) if isinstance(first, Name) else pair(first)
        if len(operands) < sources:
            raise ValueError
        return (Compute("setp", dsts, operands[1:sources], 1, signed, bits, extra),)

    return Handler(decode)


def _set(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, _SETP)
    _, extra = _relation(opcode, modifiers)
    kinds = types_of(modifiers)
    if len(kinds) != 2:
        raise UnknownOpcode(f"types of {opcode}")
    result, source = kinds
    bits = TYPE_BITS[result]
    if source not in INTEGER_TYPES or result not in INTEGER_TYPES:
        return opaque(bits)
    return plain("set", bits, source[0] == "s", TYPE_BITS[source], extra, arity=len(extra) + 1)


def _select(opcode: str, modifiers: list[str]) -> Handler:
    """``selp`` (9.7.6.3)."""
    check(opcode, modifiers, TYPES)
    kind = last_type(opcode, modifiers)
    return plain("selp", TYPE_BITS[kind], kind[0] == "s")


def _select_by_sign(opcode: str, modifiers: list[str]) -> Handler:
    """``slct`` (9.7.6.4)."""
    check(opcode, modifiers, words("ftz", TYPES))
    kinds = types_of(modifiers)
    if len(kinds) != 2:
        raise UnknownOpcode(f"types of {opcode}")
    bits = TYPE_BITS[kinds[0]]
    return plain("slct", bits, kinds[0][0] == "s") if kinds[1] == "s32" else opaque(bits)


# --- moves and conversions (9.7.9.3-4, 9.7.9.19-24) ----------------------------------------------


def _mov(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, TYPES)
    kind = last_type(opcode, modifiers)
    bits = TYPE_BITS[kind]
    signed = kind[0] == "s"

    def decode(operands: Operands) -> Effects:
        d, a = operands
        if isinstance(d, Vector):
            if isinstance(a, Vector):
                width = bits // max(1, len(d.elements))
                return tuple(
                    Compute("mov", (x,), (y,), width) for x, y in zip(d.elements, a.elements, strict=True)
                )
            return (Compute("unpack", d.elements, (a,), bits // max(1, len(d.elements)), False, bits),)
        if isinstance(a, Vector):
            return (Compute("pack", (d,), a.elements, bits),)
        return (Compute("mov", (d,), (a,), bits, signed),)

    return Handler(decode)


_CVT = words(
    f"{_ROUNDING} rni rzi rmi rpi relu satfinite scaled::n1::ue8m0 scaled::n2::ue8m0 pzo pack", TYPES
)


def _cvt(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, _CVT)
    kinds = types_of(modifiers)
    if len(kinds) < 2:
        raise UnknownOpcode(f"types of {opcode}")
    result, source = kinds[0], kinds[1]
    exact = result in INTEGER_TYPES and source in INTEGER_TYPES
    if not exact or "sat" in modifiers or "pack" in modifiers:
        return opaque(TYPE_BITS[result])
    return plain("cvt", TYPE_BITS[result], source[0] == "s", TYPE_BITS[source], arity=1)


_WINDOWS: dict[str, str] = {
    "const": "const", "global": "global", "local": "local", "shared": "shared",
    "shared::cta": "shared", "shared::cluster": "shared::cluster", "param": "param",
    "param::entry": "param",
}  # fmt: skip


def _cvta(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, words("to u32 u64", _WINDOWS))
    window = pick(modifiers, _WINDOWS)
    if not window:
        raise UnknownOpcode(f"state space of {opcode}")
    op = "cvta_to" if "to" in modifiers else "cvta"
    return plain(op, TYPE_BITS[last_type(opcode, modifiers)], extra=(_WINDOWS[window],), arity=1)


def _isspacep(opcode: str, modifiers: list[str]) -> Handler:
    check(opcode, modifiers, frozenset(_WINDOWS))
    window = pick(modifiers, _WINDOWS)
    if not window:
        raise UnknownOpcode(f"state space of {opcode}")
    return plain("isspacep", 1, source_bits=64, extra=(_WINDOWS[window],), arity=1)


def _map_address(opcode: str, modifiers: list[str]) -> Handler:
    """``mapa``, ``getctarank`` (9.7.9.23-24)."""
    check(opcode, modifiers, words("shared::cluster u32 u64"))
    op = opcode.split(".", 1)[0]
    width = TYPE_BITS[last_type(opcode, modifiers)]
    extra = ("shared::cluster",) if "shared::cluster" in modifiers else ()
    return plain(op, width if op == "mapa" else 32, source_bits=width, extra=extra)


# --- video (9.7.18) ------------------------------------------------------------------------------

_VIDEO = words(
    "u32 s32 sat add min max b0 b1 b2 b3 h0 h1 po shr7 shr15 clamp wrap acc eq ne lt le gt ge lo ls hi hs"
)
_LANES = ("b0", "b1", "b2", "b3", "h0", "h1", "b01", "h10")


def _video_roles(operands: Operands) -> tuple[NameList, NameList]:
    """Drop the ``.b0`` selectors; a destination with a selector is written in part, so read too."""

    def stem(name: str) -> str:
        head, dot, tail = name.rpartition(".")
        return head if dot and tail[:1] in "bh" and tail[1:].isdigit() else name

    written: list[str] = []
    names(operands[0], written)
    read = [stem(name) for name in all_names(operands[1:])]
    read[:0] = [stem(name) for name in written if stem(name) != name]
    return tuple(stem(name) for name in written), tuple(read)


def _video(opcode: str, modifiers: list[str]) -> Handler:
    plain_words = [m for m in modifiers if not (m[:1] in "bh" and m[1:].isdigit())]
    check(opcode, plain_words, _VIDEO)

    def decode(operands: Operands) -> Effects:
        written = _video_roles(operands)[0]
        return (Compute("opaque", tuple(Name(name) for name in written), (), 32),)

    return Handler(decode, roles=_video_roles)


# --- others ----------------------------------------------------------------------------------------


def _testp(opcode: str, modifiers: list[str]) -> Handler:
    """``testp`` (9.7.3.1)."""
    check(opcode, modifiers, words("finite infinite number notanumber normal subnormal f32 f64"))
    return opaque(1)


def _createpolicy(opcode: str, modifiers: list[str]) -> Handler:
    """``createpolicy`` (9.7.9.18)."""
    check(
        opcode,
        modifiers,
        words(
            "range fractional cvt global b64 L2 L2::evict_last L2::evict_normal L2::evict_first "
            "L2::evict_unchanged"
        ),
    )
    return opaque(64)


def _sparse(written: int) -> Builder:
    """``spcompress`` writes indices and data, ``spdecompress`` data (ISA 9.4)."""

    def build(opcode: str, modifiers: list[str]) -> Handler:
        others = [m for m in modifiers if not m.startswith("sp::")]
        check(opcode, others, words("b2 b4 b8 b16 b32 x1 x2 x4 x8 x16 x32 x64 x128"))
        return opaque(32, written)

    return build


def _stackrestore(opcode: str, modifiers: list[str]) -> Handler:
    """``stackrestore`` (9.7.17.2)."""
    check(opcode, modifiers, words("u32 u64"))
    return nothing()


# --- the table -----------------------------------------------------------------------------------

_FLOAT = words(f"{_ROUNDING} approx full NaN xorsign abs relu noftz satfinite oob", TYPES)
_LOGIC = words("pred b16 b32 b64")
_ADD = words(f"{_ROUNDING} cc relu", TYPES)


def _arithmetic_builders() -> dict[str, Builder]:
    integers = words("", TYPES)
    table: dict[str, Builder] = {
        # integer and float arithmetic (9.7.1, 9.7.3-5)
        "add": _simple("add", _ADD),
        "sub": _simple("sub", _ADD),
        "mul": _multiply("mul", "mulhi", "mulwide", words(f"lo hi wide {_ROUNDING}", TYPES)),
        "mad": _multiply("mad", "madhi", "madwide", words(f"lo hi wide cc {_ROUNDING}", TYPES)),
        "div": _simple("div", _FLOAT),
        "rem": _simple("rem", integers),
        "min": _simple("min", _FLOAT),
        "max": _simple("max", _FLOAT),
        "abs": _simple("abs", _FLOAT),
        "neg": _simple("neg", _FLOAT),
        "sad": _simple("sad", integers),
        "popc": _counting("popc"),
        "clz": _counting("clz"),
        "bfind": _counting("bfind"),
        "brev": _simple("brev", integers),
        "bfe": _simple("bfe", integers),
        "bfi": _simple("bfi", integers),
        "fns": _simple("fns", integers),
        "szext": _mask,
        "bmsk": _mask,
        "dp4a": _dot,
        "dp2a": _dot,
        # comparison, selection, logic, shifts (9.7.6-8)
        "set": _set,
        "setp": _setp,
        "selp": _select,
        "slct": _select_by_sign,
        "and": _simple("and", _LOGIC),
        "or": _simple("or", _LOGIC),
        "xor": _simple("xor", _LOGIC),
        "not": _simple("not", _LOGIC),
        "cnot": _simple("cnot", _LOGIC),
        "lop3": _lop3,
        "shf": _funnel,
        "shl": _simple("shl", integers),
        "shr": _simple("shr", integers),
        "prmt": _permute,
        # moves, conversions, addresses (9.7.9)
        "mov": _mov,
        "cvt": _cvt,
        "cvta": _cvta,
        "isspacep": _isspacep,
        "mapa": _map_address,
        "getctarank": _map_address,
        "testp": _testp,
        # register-only tensor operations (9.7.14)
        "movmatrix": _opaque(words("sync aligned m8n8 trans b16")),
        "createpolicy": _createpolicy,
        "alloca": _opaque(words("u32 u64")),
        "stacksave": _opaque(words("u32 u64")),
        "stackrestore": _stackrestore,
    }
    # Carry-in makes a sum unknown (9.7.2); the low parts without it are exact.
    for name in ("addc", "subc", "madc"):
        table[name] = _opaque(words("cc lo hi", TYPES))
    for name in ("mul24", "mad24"):
        table[name] = _opaque(words("lo hi sat u32 s32"))
    table["clmad"] = _opaque(words("lo hi", TYPES))
    table["spcompress"] = _sparse(2)
    table["spdecompress"] = _sparse(1)
    for name in ("fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign"):
        table[name] = _opaque(_FLOAT)
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset"):
        for lanes in ("", "2", "4"):
            table[name + lanes] = _video
    for name in ("vshl", "vshr", "vmad", "vavrg2", "vavrg4"):
        table[name] = _video
    return table


BUILDERS: dict[str, Builder] = _arithmetic_builders()
