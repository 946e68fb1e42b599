"""PTX105: global data of the generic proxy is read by a bulk load with no proxy fence on the way."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import between, hazards, report
from ptxlint.engine.events import Hazard, LogEntry
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "execute fence.proxy.async between the write, or the acquire, and the bulk load",
    "fence.proxy.async.global;",
    'asm volatile("fence.proxy.async.global;" ::: "memory");  '
    "// cuda::ptx::fence_proxy_async(cuda::ptx::space_global)",
)


class MissingProxyFenceGlobal(Check):
    """A bulk load does not see generic writes that no proxy fence on the path covers."""

    code = "PTX105"
    name = "missing-proxy-fence-global"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report loads of data that this kernel wrote, or waited for in a polling loop."""
        for hazard in hazards(context, "unfenced load", "polled"):
            load = short_opcode(hazard.second.event)
            first = short_opcode(hazard.first.event)
            cause, near = cause_of(hazard)
            polled = hazard.kind == "polled"
            if polled and may_be_fenced_elsewhere(context):
                continue
            if polled:
                message = f"{load} loads global memory through the async proxy after {first} polled for it"
                notes = (f"{first} waits for another thread's data", f"{load} reads through the async proxy")
            else:
                message = f"{load} reads through the async proxy what {first} wrote to global memory"
                notes = (f"{first} writes through the generic proxy", f"{load} reads the same bytes")
            triggered = between(hazard, "GridDependency")
            yield report(
                self,
                hazard,
                context,
                cause=cause,
                message=f"{message}: {_WHY[cause]}",
                fix=FIX,
                notes=notes,
                near=near,
                severity=Severity.ERROR if triggered and not polled else None,
                best=Confidence.LOW if polled else Confidence.HIGH,
                fold_first=polled,
            )


_WHY = {
    "no-fence": "there is no proxy fence on the way",
    "fence-wrong-space": "the proxy fence on the way covers shared memory only",
    "thread-fence-only": "the fence on the way orders threads, not proxies",
    "fence-off-path": "the proxy fence is not on the path that orders the two",
}


def may_be_fenced_elsewhere(context: Context) -> bool:
    """Whether what is polled for may need no fence here.

    It may be a bulk store's data (the kernel waits for such stores to be complete), or its writer may have
    fenced before the release (the kernel has a fence for global memory).
    """
    for _, event in context.analysis.events():
        effect = event.effect
        if isinstance(effect, fx.BulkWait) and not effect.read:
            return True
        if isinstance(effect, fx.ProxyFence) and effect.kind == "async" and "global" in effect.spaces:
            return True
    return False


def cause_of(hazard: Hazard) -> tuple[str, tuple[LogEntry, str] | None]:
    """Return why the fences that are there do not do, and the one that misleads."""
    for entry in between(hazard, "ProxyFence"):
        spaces: frozenset[str] = getattr(entry.event.effect, "spaces", frozenset())
        if "global" not in spaces:
            return "fence-wrong-space", (entry, "this fence does not cover global memory")
        return "fence-off-path", (entry, "this fence is not on the path that orders the two")
    for entry in between(hazard, "ThreadFence"):
        return "thread-fence-only", (entry, "orders this thread's accesses, but not the proxies")
    return "no-fence", None
