"""PTX206: a thread exits while a bulk store may still be reading the CTA's shared memory."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.near_misses import wait_after
from ptxlint.model import effects as fx
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Step


class BulkStorePendingAtExit(Check):
    """The ISA names no drain at exit; shared memory lives as long as its CTA."""

    code = "PTX206"
    name = "bulk-store-pending-at-exit"
    severity = Severity.WARNING

    def run(self, context: Context) -> Iterator[Draft]:
        """Report committed groups whose source reads are not waited for at exit."""
        for pending in context.analysis.exits:
            if not pending.committed:
                continue
            access = pending.access
            site = context.site(access.event)
            steps = [Step(context.actor(access), site, f"reads {context.place(access)}", "first")]
            message = (
                f"{context.opcode(access)} may still be reading {context.place(access)} when its thread exits"
            )
            cause = "no-drain"
            other = pending.waited_by_others
            wait = wait_after(access, context)
            foreign = other is not None and other.detail == "nothing issued"
            if other is not None and foreign and (wait is None or wait.event is other.event):
                cause = "non-issuer"
                message += f": {other.actor} waits, but {access.actor} issued it"
                steps.append(
                    Step(
                        str(other.actor),
                        context.site(other.event),
                        "has issued nothing: returns at once",
                        "near-miss",
                    )
                )
            else:
                effect = wait.event.effect if wait else None
                if wait is not None and isinstance(effect, fx.BulkWait):
                    cause = "wait-too-weak" if effect.pending else "drain-off-path"
                    note = (
                        f"leaves up to {effect.pending} groups pending"
                        if effect.pending
                        else "drains, but is not on each path to the exit"
                    )
                    steps.append(Step(str(wait.actor), context.site(wait.event), note, "near-miss"))
            finding = Finding(
                self.code,
                self.name,
                cause,
                self.severity,
                Confidence.LOW if pending.forced else Confidence.HIGH,
                message,
                site,
                tuple(steps),
                Fix(
                    "drain the issuing thread's groups before it exits",
                    "cp.async.bulk.wait_group.read 0;",
                    'asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");',
                ),
            )
            yield Draft(finding, (self.code,), access.event)
