"""The ways to break a kernel, and for each the rules of which one must report it.

A mutant deletes, weakens or moves one fence, wait, commit, arrive, barrier, init, parity flip or expect-tx.
``fence.mbarrier_init`` is left alone: it matters between CTAs of a cluster, and these kernels have none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Immediate, Name, Operand
from tests.mutants.edits import Editor

# Prefixes of the codes that name what an operator breaks.
FENCES = ("PTX101", "PTX102", "PTX103", "PTX104", "PTX105")
GROUPS = ("PTX20",)
COPIES = ("PTX40", "PTX104")
ORDER = ("PTX301", "PTX302", "PTX303", "PTX304", "PTX208", "PTX501", "PTX511", "PTX516")
WAITS = (*ORDER, "PTX101", "PTX201", "PTX202", "PTX306", "PTX312", "PTX512")
PARITIES = (*ORDER, "PTX201", "PTX202", "PTX312", "PTX512")
RELEASES = (*ORDER, "PTX101", "PTX102", "PTX201", "PTX202", "PTX309")
BARRIERS = (
    *ORDER,
    "PTX101",
    "PTX102",
    "PTX103",
    "PTX201",
    "PTX202",
    "PTX204",
    "PTX307",
    "PTX308",
    "PTX309",
    "PTX401",
    "PTX51",
)
BYTES = ("PTX305", "PTX301", "PTX304")
WGMMA = ("PTX501", "PTX502", "PTX503")

SHARED = (fx.Space.SHARED, fx.Space.GENERIC)
ASYNC = (fx.BulkCopy, fx.WgmmaOp, fx.TensorMma, fx.TensorCopy, fx.LaunchCancel)
RELEASING = (fx.MbarrierArrive, fx.TensorCommit)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed kernel: the operator, the statement changed and its line, the new text, the codes due.

    ``nth`` counts the mutants of the same operator and statement text from 1, in the order of the file.
    """

    operator: str
    statement: str
    nth: int
    line: int
    text: str
    family: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        """What names this mutant within its kernel, whatever its line number."""
        return self.operator, self.statement, self.nth


def touches(effect: fx.Effect) -> bool:
    """Return whether *effect* reads or writes shared memory through the generic proxy."""
    return isinstance(effect, fx.MemoryAccess) and effect.space in SHARED


def uses(effect: fx.Effect) -> bool:
    """Return whether *effect* reads or writes shared or tensor memory, through any proxy."""
    return touches(effect) or isinstance(effect, (*ASYNC, fx.TensorLoad))


def releases(effect: fx.Effect) -> bool:
    """Return whether *effect* gives a stage back (an arrive that expects bytes announces a load)."""
    return isinstance(effect, RELEASING) and getattr(effect, "expect", None) is None


def mutants(text: str) -> Iterator[Mutant]:
    """Yield the mutants of a PTX text."""
    module = parse(text, "mutant.ptx")
    seen: dict[tuple[str, str], int] = {}
    for function in module.functions:
        editor = Editor(module, function)
        flips = parity_flips(editor)
        for at, instruction in enumerate(editor.instructions):
            statement = " ".join(editor.statement(instruction).split())
            changes = [c for effect in editor.effects[at] for c in changes_of(editor, at, effect)]
            if at in flips:
                changes.append(("parity flip deleted", flips[at], PARITIES))
            for operator, changed, family in changes:
                if changed is None or changed == text:
                    continue
                nth = seen[operator, statement] = seen.get((operator, statement), 0) + 1
                line = module.position(instruction).line
                yield Mutant(operator, statement, nth, line, changed, family)


Change = tuple[str, str | None, tuple[str, ...]]


