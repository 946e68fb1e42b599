"""Makes a ``View`` of an analysed kernel and a trace of its main run."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from ptxlint.demangle import mangled_names, short_names
from ptxlint.engine.events import Access, Actor, Family, LogEntry
from ptxlint.engine.run import Analysis
from ptxlint.model import effects as fx
from ptxlint.ptx.source import SourceLocation
from ptxlint.ptx.syntax import Instruction
from ptxlint.report.finding import Finding, Site
from ptxlint.show.model import Arrow, Barrier, Buffer, Hazard, Item, Role, Use, View, shown_line
from ptxlint.show.trace import Trace

MOST_ITEMS = 400

_WORDS = {
    "MbarrierInit": ("init", "initialise"),
    "MbarrierInitFence": ("fence", "fence of the initialisation"),
    "MbarrierArrive": ("arrive", "arrive"),
    "MbarrierExpect": ("arrive", "expect bytes"),
    "MbarrierWait": ("wait", "wait"),
    "TensorCommit": ("arrive", "tcgen05 commit"),
    "CpAsyncArrive": ("arrive", "cp.async arrive"),
    "BulkCommit": ("commit", "commit group"),
    "BulkWait": ("drain", "wait for groups"),
    "CtaBarrier": ("barrier", "CTA barrier"),
    "WarpBarrier": ("barrier", "warp barrier"),
    "ClusterArrive": ("barrier", "cluster arrive"),
    "ClusterWait": ("barrier", "cluster wait"),
    "ProxyFence": ("fence", "proxy fence"),
    "ThreadFence": ("fence", "thread fence"),
    "WgmmaCommit": ("commit", "wgmma commit"),
    "WgmmaWait": ("drain", "wgmma wait"),
    "CpAsyncCommit": ("commit", "cp.async commit"),
    "CpAsyncWait": ("drain", "cp.async wait"),
}
_COPIES = (Family.BULK_LOAD, Family.BULK_STORE, Family.CP_ASYNC, Family.REMOTE)
_MULTIPLY = (Family.WGMMA, Family.TCGEN05)


class _Event:
    """One thing that one actor did: an access or a synchronising event."""

    __slots__ = ("access", "actor", "entry", "instruction", "lines", "others", "sequence")

    def __init__(self, actor: Actor, instruction: Instruction, sequence: float) -> None:
        self.access: Access | None = None
        self.entry: LogEntry | None = None
        self.actor = actor
        self.instruction = instruction
        self.sequence = sequence
        self.others: list[Access] = []  # what the same execution accesses besides
        self.lines: list[int] = []  # the PTX lines that it stands for


def _event(what: Access | LogEntry) -> _Event:
    found = _Event(what.actor, what.event.instruction, what.sequence)
    if isinstance(what, Access):
        found.access = what
    else:
        found.entry = what
    return found


class Builder:
    """Makes the view of one kernel; one use."""

    def __init__(self, analysis: Analysis, findings: Iterable[Finding], notes: Iterable[str]) -> None:
        self.analysis = analysis
        self.module = analysis.module
        self.findings = list(findings)
        self.notes = tuple(notes)
        self.trace = Trace(analysis)
        entries = [entry for entry in self.trace.entries if entry.event.kind in _WORDS]
        self.events = sorted(
            [*map(_event, self.trace.accesses), *map(_event, entries)], key=lambda e: e.sequence
        )
        self.role_of: dict[tuple[int, int], str] = {}
        self.roles: list[Role] = []
        self.buffers: list[Buffer] = []
        self.starts: list[int] = []
        self.barriers: dict[int, str] = {}
        launch = analysis.launch
        texts = [f.message for f in self.findings]
        texts += [launch.symbol_at(a) for a in self.trace.machine.mbarriers]
        texts += [launch.symbol_at(a.low) for a in self.trace.accesses]
        texts.append(analysis.function.name)
        self.short = short_names({name for text in set(texts) for name in mangled_names(text)})

    def readable(self, text: str) -> str:
        """Return *text* with short C++ names for mangled ones."""
        for name in mangled_names(text):
            text = text.replace(name, self.short.get(name, name))
        return text

    def view(self) -> View:
        """Return the view."""
        self._find_roles()
        self._find_buffers()
        for number, address in enumerate(sorted(self.trace.machine.mbarriers)):
            self.barriers[address] = f"m{number}"
        chosen = self._with_findings(self._turn())
        items = [self._item(number, event) for number, event in enumerate(chosen)]
        arrows = self._arrows(chosen, items)
        launch = self.analysis.launch
        return View(
            self.readable(self.analysis.function.name),
            self.module.targets[0] if self.module.targets else "",
            launch.threads,
            launch.cluster_size,
            tuple(self.roles),
            tuple(self.buffers),
            tuple(self._barriers(arrows, items)),
            tuple(items),
            tuple(arrows),
            tuple(self._hazards(chosen, items)),
            self.notes,
        )

    # -- roles ------------------------------------------------------------------------------------

    def _find_roles(self) -> None:
        """Group the actors that execute the same instructions with as many lanes."""
        done: dict[tuple[int, int], set[int]] = {}
        code = self.analysis.function.instructions
        for event in self.events:
            mine = done.setdefault((event.actor.warp, event.actor.mask), set())
            if event.access is None or event.access.family is not Family.WGMMA:
                mine.add(event.instruction.index)  # a wgmma stands in the first warp of its warpgroup alone
        done = {actor: instructions for actor, instructions in done.items() if instructions}
        groups: dict[tuple[int, frozenset[int]], list[tuple[int, int]]] = {}
        for actor, instructions in done.items():
            lanes = actor[1] if actor[1] & (actor[1] - 1) else 1
            groups.setdefault((lanes, frozenset(instructions)), []).append(actor)
        ordered = sorted(groups.items(), key=lambda group: (min(group[1]), -bin(group[1][0][1]).count("1")))
        for number, ((_, same), actors) in enumerate(ordered):
            identity = f"r{number}"
            for actor in actors:
                self.role_of[actor] = identity
            lines = [self.module.position(code[i]).line for i in same if i < len(code)]
            first = min(same)
            chain = self.module.source_chain(code[first]) if first < len(code) else ()
            threads = sum(bin(mask).count("1") for _, mask in actors)
            span = (min(lines, default=0), max(lines, default=0))
            self.roles.append(Role(identity, _title(actors), threads, span, chain))

    # -- buffers ----------------------------------------------------------------------------------

    def _find_buffers(self) -> None:
        """Cut shared memory at the starts of asynchronous accesses; what only threads use is one piece each run."""
        copied = [a for a in self.trace.accesses if a.family in _COPIES]
        taken: dict[int, int] = {}
        for access in copied or [a for a in self.trace.accesses if a.family is not Family.GENERIC]:
            taken[access.low] = max(taken.get(access.low, 0), access.high)
        lows = sorted(taken)
        cut: list[tuple[int, int]] = []
        for number, low in enumerate(lows):
            high = taken[low]
            if number + 1 < len(lows):
                high = min(high, lows[number + 1])
            cut.append((low, high))
        rest: list[list[int]] = []
        for access in sorted(self.trace.accesses, key=lambda a: a.low):
            if not any(low < access.high and access.low < high for low, high in cut):
                if rest and access.low <= rest[-1][1]:
                    rest[-1][1] = max(rest[-1][1], access.high)
                else:
                    rest.append([access.low, access.high])
        pieces = sorted([*cut, *((low, high) for low, high in rest)])
        self.starts = [low for low, _ in pieces]
        uses: list[dict[Use, None]] = [{} for _ in pieces]
        self.pieces = pieces
        for access in self.trace.accesses:
            role = self._role(access.actor)
            use = Use(
                role,
                "writes" if access.write else "reads",
                "generic" if access.family in (Family.GENERIC, Family.CP_ASYNC) else "async",
                _short(access.event.instruction),
                self.module.position(access.event.instruction).line,
            )
            for index in self._touched(access):
                uses[index][use] = None
        for number, (low, high) in enumerate(pieces):
            self.buffers.append(
                Buffer(
                    f"b{number}",
                    self.readable(self.analysis.launch.symbol_at(low)),
                    low,
                    high,
                    tuple(uses[number]),
                )
            )

    def _touched(self, access: Access) -> list[int]:
        """Return the numbers of the buffers that *access* touches."""
        at = max(0, bisect_right(self.starts, access.low) - 1)
        found = []
        while at < len(self.pieces) and self.pieces[at][0] < access.high:
            if access.overlaps(*self.pieces[at]):
                found.append(at)
            at += 1
        return found

    def _role(self, actor: Actor) -> str:
        return self.role_of[actor.warp, actor.mask]

    # -- one turn ---------------------------------------------------------------------------------

    def _turn(self) -> list[_Event]:
        """Choose one turn of each role: from the middle execution of what it executes most, each instruction once.

        What is outside of that loop is there with its nearest execution. Of a role with several warps the first
        stands for all.
        """
        leaders: dict[str, tuple[int, int]] = {}
        for actor, role in sorted(self.role_of.items()):
            leaders.setdefault(role, actor)
        runs: dict[str, dict[tuple[int, bool], dict[float, list[_Event]]]] = {}
        for event in self.events:
            actor = (event.actor.warp, event.actor.mask)
            role = self.role_of[actor]
            if leaders[role] == actor:
                key = (event.instruction.index, event.access is None)
                runs.setdefault(role, {}).setdefault(key, {}).setdefault(event.sequence, []).append(event)
        chosen = []
        for instructions in runs.values():
            most = max(instructions.values(), key=lambda executions: (len(executions), -min(executions)))
            begin = sorted(most)[len(most) // 2]
            for executions in instructions.values():
                at = min((s for s in executions if s >= begin), default=max(executions))
                first, *rest = executions[at]
                first.others = [event.access for event in rest if event.access is not None]
                chosen.append(first)
        chosen.sort(key=lambda event: event.sequence)
        return self._joined(chosen)[:MOST_ITEMS]

    def _with_findings(self, chosen: list[_Event]) -> list[_Event]:
        """Add what findings speak of and the turn does not show: tensor memory, registers, what only other runs reach."""
        shown = {line for event in chosen for line in event.lines}
        actors = {str(Actor(*actor)): Actor(*actor) for actor in self.role_of}
        by_line = {self.module.position(i).line: i for i in self.analysis.function.instructions}
        added: list[_Event] = []
        for finding in self.findings:
            sites = [(s.actor, s.site) for s in finding.trace if s.role in ("first", "second")]
            for who, site in sites or [("", finding.site)]:
                instruction = by_line.get(site.line)
                if site.line in shown or instruction is None or finding.code.startswith("PTX99"):
                    continue
                shown.add(site.line)
                before = [e for e in chosen if min(e.lines) <= site.line] or chosen
                if not before:
                    continue
                actor = actors.get(who.removeprefix("async unit (issued by ").rstrip(")"))
                mine = [e for e in before if e.actor == actor] or before
                last = max(mine, key=lambda e: min(e.lines))
                event = _Event(actor or last.actor, instruction, last.sequence + 0.5)
                event.lines = [site.line]
                added.append(event)
        return sorted([*chosen, *added], key=lambda event: event.sequence)

    def _joined(self, events: list[_Event]) -> list[_Event]:
        """Leave out a generic access that repeats the one before it: a source line's copies at other addresses."""
        kept: list[_Event] = []
        for event in events:
            last = kept[-1] if kept else None
            if (
                last is not None
                and event.access is not None
                and last.access is not None
                and event.access.family is Family.GENERIC
                and last.access.family is Family.GENERIC
                and event.access.write == last.access.write
                and event.actor == last.actor
                and self._touched(event.access) == self._touched(last.access)
                and self.module.source_chain(event.instruction) == self.module.source_chain(last.instruction)
            ):
                last.lines.append(self.module.position(event.instruction).line)
                continue
            event.lines = [self.module.position(event.instruction).line]
            kept.append(event)
        return kept

    def _item(self, number: int, event: _Event) -> Item:
        instruction = event.instruction
        buffers: tuple[str, ...] = ()
        barrier = ""
        if event.access is not None:
            kind, label = _access_words(event.access)
            touched = [i for a in (event.access, *event.others) for i in self._touched(a)]
            buffers = tuple(self.buffers[i].id for i in dict.fromkeys(touched))
            if event.access.completion is not None:
                barrier = self._tracking(event.access)
        elif event.entry is None:
            kind, label = "event", _short(instruction)
        else:
            name = event.entry.event.kind
            kind, label = _WORDS[name]
            if kind in ("arrive", "wait", "init"):
                barrier = self.barriers.get(event.entry.number, "")
            elif kind == "drain":
                label = f"{label}, {event.entry.number} may be left"
        return Item(
            f"i{number}",
            number,
            self._role(event.actor),
            kind,
            label,
            self.module.position(instruction).line,
            self.module.source_chain(instruction),
            buffers,
            barrier,
        )

    def _tracking(self, access: Access) -> str:
        assert access.completion is not None
        for address, barrier in self.trace.machine.mbarriers.items():
            if barrier.component == access.completion[0]:
                return self.barriers.get(address, "")
        return ""

    # -- orders -----------------------------------------------------------------------------------

    def _arrows(self, chosen: list[_Event], items: list[Item]) -> list[Arrow]:
        """Find the orders between the items of the turn."""
        found: dict[Arrow, None] = {}
        for item in items:
            if item.kind == "wait" and item.barrier:
                self._phase(item, items, found)
            elif item.kind == "drain":
                self._group(item, items, found)
        by_barrier: dict[tuple[str, int], list[Item]] = {}
        for event, item in zip(chosen, items, strict=True):
            if item.kind == "barrier" and event.entry is not None:
                by_barrier.setdefault((item.label, event.entry.number), []).append(item)
        for group in by_barrier.values():
            for one, other in pairwise(group):
                if one.role != other.role:
                    found[Arrow(one.id, other.id, "barrier")] = None
        return list(found)

    @staticmethod
    def _phase(item: Item, items: list[Item], found: dict[Arrow, None]) -> None:
        sources = [other for other in items if other.barrier == item.barrier and other.kind in _ARRIVING]
        before = [other for other in sources if other.order < item.order]
        for other in before or sources:
            kind = "phase" if other.kind == "arrive" else "completion"
            found[Arrow(other.id, item.id, kind, not before)] = None

    @staticmethod
    def _group(item: Item, items: list[Item], found: dict[Arrow, None]) -> None:
        wanted = {
            "wait for groups": ("store",),
            "wgmma wait": ("multiply",),
            "cp.async wait": ("copy",),
        }
        kinds = next((kinds for word, kinds in wanted.items() if item.label.startswith(word)), ())
        sources = [o for o in items if o.role == item.role and o.kind in kinds and not o.barrier]
        before = [other for other in sources if other.order < item.order]
        for other in before or sources:
            found[Arrow(other.id, item.id, "group", not before)] = None

    def _barriers(self, arrows: list[Arrow], items: list[Item]) -> Iterable[Barrier]:
        for address, identity in self.barriers.items():
            state = self.trace.machine.mbarriers[address]
            mine = [e for e in self.trace.entries if e.number == address and e.event.kind in _WORDS]
            arrives = {self._role(e.actor) for e in mine if _WORDS[e.event.kind][0] == "arrive"}
            waits = {self._role(e.actor) for e in mine if _WORDS[e.event.kind][0] == "wait"}
            component = state.component
            tracked = {
                self.buffers[i].id
                for access in self.trace.accesses
                if access.completion is not None and access.completion[0] == component
                for i in self._touched(access)
            }
            yield Barrier(
                identity,
                self.readable(self.analysis.launch.symbol_at(address)),
                address,
                state.expected if state.known else None,
                tuple(sorted(arrives)),
                tuple(sorted(waits)),
                tuple(sorted(tracked, key=lambda b: int(b[1:]))),
            )

    # -- findings ---------------------------------------------------------------------------------

    def _hazards(self, chosen: list[_Event], items: list[Item]) -> Iterable[Hazard]:
        at: dict[int, str] = {}
        by_source: dict[SourceLocation, str] = {}
        for event, item in zip(chosen, items, strict=True):
            for line in event.lines:
                if line not in at or item.kind in _ACCESSES:
                    at[line] = item.id
            link = shown_line(item.source)
            if link is not None and item.kind in _ACCESSES:
                by_source.setdefault(link, item.id)

        def item_at(site: Site | None) -> str:
            if site is None:
                return ""
            link = shown_line(site.source)
            return at.get(site.line) or (by_source.get(link, "") if link is not None else "")

        for finding in self.findings:
            if finding.code.startswith("PTX99"):
                continue  # said in the notes
            first = next((s.site for s in finding.trace if s.role == "first"), None)
            second = next((s.site for s in finding.trace if s.role == "second"), finding.site)
            path = [item_at(s.site) for s in finding.trace if s.role in ("path", "near-miss")]
            yield Hazard(
                finding.code,
                finding.name,
                finding.severity.value,
                self.readable(finding.message),
                finding.fingerprint,
                item_at(first),
                item_at(second),
                tuple(dict.fromkeys(p for p in path if p)),
                finding.fix.summary if finding.fix else "",
            )


