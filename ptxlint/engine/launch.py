"""The launch that a run assumes: threads, cluster, addresses of symbols, special registers.

Shared symbols get concrete addresses: static ones from 0x400 in order of declaration, dynamic shared
memory at the next multiple of 1024 after them, as real allocations look. The CTA that runs is rank 0
of its cluster.
"""

from collections.abc import Iterable, Mapping

from ptxlint.engine.operations import LOCAL_WINDOW
from ptxlint.engine.program import Code
from ptxlint.engine.values import FULL, LANES, Linear, Unknowns, Value, settle
from ptxlint.ptx.syntax import FloatImmediate, Immediate, Name, Operand, Symbolic, Variable
from ptxlint.records import field, mutable_record

PARAM_WINDOW = 1 << 58
GRID = (132, 4, 2)


@mutable_record
class Launch:
    """Block and cluster shape and the address of each symbol; *assumed* when the block is a guess."""

    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    symbols: dict[str, int] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=dict)
    extents: list[tuple[int, int, str]] = field(default_factory=list)
    assumed: bool = False

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def cluster_size(self) -> int:
        """CTAs of a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @property
    def symbol_starts(self) -> set[int]:
        """Start and end addresses of the static shared symbols."""
        return {at for low, high, _ in self.extents for at in (low, high)}

    def place(self, variables: Iterable[Variable]) -> None:
        """Give addresses to shared, local and parameter *variables*."""
        shared = [v for v in variables if v.space == "shared" and v.name not in self.symbols]
        at = max([0x400, *(high for _, high, _ in self.extents)])
        for variable in shared:
            if variable.size is None or variable.external:
                continue
            align = max(1, variable.align)
            at = (at + align - 1) // align * align
            self.symbols[variable.name] = at
            self.extents.append((at, at + variable.size, variable.name))
            at += variable.size
        dynamic = [v for v in shared if v.name not in self.symbols]
        base = (at + 1023) // 1024 * 1024
        for variable in dynamic:
            self.symbols[variable.name] = base
        for variable in variables:
            self.spaces[variable.name] = variable.space
        local = LOCAL_WINDOW + 0x1000 * (1 + sum(1 for s in self.spaces.values() if s == "local"))
        param = PARAM_WINDOW + 0x10000 * len(self.symbols)
        for variable in variables:
            if variable.name in self.symbols:
                continue
            if variable.space == "local":
                self.symbols[variable.name] = local
                local += ((variable.size or 0) + 0xFFF) // 0x1000 * 0x1000 + 0x1000
            elif variable.space == "param":
                self.symbols[variable.name] = param
                param += ((variable.size or 0) + 0xFFF) // 0x1000 * 0x1000 + 0x1000

    def constant(self, code: Code, operand: Operand, warp: int, unknowns: Unknowns) -> Value:
        """Return the value of a constant operand: a number, a symbol's address, a special register."""
        if isinstance(operand, Immediate):
            return operand.value & 0xFFFFFFFFFFFFFFFF if operand.value < 0 else operand.value
        if isinstance(operand, FloatImmediate):
            return float_bits(operand.text)
        if isinstance(operand, Symbolic):
            base = self.constant(code, operand.base, warp, unknowns)
            if isinstance(base, int):
                return base + operand.offset
            if isinstance(base, Linear) and isinstance(base.offset, int):
                return Linear(base.terms, base.offset + operand.offset)
            return base
        if not isinstance(operand, Name):
            return 0
        text = operand.text
        address = self.symbols.get(text)
        if address is not None:
            return address
        if self.spaces.get(text) in ("global", "const"):
            return unknowns.atom(("symbol", text), 1 << 32, 1 << 47)
        if text.startswith("%"):
            return self.special(text, warp, unknowns)
        return unknowns.atom(("name", text), 0, 1 << 47)

    def special(self, name: str, warp: int, unknowns: Unknowns) -> Value:
        """Return special register *name* in warp *warp* (PTX ISA 10)."""
        base = warp * LANES
        stem, _, axis = name.partition(".")
        at = "xyz".find(axis) if axis else -1
        if stem == "%tid":
            x, y = self.block[0], self.block[1]
            linear = [min(base + i, self.threads - 1) for i in range(LANES)]
            if at == 0:
                return settle([t % x for t in linear])
            if at == 1:
                return settle([t // x % y for t in linear])
            return settle([t // (x * y) for t in linear])
        if stem == "%ntid":
            return self.block[at] if at >= 0 else 1
        if stem == "%laneid":
            return tuple(range(LANES))
        if stem == "%warpid":
            return warp
        if stem == "%nwarpid":
            return (self.threads + LANES - 1) // LANES
        if stem.startswith("%lanemask_"):
            return tuple(_lane_mask(stem[10:], i) for i in range(LANES))
        if stem == "%nctaid":
            return GRID[at] if at >= 0 else 1
        if stem == "%ctaid":
            size = self.cluster[at] if at >= 0 else 1
            atom = unknowns.atom(("ctaid", axis), 0, GRID[at] // size if at >= 0 else 0)
            return Linear(tuple((a, k * size) for a, k in atom.terms), 0)
        if stem in ("%cluster_ctaid", "%cluster_ctarank"):
            return 0
        if stem == "%cluster_nctaid":
            return self.cluster[at] if at >= 0 else 1
        if stem == "%cluster_nctarank":
            return self.cluster_size
        if stem == "%is_explicit_cluster":
            return int(self.cluster_size > 1)
        if stem == "%clusterid":
            return unknowns.atom(("ctaid", axis), 0, GRID[at] if at >= 0 else 0)
        if stem == "%nclusterid":
            return max(1, GRID[at] // self.cluster[at]) if at >= 0 else 1
        if stem in ("%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size"):
            return 227 * 1024
        return unknowns.atom(("special", name), 0, (1 << 31) - 1)

    def symbol_at(self, address: int) -> str:
        """Return ``name+offset`` for a shared address, or the address in hexadecimal."""
        for low, high, name in self.extents:
            if low <= address < high:
                return name if address == low else f"{name}+{address - low}"
        best = None
        for name, at in self.symbols.items():
            if (
                at <= address < LOCAL_WINDOW
                and self.spaces.get(name) == "shared"
                and (best is None or at > best[1])
            ):
                best = (name, at)
        if best is not None:
            return best[0] if best[1] == address else f"{best[0]}+{address - best[1]}"
        return f"0x{address:x}"


def _lane_mask(kind: str, lane: int) -> int:
    if kind == "eq":
        return 1 << lane
    if kind == "lt":
        return (1 << lane) - 1
    if kind == "le":
        return (2 << lane) - 1
    if kind == "gt":
        return FULL & ~((2 << lane) - 1)
    return FULL & ~((1 << lane) - 1)


def float_bits(text: str) -> int:
    """Return the bits of a floating constant (``0f…``, ``0d…``); 0 for other spellings of zero."""
    head = text[:2].lower()
    if head in ("0f", "0d"):
        try:
            return int(text[2:], 16)
        except ValueError:
            return 0
    return 0


def thread_count(directives: Mapping[str, tuple[int, ...]]) -> tuple[int, int, int] | None:
    """Return the block shape that ``.reqntid`` or ``.maxntid`` gives."""
    shape = directives.get("reqntid") or directives.get("maxntid")
    if not shape:
        return None
    padded = (*shape, 1, 1)[:3]
    return padded[0], padded[1], padded[2]
