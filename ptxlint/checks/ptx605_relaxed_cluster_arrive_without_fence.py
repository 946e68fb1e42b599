"""PTX605: barrier.cluster.arrive.relaxed is used to publish data."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "drop .relaxed, or put a fence of cluster scope before the arrive",
    "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;",
    "cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);",
)


class RelaxedClusterArriveWithoutFence(Check):
    """``.relaxed`` gives no memory ordering (9.7.13.4): a fence of cluster scope must."""

    code = "PTX605"
    name = "relaxed-cluster-arrive-without-fence"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report relaxed arrives after writes for peers that nothing released."""
        for hazard in hazards(context, "relaxed arrive"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"{second}.relaxed does not order what {first} wrote for a peer: no fence of "
                "cluster scope precedes it",
                fix=FIX,
                notes=(f"{first} writes through the generic proxy", f"{second}.relaxed orders nothing"),
                best=Confidence.LOW,
            )
