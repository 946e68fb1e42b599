"""PTX514: tcgen05 operations of two threads ordered by a barrier, with no tcgen05.fence around it."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.tensor_memory import columns, name, tell, tensor_hazards
from ptxlint.engine.tensor_memory import TensorGap, Unit
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "fence before the barrier in the first thread and after it in the second",
    "tcgen05.fence::before_thread_sync;\n// barrier, or mbarrier arrive and wait\n"
    "tcgen05.fence::after_thread_sync;",
    "cute::tcgen05_before_thread_sync(); __syncthreads(); cute::tcgen05_after_thread_sync();",
)


class Tcgen05MissingThreadFence(Check):
    """Barriers order threads; tcgen05 operations follow only with the two fences, or with a commit."""

    code = "PTX514"
    name = "tcgen05-missing-thread-fence"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report loads and stores whose order with another warp's no tcgen05 fence carries."""
        unfenced = not any(event.kind == "TensorFence" for _, event in context.analysis.events())
        for found in tensor_hazards(context, TensorGap.THREAD_FENCE, TensorGap.UNKNOWN_PRODUCER):
            if found.gap is TensorGap.UNKNOWN_PRODUCER:
                message = (
                    f"{name(found.second)} of {columns(found.second)} follows a wait on an mbarrier that no "
                    "tcgen05.commit arrives on, with no tcgen05.fence::after_thread_sync"
                )
                notes = ("loads after a plain wait", "")
                yield tell(
                    self, found, context, "no-after-fence", message, FIX, notes, best=Confidence.MEDIUM
                )
                continue
            assert found.first is not None
            message = (
                f"{name(found.second)} of {columns(found.second)} is ordered after the "
                f"{name(found.first)} by "
                f"{found.hazard.first.actor} by a barrier only: no tcgen05.fence::before_thread_sync and "
                "::after_thread_sync around it"
            )
            notes = (f"on {columns(found.first)}, waited for by its warp", f"on {columns(found.second)}")
            severity = Severity.NOTE if found.units[1] is Unit.TENSOR_CORE else None
            by_first = severity is not None  # a loop of multiplications follows
            draft = tell(
                self, found, context, "no-fence", message, FIX, notes, None, by_first, severity=severity
            )
            if unfenced:
                # Written for hardware that does without: one remark, not one for each pair.
                draft.fold = (self.code, "no-fence", draft.finding.severity)
            yield draft
