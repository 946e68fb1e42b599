"""PTX603: a peer's shared memory is used before the peer is known to run."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "pass a cluster barrier before the first operation on a peer",
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    "cuda::ptx::barrier_cluster_arrive();\ncuda::ptx::barrier_cluster_wait();",
)


class ClusterAccessBeforeStart(Check):
    """A peer may not have begun, nor set its mbarriers up, when this CTA runs (2.2.2)."""

    code = "PTX603"
    name = "cluster-access-before-start"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report operations on a peer before any cluster barrier."""
        for hazard in hazards(context, "peer not started"):
            second = short_opcode(hazard.second.event)
            if isinstance(hazard.second.event.effect, fx.TensorAlloc):
                cause = "paired-allocation"
                does = f"{second}.cta_group::2 allocates together with the peer"
                missing = "the peer may not have started"
            else:
                cause = hazard.cause
                does = f"{second} reaches a peer's shared memory"
                missing = "the peer may not have started, nor have initialised its mbarriers"
            yield report(
                self,
                hazard,
                context,
                cause=cause or None,
                message=f"{does} before any cluster barrier: {missing}",
                fix=FIX,
                notes=(does, ""),
                best=Confidence.MEDIUM,
            )
