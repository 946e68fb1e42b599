"""What the checks of tensor memory share: whose rule a hazard is, and how it is told."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import between, hazards, report
from ptxlint.engine.events import Hazard, LogEntry
from ptxlint.engine.program import Event
from ptxlint.engine.tensor_memory import Allocation, TensorAccess, TensorGap, Unit
from ptxlint.engine.tensor_rules import KIND
from ptxlint.records import record
from ptxlint.report.finding import Confidence, Fix, Severity

ACCESSES = (TensorGap.COMPLETION, TensorGap.ORDER, TensorGap.REFILL)
WAIT_FOR_COMMIT = Fix(
    "commit the operations to an mbarrier, and wait for its phase before the tensor memory is used",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n"
    "waitLoop: mbarrier.try_wait.parity.shared::cta.b64 p, [done], parity;\n@!p bra waitLoop;\n"
    "tcgen05.fence::after_thread_sync;",
    "cutlass::arch::umma_arrive(&done);  // tcgen05.commit; the reader: ClusterBarrier::wait(&done, parity)",
)


@record
class TensorHazard:
    """A hazard with its two accesses, or with what takes the place of one."""

    hazard: Hazard
    gap: TensorGap
    first: TensorAccess | Allocation | None
    second: TensorAccess | Allocation

    @property
    def units(self) -> tuple[Unit | None, Unit | None]:
        """The kinds of the two accesses."""
        return getattr(self.first, "unit", None), getattr(self.second, "unit", None)


def tensor_hazards(context: Context, *gaps: TensorGap) -> Iterator[TensorHazard]:
    """Yield the hazards of tensor memory with one of *gaps*, without those that follow from another."""
    every = []
    for hazard in hazards(context, *(KIND + gap.value for gap in TensorGap)):
        first, second = hazard.facts["first"], hazard.facts["second"]
        assert first is None or isinstance(first, (TensorAccess, Allocation))
        assert isinstance(second, (TensorAccess, Allocation))
        every.append(TensorHazard(hazard, TensorGap(hazard.cause), first, second))
    told = _without_consequences(every, context)
    return iter([found for found in told if found.gap in gaps])


def _without_consequences(every: list[TensorHazard], context: Context) -> list[TensorHazard]:
    """Drop what another hazard explains.

    What is used while pending is pending at its release and when it is freed, too; who uses a result
    without waiting is not waited for by the next operation either; what one warp knows to be pending is not a
    refill to the others; and what is freed in use may well be pending.
    """
    used: set[object] = set()
    pairs: set[tuple[object, object]] = set()
    pending: set[tuple[object, object]] = set()
    freed_in_use = {
        place_key(context, found.first.event)
        for found in every
        if found.gap is TensorGap.USE_AFTER_DEALLOC and found.first is not None
    }
    for found in every:
        if found.gap in ACCESSES and found.units[1] is not Unit.DEALLOC and found.first is not None:
            used.add(place_key(context, found.first.event))
            if found.units[0] is Unit.TENSOR_CORE:
                pair = (place_key(context, found.first.event), place_key(context, found.second.event))
                pairs.add(pair)
                if found.gap is TensorGap.COMPLETION:
                    pending.add(pair)
    kept = []
    for found in every:
        first, second = found.units
        if found.first is not None and (found.gap in ACCESSES or found.gap is TensorGap.RELEASED):
            at = place_key(context, found.first.event)
            if (found.gap is TensorGap.RELEASED or second is Unit.DEALLOC) and at in used:
                continue
            after = place_key(context, found.second.event)
            if second is Unit.DEALLOC and after in freed_in_use:
                continue
            if found.gap is TensorGap.REFILL and (at, after) in pending:
                continue
            turned = (after, at)
            if second is Unit.TENSOR_CORE and first is not second and turned in pairs:
                continue
        kept.append(found)
    return kept


def columns(found: TensorAccess | Allocation) -> str:
    """Return the columns in words."""
    if isinstance(found, TensorAccess):
        return found.columns
    return f"tensor memory columns {found.low}-{found.high - 1}"


def name(found: TensorAccess | Allocation) -> str:
    """Return the opcode, shortened."""
    return short_opcode(found.event)


def place_key(context: Context, event: Event) -> object:
    """Return what is the same for the copies of one statement, and for a run of loads in one block."""
    chain = context.module.source_chain(event.instruction)
    if chain:
        return chain
    for code in context.analysis.codes:
        at = event.instruction.index
        instructions = code.function.instructions
        if at < len(instructions) and instructions[at] is event.instruction:
            for block in code.cfg.blocks:
                if block.start <= at < block.end:
                    return code.function.name, block.index
    return event.instruction.index


def tell(
    check: Check,
    found: TensorHazard,
    context: Context,
    cause: str,
    message: str,
    fix: Fix,
    notes: tuple[str, str],
    near: tuple[LogEntry, str] | None = None,
    by_first: bool = False,
    best: Confidence = Confidence.HIGH,
    severity: Severity | None = None,
) -> Draft:
    """Return the draft of *found*; copies fold by the place of the second access, or of the first."""
    draft = report(
        check,
        found.hazard,
        context,
        cause=cause,
        message=message,
        fix=fix,
        notes=notes,
        near=near,
        best=best,
        severity=severity,
    )
    anchor = found.hazard.first if by_first else found.hazard.second
    draft.fold = (check.code, cause, place_key(context, anchor.event))
    return draft


def last_by(hazard: Hazard, warp: int, *kinds: str) -> LogEntry | None:
    """Return the last event of *kinds* by *warp* between the two points."""
    entries = [e for e in between(hazard, *kinds) if e.actor.warp == warp]
    return entries[-1] if entries else None
