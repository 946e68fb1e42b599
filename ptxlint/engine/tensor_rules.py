"""What is noted about the tensor cores: hazards of tensor memory, and what is pending when warps end."""

from typing import TYPE_CHECKING

from ptxlint.engine.clocks import join
from ptxlint.engine.events import Hazard, Point
from ptxlint.engine.omissions import PAST
from ptxlint.engine.program import Event
from ptxlint.engine.tensor_memory import ALL_LANES, Allocation, TensorAccess, TensorGap, Unit
from ptxlint.engine.warp import Fiber

if TYPE_CHECKING:
    from ptxlint.engine.machine import Machine

KIND = "tcgen05 "
WGMMA_RELEASED = "wgmma released"
NEVER_FREED = KIND + TensorGap.NOT_DEALLOCATED.value
MAIN = "many trips"
# Roles that leave a loop of unknown length at different turns, as other scenarios try, would part here.
LIFE = (
    TensorGap.USE_AFTER_DEALLOC,
    TensorGap.NOT_DEALLOCATED,
    TensorGap.NOT_PUBLISHED,
    TensorGap.AFTER_RELINQUISH,
    TensorGap.PEER_NOT_DONE,
)


def note(
    machine: "Machine",
    gap: TensorGap,
    first: TensorAccess | Allocation | None,
    second: TensorAccess | Allocation,
) -> None:
    """Record a hazard of tensor memory; the first evidence of two instructions is kept.

    After a forced wait too little is known of what has been observed, and when peers let a cluster
    barrier go too little of who is still at work.
    """
    if machine.tainted and gap is not TensorGap.UNKNOWN_PRODUCER:
        return
    frees = isinstance(second, TensorAccess) and second.unit is Unit.DEALLOC
    if gap in LIFE or frees:
        scenario = machine.oracle.scenario.name
        judged = scenario == MAIN or (scenario == PAST and gap is TensorGap.NOT_DEALLOCATED)
        if not judged or machine.tensor.loose:
            return
        if frees and gap is TensorGap.COMPLETION and _missed_waits(machine):
            # On this path the kernel left out waits that it has: a count of turns that may not occur.
            return
        kinds = [access.event.kind for access in (first, second) if access is not None]
        if machine.multiplies and "TensorCopy" in kinds:
            # The commits of the multiplications cover it; what a loop's end leaves over harms nobody.
            return
    start = first or second
    machine.hazard(
        Hazard(
            KIND + gap.value,
            Point(start.event, start.actor, start.sequence),
            Point(second.event, second.actor, second.sequence),
            gap.value,
            facts={"first": first, "second": second},
        )
    )


def _missed_waits(machine: "Machine") -> bool:
    """Return whether some wait on an mbarrier has not been executed in this run."""
    executed = machine.outcome.executed
    return any(
        event.kind == "MbarrierWait" and (id(code), event.instruction.index) not in executed
        for code in (machine.kernel, *machine.functions.values())
        for event in code.events
    )


def address_read(machine: "Machine", fiber: Fiber, event: Event, slot: int) -> None:
    """Report a read of the address that an allocation wrote, by a thread that did not wait for it."""
    holder = machine.tensor.slots.get(slot)
    if holder is None or fiber.clock.seen.get(holder.component, -1) >= holder.time:
        return
    place = (None, holder.low, holder.high, ALL_LANES)
    issued = (fiber.component, fiber.time, machine.sequence)
    note(
        machine,
        TensorGap.NOT_PUBLISHED,
        holder,
        TensorAccess(event, fiber.actor, Unit.LOAD, False, place, issued, None),
    )


def peer_done(machine: "Machine", fiber: Fiber, freed: TensorAccess) -> None:
    """Report a deallocation for a pair of CTAs by a thread that no peer has told of its last use.

    The peer uses its tensor memory as this CTA does: what it sends after its last load or store is what
    this CTA sends after its own.
    """
    if machine.launch.cluster_size < 2:
        return
    last = max(machine.tensor.newest.values(), key=lambda access: access.sequence, default=None)
    if last is not None and machine.cluster_memory.heard_at(fiber) < last.sequence:
        note(machine, TensorGap.PEER_NOT_DONE, last, freed)


def at_exit(machine: "Machine", fiber: Fiber) -> None:
    """Report what a warp that exits handed over without ever waiting for it."""
    warp = fiber.warp.index
    join(machine.tensor.exited, fiber.clock.seen)
    _wgmma_released(machine, warp)
    for unit in (Unit.LOAD, Unit.STORE):
        access = machine.tensor.newest.get((unit, warp))
        if access is None or access.complete_for(fiber.clock.seen):
            continue
        for entry in machine.logs.get(warp, ()):
            if entry.event.kind == "MbarrierArrive" and entry.sequence > access.sequence:
                second = TensorAccess(
                    entry.event,
                    entry.actor,
                    access.unit,
                    access.write,
                    (access.base, access.low, access.high, access.quarter),
                    (entry.component, entry.time, entry.sequence),
                    None,
                )
                note(machine, TensorGap.RELEASED, access, second)
                break


def _wgmma_released(machine: "Machine", warp: int) -> None:
    """Report an arrival after a wgmma that its warp never waits for: its operands are handed back in use."""
    queue = machine.wgmma.get(warp)
    if queue is None or machine.tainted:
        return
    pending = [access for number, access in queue.operations if number > queue.waited]
    if not pending:
        return
    for entry in machine.logs.get(warp, ()):
        if entry.event.kind == "MbarrierArrive" and entry.sequence > pending[0].sequence:
            first = pending[0]
            machine.hazard(
                Hazard(
                    WGMMA_RELEASED,
                    Point(first.event, first.actor, first.sequence),
                    Point(entry.event, entry.actor, entry.sequence),
                    "no-wait",
                )
            )
            return


def at_end(machine: "Machine") -> None:
    """Report what is still allocated when all threads have exited."""
    memory = machine.tensor
    if memory.unknown_dealloc or any(warp.alive for warp in machine.warps):
        return
    for holder in memory.allocations:
        if holder.freed is None:
            note(machine, TensorGap.NOT_DEALLOCATED, None, holder)


def without_unused(machine: "Machine") -> None:
    """Drop conflicts with copies into tensor memory that nothing multiplies: nobody sees what they read.

    So it is where the loop of the multiplications has no turn.
    """
    for waiting in machine.tensor.unmultiplied.values():
        for access in waiting.values():
            access.unused = True
    conflicts = machine.outcome.conflicts
    for key, conflict in list(conflicts.items()):
        if not conflict.first.unused:
            continue
        used = [pair for pair in conflict.others if not pair[0].unused]
        if used:
            conflict.first, conflict.second = used[0]
        else:
            del conflicts[key]
