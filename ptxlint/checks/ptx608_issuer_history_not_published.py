"""PTX608: complete-tx of a copy is taken to publish what its issuer wrote before."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "arrive on the peer's mbarrier with release at cluster scope after the store",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];",
    "cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster, "
    "cuda::ptx::space_cluster, remote);",
)


class IssuerHistoryNotPublished(Check):
    """Complete-tx does not order the prior instructions of the issuing thread (8.9.1.1)."""

    code = "PTX608"
    name = "issuer-history-not-published"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report copies to a peer that follow a store to it which nothing releases."""
        for hazard in hazards(context, "issuer history"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"the complete-tx of {second} does not publish what {first} stored to the peer "
                "before, and nothing else does",
                fix=FIX,
                notes=(
                    f"{first} stores to the peer",
                    f"{second} signals the peer's mbarrier when its own bytes are there",
                ),
                best=Confidence.LOW,
            )
