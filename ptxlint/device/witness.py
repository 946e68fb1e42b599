"""Witness schedules: the same program, with one access as late as its own synchronisation allows.

A bulk store may be performed at any moment between its issue and the wait that forces it (PTX ISA
9.7.9.25.2). The witness puts each bulk store into a queue in local memory instead and issues it where the
issuing thread's own ``wait_group`` forces it, after a delay, or at the thread's exit. Any other access is held
back by a delay before it in its thread. A correct kernel computes the same under every witness; a hazardous one
need not.
"""

import math
import re
from contextlib import suppress

from ptxlint.fix.edits import Edit, apply, insertion_before
from ptxlint.fix.places import Places, has
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Instruction, Module
from ptxlint.records import record
from ptxlint.report.finding import Finding
from ptxlint.report.summary import plural

QUEUE = "__ptxlint_queue"
CAPACITY = 64  # entries; a power of two
DELAY_TURNS = 40
DELAY_NANOSECONDS = 20_000  # a turn

# What is found in the order in which it does harm: the refill, then the access that comes after the release.
_AFTER_RELEASE = frozenset({"PTX303"})
# From a function's start to the brace that opens its body, over comments and strings.
_OPENING = re.compile(r'(?://[^\n]*|/\*.*?\*/|"[^"]*"|[^{"])*?\{', re.DOTALL)
_WIDTHS = {
    "b8": 1,
    "s8": 1,
    "u8": 1,
    "b16": 2,
    "s16": 2,
    "u16": 2,
    "f16": 2,
    "b64": 8,
    "s64": 8,
    "u64": 8,
    "f64": 8,
}


class WitnessError(Exception):
    """No witness schedule can be made; the text says why."""


@record
class Witness:
    """A rewritten text: what was deferred or held back, in words."""

    text: str
    what: str


def witness(module: Module, function: Function, finding: Finding) -> Witness:
    """Return the schedule in which the access of *finding* that should come first comes late.

    Raises:
        WitnessError: the finding has no such access in this kernel, or it cannot be moved.
    """
    places = Places(module, function, finding)
    late = late_access(places)
    if late is None:
        raise WitnessError(f"{finding.code} does not name two accesses of the kernel")
    if is_bulk_store(late):
        return defer_stores(module, function)
    holding, where = _holding(function, finding)
    text = held_back(module, places.copies(late), holding)
    return Witness(text, f"{_shown(late)} is held back in {where}")


def late_access(places: Places) -> Instruction | None:
    """Return the access that a witness makes late: the one that the program means to come first."""
    if places.first is None:
        return None
    return places.second if places.finding.code in _AFTER_RELEASE else places.first


def witness_text(text: str, path: str, kernel: str, finding: Finding) -> Witness:
    """Return the schedule for a finding of *kernel* in a PTX text.

    Raises:
        WitnessError: there is none.
    """
    module = parse(text, path)
    function = next((f for f in module.functions if f.is_entry and f.name == kernel), None)
    if function is None:
        raise WitnessError(f"there is no kernel {kernel!r}")
    return witness(module, function, finding)


def all_witnesses(module: Module, function: Function) -> list[Witness]:
    """Return every schedule that can be made for the asynchronous operations of a kernel."""
    found = []
    if any(is_bulk_store(i) for i in function.instructions):
        with suppress(WitnessError):
            found.append(defer_stores(module, function))
    held = [
        i
        for i in function.instructions
        if has(i, fx.BulkCopy, fx.MbarrierArrive, fx.WgmmaOp) and not is_bulk_store(i)
    ]
    for instruction in held:
        text = held_back(module, [instruction])
        line = module.position(instruction).line
        found.append(Witness(text, f"{_shown(instruction)} of line {line} is held back in its thread"))
    return found


