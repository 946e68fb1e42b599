"""What might repair a finding, the smallest change first: fences, waits, commits, counts, barriers.

A candidate is a guess from the kind of the finding and the instructions of its trace. Whether it repairs
is decided by checking the changed kernel (``repair.py``), not here.
"""

from collections.abc import Callable, Iterable, Iterator

from ptxlint.fix.edits import Edit, insertion_after, insertion_before
from ptxlint.fix.places import Places, has
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import Instruction
from ptxlint.records import record

FENCE_SHARED = "fence.proxy.async.shared::cta;"
FENCE_GLOBAL = "fence.proxy.async.global;"
WAIT_READ = "cp.async.bulk.wait_group.read 0;"
WAIT_ALL = "cp.async.bulk.wait_group 0;"
COMMIT = "cp.async.bulk.commit_group;"
WARP_SYNC = "bar.warp.sync 0xffffffff;"
CTA_BARRIER = "bar.sync 0;"
WGMMA_FENCE = "wgmma.fence.sync.aligned;"
WGMMA_COMMIT = "wgmma.commit_group.sync.aligned;"
WGMMA_WAIT = "wgmma.wait_group.sync.aligned 0;"
TENSOR_WAIT_LOAD = "tcgen05.wait::ld.sync.aligned;"
TENSOR_WAIT_STORE = "tcgen05.wait::st.sync.aligned;"
TENSOR_FENCE_BEFORE = "tcgen05.fence::before_thread_sync;"
TENSOR_FENCE_AFTER = "tcgen05.fence::after_thread_sync;"
INIT_FENCE = "fence.mbarrier_init.release.cluster;"

# What hands a buffer over to other threads.
RELEASES = (fx.MbarrierArrive, fx.CtaBarrier, fx.ClusterArrive, fx.WarpBarrier)


@record
class Candidate:
    """A change that may repair a finding.

    *safe*: it can only order more. An unsafe one adds a barrier, which all threads must reach, or
    changes what an instruction counts.
    """

    summary: str
    edits: tuple[Edit, ...]
    safe: bool = True


def candidates(places: Places) -> Iterator[Candidate]:
    """Yield what might repair the finding of *places*."""
    makers = _MAKERS.get(places.finding.code, ())
    for maker in makers:
        yield from maker(places)


def _before(places: Places, anchors: Iterable[Instruction], statement: str) -> tuple[Edit, ...]:
    return tuple(insertion_before(places.text, a.offset, statement) for a in anchors)


def _after(places: Places, anchors: Iterable[Instruction], statement: str) -> tuple[Edit, ...]:
    return tuple(insertion_after(places.text, a.offset, a.end, statement) for a in anchors)


def _fenced(fence: str) -> Callable[[Places], Iterator[Candidate]]:
    """Fence after the first access, before its threads hand the buffer over; else before the second."""

    def make(places: Places) -> Iterator[Candidate]:
        summary = f"{fence} after the first access, before the buffer is handed over"
        for release in places.steps_of_first(*RELEASES):
            yield Candidate(summary, _before(places, places.copies(release), fence))
        if places.first is not None:
            yield Candidate(
                f"{fence} after the first access", _after(places, places.copies(places.first), fence)
            )
        if places.second is not None:
            edits = _before(places, places.copies(places.second), fence)
            yield Candidate(f"{fence} before the second access", edits)

    return make


def _fewer_pending(places: Places) -> Iterator[Candidate]:
    """Let a wait leave fewer groups pending."""
    for wait in places.steps(fx.BulkWait):
        effect = next(e for e in semantics.decode(wait) if isinstance(e, fx.BulkWait))
        for pending in range(effect.pending - 1, -1, -1):
            edits = []
            for copy in places.copies(wait):
                if effect not in semantics.decode(copy):
                    continue
                statement = places.text[copy.offset : copy.end]
                at = copy.offset + statement.rindex(str(effect.pending))
                edits.append(Edit(at, at + len(str(effect.pending)), str(pending)))
            yield Candidate(f"wait until at most {pending} groups are pending", tuple(edits))


def _whole_wait(places: Places) -> Iterator[Candidate]:
    """Wait for the writes too, not only for the reads of the source."""
    yield from _replaced(".read", "", fx.BulkWait, "wait for the whole copy: without .read")(places)


