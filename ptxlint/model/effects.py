"""The effect language: what an instruction does, without its opcode.

``model/semantics.py`` turns instructions into these; everything above it sees only these. Operands
stay syntactic (names, immediates, addresses); the engine binds them to values. Sizes are bytes.
"""

from enum import Enum

from ptxlint.ptx.syntax import Address, Operand
from ptxlint.records import field, record


class Space(str, Enum):
    """A state space; GENERIC means that the address decides (PTX ISA 5)."""

    SHARED = "shared"  # .shared, .shared::cta
    CLUSTER = "shared::cluster"
    GLOBAL = "global"
    LOCAL = "local"
    PARAM = "param"
    CONST = "const"
    GENERIC = "generic"
    TENSOR = "tensor"


class Rw(str, Enum):
    """What an access does to its bytes."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"


class Order(str, Enum):
    """The ``.sem`` of a strong operation (PTX ISA 8.4)."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SC = "sc"
    VOLATILE = "volatile"


@record
class Effect:
    """Anything an instruction does."""


@record
class Nothing(Effect):
    """Known, and of no interest to ordering (``setmaxnreg``, ``nanosleep``, prefetches …)."""


@record
class Unknown(Effect):
    """An opcode or modifier that the tables do not know (PTX991)."""

    what: str


@record
class Compute(Effect):
    """A pure computation into registers.

    ``op`` names the operation for ``engine/values.py``; ``bits`` is the width of the result (1 for a
    predicate), ``signed`` how operands are read, ``source_bits`` the width of the operands where it
    differs (``cvt``, ``mul.wide``, ``setp``). ``extra`` carries a comparison (``lt``), a boolean
    combiner (``and``), a mode (``clamp``). ``op == "opaque"``: result unknown, operands irrelevant.

    Operations: mov, add, sub, mul (low half), mulhi, mulwide, mad, madhi, madwide, div, rem, min,
    max, abs, neg, not, and, or, xor, shl, shr, shf_l, shf_r, bfe, bfi, prmt, popc, clz, brev, bfind,
    cnot, lop3, selp, slct, setp, set, cvt, pack (mov.b64 d,{a,b}), unpack (mov.b64 {a,b}, s; several
    dsts), cvta (to generic; extra = space), cvta_to (from generic; extra = space), mapa (a, rank),
    getctarank, isspacep (extra = space), sext/zext are cvt, dp4a, szext, bmsk, fns, sad, query (of a launch-control
    response; extra = field, dimension), opaque.
    """

    op: str
    dsts: tuple[Operand, ...]
    srcs: tuple[Operand, ...]
    bits: int = 32
    signed: bool = False
    source_bits: int = 0
    extra: tuple[str, ...] = ()


@record
class Collective(Effect):
    """A warp collective that carries values: shuffles, votes, matches, reductions, ``elect``.

    ``op``: shfl_idx, shfl_up, shfl_down, shfl_bfly, vote_all, vote_any, vote_uni, vote_ballot,
    match_any, match_all, redux (extra: add/min/max/and/or/xor), elect, activemask.
    ``dsts`` has the value first and the predicate second (Sink where absent).
    """

    op: str
    dsts: tuple[Operand, ...]
    srcs: tuple[Operand, ...]
    membermask: Operand | None
    extra: tuple[str, ...] = ()
    signed: bool = False


@record
class MemoryAccess(Effect):
    """A generic-proxy access by each active lane: ``ld``, ``st``, ``atom``, ``red``, ``ldmatrix``.

    ``size`` is the bytes a lane touches; ``matrix`` is the number of 8x8 tiles of ``ldmatrix`` /
    ``stmatrix`` (0 otherwise): lanes 0..8*matrix-1 give row addresses and each row has ``size``
    bytes. ``element`` is the width of one element of a vector access. ``extra`` names the atomic
    operation. ``noncoherent`` marks ``ld.global.nc``; ``proxy`` is ``generic`` unless stated.
    """

    rw: Rw
    space: Space
    address: Address
    size: int
    dsts: tuple[Operand, ...] = ()
    data: tuple[Operand, ...] = ()
    element: int = 0
    signed: bool = False
    matrix: int = 0
    order: Order = Order.WEAK
    scope: str = ""
    noncoherent: bool = False
    extra: tuple[str, ...] = ()
    multimem: bool = False


# --- asynchronous copies -------------------------------------------------------------------------


class BulkKind(str, Enum):
    """Which bulk operation it is (PTX ISA 9.7.9.25.4, 9.7.9.27)."""

    COPY = "copy"
    REDUCE = "reduce"
    TENSOR_COPY = "tensor copy"
    TENSOR_REDUCE = "tensor reduce"
    PREFETCH = "prefetch"
    TENSOR_PREFETCH = "tensor prefetch"


