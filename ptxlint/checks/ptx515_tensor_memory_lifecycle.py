"""PTX515: tensor memory not freed, freed too early, used after, or used before its address is published."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.tensor_memory import TensorHazard, columns, name, tell, tensor_hazards
from ptxlint.engine.tensor_memory import TensorGap, Unit
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step

FREE = Fix(
    "free every allocation before the kernel ends, after a barrier that all users pass",
    "bar.sync 0;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 taddr, columns;",
    "__syncthreads(); if (warp == 0) tmem_allocator.free(tmem_base, columns);",
)
PUBLISH = Fix(
    "put a barrier between tcgen05.alloc and the threads that read the address",
    "bar.sync 0;\nld.shared.b32 taddr, [slot];",
    "__syncthreads();  // after tmem_allocator.allocate",
)
FREE_LATER = Fix(
    "let all users pass a barrier before the deallocation",
    "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 taddr, columns;",
    "__syncthreads(); if (warp == 0) tmem_allocator.free(tmem_base, columns);",
)
TELL_PEER = Fix(
    "let both CTAs tell each other that they have done, before either frees",
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
    "tcgen05.dealloc.cta_group::2.sync.aligned.b32 taddr, columns;",
    "cute::cluster_sync(); if (warp == 0) tmem_allocator.free(tmem_base, columns);",
)
ORDER = Fix(
    "allocate before relinquishing the permit",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], columns;\n"
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
    "tmem_allocator.allocate(columns, &base); tmem_allocator.release_allocation_lock();",
)
ONE_GROUP = Fix(
    "use one .cta_group for all tcgen05 instructions of the kernel",
    "tcgen05.mma.cta_group::1.kind::f16 [taddr], descA, descB, idesc, p;",
    "cute::TMEM::Allocator1Sm with SM100_MMA_F16BF16_SS; Allocator2Sm with the 2x1SM forms",
)


class TensorMemoryLifecycle(Check):
    """Allocate, publish the address, use, let all users pass a barrier, free."""

    code = "PTX515"
    name = "tensor-memory-lifecycle"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report breaches of the life of an allocation."""
        gaps = (
            TensorGap.ORDER,
            TensorGap.USE_AFTER_DEALLOC,
            TensorGap.NOT_PUBLISHED,
            TensorGap.NOT_DEALLOCATED,
            TensorGap.AFTER_RELINQUISH,
            TensorGap.PEER_NOT_DONE,
        )
        for found in tensor_hazards(context, *gaps):
            draft = self._draft(found, context)
            if draft is not None:
                yield draft
        yield from self._groups(context)

    def _draft(self, found: TensorHazard, context: Context) -> Draft | None:
        first, second, gap = found.first, found.second, found.gap
        place = columns(second)
        if gap is TensorGap.NOT_DEALLOCATED:
            message = f"{name(second)} gives {place}, which no tcgen05.dealloc frees before the kernel ends"
            return tell(self, found, context, "not-deallocated", message, FREE, (f"allocates {place}", ""))
        if gap is TensorGap.AFTER_RELINQUISH:
            message = f"{name(second)} of {place} after the CTA relinquished the right to allocate"
            return tell(
                self, found, context, "alloc-after-relinquish", message, ORDER, (f"allocates {place}", "")
            )
        assert first is not None
        if gap is TensorGap.PEER_NOT_DONE:
            message = (
                f"{name(second)}.cta_group::2 frees {place} of both CTAs, and nothing since the last {name(first)} "
                "tells that the peer has done with its own: no cluster barrier, nor an arrival of the peer"
            )
            notes = (f"uses {columns(first)}; the peer may still do so", f"frees {place}")
            return tell(
                self,
                found,
                context,
                "peer-not-done",
                message,
                TELL_PEER,
                notes,
                best=Confidence.MEDIUM,
                severity=Severity.WARNING,
            )
        if gap is TensorGap.NOT_PUBLISHED:
            message = (
                f"{name(second)} takes {place}, whose address the {name(first)} of "
                f"{found.hazard.first.actor} has not "
                "published to this thread: no barrier is between them"
            )
            notes = (f"allocates {columns(first)}", f"takes {place}")
            return tell(self, found, context, "address-not-published", message, PUBLISH, notes, by_first=True)
        if gap is TensorGap.USE_AFTER_DEALLOC:
            message = (
                f"{name(second)} uses {place} after, or not ordered before, the {name(first)} that frees them"
            )
            notes = (f"frees {columns(first)}", f"uses {place}")
            return tell(self, found, context, "freed-in-use", message, FREE_LATER, notes, by_first=True)
        if found.units[1] is not Unit.DEALLOC:
            return None
        message = (
            f"{name(second)} frees {place} while the {name(first)} by {found.hazard.first.actor} "
            "may be using "
            f"{columns(first)}: no barrier that follows it is on the path"
        )
        notes = (f"uses {columns(first)}", f"frees {place}")
        return tell(self, found, context, "freed-in-use", message, FREE_LATER, notes)

    def _groups(self, context: Context) -> Iterator[Draft]:
        """Report the first instruction whose .cta_group differs from the kernel's first (9.7.16.5)."""
        first = None
        for event in context.analysis.kernel.events:
            effect = event.effect
            if not isinstance(
                effect, (fx.TensorAlloc, fx.TensorMma, fx.TensorCommit, fx.TensorCopy, fx.TensorDealloc)
            ):
                continue
            if first is None:
                first = event
                continue
            group = getattr(first.effect, "cta_group", 0)
            if effect.cta_group == group:
                continue
            site = context.site(event)
            finding = Finding(
                self.code,
                self.name,
                "mixed-cta-group",
                self.severity,
                Confidence.HIGH,
                f"{event.instruction.opcode} with .cta_group::{effect.cta_group} in a kernel that uses "
                f".cta_group::{group}",
                site,
                (
                    Step("kernel", context.site(first), f"uses .cta_group::{group}", "first"),
                    Step("kernel", site, f"uses .cta_group::{effect.cta_group}", "second"),
                ),
                ONE_GROUP,
            )
            yield Draft(finding, (self.code, "mixed-cta-group"), first)
            return
