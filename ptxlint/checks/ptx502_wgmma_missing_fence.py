"""PTX502: registers of wgmma written with no wgmma.fence before it."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.wgmma_registers import has_wgmma, site_of, touched_since_fence
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step

FIX = Fix(
    "put wgmma.fence after the last write of the registers, before the wgmma",
    "wgmma.fence.sync.aligned;",
    'asm volatile("wgmma.fence.sync.aligned;" ::: "memory");  // warpgroup_arrive()',
)


class WgmmaMissingFence(Check):
    """wgmma is not ordered after what its thread did to its registers; ptxas repairs this, and says so."""

    code = "PTX502"
    name = "wgmma-missing-fence"
    severity = Severity.NOTE

    def run(self, context: Context) -> Iterator[Draft]:
        """Report wgmmas that no fence orders after writes of their registers."""
        for code in context.analysis.codes:
            if not has_wgmma(code):
                continue
            for hazard in touched_since_fence(code):
                instruction = code.function.instructions[hazard.at]
                site = site_of(context, instruction)
                steps = []
                if hazard.other >= 0:
                    before = code.function.instructions[hazard.other]
                    steps.append(
                        Step("each thread", site_of(context, before), f"writes {hazard.register}", "first")
                    )
                    what = f"uses {hazard.register}, written with no wgmma.fence since"
                else:
                    what = "has no wgmma.fence before it"
                steps.append(Step("each thread", site, "starts the wgmma", "second"))
                finding = Finding(
                    self.code,
                    self.name,
                    "no-fence" if hazard.other < 0 else "written-after-fence",
                    self.severity,
                    Confidence.HIGH,
                    f"{'.'.join(instruction.opcode.split('.')[:2])} {what}",
                    site,
                    tuple(steps),
                    FIX,
                )
                yield Draft(finding, (self.code, context.module.source_chain(instruction) or id(code)))