def _holding(function: Function, finding: Finding) -> tuple[tuple[str, ...], str]:
    """Return what leaves out all but the threads that are to be late, and in words which are.

    Where two warps are at odds only the one of the late access is; where it is one warp of two CTAs, one of each
    two CTAs. Threads that are all late by the same time would meet as if none were.
    """
    actors = {step.role: re.search(r"warp (\d+)", step.actor) for step in finding.trace}
    late, early = actors.get("first"), actors.get("second")
    if finding.code in _AFTER_RELEASE:
        late, early = early, late
    if late is not None and early is not None and late[1] != early[1]:
        return (*_WARP, f"setp.ne.u32 %ptxlint_p, %ptxlint_i, {late[1]};", _SKIP), f"warp {late[1]}"
    shape = function.directives.get("reqnctapercluster", ())
    if math.prod(shape) > 1:
        return (*_RANK, "setp.eq.u32 %ptxlint_p, %ptxlint_i, 0;", _SKIP), "the CTAs of odd rank"
    return (), "its thread"


_SKIP = "@%ptxlint_p bra ptxlint_skip;"
# The warp of a thread: its linear index in the CTA by 32.
_WARP = (
    "mov.u32 %ptxlint_i, %tid.z; mov.u32 %ptxlint_j, %ntid.y; mul.lo.u32 %ptxlint_i, %ptxlint_i, %ptxlint_j;",
    "mov.u32 %ptxlint_j, %tid.y; add.u32 %ptxlint_i, %ptxlint_i, %ptxlint_j;",
    "mov.u32 %ptxlint_j, %ntid.x; mul.lo.u32 %ptxlint_i, %ptxlint_i, %ptxlint_j;",
    "mov.u32 %ptxlint_j, %tid.x; add.u32 %ptxlint_i, %ptxlint_i, %ptxlint_j; shr.u32 %ptxlint_i, %ptxlint_i, 5;",
)
_RANK = ("mov.u32 %ptxlint_i, %cluster_ctarank; and.b32 %ptxlint_i, %ptxlint_i, 1;",)
_DELAY = (
    "{ .reg .pred %ptxlint_p; .reg .b32 %ptxlint_i; "
    f"mov.b32 %ptxlint_i, {DELAY_TURNS}; ptxlint_delay: nanosleep.u32 {DELAY_NANOSECONDS}; "
    "sub.u32 %ptxlint_i, %ptxlint_i, 1; setp.ne.u32 %ptxlint_p, %ptxlint_i, 0; "
    "@%ptxlint_p bra ptxlint_delay; }"
)


def held_back(module: Module, anchors: list[Instruction], holding: tuple[str, ...] = ()) -> str:
    """Return the text with a delay before each of *anchors*, where its guard holds and *holding* does not skip it."""
    text = module.source.text
    edits = []
    for anchor in anchors:
        skips = [*_guard_skips(anchor), *holding]
        delay = _DELAY
        if skips:
            declared = "{ .reg .pred %ptxlint_p; .reg .b32 %ptxlint_i, %ptxlint_j;"
            delay = "\n\t".join([declared, *skips, _DELAY, "ptxlint_skip: }"])
        edits.append(insertion_before(text, anchor.offset, delay))
    return apply(text, edits)


def _guard_skips(instruction: Instruction) -> tuple[str, ...]:
    """Return the branch over what stands for *instruction* where its guard does not hold."""
    guard = instruction.guard
    if guard is None:
        return ()
    return (f"@{'' if guard.negated else '!'}{_plain(guard.register)} bra ptxlint_skip;",)


def defer_stores(module: Module, function: Function) -> Witness:
    """Return the text in which each bulk store is issued where a wait of its thread forces it, or at exit.

    Raises:
        WitnessError: the kernel calls functions that are not inlined and may wait.
    """
    if any(has(i, fx.Call) for i in function.instructions) and len(module.functions) > 1:
        raise WitnessError("the kernel calls functions: bulk stores are not deferred across calls")
    deferral = _Deferral(module, function)
    return Witness(
        deferral.rewritten(),
        f"{plural(len(deferral.sites), 'bulk store is', 'bulk stores are')} deferred to the waits that force them",
    )


def is_bulk_store(instruction: Instruction) -> bool:
    """Return whether *instruction* is a bulk copy that a bulk async-group tracks."""
    return any(isinstance(e, fx.BulkCopy) and e.bulk_group for e in semantics.decode(instruction))