def _replaced(
    old: str, new: str, kind: type[fx.Effect], summary: str
) -> Callable[[Places], Iterator[Candidate]]:
    """Change a modifier of the instructions of *kind* that the finding speaks of."""

    def make(places: Places) -> Iterator[Candidate]:
        named = [i for i in (places.second, places.first) if i is not None and has(i, kind)]
        for instruction in dict.fromkeys([*places.steps(kind), *named], None):
            edits = []
            for copy in places.copies(instruction):
                at = places.text.find(old, copy.offset, copy.end)
                if at >= 0:
                    edits.append(Edit(at, at + len(old), new))
            if edits:
                yield Candidate(summary, tuple(edits))

    return make


def _committed(places: Places) -> Iterator[Candidate]:
    """Commit the copy to a group, so that the waits that are there see it."""
    copy = places.first if places.first is not None and has(places.first, fx.BulkCopy) else places.second
    if copy is None:
        return
    anchors = places.copies(copy)
    yield Candidate("commit the copy to a group", _after(places, anchors, COMMIT))
    yield Candidate(
        "commit the copy to a group and wait for it", _after(places, anchors, f"{COMMIT} {WAIT_ALL}")
    )


def _drained(wait: str) -> Callable[[Places], Iterator[Candidate]]:
    """Let the issuer wait for its groups: after its commit, before the second access, or after the copy."""

    def make(places: Places) -> Iterator[Candidate]:
        for commit in places.steps(fx.BulkCommit):
            anchors = places.copies(commit)
            yield Candidate("wait for the group after its commit", _after(places, anchors, wait))
        if places.second is not None:
            anchors = places.copies(places.second)
            yield Candidate("wait for the group before the second access", _before(places, anchors, wait))
        for barrier in places.steps(fx.CtaBarrier, fx.WarpBarrier):
            anchors = places.copies(barrier)
            yield Candidate("wait for the group before the barrier", _before(places, anchors, wait))
        if places.first is not None:
            for commit in _next_of(places, places.first, fx.BulkCommit):
                anchors = places.copies(commit)
                yield Candidate("wait for the group after its commit", _after(places, anchors, wait))
                both = _after(places, anchors, f"{wait}\n\t{CTA_BARRIER}")
                yield Candidate("wait for the group, then a CTA barrier", both, safe=False)

    return make


def _next_of(places: Places, start: Instruction, *kinds: type[fx.Effect]) -> Iterator[Instruction]:
    """Yield the first instruction of *kinds* behind *start* in the text."""
    for instruction in places.all(*kinds):
        if instruction.index > start.index:
            yield instruction
            return


def _drained_at_exit(places: Places) -> Iterator[Candidate]:
    """Wait for all groups before each end of the kernel."""
    ends = list(places.all(fx.Return, fx.Exit))
    yield Candidate("wait for the bulk groups before the kernel ends", _before(places, ends, WAIT_READ))


def _warp_joined(places: Places) -> Iterator[Candidate]:
    """Join the lanes of the warp before one of them goes on for all."""
    if places.first is not None:
        anchors = places.copies(places.first)
        yield Candidate(
            "join the lanes of the warp after the access", _after(places, anchors, WARP_SYNC), False
        )
    for release in places.steps_of_first(*RELEASES):
        anchors = places.copies(release)
        yield Candidate(
            "join the lanes of the warp before the release", _before(places, anchors, WARP_SYNC), False
        )
    for branch in _branches_before(places):
        yield Candidate(
            "join the lanes of the warp before one is elected", _before(places, [branch], WARP_SYNC), False
        )


def _branches_before(places: Places) -> Iterator[Instruction]:
    """Yield the branches between the two accesses, nearest to the second first."""
    first, second = places.first, places.second
    if first is None or second is None:
        return
    found = [i for i in places.all(fx.Branch) if first.index < i.index < second.index]
    yield from reversed(found[-8:])


def _published(places: Places) -> Iterator[Candidate]:
    """Publish the initialisation of mbarriers."""
    inits = list(places.all(fx.MbarrierInit))
    if not inits:
        return
    last = max(inits, key=lambda i: i.index)
    yield Candidate("fence the initialisation", _after(places, [last], INIT_FENCE))
    for join in _after_region(places, last):
        edits = (*_after(places, [last], INIT_FENCE), *_before(places, [join], CTA_BARRIER))
        yield Candidate("fence the initialisation, then a CTA barrier", edits, safe=False)
        yield Candidate(
            "a CTA barrier after the initialisation", _before(places, [join], CTA_BARRIER), safe=False
        )