@record
class BulkCopy(Effect):
    """``cp{.reduce}.async.bulk{.tensor}`` and ``multimem.cp…``: data through the async proxy.

    ``destination``/``source`` are None where the instruction has a tensor map there instead;
    ``size`` is None for tensor copies. Either ``mbarrier`` is given (complete-tx) or ``bulk_group``.
    ``multicast`` is the CTA mask operand; ``cta_group`` 0, 1 or 2. ``cta_local`` is True for a
    destination spelled ``.shared::cta``.
    """

    kind: BulkKind
    destination_space: Space
    source_space: Space
    destination: Address | None
    source: Address | None
    size: Operand | None
    mbarrier: Address | None = None
    bulk_group: bool = False
    tensor_map: Address | None = None
    multicast: Operand | None = None
    cta_group: int = 0
    cta_local: bool = False
    byte_mask: bool = False


@record
class BulkCommit(Effect):
    """``cp.async.bulk.commit_group``."""


@record
class BulkWait(Effect):
    """``cp.async.bulk.wait_group{.read} N``."""

    pending: int
    read: bool


@record
class CpAsync(Effect):
    """Non-bulk ``cp.async``: a generic-proxy write that completes later (9.7.9.25.3)."""

    destination: Address
    source: Address
    size: int


@record
class CpAsyncCommit(Effect):
    """``cp.async.commit_group``."""


@record
class CpAsyncWait(Effect):
    """``cp.async.wait_group N``; ``wait_all`` is N = 0 and also commits what is uncommitted."""

    pending: int
    everything: bool = False


@record
class CpAsyncArrive(Effect):
    """``cp.async.mbarrier.arrive{.noinc}``."""

    address: Address
    no_increment: bool


@record
class StoreAsync(Effect):
    """``st.async`` / ``red.async`` to a peer's shared memory, or to global memory (no mbarrier)."""

    address: Address
    mbarrier: Address | None
    size: int
    reduction: bool
    space: Space
    order: Order = Order.WEAK


# --- mbarriers -----------------------------------------------------------------------------------


@record
class MbarrierInit(Effect):
    """``mbarrier.init [a], count``; ``space`` GENERIC or SHARED."""

    address: Address
    count: Operand
    space: Space = Space.SHARED


@record
class MbarrierInvalidate(Effect):
    """``mbarrier.inval``."""

    address: Address
    space: Space = Space.SHARED


@record
class MbarrierArrive(Effect):
    """``mbarrier.arrive{_drop}{.expect_tx}{.noComplete}``: count None is 1; ``expect`` the tx bytes.

    ``space`` CLUSTER may be a peer's barrier. ``dst`` receives the state token.
    """

    address: Address
    count: Operand | None = None
    expect: Operand | None = None
    drop: bool = False
    no_complete: bool = False
    space: Space = Space.SHARED
    order: Order = Order.RELEASE
    scope: str = "cta"
    dst: Operand | None = None


@record
class MbarrierExpect(Effect):
    """``mbarrier.expect_tx``."""

    address: Address
    bytes: Operand
    space: Space = Space.SHARED


@record
class MbarrierComplete(Effect):
    """``mbarrier.complete_tx``."""

    address: Address
    bytes: Operand
    space: Space = Space.SHARED


@record
class MbarrierWait(Effect):
    """``mbarrier.test_wait`` / ``try_wait``: *dst* is the predicate; parity, or a state token.

    ``potentially_blocking`` is True for ``try_wait``.
    """

    address: Address
    dst: Operand
    parity: Operand | None
    state: Operand | None = None
    potentially_blocking: bool = True
    space: Space = Space.SHARED
    order: Order = Order.ACQUIRE
    scope: str = "cta"


# --- fences and barriers -------------------------------------------------------------------------


@record
class ProxyFence(Effect):
    """``fence.proxy.*``. ``kind``: async, tensormap, alias, or another proxy's name.

    For async, ``spaces`` are the state spaces covered: any of ``shared``, ``cluster``, ``global``
    (no suffix: all three; ``.shared::cluster`` covers ``shared`` too). ``half`` is ``""`` for the
    bi-directional form, ``release`` / ``acquire`` for ``::generic.release`` / ``.acquire`` forms;
    ``reads_only`` for the 9.4 ``::read`` form. ``address``/``size`` for tensormap acquire.
    """

    kind: str
    spaces: frozenset[str] = frozenset()
    half: str = ""
    scope: str = ""
    address: Address | None = None
    size: int = 0
    reads_only: bool = False

    @property
    def orders_shared(self) -> bool:
        """Whether it orders the generic and the async proxy over shared memory."""
        return self.kind == "async" and not self.spaces.isdisjoint(("shared", "cluster"))


@record
class ThreadFence(Effect):
    """``fence.{sc,acq_rel,acquire,release}``, ``membar``."""

    order: Order
    scope: str


@record
class MbarrierInitFence(Effect):
    """``fence.mbarrier_init.release.cluster``."""


@record
class CtaBarrier(Effect):
    """``bar.sync``/``arrive``/``red``, ``barrier.cta.*``; count None is every thread of the CTA."""

    barrier: Operand
    count: Operand | None
    arrive_only: bool = False
    aligned: bool = True
    dst: Operand | None = None
    src: Operand | None = None
    extra: tuple[str, ...] = ()