def _shown(instruction: Instruction) -> str:
    return ".".join(instruction.opcode.split(".")[:3])


class _Deferral:
    """Rewrites one kernel; each thread has a queue of the bulk stores that it has not issued yet."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.text = module.source.text
        self.sites = [i for i in function.instructions if is_bulk_store(i)]
        self.registers = {i.index: self._saved(i) for i in self.sites}
        self.slots = max((len(r) for r in self.registers.values()), default=0)
        self.entry = 8 + 8 * self.slots
        self.number = 0

    def rewritten(self) -> str:
        """Return the text of the witness."""
        edits = [self._entry_edit()]
        for instruction in self.function.instructions:
            effects = semantics.decode(instruction)
            if instruction in self.sites:
                edits.append(self._replaced(instruction, self._enqueue(instruction)))
                continue
            for effect in effects:
                if isinstance(effect, fx.BulkCommit):
                    step = "add.u32 %ptxlint_group, %ptxlint_group, 1;"
                    edits.append(self._replaced(instruction, self._guarded(instruction, step)))
                elif isinstance(effect, fx.BulkWait):
                    read = ".read" if effect.read else ""
                    body = [
                        f"sub.s32 %ptxlint_limit, %ptxlint_group, {effect.pending};",
                        *self._dawdle(),
                        *self._flush(),
                        "cp.async.bulk.commit_group;",
                        f"cp.async.bulk.wait_group{read} 0;",
                    ]
                    edits.append(self._replaced(instruction, self._guarded(instruction, "\n\t".join(body))))
                elif isinstance(effect, (fx.Return, fx.Exit)):
                    body = [
                        "mov.b32 %ptxlint_limit, 0x7fffffff;",
                        *self._flush(),
                        "cp.async.bulk.commit_group;",
                    ]
                    flush = self._guarded(instruction, "\n\t".join(body))
                    edits.append(insertion_before(self.text, instruction.offset, flush))
        return apply(self.text, edits)

    def _entry_edit(self) -> Edit:
        """Declare and clear the queue where the body opens: before every label, outside of every inner scope."""
        opening = _OPENING.match(self.text, self.function.offset)
        if opening is None:
            raise WitnessError(f"the body of {self.function.name} is not found")
        lines = [
            f".local .align 8 .b8 {QUEUE}[{CAPACITY * self.entry}];",
            ".reg .b32 %ptxlint_head, %ptxlint_tail, %ptxlint_group, %ptxlint_limit;",
            "mov.b32 %ptxlint_head, 0;",
            "mov.b32 %ptxlint_tail, 0;",
            "mov.b32 %ptxlint_group, 0;",
        ]
        return Edit(opening.end(), opening.end(), "\n\t" + "\n\t".join(lines))

    def _replaced(self, instruction: Instruction, code: str) -> Edit:
        return Edit(instruction.offset, instruction.end, code)

    def _guarded(self, instruction: Instruction, body: str) -> str:
        """Return *body* in a block of its own, skipped where the guard of *instruction* does not hold."""
        skip = "".join(f"{line}\n\t" for line in _guard_skips(instruction))
        return (
            "{\n\t.reg .pred %ptxlint_p;\n\t.reg .b32 %ptxlint_a, %ptxlint_b;\n\t.reg .b64 %ptxlint_at;\n\t"
            f"{skip}{body}\n\tptxlint_skip:\n\t}}"
        )

    def _place(self, index: str) -> list[str]:
        return [
            f"and.b32 %ptxlint_a, {index}, {CAPACITY - 1};",
            f"mov.u64 %ptxlint_at, {QUEUE};",
            f"mul.lo.u32 %ptxlint_a, %ptxlint_a, {self.entry};",
            "{ .reg .b64 %ptxlint_w; cvt.u64.u32 %ptxlint_w, %ptxlint_a; "
            "add.u64 %ptxlint_at, %ptxlint_at, %ptxlint_w; }",
        ]

    def _enqueue(self, instruction: Instruction) -> str:
        site = self.sites.index(instruction)
        self.number += 1
        free = f"ptxlint_free{self.number}"
        lines = [
            "sub.u32 %ptxlint_a, %ptxlint_tail, %ptxlint_head;",
            f"setp.lt.u32 %ptxlint_p, %ptxlint_a, {CAPACITY};",
            f"@%ptxlint_p bra {free};",
            "mov.b32 %ptxlint_limit, 0x7fffffff;",
            *self._flush(),
            "cp.async.bulk.commit_group;",
            f"{free}:",
            *self._place("%ptxlint_tail"),
            f"mov.b32 %ptxlint_b, {site};",
            "st.local.b32 [%ptxlint_at], %ptxlint_b;",
            "st.local.b32 [%ptxlint_at+4], %ptxlint_group;",
        ]
        for number, (name, kind) in enumerate(self.registers[instruction.index]):
            lines.append(f"st.local.b{8 * _width(kind)} [%ptxlint_at+{8 + 8 * number}], {name};")
        lines.append("add.u32 %ptxlint_tail, %ptxlint_tail, 1;")
        return self._guarded(instruction, "\n\t".join(lines))

    def _dawdle(self) -> list[str]:
        """Be late with what is queued: other threads go on as far as they can."""
        self.number += 1
        return [
            "setp.eq.u32 %ptxlint_p, %ptxlint_head, %ptxlint_tail;",
            f"@%ptxlint_p bra ptxlint_hurry{self.number};",
            _DELAY,
            f"ptxlint_hurry{self.number}:",
        ]

    def _flush(self) -> list[str]:
        """Issue the queued stores of the groups below ``%ptxlint_limit``, in order."""
        self.number += 1
        n = self.number
        lines = [
            f"ptxlint_next{n}:",
            "setp.eq.u32 %ptxlint_p, %ptxlint_head, %ptxlint_tail;",
            f"@%ptxlint_p bra ptxlint_done{n};",
            *self._place("%ptxlint_head"),
            "ld.local.b32 %ptxlint_b, [%ptxlint_at+4];",
            "setp.ge.s32 %ptxlint_p, %ptxlint_b, %ptxlint_limit;",
            f"@%ptxlint_p bra ptxlint_done{n};",
            "add.u32 %ptxlint_head, %ptxlint_head, 1;",
            "ld.local.b32 %ptxlint_b, [%ptxlint_at];",
        ]
        for site, instruction in enumerate(self.sites):
            lines += [
                f"setp.ne.u32 %ptxlint_p, %ptxlint_b, {site};",
                f"@%ptxlint_p bra ptxlint_other{n}_{site};",
                self._issue(instruction),
                f"bra ptxlint_next{n};",
                f"ptxlint_other{n}_{site}:",
            ]
        return [*lines, f"bra ptxlint_next{n};", f"ptxlint_done{n}:"]

    def _issue(self, instruction: Instruction) -> str:
        """Return the store with its operands taken from the queue's entry."""
        statement = self.text[instruction.offset : instruction.end]
        if instruction.guard is not None:
            statement = re.sub(r"^@!?[%$\w]+\s*", "", statement)
        declared, loads = [], []
        for number, (name, kind) in enumerate(self.registers[instruction.index]):
            saved = f"%ptxlint_o{number}"
            width = 8 * _width(kind)
            declared.append(f".reg .b{width} {saved};")
            loads.append(f"ld.local.b{width} {saved}, [%ptxlint_at+{8 + 8 * number}];")
            statement = re.sub(rf"(?<![\w$%.]){re.escape(name)}(?![\w$])", saved, statement)
        return "{ " + " ".join([*declared, *loads, statement]) + " }"

    def _saved(self, instruction: Instruction) -> list[tuple[str, str]]:
        """Return the registers that *instruction* reads, each with its type."""
        guard = instruction.guard.register if instruction.guard is not None else None
        found = []
        for name in dict.fromkeys(semantics.uses(instruction)):
            kind = self.function.register_type(name)
            if name != guard and kind is not None:
                found.append((_plain(name), kind))
        return found


def _plain(name: str) -> str:
    """Return a register's name as it is written."""
    return name.split("#")[0]


def _width(kind: str) -> int:
    return _WIDTHS.get(kind.lstrip("."), 4)
