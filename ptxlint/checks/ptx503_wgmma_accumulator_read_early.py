"""PTX503: accumulators or A fragments of wgmma accessed before wgmma.wait_group."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.wgmma_registers import has_wgmma, site_of, used_while_pending
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step

FIX = Fix(
    "commit the wgmma-group and wait for it before its registers are accessed",
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;",
    'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");  // warpgroup_wait<0>()',
)


class WgmmaAccumulatorReadEarly(Check):
    """The registers belong to the wgmma until its group is waited for; ptxas repairs this, and says so."""

    code = "PTX503"
    name = "wgmma-accumulator-read-early"
    severity = Severity.NOTE

    def run(self, context: Context) -> Iterator[Draft]:
        """Report accesses of registers that a pending wgmma uses."""
        for code in context.analysis.codes:
            if not has_wgmma(code):
                continue
            for hazard in used_while_pending(code):
                user = code.function.instructions[hazard.at]
                wgmma = code.function.instructions[hazard.other]
                verb = "writes" if hazard.writes else "reads"
                opcode = ".".join(user.opcode.split(".")[:2])
                finding = Finding(
                    self.code,
                    self.name,
                    "no-wait",
                    self.severity,
                    Confidence.HIGH,
                    f"{opcode} {verb} {hazard.register} while the wgmma that uses it may be pending: no "
                    "wgmma.wait_group that retires it is on the path",
                    site_of(context, user),
                    (
                        Step(
                            "each thread",
                            site_of(context, wgmma),
                            f"starts the wgmma that uses {hazard.register}",
                            "first",
                        ),
                        Step("each thread", site_of(context, user), f"{verb} {hazard.register}", "second"),
                    ),
                    FIX,
                )
                yield Draft(finding, (self.code, context.module.source_chain(wgmma) or hazard.other))
