"""A function made ready to run: decoded, sliced, and bound to register slots.

Only what matters is kept: *events* (anything that touches shared memory, barriers, async units or
warps), what feeds their operands, and the branches that decide whether they run. A branch on which
nothing kept depends jumps to its immediate post-dominator.
"""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from ptxlint.engine.tensor_uses import loads_used
from ptxlint.flow.cfg import Cfg, Transfer, build_cfg
from ptxlint.flow.dominators import (
    Loop,
    immediate_dominators,
    immediate_postdominators,
    natural_loops,
    region,
)
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import (
    Address,
    FloatImmediate,
    Function,
    Group,
    Immediate,
    Instruction,
    Name,
    Not,
    Operand,
    Pair,
    Sink,
    Symbolic,
    Vector,
)
from ptxlint.records import field, fields, mutable_record, record

NORETURN = frozenset({"__assertfail", "__trap", "abort", "_ZSt9terminatev"})

# System calls that touch no memory of the CTA (CUDA C++ Programming Guide, formatted output and allocation).
HARMLESS = frozenset({"vprintf", "malloc", "free", "__nv_printf"})

# Effects that are values or control; all others are events.
# How often a wait in a loop of bounded tries answers False where waits are denied.
BOUNDED = 300

_PASSIVE = (fx.Compute, fx.Nothing, fx.Branch, fx.IndirectBranch, fx.Return, fx.Exit, fx.Trap)

# Effects that make a loop or a branch side worth taking.
MEMORY_EVENTS = (
    fx.BulkCopy,
    fx.CpAsync,
    fx.MbarrierArrive,
    fx.MbarrierWait,
    fx.MbarrierExpect,
    fx.WgmmaOp,
    fx.TensorMma,
    fx.TensorCopy,
    fx.TensorLoad,
    fx.TensorStore,
    fx.CtaBarrier,
    fx.LaunchCancel,
    fx.StoreAsync,
    fx.BulkWait,
    fx.BulkCommit,
    fx.TensorCommit,
    fx.MemoryAccess,
    fx.ProxyFence,
    fx.WgmmaWait,
    fx.CpAsyncWait,
    fx.BulkZero,
    fx.ClusterArrive,
    fx.TensorAlloc,
    fx.TensorDealloc,
)


# Those that make a loop a pipeline of its own.
PIPELINE_EVENTS = tuple(e for e in MEMORY_EVENTS if e not in (fx.MemoryAccess, fx.ProxyFence, fx.BulkZero))


class Event:
    """One kept instruction whose effect the machine executes.

    ``b`` holds the effect's operands bound: a slot for an operand, ``(slot, offset)`` for an address,
    tuples of slots for lists. Of a wait, ``spin`` tells that it is all there is to its loop,
    ``denials`` how often a False answer is worth trying, ``unused`` that nothing reads its result.
    """

    __slots__ = ("b", "denials", "effect", "guard", "instruction", "kind", "spin", "unused")

    def __init__(
        self,
        instruction: Instruction,
        effect: fx.Effect,
        guard: tuple[int, int] | None,
        bound: SimpleNamespace,
    ) -> None:
        self.instruction = instruction
        self.effect = effect
        self.kind = type(effect).__name__
        self.guard = guard
        self.b: Any = bound
        self.spin = False
        self.denials = 1
        self.unused = False

    def __repr__(self) -> str:
        return f"<event {self.instruction!r}>"


@record
class LoadsUsed(fx.Effect):
    """No instruction: from here on the ``tcgen05.ld`` at *sites* are complete, their results being used."""

    sites: tuple[int, ...]


class Alu:
    """One kept computation: slots of destinations and sources, and its description."""

    __slots__ = ("dsts", "effect", "guard", "instruction", "srcs")

    def __init__(
        self,
        instruction: Instruction,
        effect: fx.Compute,
        guard: tuple[int, int] | None,
        dsts: tuple[int, ...],
        srcs: tuple[int, ...],
    ) -> None:
        self.instruction = instruction
        self.effect = effect
        self.guard = guard
        self.dsts = dsts
        self.srcs = srcs