def changes_of(editor: Editor, at: int, effect: fx.Effect) -> Iterator[Change]:
    """Yield (operator, new text, codes) for each way to break *effect* of instruction *at*."""
    if isinstance(effect, fx.ProxyFence):
        yield from _fence(editor, at, effect)
    elif isinstance(effect, (fx.BulkWait, fx.CpAsyncWait, fx.WgmmaWait, fx.TensorWait)):
        yield from _group_wait(editor, at, effect)
    elif isinstance(effect, (fx.BulkCommit, fx.CpAsyncCommit, fx.WgmmaCommit, fx.TensorCommit)):
        yield from _commit(editor, at, effect)
    elif isinstance(effect, fx.MbarrierWait):
        yield from _mbarrier_wait(editor, at, effect)
    elif isinstance(effect, (fx.MbarrierArrive, fx.MbarrierExpect)):
        yield from _arrive(editor, at, effect)
    elif isinstance(effect, fx.MbarrierInit):
        instruction = editor.instructions[at]
        yield "init deleted", editor.deleted(instruction), ("PTX307",)
        yield "init count raised", raised(editor, at, effect.count, 1), ("PTX312", "PTX402")
    elif isinstance(effect, fx.CtaBarrier) and not effect.arrive_only and effect.dst is None:
        yield "CTA barrier deleted", editor.deleted(editor.instructions[at]), BARRIERS
    elif isinstance(effect, fx.WarpBarrier):
        yield "warp barrier deleted", editor.deleted(editor.instructions[at]), BARRIERS
    elif isinstance(effect, fx.WgmmaFence):
        yield "wgmma fence deleted", editor.deleted(editor.instructions[at]), WGMMA
    elif isinstance(effect, fx.TensorFence):
        yield "tcgen05 fence deleted", editor.deleted(editor.instructions[at]), ("PTX514",)


def _fence(editor: Editor, at: int, effect: fx.ProxyFence) -> Iterator[Change]:
    if effect.kind != "async" or "shared" not in effect.spaces:
        return
    instruction = editor.instructions[at]
    yield "proxy fence deleted", editor.deleted(instruction), FENCES
    yield "proxy fence made a thread fence", editor.replaced(instruction, "fence.acq_rel.cta;"), FENCES
    yield (
        "proxy fence made one of global memory",
        editor.replaced(instruction, "fence.proxy.async.global;"),
        FENCES,
    )
    access = editor.earliest(at, touches)
    if access is not None:
        yield "proxy fence moved before the accesses", editor.moved_up(at, access), FENCES
    # Behind a CTA barrier the issuing thread still performs it before the copy: that does as well.
    release = editor.later(at, lambda e: isinstance(e, (*RELEASING, *ASYNC)))
    if release is not None:
        yield "proxy fence moved after the release", editor.moved_down(at, release), FENCES


def _group_wait(
    editor: Editor, at: int, effect: fx.BulkWait | fx.CpAsyncWait | fx.WgmmaWait | fx.TensorWait
) -> Iterator[Change]:
    instruction = editor.instructions[at]
    family: tuple[str, ...]
    if isinstance(effect, fx.TensorWait):
        name, family = "tcgen05 wait", ("PTX512",) if effect.loads else ("PTX513",)
    elif isinstance(effect, fx.WgmmaWait):
        name, family = "wgmma wait", WGMMA
    else:
        name, family = "wait_group", GROUPS if isinstance(effect, fx.BulkWait) else COPIES
    yield f"{name} deleted", editor.deleted(instruction), family
    if not isinstance(effect, fx.TensorWait):
        statement = editor.statement(instruction)
        number = str(effect.pending)
        place = statement.rfind(number)
        weaker = statement[:place] + str(effect.pending + 1) + statement[place + len(number) :]
        yield f"{name} weakened", editor.replaced(instruction, weaker), family
    told = (fx.CtaBarrier,) if isinstance(effect, (fx.BulkWait, fx.CpAsyncWait)) else ()
    use = editor.later(at, lambda e: uses(e) or releases(e) or isinstance(e, told))
    if use is not None and not isinstance(effect, fx.TensorWait):
        yield f"{name} moved after the use", editor.moved_down(at, use), family


def _commit(
    editor: Editor, at: int, effect: fx.BulkCommit | fx.CpAsyncCommit | fx.WgmmaCommit | fx.TensorCommit
) -> Iterator[Change]:
    instruction = editor.instructions[at]
    copies: tuple[type[fx.Effect], ...]
    family: tuple[str, ...]
    if isinstance(effect, fx.BulkCommit):
        name, family, copies = "commit_group", GROUPS, (fx.BulkCopy,)
    elif isinstance(effect, fx.CpAsyncCommit):
        name, family, copies = "commit_group", COPIES, (fx.CpAsync,)
    elif isinstance(effect, fx.WgmmaCommit):
        name, family, copies = "wgmma commit", WGMMA, (fx.WgmmaOp,)
    else:
        name, family = "tcgen05 commit", ("PTX511", "PTX516", "PTX312")
        copies = (fx.TensorMma, fx.TensorCopy)
    yield f"{name} deleted", editor.deleted(instruction), family
    copy = editor.earlier(at, lambda e: isinstance(e, copies))
    if copy is not None:
        yield f"{name} moved before the copy", editor.moved_up(at, copy), family


