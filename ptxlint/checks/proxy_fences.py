"""What PTX101, PTX102, PTX103 and PTX104 share: why a fence that is there does not do."""

from ptxlint.checks.base import Context, Verdict
from ptxlint.checks.near_misses import fence_between, orders_shared
from ptxlint.engine.events import Conflict, Family, Gap, LogEntry
from ptxlint.report.finding import Fix

_PTX = "fence.proxy.async.shared::cta;"
_CUDA = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // cuda::ptx::fence_proxy_async(cuda::ptx::space_shared)'

CAUSES = {
    "no-fence": "there is no proxy fence on the way",
    "fence-wrong-space": "the fence on the way covers another state space",
    "thread-fence-only": "the fence on the way orders threads, not proxies",
    "fence-before-access": "the fence is executed before the access that it should cover",
    "not-ordered": "a fence orders proxies, and not one thread after another",
    "fence-off-path": "there is a fence, but not on the path that orders the two accesses",
}


def explain(conflict: Conflict, context: Context, what: str, where: str) -> Verdict:
    """Return the verdict for a missing proxy fence: *what* happens, and *where* to put the fence."""
    first, second = conflict.first, conflict.second
    cause, near = cause_of(conflict, context)
    message = f"{what}: {CAUSES[cause]}"
    fix = Fix(f"execute fence.proxy.async {where}", _PTX, _CUDA)
    if cause == "not-ordered":
        fix = Fix(
            "put a barrier between the accesses and their fence, and the issue",
            "bar.sync 0;",
            "__syncthreads();",
        )
    if conflict.others:
        message += f" (and {len(conflict.others)} more)"
    del first, second
    return Verdict(cause, message, fix, near)


def cause_of(conflict: Conflict, context: Context) -> tuple[str, tuple[LogEntry, str] | None]:
    """Return the cause and the event that misleads."""
    first, second = conflict.first, conflict.second
    wrong = thread = off = None
    for entry in conflict.log:
        if entry.event.kind == "ProxyFence":
            if first.sequence < entry.sequence <= second.sequence:
                if not orders_shared(entry.event):
                    wrong = wrong or entry
                else:
                    off = off or entry
        elif entry.event.kind == "ThreadFence" and first.sequence < entry.sequence <= second.sequence:
            thread = thread or entry
    if wrong is not None:
        return "fence-wrong-space", (wrong, "this fence covers another state space or proxy")
    if off is not None and conflict.gap is Gap.ORDER:
        return "not-ordered", (off, "orders what its own thread did before, for those that come after it")
    if off is not None:
        return "fence-off-path", (
            off,
            "this fence is not between the two accesses on the path that orders them",
        )
    before = conflict.facts.get("fence_before")
    if isinstance(before, LogEntry):
        return "fence-before-access", (before, "this fence comes before the access")
    if thread is not None:
        return "thread-fence-only", (thread, "orders this thread's accesses, but not the proxies")
    elsewhere = fence_between(first, second.event, context)
    if elsewhere is not None and conflict.gap is Gap.PROXY_FENCE:
        return "fence-off-path", (elsewhere, "this fence is on a path that need not be taken")
    return "no-fence", None


def is_generic(conflict: Conflict) -> bool:
    """Return whether the first access is generic (not cp.async) and the second asynchronous."""
    return conflict.first.family is Family.GENERIC and conflict.second.family not in (
        Family.GENERIC,
        Family.CP_ASYNC,
    )
