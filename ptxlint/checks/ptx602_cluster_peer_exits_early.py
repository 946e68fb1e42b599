"""PTX602: a CTA exits although a peer may still operate on its shared memory."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "keep every CTA until its peers are done: a cluster barrier before the exit, or a wait for the last "
    "arrivals",
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    "cuda::ptx::barrier_cluster_arrive();\ncuda::ptx::barrier_cluster_wait();",
)

_WHY = {
    "arrival-not-observed": "nobody waits for the phase that the peer's arrival belongs to, and no cluster "
    "barrier follows",
    "no-cluster-barrier": "no cluster barrier follows",
}


class ClusterPeerExitsEarly(Check):
    """A CTA's shared memory lives as long as the CTA: the peer must not exit before the operation (2.2.2)."""

    code = "PTX602"
    name = "cluster-peer-exits-early"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report remote operations that no cluster barrier, nor a wait for the peers' twins, follows."""
        for hazard in hazards(context, "exits early"):
            second = short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"a peer's {second} may reach this CTA's shared memory after this CTA has exited: "
                + _WHY[hazard.cause],
                fix=FIX,
                notes=(f"{second} reaches a peer; the peer does the same to this CTA", ""),
                best=Confidence.LOW,
            )