@mutable_record
class Exit:
    """How a block ends. ``kind``: fall, jump, branch, indirect, end (of the function) or trap."""

    kind: str
    targets: tuple[int, ...] = ()
    guard: tuple[int, int] | None = None
    index: int = -1
    join: int = -1
    instruction: Instruction | None = None


@mutable_record
class CodeBlock:
    """A basic block of kept items."""

    index: int
    items: list[Alu | Event] = field(default_factory=list)
    exit: Exit = field(default_factory=lambda: Exit("end"))
    steps: list[Any] = field(default_factory=list)


@mutable_record
class Code:
    """A function ready to run."""

    function: Function
    cfg: Cfg
    blocks: list[CodeBlock]
    slots: dict[str, int]
    constants: dict[int, Operand]
    slot_count: int
    ipdom: dict[int, int]
    loops: list[Loop]
    loop_of: dict[int, Loop]
    back_edges: set[tuple[int, int]]
    live_in: dict[int, tuple[int, ...]]
    weight: dict[int, int]
    events: list[Event]
    unknown: list[tuple[Instruction, str]]
    dead: set[int]
    effects: list[tuple[fx.Effect, ...]]
    headers: set[int] = field(default_factory=set)
    side_entries: dict[int, list[Loop]] = field(default_factory=dict)
    tracks_values: bool = False
    opaque_calls: list[Instruction] = field(default_factory=list)
    lost_branches: list[Instruction] = field(default_factory=list)
    global_events: bool = False
    exit_of: dict[int, Loop] = field(default_factory=dict)
    wants: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)

    def after_loop(self, header: int) -> int:
        """Return where control goes on behind the outermost loop with *header*."""
        blocks = next(loop.blocks for loop in reversed(self.loops) if loop.header == header)
        node = header
        while node in blocks:
            node = self.ipdom[node]
        return node


def operands_of(value: object) -> Iterable[Operand]:
    """Yield the operands inside an effect's field."""
    if isinstance(value, Address):
        if value.base is not None:
            yield value.base
        for part in value.rest:
            yield from operands_of(part)
    elif isinstance(value, (Vector, Group)):
        for part in value.elements:
            yield from operands_of(part)
    elif isinstance(value, Pair):
        yield from operands_of(value.first)
        yield from operands_of(value.second)
    elif isinstance(value, Not):
        yield value.operand
    elif isinstance(value, (Name, Immediate, FloatImmediate, Symbolic)):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from operands_of(part)


