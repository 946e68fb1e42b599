"""PTX311: a relaxed mbarrier operation passes data, with no fence that makes it acquire or release."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, Verdict, short_opcode
from ptxlint.checks.mbarriers import draft, problems
from ptxlint.engine.events import Conflict, Gap, LogEntry
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Fix, Severity

FENCE_AFTER = Fix(
    "wait with acquire semantics (the default), or fence after the relaxed wait",
    "fence.acq_rel.cluster;  // after the wait",
    "cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_cluster);",
)


def is_relaxed(entry: LogEntry) -> bool:
    """Return whether a logged mbarrier operation is ``.relaxed``."""
    effect = entry.event.effect
    return isinstance(effect, (fx.MbarrierArrive, fx.MbarrierWait)) and effect.order is fx.Order.RELAXED


class RelaxedWaitAsAcquire(Check):
    """A relaxed wait tells that the phase is over; it does not make its data visible."""

    code = "PTX311"
    name = "relaxed-wait-as-acquire"
    severity = Severity.WARNING

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim what is not ordered although a relaxed operation stands in between."""
        if conflict.gap not in (Gap.ORDER, Gap.COMPLETION):
            return None
        first, second = conflict.first, conflict.second
        relaxed = [
            e for e in conflict.log if is_relaxed(e) and first.sequence < e.sequence <= second.sequence
        ]
        waits = [e for e in relaxed if e.event.kind == "MbarrierWait" and e.actor.warp == second.actor.warp]
        arrivals = [
            e for e in relaxed if e.event.kind == "MbarrierArrive" and e.actor.warp == first.actor.warp
        ]
        if not waits and not arrivals:
            return None
        near = (waits or arrivals)[-1]
        verb = "writes" if second.write else "reads"
        message = (
            f"{context.opcode(second)} {verb} {context.place(second)}, which only a relaxed mbarrier "
            "operation orders "
            f"after {context.opcode(first)}: with no fence it passes no data"
        )
        if waits:
            return Verdict("relaxed-wait", message, FENCE_AFTER, (near, "relaxed: acquires nothing"))
        fix = Fix(
            "arrive with release semantics (the default), or fence before the relaxed arrival",
            "fence.acq_rel.cluster;  // before the arrival",
            "cuda::ptx::fence(cuda::ptx::sem_acq_rel, cuda::ptx::scope_cluster);",
        )
        return Verdict("relaxed-arrive", message, fix, (near, "relaxed: releases nothing"))

    def run(self, context: Context) -> Iterator[Draft]:
        """Report reads right after a relaxed wait on a barrier whose other side the kernel does not show."""
        for problem in problems(context, "relaxed-read"):
            problem.facts.update(cause="relaxed-wait")
            message = (
                f"{short_opcode(problem.event)} follows a relaxed wait with no fence: the wait passes no data"
            )
            notes = ("relaxed: acquires nothing", "reads shared memory")
            yield draft(self, context, problem, message, FENCE_AFTER, notes, sure=Confidence.LOW)
