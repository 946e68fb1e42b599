"""PTX201: a bulk store's source is overwritten while wait_group still lets the store be pending."""

from ptxlint.checks.base import Check, Context, Verdict
from ptxlint.checks.bulk_groups import source_reuse
from ptxlint.engine.events import Conflict
from ptxlint.report.finding import Fix, Severity


class WaitGroupTooWeak(Check):
    """The issuer waits, but for fewer groups than the one that reads the buffer."""

    code = "PTX201"
    name = "wait-group-too-weak"
    severity = Severity.ERROR

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Claim an early reuse where the issuer waited with too large a count."""
        reuse = source_reuse(conflict)
        if reuse is None or not reuse.committed or reuse.waited or not reuse.own_waits:
            return None
        wait = reuse.own_waits[-1]
        allowed = max(0, reuse.newer)
        first, second = conflict.first, conflict.second
        message = (
            f"{context.opcode(second)} overwrites {context.place(second)} while the {context.opcode(first)} that "
            f"reads it may be pending: wait_group {wait.number} leaves the {_newest(wait.number)} "
            f"unfinished, and this store is {_nth(allowed)}"
        )
        fix = Fix(
            f"wait for {_all_but(allowed)} before the buffer is reused",
            f"cp.async.bulk.wait_group.read {allowed};",
            f'asm volatile("cp.async.bulk.wait_group.read {allowed};" ::: "memory");',
        )
        note = (
            "leaves the newest group pending, the one that reads this buffer"
            if wait.number == 1
            else f"leaves up to {wait.number} groups pending, the one that reads this buffer among them"
        )
        return Verdict("count", message, fix, (wait, note))


def _newest(number: int) -> str:
    return "newest group" if number == 1 else f"{number} newest groups"


def _all_but(number: int) -> str:
    return "all groups" if number == 0 else f"all but the {_newest(number)}"


def _nth(newer: int) -> str:
    if newer == 0:
        return "the newest"
    return f"followed by {newer} newer group{'s' if newer > 1 else ''} only"