class Lowering:
    """Makes a ``Code`` of a function; one use."""

    def __init__(
        self,
        function: Function,
        effects: list[tuple[fx.Effect, ...]],
        has_body: Callable[[str], bool],
        global_events: bool = False,
    ) -> None:
        self.function = function
        self.effects = effects
        self.has_body = has_body
        self.global_events = global_events
        self.slots: dict[str, int] = {}
        self.constants: dict[int, Operand] = {}
        self._constant_slots: dict[object, int] = {}
        self.tracks_values = False
        self.used_loads: dict[int, list[int]] = {}
        self.unread: set[int] = set()  # what is kept for its own sake: nothing reads its results
        self.instructions = function.instructions

    def run(self) -> Code:
        cfg = self._cfg()
        dead = self._dead_blocks(cfg)
        self._drop(cfg, dead)
        ipdom = immediate_postdominators(cfg)
        idom = immediate_dominators(cfg)
        loops = natural_loops(cfg, idom)
        loop_of: dict[int, Loop] = {}
        for loop in loops:
            for inside in loop.blocks:
                loop_of.setdefault(inside, loop)
        reachable = set(idom)
        kept, branches = self._slice(cfg, ipdom, reachable - dead)
        blocks = [CodeBlock(block.index) for block in cfg.blocks]
        events: list[Event] = []
        unknown: list[tuple[Instruction, str]] = []
        self.used_loads = loads_used(self.instructions, self.effects, cfg)
        for block in cfg.blocks:
            if block.index not in reachable or block.index in dead:
                continue
            self._lower_block(cfg, block.index, blocks[block.index], kept, branches, ipdom, events, unknown)
        back = {(latch, loop.header) for loop in loops for latch in loop.latches}
        code = Code(
            self.function,
            cfg,
            blocks,
            self.slots,
            self.constants,
            0,
            ipdom,
            loops,
            loop_of,
            back,
            {},
            {},
            events,
            unknown,
            dead,
            self.effects,
        )
        code.opaque_calls = [
            self.instructions[at]
            for at, effects in enumerate(self.effects)
            for effect in effects
            if isinstance(effect, fx.Call) and self._is_opaque(effect)
        ]
        code.lost_branches = [
            self.instructions[at]
            for at, effects in enumerate(self.effects)
            for effect in effects
            if isinstance(effect, fx.Branch) and effect.target not in self.function.labels
        ]
        code.headers = {loop.header for loop in loops}
        for loop in loops:
            for entry in loop.side_entries:
                code.side_entries.setdefault(entry, []).append(loop)
        code.weight = self._weights(cfg, blocks)
        self._loop_exits(code)
        self._spins(code)
        self._unused(code)
        self._wants(code)
        code.live_in = self._liveness(code)
        code.tracks_values = self.tracks_values
        code.global_events = self.global_events
        code.slot_count = len(self.slots) + len(self._constant_slots)
        # Constants live behind the registers.
        return code

    def _is_opaque(self, call: fx.Call) -> bool:
        """Whether what *call* does is neither here nor known to touch no shared memory."""
        if call.function is None:
            return True
        return not (self.has_body(call.function) or call.function in HARMLESS | NORETURN)

    # -- control flow -----------------------------------------------------------------------------

    def _cfg(self) -> Cfg:
        transfers: dict[int, Transfer] = {}
        labels = self.function.labels
        count = len(self.instructions)
        for at, effects in enumerate(self.effects):
            if not effects:
                continue
            effect = effects[0]
            guarded = self.instructions[at].guard is not None
            if isinstance(effect, fx.Branch):
                target = labels.get(effect.target, count)
                transfers[at] = Transfer((target,), guarded)
            elif isinstance(effect, fx.IndirectBranch):
                names = self.function.targets.get(effect.table, ())
                transfers[at] = Transfer(tuple(labels.get(name, count) for name in names), guarded)
            elif isinstance(effect, (fx.Return, fx.Exit, fx.Trap)) or (
                isinstance(effect, fx.Call) and effect.function in NORETURN
            ):
                transfers[at] = Transfer((count,), guarded)
        return build_cfg(count, transfers, set(labels.values()))

    def _dead_blocks(self, cfg: Cfg) -> set[int]:
        """Blocks that lead only to a trap."""
        trapping: set[int] = set()
        for block in cfg.blocks:
            if block.end == block.start:
                continue
            last = block.end - 1
            effects = self.effects[last]
            if not effects or self.instructions[last].guard is not None:
                continue
            if isinstance(effects[0], fx.Trap) or (
                isinstance(effects[0], fx.Call) and effects[0].function in NORETURN
            ):
                trapping.add(block.index)
        work = list(trapping)
        while work:
            node = work.pop()
            for source in cfg.blocks[node].predecessors:
                if source not in trapping and all(
                    target in trapping for target in cfg.blocks[source].successors
                ):
                    trapping.add(source)
                    work.append(source)
        return set() if 0 in trapping else trapping

    @staticmethod
    def _drop(cfg: Cfg, dead: set[int]) -> None:
        for block in cfg.blocks:
            if block.index in dead:
                continue
            block.successors = [t for t in block.successors if t not in dead] or [cfg.exit]
            block.predecessors = [p for p in block.predecessors if p not in dead]

    # -- slice ------------------------------------------------------------------------------------

    def is_event(self, effect: fx.Effect) -> bool:
        """Return whether *effect* is executed for its own sake."""
        if isinstance(effect, (_PASSIVE, fx.Collective)):
            return isinstance(effect, fx.Collective) and effect.op not in ("activemask",)
        if isinstance(effect, fx.MemoryAccess):
            if effect.space in (fx.Space.SHARED, fx.Space.CLUSTER, fx.Space.GENERIC):
                return True
            if effect.space is fx.Space.GLOBAL:
                return self.global_events or effect.order is not fx.Order.WEAK
            return False
        if isinstance(effect, fx.Call):
            return effect.function is None or self.has_body(effect.function)
        return True

    def _slice(self, cfg: Cfg, ipdom: dict[int, int], alive: set[int]) -> tuple[set[int], set[int]]:
        definitions: dict[str, list[int]] = {}
        block_of: list[int] = [-1] * len(self.instructions)
        uses: list[tuple[str, ...]] = [()] * len(self.instructions)
        for block in cfg.blocks:
            if block.index not in alive:
                continue
            for at in range(block.start, block.end):
                block_of[at] = block.index
                instruction = self.instructions[at]
                uses[at] = semantics.uses(instruction)
                for name in semantics.definitions(instruction):
                    definitions.setdefault(name, []).append(at)
        local_stores: list[int] = []
        param_stores: list[int] = []
        kept: set[int] = set()
        asked: set[int] = set()  # those whose results something kept reads
        branches: set[int] = set()
        needed: set[str] = set()
        work: list[int] = []
        marked_blocks: set[int] = set()
        fresh_blocks: list[int] = []
        memory = {"local": False, "param": False, "shared": False}

        def need(name: str) -> None:
            if name not in needed:
                needed.add(name)
                work.extend(definitions.get(name, ()))

        def mark(at: int) -> None:
            if at in kept:
                return
            kept.add(at)
            block = block_of[at]
            if block not in marked_blocks:
                marked_blocks.add(block)
                fresh_blocks.append(block)
            instruction = self.instructions[at]
            effect = self.effects[at][0] if self.effects[at] else None
            if isinstance(effect, fx.MemoryAccess) and not effect.dsts and effect.rw is fx.Rw.WRITE:
                if instruction.guard is not None:
                    need(instruction.guard.register)
                for operand in operands_of(effect.address):
                    if isinstance(operand, Name):
                        need(operand.text)
                if not effect.matrix and (
                    effect.space in (fx.Space.LOCAL, fx.Space.PARAM) or memory["shared"]
                ):
                    for operand in operands_of(effect.data):
                        if isinstance(operand, Name):
                            need(operand.text)
                return
            if isinstance(effect, fx.Collective) and at not in asked:
                # Its lanes meet; what they exchange matters only where something kept reads it.
                if instruction.guard is not None:
                    need(instruction.guard.register)
                if isinstance(effect.membermask, Name):
                    need(effect.membermask.text)
                return
            for name in self._slice_uses(at, effect, uses[at]):
                need(name)

        events: list[int] = []
        branch_at: dict[int, int] = {}
        for block in cfg.blocks:
            if block.index not in alive:
                continue
            for at in range(block.start, block.end):
                for effect in self.effects[at]:
                    if isinstance(effect, fx.MemoryAccess) and effect.rw is not fx.Rw.READ:
                        if effect.space is fx.Space.LOCAL:
                            local_stores.append(at)
                        elif effect.space is fx.Space.PARAM:
                            param_stores.append(at)
                    if self.is_event(effect):
                        events.append(at)
            if block.end > block.start and len(block.successors) > 1:
                branch_at[block.index] = block.end - 1
        regions: dict[int, set[int]] = {}
        for index in branch_at:
            join = ipdom[index]
            covered: set[int] = set()
            for successor in cfg.blocks[index].successors:
                if successor != join:
                    covered |= region(cfg, successor, join)
            regions[index] = covered
        controllers: dict[int, list[int]] = {}
        for index, covered in regions.items():
            for number in covered:
                controllers.setdefault(number, []).append(index)
        for at in events:
            mark(at)
        while work or fresh_blocks:
            while work:
                at = work.pop()
                if at in asked:
                    continue
                asked.add(at)
                if self._is_meeting(at):
                    kept.discard(at)
                mark(at)
                for effect in self.effects[at]:
                    if not isinstance(effect, fx.MemoryAccess) or not effect.dsts:
                        continue
                    if effect.space in (fx.Space.LOCAL, fx.Space.GENERIC) and not memory["local"]:
                        memory["local"] = True
                        work.extend(local_stores)
                    if effect.space is fx.Space.PARAM and not memory["param"]:
                        memory["param"] = True
                        work.extend(param_stores)
            while fresh_blocks:
                fresh = fresh_blocks.pop()
                for index in controllers.get(fresh, ()):
                    if index not in branches:
                        branches.add(index)
                        at = branch_at[index]
                        guard = self.instructions[at].guard
                        if guard is not None:
                            need(guard.register)
                        if self.effects[at] and isinstance(self.effects[at][0], fx.IndirectBranch):
                            for name in uses[at]:
                                need(name)
                        if index not in marked_blocks:
                            marked_blocks.add(index)
                            fresh_blocks.append(index)
            if not memory["shared"] and self._reads_shared(kept, needed):
                memory["shared"] = self.tracks_values = True
                for at in list(kept):
                    stored = self.effects[at][0] if self.effects[at] else None
                    if (
                        isinstance(stored, fx.MemoryAccess)
                        and stored.rw is fx.Rw.WRITE
                        and stored.space is not fx.Space.LOCAL
                        and not stored.matrix
                        and stored.size <= 16
                    ):
                        for operand in operands_of(stored.data):
                            if isinstance(operand, Name):
                                need(operand.text)
        self.unread = kept - asked
        return kept, branches

    def _is_meeting(self, at: int) -> bool:
        """Whether instruction *at* is a collective: kept for its own sake, its values perhaps not."""
        return any(isinstance(effect, fx.Collective) for effect in self.effects[at])

    def _reads_shared(self, kept: set[int], needed: set[str]) -> bool:
        for at in kept:
            for effect in self.effects[at]:
                if (
                    isinstance(effect, fx.MemoryAccess)
                    and effect.space in (fx.Space.SHARED, fx.Space.GENERIC)
                    and not effect.matrix
                    and any(isinstance(d, Name) and d.text in needed for d in effect.dsts)
                ):
                    return True
        return False

    def _slice_uses(self, at: int, effect: fx.Effect | None, default: tuple[str, ...]) -> tuple[str, ...]:
        """The registers whose values the effect's execution needs."""
        skip: tuple[Operand, ...]
        if isinstance(effect, fx.Compute) and effect.op == "opaque" and len(self.effects[at]) == 1:
            # Whatever goes into arithmetic on floats, what comes out is unknown.
            guard = self.instructions[at].guard
            return (guard.register,) if guard is not None else ()
        if isinstance(effect, fx.WgmmaOp):
            skip = effect.accumulators + effect.a_registers
        elif isinstance(effect, fx.TensorStore) or (isinstance(effect, fx.MemoryAccess) and effect.matrix):
            skip = effect.data
        else:
            return default
        dropped = {operand.text for operand in skip if isinstance(operand, Name)}
        return tuple(name for name in default if name not in dropped)

    # -- binding ----------------------------------------------------------------------------------

    def slot(self, operand: Operand) -> int:
        """Return the slot of *operand*; constants get negative slots, counted from the end."""
        if isinstance(operand, Not):
            return self._named(f"!{operand.operand.text}")
        if isinstance(operand, Address):
            operand = operand.base if operand.base is not None else Immediate(operand.offset)
        if isinstance(operand, Name) and self._is_register(operand.text):
            found = self.slots.get(operand.text)
            if found is None:
                found = self.slots[operand.text] = len(self.slots)
            return found
        key: object = operand
        at = self._constant_slots.get(key)
        if at is None:
            at = self._constant_slots[key] = -1 - len(self._constant_slots)
            self.constants[at] = operand
        return at

    def _named(self, name: str) -> int:
        found = self.slots.get(name)
        if found is None:
            found = self.slots[name] = len(self.slots)
        return found

    def _negations(self, instruction: Instruction, effect: fx.Effect, out: CodeBlock) -> None:
        """Compute the negated predicates that *effect* reads, each into a slot of its own."""
        for entry in fields(effect):
            value = getattr(effect, entry)
            for operand in value if isinstance(value, tuple) else (value,):
                if isinstance(operand, Not):
                    negation = fx.Compute("not", (operand,), (operand.operand,), bits=1)
                    target, source = self.slot(operand), self.slot(operand.operand)
                    out.items.append(Alu(instruction, negation, None, (target,), (source,)))

    def _is_register(self, name: str) -> bool:
        return self.function.register_type(name) is not None

    def bind(self, effect: fx.Effect) -> SimpleNamespace:
        """Bind the operands of *effect* to slots."""
        bound = SimpleNamespace()
        for entry in fields(effect):
            value = getattr(effect, entry)
            if isinstance(value, Address):
                setattr(bound, entry, self._bind_address(value))
            elif isinstance(value, (Name, Immediate, Symbolic, FloatImmediate, Not)):
                setattr(bound, entry, self.slot(value))
            elif isinstance(value, Sink):
                setattr(bound, entry, None)
            elif isinstance(value, tuple):
                setattr(
                    bound,
                    entry,
                    tuple(
                        None if isinstance(part, Sink) else self.slot(part)
                        for part in value
                        if not isinstance(part, (str, int))
                    ),
                )
            elif isinstance(value, (Vector, Pair, Group)):
                setattr(bound, entry, tuple(self.slot(part) for part in operands_of(value)))
            elif value is None:
                setattr(bound, entry, None)
        return bound

    def _bind_address(self, address: Address) -> tuple[int, int]:
        if address.base is None:
            return self.slot(Immediate(address.offset)), 0
        return self.slot(address.base), address.offset

    def _guard(self, instruction: Instruction) -> tuple[int, int] | None:
        guard = instruction.guard
        if guard is None:
            return None
        return self.slot(Name(guard.register)), int(guard.negated)

    def _lower_block(
        self,
        cfg: Cfg,
        index: int,
        out: CodeBlock,
        kept: set[int],
        branches: set[int],
        ipdom: dict[int, int],
        events: list[Event],
        unknown: list[tuple[Instruction, str]],
    ) -> None:
        block = cfg.blocks[index]
        for at in range(block.start, block.end):
            instruction = self.instructions[at]
            for effect in self.effects[at]:
                if isinstance(effect, fx.Unknown):
                    unknown.append((instruction, effect.what))
            if at in self.used_loads:
                loads = LoadsUsed(tuple(self.used_loads[at]))
                out.items.append(Event(instruction, loads, None, SimpleNamespace()))
            if at not in kept:
                continue
            for effect in self.effects[at]:
                self._negations(instruction, effect, out)
                if isinstance(effect, fx.Compute):
                    out.items.append(
                        Alu(
                            instruction,
                            effect,
                            self._guard(instruction),
                            tuple(-(1 << 30) if isinstance(d, Sink) else self.slot(d) for d in effect.dsts),
                            tuple(self.slot(s) for s in effect.srcs),
                        )
                    )
                elif isinstance(effect, fx.Unknown):
                    dsts = tuple(Name(n) for n in semantics.definitions(instruction))
                    if dsts:
                        opaque = fx.Compute("opaque", dsts, ())
                        out.items.append(
                            Alu(
                                instruction, opaque, self._guard(instruction), tuple(map(self.slot, dsts)), ()
                            )
                        )
                elif not isinstance(effect, _PASSIVE):
                    bound = self.bind(effect)
                    if at in self.unread:
                        if isinstance(effect, fx.Collective):
                            bound.dsts = bound.srcs = ()
                        elif isinstance(effect, fx.MemoryAccess):
                            bound.dsts = ()
                    event = Event(instruction, effect, self._guard(instruction), bound)
                    out.items.append(event)
                    if self.is_event(effect):
                        events.append(event)
        out.exit = self._exit(cfg, index, branches, ipdom)

    def _exit(self, cfg: Cfg, index: int, branches: set[int], ipdom: dict[int, int]) -> Exit:
        block = cfg.blocks[index]
        join = ipdom[index]
        last = block.end - 1
        effects = self.effects[last] if block.end > block.start else ()
        effect = effects[0] if effects else None
        instruction = self.instructions[last] if block.end > block.start else None
        successors = tuple(block.successors)
        if len(successors) == 1:
            return Exit("jump", successors, instruction=instruction)
        if index not in branches:
            return Exit("jump", (join,), instruction=instruction)
        assert instruction is not None
        if isinstance(effect, fx.IndirectBranch):
            names = self.function.targets.get(effect.table, ())
            count = len(self.instructions)
            targets = tuple(
                cfg.block_at.get(self.function.labels.get(name, count), cfg.exit) for name in names
            )
            return Exit("indirect", targets, None, self.slot(effect.index), join, instruction)
        # successors[0] is the taken side, successors[1] the fall-through
        return Exit("branch", successors, self._guard(instruction), -1, join, instruction)

    # -- facts used by the oracle -----------------------------------------------------------------

    @staticmethod
    def _weights(cfg: Cfg, blocks: list[CodeBlock]) -> dict[int, int]:
        """Events reachable from each block, roughly: a saturating count over the graph."""
        own = {
            block.index: sum(
                1
                for item in block.items
                if isinstance(item, Event) and isinstance(item.effect, MEMORY_EVENTS)
            )
            for block in blocks
        }
        reach: dict[int, int] = {}
        bit: dict[int, int] = {}
        for block in blocks:
            if own[block.index]:
                bit[block.index] = 1 << len(bit)
        order = list(reversed(cfg.reverse_postorder()))
        changed = True
        while changed:
            changed = False
            for node in order:
                if node == cfg.exit:
                    continue
                value = bit.get(node, 0)
                for target in cfg.blocks[node].successors:
                    value |= reach.get(target, 0)
                if reach.get(node, 0) != value:
                    reach[node] = value
                    changed = True
        weights: dict[int, int] = {}
        names = {b: node for node, b in bit.items()}
        cache: dict[int, int] = {}
        for node, value in reach.items():
            if value not in cache:
                total = 0
                left = value
                while left:
                    low = left & -left
                    total += own[names[low]]
                    left ^= low
                cache[value] = total
            weights[node] = cache[value]
        weights[cfg.exit] = 0
        return weights

    @staticmethod
    def _loop_exits(code: Code) -> None:
        """Map each block that ends a loop's turn by a branch out of it to that (innermost) loop."""
        for loop in code.loops:
            for index in loop.blocks:
                block = code.blocks[index]
                if block.exit.kind != "branch" or index in code.exit_of:
                    continue
                inside = [t in loop.blocks for t in block.exit.targets]
                if any(inside) and not all(inside):
                    code.exit_of[index] = loop

    @staticmethod
    def _spins(code: Code) -> None:
        """Mark waits that sit in a loop with nothing else in it, which only they can end.

        Where several waits can end a loop, they may do so one without the other: each is tried with
        another number of False answers.
        """
        several: set[Event] = set()
        for loop in sorted(code.loops, key=lambda loop: len(loop.blocks)):
            waits = []
            other = False
            for index in sorted(loop.blocks):
                for item in code.blocks[index].items:
                    if isinstance(item, Event) and not isinstance(item.effect, fx.Collective):
                        if isinstance(item.effect, fx.MbarrierWait):
                            waits.append(item)
                        elif not isinstance(item.effect, fx.ThreadFence):
                            other = True
            if other or not waits:
                continue
            only = _only_waits_decide(code, loop, waits)
            open_ = [wait for wait in waits if not wait.spin and wait not in several]
            if only and len(open_) > 1:
                several.update(open_)
                for rank, wait in enumerate(open_):
                    wait.denials = 1 + rank
                continue
            for wait in open_:
                wait.spin = only
                wait.denials = 1 if only else BOUNDED

    @staticmethod
    def _unused(code: Code) -> None:
        """Mark waits whose result nothing reads: they order nothing."""
        used: set[str] = set()
        for instruction in code.function.instructions:
            used.update(semantics.uses(instruction))
        for event in code.events:
            if isinstance(event.effect, fx.MbarrierWait):
                name = getattr(event.effect.dst, "text", "_")
                event.unused = name not in used

    @staticmethod
    def _wants(code: Code) -> None:
        """For each predicate slot: the branches and guards that use it (block or -1, negated)."""
        for block in code.blocks:
            if block.exit.kind == "branch" and block.exit.guard is not None:
                slot, negated = block.exit.guard
                code.wants.setdefault(slot, []).append((block.index, bool(negated)))
            for item in block.items:
                if item.guard is not None and isinstance(item, Event):
                    code.wants.setdefault(item.guard[0], []).append((-1, bool(item.guard[1])))

    @staticmethod
    def _liveness(code: Code) -> dict[int, tuple[int, ...]]:
        gen: dict[int, int] = {}
        kill: dict[int, int] = {}
        for block in code.blocks:
            used = 0
            defined = 0
            for item in block.items:
                reads, writes = item_slots(item)
                for slot in reads:
                    if slot >= 0 and not defined >> slot & 1:
                        used |= 1 << slot
                if item.guard is not None:
                    for slot in writes:
                        if slot >= 0 and not defined >> slot & 1:
                            used |= 1 << slot
                else:
                    for slot in writes:
                        if slot >= 0:
                            defined |= 1 << slot
            exit_ = block.exit
            for read in (exit_.guard[0] if exit_.guard else -1, exit_.index):
                if read >= 0 and not defined >> read & 1:
                    used |= 1 << read
            gen[block.index] = used
            kill[block.index] = defined
        live: dict[int, int] = {block.index: 0 for block in code.blocks}
        live[code.cfg.exit] = 0
        changed = True
        while changed:
            changed = False
            for block in reversed(code.blocks):
                out = 0
                for target in block.exit.targets:
                    out |= live.get(target, 0)
                new = gen[block.index] | (out & ~kill[block.index])
                if new != live[block.index]:
                    live[block.index] = new
                    changed = True
        result: dict[int, tuple[int, ...]] = {}
        for index, bits in live.items():
            found = []
            while bits:
                low = bits & -bits
                found.append(low.bit_length() - 1)
                bits ^= low
            result[index] = tuple(found)
        return result


