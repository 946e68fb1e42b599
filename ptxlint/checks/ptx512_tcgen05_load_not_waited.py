"""PTX512: tensor memory handed back while tcgen05.ld may still be reading it."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.tensor_memory import columns, last_by, name, tell, tensor_hazards
from ptxlint.engine.tensor_memory import TensorGap, Unit
from ptxlint.report.finding import Fix, Severity

FIX = Fix(
    "wait for the loads before tensor memory is handed back",
    "tcgen05.wait::ld.sync.aligned;\ntcgen05.fence::before_thread_sync;\n// then the "
    "arrival that hands it back",
    "cutlass::arch::fence_view_async_tmem_load();  // tcgen05.wait::ld",
)
ORDER = Fix(
    "wait for the readers' mbarrier before the next operation on their columns",
    "waitLoop: mbarrier.try_wait.parity.shared::cta.b64 p, [empty], parity;\n@!p bra waitLoop;\n"
    "tcgen05.fence::after_thread_sync;",
    "accumulator_pipeline.producer_acquire(state);  // before the first MMA of the tile",
)


class Tcgen05LoadNotWaited(Check):
    """A load reads tensor memory until wait::ld, or until its registers have been used."""

    code = "PTX512"
    name = "tcgen05-load-not-waited"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report what overwrites or frees tensor memory under a load, and releases with a load pending."""
        gaps = (TensorGap.COMPLETION, TensorGap.ORDER, TensorGap.REFILL, TensorGap.RELEASED)
        for found in tensor_hazards(context, *gaps):
            first, second = found.units
            assert found.first is not None
            if found.gap is TensorGap.REFILL:
                if second is not Unit.LOAD:
                    continue
                message = (
                    f"{name(found.first)} overwrites {columns(found.second)} before the "
                    f"{name(found.second)} that "
                    "reads them ran: nothing that follows the load was waited for"
                )
                notes = (
                    f"works on {columns(found.first)}",
                    f"reads {columns(found.second)}, not ordered before it",
                )
                yield tell(self, found, context, "refilled-early", message, ORDER, notes)
                continue
            if first is not Unit.LOAD or (second is Unit.DEALLOC and found.gap is TensorGap.ORDER):
                continue
            note = f"reads {columns(found.first)}, asynchronously"
            if found.gap is TensorGap.RELEASED:
                message = (
                    f"{name(found.second)} publishes that the thread is done while its {name(found.first)} "
                    "of "
                    f"{columns(found.first)} may be pending: no tcgen05.wait::ld follows it"
                )
                yield tell(
                    self, found, context, "no-wait", message, FIX, (note, "arrives with the load pending")
                )
                continue
            waited = last_by(found.hazard, found.hazard.first.actor.warp, "TensorWait")
            verb = "frees" if second is Unit.DEALLOC else "overwrites"
            near = None
            cause, fix, why = "no-wait", FIX, "no tcgen05.wait::ld by its warp is on the path"
            if found.gap is TensorGap.ORDER:
                cause, fix, why = "not-ordered", ORDER, "nothing that follows the load was waited for"
            elif waited is not None:
                cause, near = (
                    "wait-after-release",
                    (waited, "waits after its arrival or barrier has let the other go on"),
                )
            message = (
                f"{name(found.second)} {verb} {columns(found.second)} while the {name(found.first)} "
                "that reads them "
                f"may be pending: {why}"
            )
            yield tell(
                self, found, context, cause, message, fix, (note, f"{verb} {columns(found.second)}"), near
            )
