"""PTX501: a shared operand of wgmma is overwritten before the wgmma-group has been waited for."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, Verdict, entries_of, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.engine.async_units import GroupQueue
from ptxlint.engine.events import Conflict, Family, Gap, LogEntry
from ptxlint.engine.tensor_rules import WGMMA_RELEASED
from ptxlint.report.finding import Fix, Severity
from ptxlint.report.summary import plural

FIX = Fix(
    "wait for the wgmma-group before releasing its operands",
    "wgmma.wait_group.sync.aligned 0;",
    'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");  // warpgroup_wait<0>()',
)


class WgmmaOperandReleasedEarly(Check):
    """The stage is released or overwritten while wgmma may still read it."""

    code = "PTX501"
    name = "wgmma-operand-released-early"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim a pending wgmma read that is overwritten."""
        first, second = conflict.first, conflict.second
        if conflict.gap is not Gap.COMPLETION or first.family is not Family.WGMMA or not second.write:
            return None
        cause, near, why = _cause(conflict)
        message = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the wgmma that "
            "reads it may be "
            f"pending: {why}"
        )
        return Verdict(cause, message, FIX, near)

    def run(self, context: Context) -> Iterator[Draft]:
        """Report arrivals after a wgmma that nothing waits for until its warp exits."""
        for hazard in hazards(context, WGMMA_RELEASED):
            message = (
                f"{short_opcode(hazard.second.event)} publishes that the thread is done while the wgmma "
                "before it may still "
                "read its operands: no wgmma.wait_group that retires it follows"
            )
            notes = ("reads shared memory through the async proxy", "arrives with the wgmma pending")
            yield report(self, hazard, context, cause="no-wait", message=message, fix=FIX, notes=notes)


def _cause(conflict: Conflict) -> tuple[str, tuple[LogEntry, str] | None, str]:
    """Return the cause, an event that misleads, and the reason in words."""
    first = conflict.first
    warpgroup = first.actor.warp // 4
    waits = [e for e in entries_of(conflict, "WgmmaWait") if e.actor.warp // 4 == warpgroup]
    number = first.completion[1] if first.completion else 0
    committed = isinstance(first.queue, GroupQueue) and first.queue.committed >= number
    if not waits:
        return "no-wait", None, "no wgmma.wait_group that retires it is on the path"
    last = waits[-1]
    if not committed:
        return "no-commit", (last, "waits for committed groups only"), "no wgmma.commit_group covers it"
    if last.number:
        near = (last, f"lets {plural(last.number, 'group')} stay pending")
        return "wait-too-weak", near, "the wait before the release lets its group stay pending"
    return (
        "wait-after-release",
        (last, "waits after the stage was released"),
        "the stage was released before the wait",
    )
