"""PTX609: red.async to the own CTA, or data and mbarrier of st.async in different CTAs."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "map the address of the data and of the mbarrier to the same peer",
    "mapa.shared::cluster.u32 remote, data, peer;\nmapa.shared::cluster.u32 barrier, mbar, peer;",
    "cluster.map_shared_rank(&data, peer);  // and the mbarrier with the same rank",
)

_WHY = {
    "own-cta": "updates the own CTA's shared memory: its target must be another CTA of the cluster",
    "mbarrier-elsewhere": "writes data to one CTA and signals an mbarrier of another",
}


class StAsyncOwnCta(Check):
    """Undefined behaviour (9.7.9.12, 9.7.13.13): another CTA, and its own mbarrier, must be the target."""

    code = "PTX609"
    name = "st-async-own-cta"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report asynchronous stores whose target breaks the rule."""
        for hazard in hazards(context, "async store target"):
            second = short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"{second} " + _WHY[hazard.cause],
                fix=FIX,
                notes=(f"{second} names its target", ""),
                best=Confidence.HIGH,
            )
