"""PTX604: a multicast load refills a stage that not every destination CTA has released."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.engine.events import Actor, Hazard, Point
from ptxlint.engine.program import Event
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "let the consumers of every destination CTA arrive on the issuer's empty mbarrier, and count them in "
    "its init",
    "mapa.shared::cluster.u32 remote, empty, issuer;\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];",
    "cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster, "
    "cuda::ptx::space_cluster, cluster.map_shared_rank(&empty[stage], issuer));",
)


class MulticastReleaseNotFromAll(Check):
    """A multicast load writes the same offset in every CTA of its mask (9.7.9.25.4.1)."""

    code = "PTX604"
    name = "multicast-release-not-from-all"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report refills between which no peer told anything, and kernels in which no peer can."""
        found = list(hazards(context, "multicast refill"))
        if not found:
            found = list(silent_peers(context))
        for hazard in found:
            load = short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause="local-consumers-only",
                message=f"{load} refills a stage in several CTAs, and only consumers of this CTA have "
                "released it",
                fix=FIX,
                notes=(f"{load} writes the stage in every CTA of its mask", ""),
                best=Confidence.LOW,
            )


def silent_peers(context: Context) -> Iterator[Hazard]:
    """Yield multicast loads that follow a wait in a kernel where no CTA ever signals another."""
    events = [event for _, event in context.analysis.events()]
    if any(_signals_peer(event.effect) for event in events) or context.analysis.launch.cluster_size == 1:
        return
    waits = [event.instruction.index for event in events if isinstance(event.effect, fx.MbarrierWait)]
    for event in events:
        if _is_multicast(event) and any(wait < event.instruction.index for wait in waits):
            point = Point(event, Actor(0, 0xFFFFFFFF), 0)
            yield Hazard("multicast refill", point, point)


def _is_multicast(event: Event) -> bool:
    return isinstance(event.effect, fx.BulkCopy) and event.effect.multicast is not None


def _signals_peer(effect: fx.Effect) -> bool:
    if isinstance(effect, (fx.MbarrierArrive, fx.MbarrierComplete)):
        return effect.space is not fx.Space.SHARED
    if isinstance(effect, fx.TensorCommit):
        return effect.multicast is not None or effect.cta_group == 2
    return isinstance(effect, (fx.ClusterArrive, fx.StoreAsync, fx.LaunchCancel))
