"""Semantics of loads, stores, atomics, warp-wide matrix accesses and hints.

Part of ``model/semantics.py``. Sizes are bytes of one lane, or of one row of a matrix access.
"""

from ptxlint.model.arithmetic import opaque
from ptxlint.model.effects import BulkZero, MemoryAccess, Order, Rw, Space
from ptxlint.model.opcodes import (
    SCOPES,
    SPACES,
    TYPE_BITS,
    TYPES,
    Builder,
    Effects,
    Handler,
    Operands,
    UnknownOpcode,
    address,
    check,
    flat,
    last_type,
    nothing,
    order_of,
    pick,
    scope_of,
    space_of,
    words,
)
from ptxlint.ptx.syntax import Address, Immediate, Name
from ptxlint.records import replace

_VECTORS: dict[str, int] = {"v2": 2, "v4": 4, "v8": 8}
_HINTS = words(
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate "
    "L2::evict_normal L2::evict_first L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B"
)
_SEMANTICS = words("weak relaxed acquire release volatile mmio")
_LOADS = words(
    "ca cg cs lu cv nc unified proxy::readonly", _SEMANTICS, SCOPES, SPACES, _VECTORS, _HINTS, TYPES
)
_STORES = words("wb cg cs wt", _SEMANTICS, SCOPES, SPACES, _VECTORS, _HINTS, TYPES)


