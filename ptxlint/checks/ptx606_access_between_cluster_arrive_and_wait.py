"""PTX606: data for a peer is written between the arrive and the wait of a cluster barrier."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "write before the arrive",
    "st.shared.u32 [a], v;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    "*shared = value;\ncluster.sync();",
)


class AccessBetweenClusterArriveAndWait(Check):
    """The barrier orders what precedes the arrive with what follows the wait (9.7.13.4)."""

    code = "PTX606"
    name = "access-between-cluster-arrive-and-wait"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report writes for peers in that window that nothing releases afterwards."""
        for hazard in hazards(context, "write in window"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"{first} writes data for a peer between the arrive and the {second}: the barrier "
                "does not order it",
                fix=FIX,
                notes=(
                    f"{first} writes between the arrive and the wait",
                    f"{second} orders what came before the arrive",
                ),
                best=Confidence.LOW,
            )
