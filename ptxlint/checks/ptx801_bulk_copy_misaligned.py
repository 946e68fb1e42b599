"""PTX801: an address or a size of a bulk copy does not have the alignment that it must have."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft, short_opcode
from ptxlint.checks.mbarriers import draft
from ptxlint.engine.events import Actor, Problem
from ptxlint.engine.program import Event
from ptxlint.model import effects as fx
from ptxlint.ptx.syntax import Immediate, Variable
from ptxlint.report.finding import Confidence, Fix, Severity

TENSOR = (fx.BulkKind.TENSOR_COPY, fx.BulkKind.TENSOR_REDUCE)
DYNAMIC_ALIGN = 16


class BulkCopyMisaligned(Check):
    """Bulk copies move multiples of 16 bytes between 16-byte boundaries; tensor copies want 128."""

    code = "PTX801"
    name = "bulk-copy-misaligned"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report operands whose value the program fixes and whose alignment is wrong."""
        told: set[tuple[int, str]] = set()
        for outcome in context.analysis.outcomes:
            for (_, role), values in outcome.operands.items():
                for value, event, actor in values.values():
                    key = (event.instruction.offset, role)
                    if (
                        key not in told
                        and (found := self._judge(context, event, actor, role, value)) is not None
                    ):
                        told.add(key)
                        yield found

    def _judge(self, context: Context, event: Event, actor: Actor, role: str, value: int) -> Draft | None:
        effect = event.effect
        assert isinstance(effect, fx.BulkCopy)
        if role == "size":
            if value % 16 == 0:
                return None
            message = f"the size of {short_opcode(event)} is {value} bytes, which is no multiple of 16"
            return self._draft(context, event, actor, "size", message, "copy a multiple of 16 bytes", None)
        need = 8 if role == "mbarrier" else 128 if effect.kind in TENSOR else 16
        symbol = base_of(context, value)
        if symbol is None:
            return None
        start, variable = symbol
        offset = value - start
        align = variable.align or 1
        if variable.external:
            align = max(align, DYNAMIC_ALIGN)
        what = f"the {role} of {short_opcode(event)}, {context.analysis.launch.symbol_at(value)},"
        if offset % min(need, align):
            message = f"{what} is not aligned to {need} bytes"
            return self._draft(
                context, event, actor, role, message, f"align the {role} to {need} bytes", None
            )
        if align >= need or variable.external or rounds_up(context):
            return None
        message = (
            f"{what} need not be aligned to {need} bytes: {variable.name} is declared with .align {align}"
        )
        return self._draft(
            context,
            event,
            actor,
            role,
            message,
            f"declare {variable.name} with .align {need}",
            Confidence.MEDIUM,
        )

    def _draft(
        self,
        context: Context,
        event: Event,
        actor: Actor,
        cause: str,
        message: str,
        help_: str,
        sure: Confidence | None,
    ) -> Draft:
        problem = Problem("operand", event, actor, facts={"cause": cause})
        fix = Fix(
            help_, ".shared .align 128 .b8 tile[16384];", "alignas(128) __shared__ unsigned char tile[16384];"
        )
        return draft(self, context, problem, message, fix, ("", message), sure=sure)


def base_of(context: Context, address: int) -> tuple[int, Variable] | None:
    """Return the shared symbol that *address* lies in, with its own address."""
    analysis = context.analysis
    address &= (1 << 24) - 1
    best: tuple[int, Variable] | None = None
    owners = [analysis.kernel.function, *(code.function for code in analysis.functions.values())]
    variables = [*analysis.module.variables, *(v for owner in owners for v in owner.variables)]
    for variable in variables:
        start = analysis.launch.symbols.get(variable.name)
        if variable.space != "shared" or start is None or start > address:
            continue
        size = variable.size
        if not variable.external and size is not None and address >= start + size:
            continue
        if best is None or start > best[0]:
            best = (start, variable)
    return best


def rounds_up(context: Context) -> bool:
    """Whether the kernel rounds some number to a multiple of a power of two: it may align addresses."""
    for code in context.analysis.codes:
        for effects in code.effects:
            for effect in effects:
                if isinstance(effect, fx.Compute) and effect.op == "and":
                    for operand in effect.srcs:
                        if isinstance(operand, Immediate) and operand.value < 0 and operand.value % 8 == 0:
                            return True
    return False