def _width(opcode: str, modifiers: list[str]) -> tuple[str, int, int]:
    """Return the type, the bytes of one element and the number of elements."""
    kind = last_type(opcode, modifiers)
    count = _VECTORS.get(pick(modifiers, _VECTORS), 1)
    return kind, max(1, TYPE_BITS[kind] // 8), count


def _load(opcode: str, modifiers: list[str]) -> Handler:
    """``ld``, ``ld.global.nc``, ``ldu`` (9.7.9.8-10)."""
    check(opcode, modifiers, _LOADS)
    kind, element, count = _width(opcode, modifiers)
    space = space_of(modifiers)
    signed = kind[0] == "s"
    size = element * count
    order = order_of(modifiers, Order.WEAK)
    scope = scope_of(modifiers, "")
    noncoherent = "nc" in modifiers
    extra = ("proxy::readonly",) if "proxy::readonly" in modifiers else ()

    def decode(operands: Operands) -> Effects:
        first = operands[0]
        dsts = (first,) if isinstance(first, Name) else flat(first)
        return (
            MemoryAccess(
                Rw.READ, space, address(operands[1]), size, dsts, (), element, signed, 0, order, scope,
                noncoherent, extra,
            ),
        )  # fmt: skip

    return Handler(decode)


def _store(opcode: str, modifiers: list[str]) -> Handler:
    """``st`` (9.7.9.11)."""
    if modifiers and modifiers[0] == "async":
        raise UnknownOpcode(opcode)
    if modifiers and modifiers[0] == "bulk":
        return _store_bulk(opcode, modifiers)
    check(opcode, modifiers, _STORES)
    kind, element, count = _width(opcode, modifiers)
    space = space_of(modifiers)
    signed = kind[0] == "s"
    size = element * count
    order = order_of(modifiers, Order.WEAK)
    scope = scope_of(modifiers, "")

    def decode(operands: Operands) -> Effects:
        value = operands[1]
        data = (value,) if isinstance(value, Name) else flat(value)
        return (
            MemoryAccess(
                Rw.WRITE, space, address(operands[0]), size, (), data, element, signed, 0, order, scope
            ),
        )

    return Handler(decode, 0)


def _store_bulk(opcode: str, modifiers: list[str]) -> Handler:
    """``st.bulk`` (9.7.9.13)."""
    check(opcode, modifiers, words("bulk weak shared shared::cta"))
    space = space_of(modifiers)
    return Handler(lambda operands: (BulkZero(address(operands[0]), operands[1], space),), 0)


# --- atomics (9.7.13.5-6) ------------------------------------------------------------------------

_OPERATIONS = words("and or xor cas exch add inc dec min max")
_ATOMICS = words(
    "relaxed acquire release acq_rel noftz L2::cache_hint", _OPERATIONS, SCOPES, SPACES, _VECTORS, TYPES
)


def _atomic(opcode: str, modifiers: list[str]) -> Handler:
    """``atom``, ``red``: relaxed at gpu scope unless stated."""
    check(opcode, modifiers, _ATOMICS)
    kind, element, count = _width(opcode, modifiers)
    operation = pick(modifiers, _OPERATIONS)
    if not operation:
        raise UnknownOpcode(f"operation of {opcode}")
    returns = opcode.startswith("atom")
    at = 1 if returns else 0
    sources = 2 if operation == "cas" else 1
    pattern = MemoryAccess(
        Rw.ATOMIC,
        space_of(modifiers),
        Address(None),
        element * count,
        element=element,
        signed=kind[0] == "s",
        order=order_of(modifiers, Order.RELAXED),
        scope=scope_of(modifiers, "gpu"),
        extra=(operation,),
    )

    def decode(operands: Operands) -> Effects:
        data = tuple(x for value in operands[at + 1 : at + 1 + sources] for x in flat(value))
        dsts = flat(operands[0]) if returns else ()
        return (replace(pattern, address=address(operands[at]), dsts=dsts, data=data),)

    return Handler(decode, at)


# --- multimem (9.7.9.14) -------------------------------------------------------------------------

_MULTIMEM = words(
    "weak relaxed acquire release acc::f16 acc::f32 and or xor add min max noftz global",
    SCOPES,
    _VECTORS,
    TYPES,
)


def multimem(opcode: str, modifiers: list[str]) -> Handler:
    """``multimem.ld_reduce``, ``.st``, ``.red``: every replica at once."""
    form = modifiers[0] if modifiers else ""
    check(opcode, modifiers[1:], _MULTIMEM)
    if form not in ("ld_reduce", "st", "red"):
        raise UnknownOpcode(f"multimem.{form}")
    _, element, count = _width(opcode, modifiers)
    rw = {"ld_reduce": Rw.READ, "st": Rw.WRITE, "red": Rw.ATOMIC}[form]
    operation = pick(modifiers[1:], _OPERATIONS)
    strong = form == "red" or pick(modifiers, SCOPES)
    pattern = MemoryAccess(
        rw,
        Space.GLOBAL,
        Address(None),
        element * count,
        element=element,
        order=order_of(modifiers, Order.RELAXED if strong else Order.WEAK),
        scope=scope_of(modifiers, "gpu" if form == "red" else ""),
        extra=(operation,) if operation else (),
        multimem=True,
    )

    def decode(operands: Operands) -> Effects:
        if rw is Rw.READ:
            return (replace(pattern, address=address(operands[1]), dsts=flat(operands[0])),)
        return (replace(pattern, address=address(operands[0]), data=flat(operands[1])),)

    return Handler(decode, 1 if rw is Rw.READ else 0)


# --- matrices (9.7.14.4, 9.7.14.5.15-16) ---------------------------------------------------------

# Row addresses that one unit of .num takes, in groups of eight lanes.
_ROW_GROUPS = {"m8n8": 1, "m8n16": 1, "m16n16": 2, "m16n8": 1}
_ROW_BYTES = 16
_MATRIX = words(
    "sync aligned x1 x2 x4 trans b16 b8 s8 s4 b8x16 b6x16_p32 b4x16_p64 shared shared::cta", _ROW_GROUPS
)


def _matrix(opcode: str, modifiers: list[str]) -> Handler:
    """``ldmatrix``, ``stmatrix``: every row is 16 bytes, its address given by one lane.

    A padded ``b6x16_p32`` or ``b4x16_p64`` row takes 16 bytes too; 16x16 tiles take 16 rows.
    """
    check(opcode, modifiers, _MATRIX)
    shape = pick(modifiers, _ROW_GROUPS)
    number = pick(modifiers, ("x1", "x2", "x4"))
    if not shape or not number:
        raise UnknownOpcode(f"shape of {opcode}")
    tiles = int(number[1:]) * _ROW_GROUPS[shape]
    space = space_of(modifiers)
    load = opcode.startswith("ld")
    element = 2 if "b16" in modifiers else 1

    def decode(operands: Operands) -> Effects:
        if load:
            return (
                MemoryAccess(
                    Rw.READ, space, address(operands[1]), _ROW_BYTES, flat(operands[0]), (), element,
                    matrix=tiles,
                ),
            )  # fmt: skip
        return (
            MemoryAccess(
                Rw.WRITE, space, address(operands[0]), _ROW_BYTES, (), flat(operands[1]), element,
                matrix=tiles,
            ),
        )  # fmt: skip

    return Handler(decode, 1 if load else 0)


_WMMA_SHAPES = {
    "m16n16k16": (16, 16, 16), "m8n32k16": (8, 32, 16), "m32n8k16": (32, 8, 16),
    "m16n16k8": (16, 16, 8), "m8n8k4": (8, 8, 4), "m8n8k32": (8, 8, 32), "m8n8k128": (8, 8, 128),
}  # fmt: skip
_WMMA = words(
    "load store mma a b c d sync aligned row col satfinite popc and xor rn rz rm rp "
    "global shared shared::cta",
    _WMMA_SHAPES,
    TYPES,
)


def _wmma(opcode: str, modifiers: list[str]) -> Handler:
    """``wmma.load``, ``.store``: whole tile when its rows are contiguous, else the first row.

    A row stride that is wider than a row, or not constant, leaves gaps that the instruction does not
    touch; the first row is the part that is certain.
    """
    check(opcode, modifiers, _WMMA)
    form = modifiers[0] if modifiers else ""
    if form not in ("load", "store"):
        return opaque(32)
    shape = pick(modifiers, _WMMA_SHAPES)
    layout = pick(modifiers, ("row", "col"))
    fragment = modifiers[1] if len(modifiers) > 1 else ""
    if not shape or not layout or fragment not in ("a", "b", "c", "d"):
        raise UnknownOpcode(f"shape of {opcode}")
    m, n, k = _WMMA_SHAPES[shape]
    rows, columns = {"a": (m, k), "b": (k, n)}.get(fragment, (m, n))
    if layout == "col":
        rows, columns = columns, rows
    bits = TYPE_BITS[last_type(opcode, modifiers)]
    row = columns * bits // 8
    load = form == "load"
    at = 1 if load else 0
    pattern = MemoryAccess(Rw.READ if load else Rw.WRITE, space_of(modifiers), Address(None), row)

    def decode(operands: Operands) -> Effects:
        stride = operands[2] if len(operands) > 2 else None
        whole = stride is None or (isinstance(stride, Immediate) and stride.value == columns)
        registers = flat(operands[0] if load else operands[1])
        return (
            replace(
                pattern,
                address=address(operands[at]),
                size=row * rows if whole else row,
                dsts=registers if load else (),
                data=() if load else registers,
            ),
        )

    return Handler(decode, at)


def _mma(opcode: str, modifiers: list[str]) -> Handler:
    """``mma``, ``mma.sp``: registers only (9.7.14.5.14, 9.7.14.6.3)."""
    known = words(
        "sp sp::ordered_metadata sync aligned row col satfinite xor and popc block_scale "
        "kind::f8f6f4 kind::mxf4 kind::mxf4nvf4 kind::mxf8f6f4 "
        "scale_vec::1X scale_vec::2X scale_vec::4X rn rz rm rp",
        TYPES,
    )
    check(opcode, (m for m in modifiers if not _is_shape(m)), known)
    return opaque(32)


def _is_shape(word: str) -> bool:
    m, found, rest = word[1:].partition("n")
    n, also, k = rest.partition("k")
    return word[:1] == "m" and bool(found and also) and m.isdigit() and n.isdigit() and k.isdigit()


# --- hints, textures, surfaces (9.7.9.15-17, 9.7.10-11) ------------------------------------------

_PREFETCH = words("L1 L2 L1::32B valid_addr L2::evict_last L2::evict_normal tensormap", SPACES)


def _hint(known: frozenset[str]) -> Builder:
    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, known)
        return nothing()

    return build


