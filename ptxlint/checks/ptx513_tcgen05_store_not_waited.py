"""PTX513: tensor memory published while tcgen05.st may still be writing it."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.tensor_memory import columns, last_by, name, tell, tensor_hazards
from ptxlint.engine.tensor_memory import TensorGap, Unit
from ptxlint.report.finding import Fix, Severity

FIX = Fix(
    "wait for the stores before tensor memory is published",
    "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n// then the "
    "arrival that publishes it",
    "cutlass::arch::fence_view_async_tmem_store();  // tcgen05.wait::st",
)


class Tcgen05StoreNotWaited(Check):
    """A store is there for others only after wait::st by its warp, and an order from there on."""

    code = "PTX513"
    name = "tcgen05-store-not-waited"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report uses of tensor memory under a store, and releases with a store pending."""
        gaps = (TensorGap.COMPLETION, TensorGap.ORDER, TensorGap.REFILL, TensorGap.RELEASED)
        for found in tensor_hazards(context, *gaps):
            first, second = found.units
            assert found.first is not None
            if found.gap is TensorGap.REFILL:
                if second is not Unit.STORE:
                    continue
                message = (
                    f"{name(found.first)} uses {columns(found.second)} before the {name(found.second)} "
                    "that writes "
                    "them ran: nothing that follows the store was waited for"
                )
                notes = (
                    f"works on {columns(found.first)}",
                    f"writes {columns(found.second)}, not ordered before it",
                )
                yield tell(self, found, context, "used-early", message, FIX, notes)
                continue
            if first is not Unit.STORE or (second is Unit.DEALLOC and found.gap is TensorGap.ORDER):
                continue
            note = f"writes {columns(found.first)}, asynchronously"
            if found.gap is TensorGap.RELEASED:
                message = (
                    f"{name(found.second)} publishes {columns(found.first)} while the {name(found.first)} "
                    "that writes "
                    "them may be pending: no tcgen05.wait::st follows it"
                )
                yield tell(
                    self, found, context, "no-wait", message, FIX, (note, "arrives with the store pending")
                )
                continue
            verb = "frees" if second is Unit.DEALLOC else "uses"
            waited = last_by(found.hazard, found.hazard.first.actor.warp, "TensorWait")
            near = None
            cause, why = "no-wait", "no tcgen05.wait::st by its warp is on the path"
            if found.gap is TensorGap.ORDER:
                cause, why = "not-ordered", "nothing that follows the store was waited for"
            elif waited is not None:
                cause, near = (
                    "wait-after-release",
                    (waited, "waits for loads, or after the data was published"),
                )
            message = (
                f"{name(found.second)} {verb} {columns(found.second)} while the {name(found.first)} "
                "that writes them "
                f"may be pending: {why}"
            )
            yield tell(
                self, found, context, cause, message, FIX, (note, f"{verb} {columns(found.second)}"), near
            )
