"""PTX702: one lane executes an .aligned collective for its warp."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "execute the collective in all lanes of the warp, outside the elected branch",
    "@lead st.shared.u32 [a], v;\nbar.sync 0;",
    "if (elected) { ... }\n__syncthreads();  // outside the branch",
)


class AlignedCollectiveInDivergentCode(Check):
    """``.aligned`` needs all threads of the warp at the same instruction (9.7.13, 9.7.15)."""

    code = "PTX702"
    name = "aligned-collective-in-divergent-code"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report aligned collectives that a single lane executes."""
        for hazard in hazards(context, "divergent collective"):
            second = short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause or None,
                message=f"{second} is executed by {hazard.second.actor} alone: .aligned needs every thread "
                "of the warp",
                fix=FIX,
                notes=(f"{second} in code that only {hazard.second.actor} reaches", ""),
                best=Confidence.MEDIUM,
            )
