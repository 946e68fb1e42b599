"""PTX511: tensor memory used while tcgen05.mma, cp or shift on it may be pending."""

from collections.abc import Iterator

from ptxlint.checks.base import Check, Context, Draft
from ptxlint.checks.hazards import between
from ptxlint.checks.tensor_memory import (
    WAIT_FOR_COMMIT,
    TensorHazard,
    columns,
    last_by,
    name,
    tell,
    tensor_hazards,
)
from ptxlint.engine.events import LogEntry
from ptxlint.engine.tensor_memory import TensorGap, Unit
from ptxlint.report.finding import Severity

PLAIN = "arrives at once: a plain arrival does not wait for tcgen05 operations"


class Tcgen05ResultWithoutCommit(Check):
    """Only a commit and a wait on its mbarrier tell that the tensor core is done."""

    code = "PTX511"
    name = "tcgen05-result-without-commit"
    severity = Severity.ERROR

    def run(self, context: Context) -> Iterator[Draft]:
        """Report uses of tensor memory whose pending tensor-core operation was not observed complete."""
        for found in tensor_hazards(context, TensorGap.COMPLETION, TensorGap.ORDER):
            first, second = found.units
            if first is not Unit.TENSOR_CORE or (second is Unit.DEALLOC and found.gap is TensorGap.ORDER):
                continue
            assert found.first is not None
            cause, near, why = self._cause(found)
            verb = "releases" if second is Unit.DEALLOC else "uses"
            message = (
                f"{name(found.second)} {verb} {columns(found.second)} while the {name(found.first)} on "
                "them may be "
                f"pending: {why}"
            )
            notes = (f"works on {columns(found.first)}, asynchronously", f"{verb} {columns(found.second)}")
            yield tell(self, found, context, cause, message, WAIT_FOR_COMMIT, notes, near)

    @staticmethod
    def _cause(found: TensorHazard) -> tuple[str, tuple[LogEntry, str] | None, str]:
        hazard = found.hazard
        issuer = hazard.first.actor.warp
        waited = last_by(hazard, hazard.second.actor.warp, "MbarrierWait")
        if waited is not None:
            for entry in reversed(between(hazard, "MbarrierArrive")):
                if entry.actor.warp == issuer and entry.number == waited.number:
                    return "plain-arrive", (entry, PLAIN), "no tcgen05.commit tracks it"
        commit = last_by(hazard, issuer, "TensorCommit")
        if commit is not None:
            near = (commit, "commits to an mbarrier that the later thread has not waited for")
            return "commit-not-waited", near, "its commit has not been waited for"
        arrive = last_by(hazard, issuer, "MbarrierArrive")
        if arrive is not None:
            return "plain-arrive", (arrive, PLAIN), "no tcgen05.commit tracks it"
        if found.gap is TensorGap.ORDER:
            return "no-wait", None, "nothing was waited for that follows it"
        return "no-commit", None, "no tcgen05.commit tracks it"
