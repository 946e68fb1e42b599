"""PTX111: a tensor map is overwritten while a copy that uses it may be pending."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import between, hazards, report
from ptxlint.report.finding import Fix, Severity

FIX = Fix(
    "wait until the copies that use the map have read it, then modify it",
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;",
    ""
    "cuda::ptx::cp_async_bulk_commit_group();\ncuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>{});",
)


class TensormapUpdatedInFlight(Check):
    """A copy reads its map at any time until it is complete (9.7.9.25.1, 9.7.9.27.1.2)."""

    code = "PTX111"
    name = "tensormap-updated-in-flight"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report writes to a map that a pending copy may still read."""
        for hazard in hazards(context, "map in flight"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            waits = between(hazard, "BulkWait")
            near = (waits[-1], "this wait does not cover the copy") if waits else None
            yield report(
                self,
                hazard,
                context,
                cause="wait-does-not-cover" if waits else "no-wait",
                message=f"{second} modifies a tensor map while the {first} that uses it may still be "
                "reading it",
                fix=FIX,
                notes=(f"{first} reads the tensor map", f"{second} modifies it"),
                near=near,
            )