def _discard(opcode: str, modifiers: list[str]) -> Handler:
    """``discard``: a weak write of indeterminate bytes (9.7.9.17)."""
    check(opcode, modifiers, words("global L2"))

    def decode(operands: Operands) -> Effects:
        size = operands[1]
        count = size.value if isinstance(size, Immediate) else 128
        return (MemoryAccess(Rw.WRITE, Space.GLOBAL, address(operands[0]), count),)

    return Handler(decode, 0)


_GEOMETRY = words("1d 2d 3d a1d a2d cube acube 2dms a2dms")
_TEXTURE = words("base level grad r g b a v2 v4", _GEOMETRY, TYPES)
_SURFACE = words("b p v2 v4 trap clamp zero ca cg cs cv wb wt add min max and or", _GEOMETRY, TYPES)
_QUERY = words(
    "width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels "
    "num_samples force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2 "
    "memory_layout level b32 texref samplerref surfref"
)


def _texture(known: frozenset[str], bits: int = 32) -> Builder:
    def build(opcode: str, modifiers: list[str]) -> Handler:
        check(opcode, modifiers, known)
        return opaque(bits)

    return build


BUILDERS: dict[str, Builder] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "ldmatrix": _matrix,
    "stmatrix": _matrix,
    "wmma": _wmma,
    "mma": _mma,
    "prefetch": _hint(_PREFETCH),
    "prefetchu": _hint(frozenset({"L1"})),
    "applypriority": _hint(words("global L2::evict_normal")),
    "discard": _discard,
    "tex": _texture(_TEXTURE),
    "tld4": _texture(_TEXTURE),
    "txq": _texture(_QUERY),
    "suq": _texture(_QUERY),
    "istypep": _texture(_QUERY, 1),
    "suld": _texture(_SURFACE),
    "sust": _hint(_SURFACE),
    "sured": _hint(_SURFACE),
}
