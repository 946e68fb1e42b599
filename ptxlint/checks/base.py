"""What a check is, and what it may ask.

A check either *claims* a conflict that the engine found (two accesses and what is missing between them)
by naming its cause, or looks for something else in the whole analysis. Conflicts go to the checks in
the order of ``ALL_CHECKS``; the first that claims one reports it: one hazard, one finding.
"""

from collections.abc import Iterator

from ptxlint.engine.events import Access, Actor, Conflict, Family, Gap, LogEntry
from ptxlint.engine.program import Event
from ptxlint.engine.run import Analysis
from ptxlint.records import field, mutable_record, record
from ptxlint.report.finding import Confidence, Finding, Fix, Severity, Site, Step
from ptxlint.report.summary import plural


@record
class Verdict:
    """Why a check claims a conflict: the cause, the message, the repair, an event that misleads.

    ``conflict`` is given when the accesses are told in another order than they were run in.
    """

    cause: str | None
    message: str
    fix: Fix
    near_miss: tuple[LogEntry, str] | None = None
    severity: Severity | None = None
    confidence: Confidence | None = None
    conflict: Conflict | None = None


@mutable_record
class Draft:
    """A finding before folding: with its evidence."""

    finding: Finding
    fold: tuple[object, ...]
    first: Event | None = None
    conflict: Conflict | None = None
    count: int = 1
    others: list[str] = field(default_factory=list)


class Context:
    """The analysis of one kernel, with the words for places and bytes."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.module = analysis.module

    def site(self, event: Event) -> Site:
        """Return where *event* stands in the PTX and in the CUDA source."""
        position = self.module.position(event.instruction)
        return Site(position.line, position.column, self.module.source_chain(event.instruction))

    def place(self, access: Access) -> str:
        """Return the bytes of *access* in words: symbol, offset, size."""
        name = self.analysis.launch.symbol_at(access.low)
        if not access.exact:
            return f"shared memory at {name}"
        return f"{plural(access.high - access.low, 'byte')} of shared memory at {name}"

    def opcode(self, access: Access) -> str:
        """Return the opcode of *access*, shortened to what tells it apart."""
        return short_opcode(access.event)

    def actor(self, access: Access) -> str:
        """Return who performs *access*."""
        if access.family is Family.GENERIC:
            return str(access.actor)
        return f"async unit (issued by {access.actor})"

    def fold_key(self, event: Event) -> object:
        """Return what is the same for copies of one source statement."""
        chain = self.module.source_chain(event.instruction)
        return chain or event.instruction.index

    def confidence(self, conflict: Conflict) -> Confidence:
        """Return how sure it is that *conflict* can happen."""
        analysis = self.analysis
        if conflict.forced:
            return Confidence.LOW
        if not conflict.first.exact or not conflict.second.exact:
            exact_start = conflict.first.low == conflict.second.low
            if not exact_start:
                return Confidence.MEDIUM
        if analysis.forced or analysis.peers or analysis.launch.assumed:
            return Confidence.MEDIUM
        return Confidence.HIGH


class Check:
    """One rule. Subclasses name it and give ``claim`` or ``run``; not *default*: only when selected by its code.

    *explains_waits*: what it reports is itself a reason for waits that never end.
    """

    code: str = ""
    name: str = ""
    severity: Severity = Severity.ERROR
    default: bool = True
    explains_waits: bool = False

    def claim(self, conflict: Conflict, context: Context) -> Verdict | None:
        """Return why *conflict* is this rule's, or None."""
        return None

    def explains(self, conflict: Conflict, context: Context) -> bool:
        """Return whether *conflict* only follows from what this rule reports by ``run``."""
        return False

    def run(self, context: Context) -> Iterator[Draft]:
        """Yield findings that are no conflicts."""
        return iter(())

    def _told_as(self, severity: Severity, conflict: Conflict) -> Severity:
        """Return the severity: an order that is missing behind a wait which had to be forced may be there in truth."""
        uncertain = conflict.forced and conflict.gap in (Gap.ORDER, Gap.COMPLETION)
        return Severity.NOTE if uncertain and not self.explains_waits else severity

    def draft(self, conflict: Conflict, verdict: Verdict, context: Context) -> Draft:
        """Turn a claimed conflict into a finding with its trace."""
        conflict = verdict.conflict or conflict
        first, second = conflict.first, conflict.second
        primary = second
        steps = _trace(conflict, verdict, context)
        finding = Finding(
            self.code,
            self.name,
            verdict.cause,
            self._told_as(verdict.severity or self.severity, conflict),
            verdict.confidence or context.confidence(conflict),
            verdict.message,
            context.site(primary.event),
            tuple(steps),
            verdict.fix,
        )
        asynchronous = second if second.family is not Family.GENERIC else first
        fold = (self.code, context.fold_key(asynchronous.event))
        return Draft(finding, fold, first.event, conflict, conflict.count)