_ACCESSES = ("load", "store", "copy", "multiply", "read", "write", "event")
_ARRIVING = ("arrive", "load", "multiply", "copy")


def _access_words(access: Access) -> tuple[str, str]:
    effect = access.event.effect
    name = _short(access.event.instruction)
    if isinstance(effect, fx.BulkCopy):
        return ("load" if access.write else "store"), name
    if access.family in _MULTIPLY:
        return "multiply", name
    if access.family is Family.CP_ASYNC:
        return "copy", name
    if access.family is Family.GENERIC:
        return ("write" if access.write else "read"), name
    return ("load" if access.write else "multiply"), name


def _short(instruction: Instruction) -> str:
    parts = instruction.opcode.split(".")
    return ".".join(parts[: 2 if parts[0] in ("wgmma", "tcgen05") else 3])


def _title(actors: list[tuple[int, int]]) -> str:
    warps = sorted({warp for warp, _ in actors})
    names = []
    start = previous = warps[0]
    for warp in [*warps[1:], -1]:
        if warp == previous + 1:
            previous = warp
            continue
        names.append(str(start) if start == previous else f"{start}-{previous}")
        start = previous = warp
    mask = actors[0][1]
    lanes = "" if mask & (mask - 1) else f", lane {mask.bit_length() - 1} of each"
    if len(warps) == 1 and lanes:
        lanes = f" lane {mask.bit_length() - 1}"
    if not lanes and bin(mask).count("1") < 32:
        lanes = f", {bin(mask).count('1')} lanes"
    return f"warp{'s' if len(warps) > 1 else ''} {', '.join(names)}{lanes}"


def build_view(analysis: Analysis, findings: Iterable[Finding], notes: Iterable[str]) -> View:
    """Return the view of an analysed kernel with its *findings*.

    Raises:
        ValueError: there is nothing asynchronous in the kernel.
    """
    return Builder(analysis, findings, notes).view()
