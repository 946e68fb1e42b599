"""PTX706: a non-coherent load reads what a bulk store of the same kernel wrote."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.hazards import hazards, report
from ptxlint.report.finding import Fix, Severity

FIX = Fix(
    "load with a plain ld.global: the non-coherent path is outside the memory model",
    "ld.global.u32 v, [a];",
    "value = *pointer;  // not __ldg, and no const __restrict__ parameter",
)


class NoncoherentLoadOfAsyncData(Check):
    """``ld.global.nc`` may return what the location held before the kernel wrote it (8.1)."""

    code = "PTX706"
    name = "noncoherent-load-of-async-data"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report non-coherent loads of bytes that a complete bulk store wrote."""
        for hazard in hazards(context, "noncoherent"):
            first, second = short_opcode(hazard.first.event), short_opcode(hazard.second.event)
            yield report(
                self,
                hazard,
                context,
                cause=None,
                message=f"{second.removesuffix('.nc')}.nc reads what {first} wrote in the same kernel: the non-coherent path "
                "may hold "
                "an older value",
                fix=FIX,
                notes=(f"{first} writes global memory", f"{second} reads the same bytes, non-coherent"),
            )