def _mbarrier_wait(editor: Editor, at: int, effect: fx.MbarrierWait) -> Iterator[Change]:
    instruction = editor.instructions[at]
    if isinstance(effect.dst, Name):
        done = f"setp.eq.u32 {_plain(effect.dst)}, 0, 0;"
        yield "mbarrier wait taken as done", editor.replaced(instruction, done), WAITS
    use = editor.later(at, uses)
    if use is not None:
        yield "mbarrier wait moved after the use", editor.moved_down(at, use), WAITS
    if effect.parity is not None:
        statement = editor.statement(instruction)
        place = statement.rindex("]") + 1
        parity = _plain(effect.parity)
        rest = statement[place:].replace(parity, "%inverted", 1)
        inverted = f"{{ .reg .b32 %inverted; xor.b32 %inverted, {parity}, 1; {statement[:place]}{rest} }}"
        yield "parity inverted", editor.replaced(instruction, inverted), PARITIES


def _arrive(editor: Editor, at: int, effect: fx.MbarrierArrive | fx.MbarrierExpect) -> Iterator[Change]:
    instruction = editor.instructions[at]
    bare = not isinstance(getattr(effect, "dst", None), Name)
    amount = effect.bytes if isinstance(effect, fx.MbarrierExpect) else effect.expect
    if amount is not None:
        yield "expect-tx raised", raised(editor, at, amount, 16), BYTES
        if isinstance(effect, fx.MbarrierExpect):
            yield "expect-tx deleted", editor.deleted(instruction), (*BYTES, "PTX310")
            return
        statement = editor.statement(instruction)
        without = statement.replace(".expect_tx", "")
        place = without.rindex("]") + 1
        yield "expect-tx deleted", editor.replaced(instruction, without[:place] + ";"), (*BYTES, "PTX310")
        if bare:
            yield "arrive with expect-tx deleted", editor.deleted(instruction), (*BYTES, "PTX312")
        return
    if bare:
        yield "arrive deleted", editor.deleted(instruction), ("PTX312",)
        access = editor.earlier(at, lambda e: uses(e) or isinstance(e, (fx.WgmmaWait, fx.BulkWait)))
        if access is not None:
            yield "arrive moved before the access", editor.moved_up(at, access), RELEASES


def raised(editor: Editor, at: int, operand: Operand, by: int) -> str | None:
    """Return the text with *operand*, the last of instruction *at*, larger by *by*."""
    instruction = editor.instructions[at]
    statement = editor.statement(instruction)
    place = statement.rindex("]") + 1
    if isinstance(operand, Immediate):
        return editor.replaced(instruction, f"{statement[:place]}, {operand.value + by};")
    if not isinstance(operand, Name):
        return None
    more = f"{{ .reg .b32 %raised; add.u32 %raised, {_plain(operand)}, {by}; {statement[:place]}, %raised; }}"
    return editor.replaced(instruction, more)


def parity_flips(editor: Editor) -> dict[int, str]:
    """Return the texts without each instruction that flips what a wait takes as its parity."""
    wanted: set[str] = set()
    for effects in editor.effects:
        for effect in effects:
            if isinstance(effect, fx.MbarrierWait) and isinstance(effect.parity, Name):
                wanted.add(effect.parity.text)
    flips: dict[int, str] = {}
    grown = True
    while grown:
        grown = False
        for at, instruction in enumerate(editor.instructions):
            for effect in editor.effects[at]:
                if not isinstance(effect, fx.Compute) or effect.op not in ("mov", "selp", "xor", "and"):
                    continue
                if not set(semantics.definitions(instruction)) & wanted:
                    continue
                read = {s.text for s in effect.srcs[:2] if isinstance(s, Name)} - wanted
                if read:
                    wanted |= read
                    grown = True
                if effect.op == "xor" and isinstance(effect.srcs[0], Name) and at not in flips:
                    target = effect.dsts[0]
                    assert isinstance(target, Name)
                    kept = f"mov.b32 {_plain(target)}, {_plain(effect.srcs[0])};"
                    flips[at] = editor.replaced(instruction, kept)
    return flips


def _plain(operand: Operand) -> str:
    """Return a register or a number as the source writes it (scoped registers are renamed by the parser)."""
    if isinstance(operand, Name):
        return operand.text.split("#")[0]
    assert isinstance(operand, Immediate)
    return str(operand.value)