def short_opcode(event: Event) -> str:
    """Return the opcode without its modifiers of no interest."""
    parts = event.instruction.opcode.split(".")
    keep = 3 if parts[0] in ("cp", "ld", "st", "fence") else 2
    return ".".join(parts[:keep])


def _access_note(access: Access, context: Context) -> str:
    verb = "writes" if access.write else "reads"
    proxy = "generic" if access.family in (Family.GENERIC, Family.CP_ASYNC) else "async"
    return f"{context.opcode(access)} {verb} {context.place(access)} through the {proxy} proxy"


_NOTES = {
    "BulkCommit": "commits the bulk async-group",
    "BulkWait": "waits for bulk async-groups",
    "MbarrierArrive": "arrives on an mbarrier",
    "MbarrierWait": "waits on an mbarrier",
    "CtaBarrier": "CTA barrier",
    "WarpBarrier": "warp barrier",
    "ProxyFence": "proxy fence",
    "ThreadFence": "thread fence, which orders no proxies",
    "WgmmaCommit": "commits the wgmma-group",
    "WgmmaWait": "waits for wgmma-groups",
    "TensorCommit": "tcgen05.commit",
    "CpAsyncWait": "waits for cp.async groups (another family)",
    "ClusterArrive": "cluster barrier arrive",
    "ClusterWait": "cluster barrier wait",
}


def _trace(conflict: Conflict, verdict: Verdict, context: Context) -> list[Step]:
    """Return the two accesses and what is between them, in the order of the run.

    A near miss may come before the first access. Accesses that are told in another order than they were
    run in stay at the ends.
    """
    first, second = conflict.first, conflict.second
    start = Step(context.actor(first), context.site(first.event), _access_note(first, context), "first")
    end = Step(context.actor(second), context.site(second.event), _access_note(second, context), "second")
    steps = list(_path(conflict, verdict, context))
    if verdict.near_miss is not None:
        entry, note = verdict.near_miss
        steps.append((entry.sequence, Step(str(entry.actor), context.site(entry.event), note, "near-miss")))
    steps.sort(key=lambda step: step[0])
    if first.sequence > second.sequence:
        return [start, *(step for _, step in steps), end]
    early = [step for sequence, step in steps if sequence < first.sequence]
    return [*early, start, *(step for _, step in steps[len(early) :]), end]


def _path(conflict: Conflict, verdict: Verdict, context: Context) -> Iterator[tuple[int, Step]]:
    """Yield the synchronising events between the accesses, each instruction once, at most six, with their order."""
    shown: set[int] = set()
    if verdict.near_miss is not None:
        shown.add(verdict.near_miss[0].event.instruction.index)
    entries = []
    for entry in conflict.log:
        if not conflict.first.sequence < entry.sequence < conflict.second.sequence:
            continue
        note = _NOTES.get(entry.event.kind)
        if note is None or entry.event.instruction.index in shown:
            continue
        shown.add(entry.event.instruction.index)
        if entry.event.kind == "BulkWait":
            groups = plural(entry.number, "bulk async-group is", "bulk async-groups are")
            note = f"waits until at most {groups} pending"
        entries.append((entry, note))
    if len(entries) > 6:
        entries = entries[:3] + entries[-3:]
    for entry, note in entries:
        yield entry.sequence, Step(str(entry.actor), context.site(entry.event), note)


def entries_of(conflict: Conflict, *kinds: str) -> list[LogEntry]:
    """Return the logged events of *kinds* between the accesses, in order."""
    return [
        entry
        for entry in conflict.log
        if entry.event.kind in kinds and conflict.first.sequence < entry.sequence <= conflict.second.sequence
    ]


def by_issuer(entry: LogEntry, issuer: Actor) -> bool:
    """Return whether *entry* was executed by all threads of *issuer*."""
    return entry.actor.warp == issuer.warp and not issuer.mask & ~entry.actor.mask