def _only_waits_decide(code: Code, loop: Loop, waits: list[Event]) -> bool:
    """Return whether the branches out of *loop* depend on nothing but the results of *waits*."""
    derived = {wait.b.dst for wait in waits}
    blocks = [code.blocks[index] for index in sorted(loop.blocks)]
    for _ in range(3):
        for block in blocks:
            for item in block.items:
                if isinstance(item, Alu) and all(src < 0 or src in derived for src in item.srcs):
                    if any(src in derived for src in item.srcs):
                        derived.update(dst for dst in item.dsts if dst >= 0)
    return all(
        block.exit.guard is not None and block.exit.guard[0] in derived
        for block in blocks
        if block.exit.kind == "branch" and any(target not in loop.blocks for target in block.exit.targets)
    )


def item_slots(item: Alu | Event) -> tuple[list[int], list[int]]:
    """Return the slots that *item* reads and writes."""
    reads: list[int] = []
    writes: list[int] = []
    if item.guard is not None:
        reads.append(item.guard[0])
    if isinstance(item, Alu):
        reads.extend(item.srcs)
        writes.extend(d for d in item.dsts if d > -(1 << 30))
        return reads, writes
    for name, value in vars(item.b).items():
        if name in ("dst", "dsts", "returns"):
            target = writes
        elif name in ("accumulators", "a_registers"):
            continue
        else:
            target = reads
        if isinstance(value, int):
            target.append(value)
        elif isinstance(value, tuple):
            if name.endswith(("address", "destination", "source", "mbarrier", "tensor_map", "tensor")) or (
                name in ("d", "a", "b")
            ):
                target.append(value[0])
            else:
                target.extend(v for v in value if isinstance(v, int))
    return reads, writes
