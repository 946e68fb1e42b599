"""PTX705: a location is updated by generic atomics while a bulk reduction of it may be pending."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Confidence, Fix, Severity

FIX = Fix(
    "wait for the reduction's group, or use one proxy for all updates of the location",
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
    "cuda::ptx::cp_async_bulk_commit_group();\ncuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>{});",
)


class MixedProxyAtomics(Check):
    """Atomicity holds among morally strong operations, and those use the same proxy (8.7, 8.10.3)."""

    code = "PTX705"
    name = "mixed-proxy-atomics"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report generic atomics of bytes that a pending bulk reduction updates."""
        for hazard in hazards(context, "mixed atomics"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=hazard.cause,
                message=f"{second} updates through the generic proxy what a pending {first} updates through "
                "the "
                "async proxy: neither is atomic to the other",
                fix=FIX,
                notes=(f"{first} updates global memory", f"{second} updates the same bytes"),
                best=Confidence.MEDIUM,
            )
