"""PTX110: a tensor map modified in memory is used with no fence of the tensormap proxy."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import between, hazards, report
from ptxlint.engine.events import Hazard, LogEntry
from ptxlint.report.finding import Fix, Severity

FIX = Fix(
    "release the map after the write, and acquire it in the using thread before the copy",
    "fence.proxy.tensormap::generic.release.gpu;\nfence.proxy.tensormap::generic.acquire.gpu [map], 128;",
    "cuda::ptx::fence_proxy_tensormap_generic(cuda::ptx::sem_release, cuda::ptx::scope_gpu);\n"
    "cuda::ptx::fence_proxy_tensormap_generic("
    "cuda::ptx::sem_acquire, cuda::ptx::scope_gpu, map, cuda::ptx::n32_t<128>{});",
)

_WHY = {
    "no-release": "no fence.proxy.tensormap::generic.release follows the write",
    "no-acquire": "no fence.proxy.tensormap::generic.acquire of this map follows the release",
    "acquire-off-path": "the acquire of the map is not on the path to this copy",
    "other-fence": "the fence on the way is for another proxy",
}


class MissingTensormapFence(Check):
    """Copies read their map through the tensormap proxy (8.6, 9.7.13.4)."""

    code = "PTX110"
    name = "missing-tensormap-fence"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report copies through a map that this kernel wrote and did not hand over."""
        fenced = {pair for outcome in context.analysis.outcomes for pair in outcome.fenced_maps}
        for hazard in hazards(context, "map not fenced"):
            if (hazard.first.event.instruction.index, hazard.second.event.instruction.index) in fenced:
                # On another path the map is handed over: this one may need values that do not occur.
                continue
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            cause, near = cause_of(hazard)
            yield report(
                self,
                hazard,
                context,
                cause=cause,
                message=f"{second} uses a tensor map that {first} modified: {_WHY[cause]}",
                fix=FIX,
                notes=(
                    f"{first} modifies the tensor map through the generic proxy",
                    f"{second} reads the map through the tensormap proxy",
                ),
                near=near,
            )


def cause_of(hazard: Hazard) -> tuple[str, tuple[LogEntry, str] | None]:
    """Return which half is missing, and the fence that misleads."""
    if hazard.cause == "no-release":
        for entry in between(hazard, "ProxyFence", "ThreadFence"):
            half = getattr(entry.event.effect, "half", "")
            if getattr(entry.event.effect, "kind", "") == "tensormap":
                return "no-release", (entry, f"this is the {half} half: the write was not released")
            return "other-fence", (entry, "this fence does not order the tensormap proxy")
    return hazard.cause, None
