"""PTX601: a remote arrive at .cta scope publishes generic data to another CTA."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "arrive with release at cluster scope, and wait with acquire at cluster scope in the peer",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];",
    "cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster, "
    "cuda::ptx::space_cluster, remote);",
)


class RemoteArriveScopeCta(Check):
    """A ``.cta`` arrive counts, but does not synchronise with another CTA (8.5, 9.7.13.15)."""

    code = "PTX601"
    name = "remote-arrive-scope-cta"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report arrives on a peer's mbarrier that follow writes for that peer."""
        for hazard in hazards(context, "arrive scope"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"{second} signals a peer at .cta scope after {first} wrote data for it: the peer's "
                "wait does not "
                "order the data",
                fix=FIX,
                notes=(
                    f"{first} writes through the generic proxy",
                    f"{second} on a peer's mbarrier, at .cta scope",
                ),
                best=Confidence.LOW,
            )