def _after_region(places: Places, start: Instruction) -> Iterator[Instruction]:
    """Yield where all threads meet again behind *start*: targets of branches over it, nearest first."""
    found: dict[int, Instruction] = {}
    for branch in places.all(fx.Branch):
        target = places.target(branch)
        if target is not None and branch.index < start.index < target.index:
            found[target.index] = target
    for index in sorted(found)[:3]:
        yield found[index]


def _around(*pairs: tuple[str, bool, str]) -> Callable[[Places], Iterator[Candidate]]:
    """Insert statements around the accesses: each (statement, safe, summary), at the places that may do."""

    def make(places: Places) -> Iterator[Candidate]:
        for statement, safe, summary in pairs:
            for release in places.steps_of_first(*RELEASES):
                anchors = places.copies(release)
                yield Candidate(f"{summary} before the release", _before(places, anchors, statement), safe)
            if places.second is not None:
                anchors = places.copies(places.second)
                yield Candidate(
                    f"{summary} before the second access", _before(places, anchors, statement), safe
                )
            if places.first is not None:
                anchors = places.copies(places.first)
                yield Candidate(f"{summary} after the first access", _after(places, anchors, statement), safe)

    return make


def _tensor_fenced(places: Places) -> Iterator[Candidate]:
    """Fence tcgen05 operations around the barrier between two threads."""
    if places.second is None:
        return
    after = _before(places, places.copies(places.second), TENSOR_FENCE_AFTER)
    for release in places.steps_of_first(*RELEASES):
        before = _before(places, places.copies(release), TENSOR_FENCE_BEFORE)
        yield Candidate("tcgen05 fence before the barrier", before)
        yield Candidate("tcgen05 fences around the barrier", (*before, *after))
    yield Candidate("tcgen05 fence after the barrier", after)
    if places.first is not None:
        before = _after(places, places.copies(places.first), TENSOR_FENCE_BEFORE)
        yield Candidate("tcgen05 fence before the barrier", before)
        yield Candidate("tcgen05 fences around the barrier", (*before, *after))


_FENCES = (_fenced(FENCE_SHARED),)
_MAKERS: dict[str, tuple[Callable[[Places], Iterator[Candidate]], ...]] = {
    "PTX101": _FENCES,
    "PTX102": _FENCES,
    "PTX103": _FENCES,
    "PTX104": _FENCES,
    "PTX105": (_fenced(FENCE_GLOBAL), _fenced("fence.proxy.async;")),
    "PTX201": (_fewer_pending, _drained(WAIT_READ)),
    "PTX202": (_fewer_pending, _drained(WAIT_READ)),
    "PTX203": (_committed,),
    "PTX204": (_drained(WAIT_READ),),
    "PTX205": (_whole_wait, _fewer_pending, _drained(WAIT_ALL)),
    "PTX206": (_drained_at_exit,),
    "PTX207": (_drained(WAIT_READ), _drained(WAIT_ALL)),
    "PTX307": (_published,),
    "PTX309": (_warp_joined,),
    "PTX311": (_replaced(".relaxed", ".acquire", fx.MbarrierWait, "acquire at the wait"),),
    "PTX401": (
        _around(("cp.async.wait_all;", True, "wait for the cp.async groups")),
        _around(
            (
                f"cp.async.wait_all;\n\t{CTA_BARRIER}",
                False,
                "wait for the cp.async groups, then a CTA barrier",
            )
        ),
    ),
    "PTX501": (_around((WGMMA_WAIT, True, "wait for the wgmma groups")),),
    "PTX502": (_around((WGMMA_FENCE, True, "wgmma fence")),),
    "PTX503": (
        _around((WGMMA_WAIT, True, "wait for the wgmma groups")),
        _around((f"{WGMMA_COMMIT}\n\t{WGMMA_WAIT}", True, "commit the wgmma group and wait for it")),
    ),
    "PTX512": (_around((TENSOR_WAIT_LOAD, True, "wait for the tcgen05 loads")),),
    "PTX513": (_around((TENSOR_WAIT_STORE, True, "wait for the tcgen05 stores")),),
    "PTX514": (_tensor_fenced,),
    "PTX601": (_replaced(".cta", ".cluster", fx.MbarrierArrive, "arrive with cluster scope"),),
    "PTX605": (_replaced(".relaxed", ".release", fx.ClusterArrive, "release at the cluster barrier"),),
    "PTX701": (_replaced(".arrive", ".sync", fx.CtaBarrier, "wait at the barrier, not only arrive"),),
}

REPAIRABLE = frozenset(_MAKERS)