@record
class WarpBarrier(Effect):
    """``bar.warp.sync mask``."""

    membermask: Operand


@record
class ClusterArrive(Effect):
    """``barrier.cluster.arrive{.release,.relaxed}``."""

    relaxed: bool
    aligned: bool


@record
class ClusterWait(Effect):
    """``barrier.cluster.wait``."""

    aligned: bool


# --- tensor cores --------------------------------------------------------------------------------


@record
class WgmmaFence(Effect):
    """``wgmma.fence``."""


@record
class WgmmaOp(Effect):
    """``wgmma.mma_async``: shared operands by 64-bit matrix descriptor; ``a`` None: in registers.

    ``shape`` is (m, n, k); ``element_bits`` of A and B; ``accumulators`` the D registers,
    ``a_registers`` the A fragment.
    """

    a: Operand | None
    b: Operand
    shape: tuple[int, int, int]
    element_bits: int
    accumulators: tuple[Operand, ...] = ()
    a_registers: tuple[Operand, ...] = ()


@record
class WgmmaCommit(Effect):
    """``wgmma.commit_group``."""


@record
class WgmmaWait(Effect):
    """``wgmma.wait_group N``."""

    pending: int


@record
class TensorAlloc(Effect):
    """``tcgen05.alloc``: writes the tensor-memory address to shared memory."""

    address: Address
    columns: Operand
    cta_group: int
    space: Space = Space.SHARED


@record
class TensorDealloc(Effect):
    """``tcgen05.dealloc``."""

    tensor: Operand
    columns: Operand
    cta_group: int


@record
class TensorRelinquish(Effect):
    """``tcgen05.relinquish_alloc_permit``."""

    cta_group: int


@record
class TensorMma(Effect):
    """``tcgen05.mma{.sp,.ws}``: ``d`` tensor memory; ``a`` a descriptor or (``a_tensor``) an address."""

    d: Operand
    a: Operand
    b: Operand
    a_tensor: bool
    cta_group: int
    scales: tuple[Operand, ...] = ()
    kind: str = ""
    idesc: Operand | None = field(default=None, compare=False)


@record
class TensorCopy(Effect):
    """``tcgen05.cp``: *rows* of *row_bytes* each, from shared memory by descriptor to tensor memory."""

    tensor: Operand
    descriptor: Operand
    cta_group: int
    rows: int
    row_bytes: int

    @property
    def size(self) -> int:
        """Bytes copied."""
        return self.rows * self.row_bytes


@record
class TensorShift(Effect):
    """``tcgen05.shift``."""

    tensor: Operand
    cta_group: int


@record
class TensorLoad(Effect):
    """``tcgen05.ld``: tensor memory to registers, by warp."""

    tensor: Operand
    dsts: tuple[Operand, ...]
    columns: int


@record
class TensorStore(Effect):
    """``tcgen05.st``."""

    tensor: Operand
    data: tuple[Operand, ...]
    columns: int


@record
class TensorWait(Effect):
    """``tcgen05.wait::ld`` / ``::st``."""

    loads: bool


@record
class TensorCommit(Effect):
    """``tcgen05.commit``: the mbarrier is arrived on (count 1) when prior operations are complete."""

    address: Address
    cta_group: int
    multicast: Operand | None = None
    space: Space = Space.GENERIC


@record
class TensorFence(Effect):
    """``tcgen05.fence::before_thread_sync`` / ``::after_thread_sync``."""

    before: bool


# --- tensor maps, launch control -----------------------------------------------------------------


@record
class TensormapReplace(Effect):
    """``tensormap.replace``: a weak generic write of the 128-byte object."""

    address: Address
    space: Space


@record
class TensormapCopyFence(Effect):
    """``tensormap.cp_fenceproxy``: shared to global copy and tensormap release."""

    destination: Address
    source: Address
    scope: str


@record
class LaunchCancel(Effect):
    """``clusterlaunchcontrol.try_cancel``: 16-byte async write to *address*, complete-tx 16."""

    address: Address
    mbarrier: Address
    multicast: bool


@record
class GridDependency(Effect):
    """``griddepcontrol.wait`` / ``.launch_dependents``."""

    wait: bool


@record
class BulkZero(Effect):
    """``st.bulk``: zero-fills shared memory through the generic proxy."""

    address: Address
    size: Operand
    space: Space


# --- control flow --------------------------------------------------------------------------------


@record
class Branch(Effect):
    """``bra``."""

    target: str
    uniform: bool


@record
class IndirectBranch(Effect):
    """``brx.idx``."""

    index: Operand
    table: str


@record
class Call(Effect):
    """``call``; ``function`` None for an indirect call through ``table`` (may be None)."""

    function: str | None
    arguments: tuple[Operand, ...]
    returns: tuple[Operand, ...]
    table: str | None = None


@record
class Return(Effect):
    """``ret``."""


@record
class Exit(Effect):
    """``exit``."""


@record
class Trap(Effect):
    """``trap``, and ``brkpt``-like ends of a path."""
