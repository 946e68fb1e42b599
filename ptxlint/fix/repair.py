"""Repairs a PTX text: candidates are tried, and one is kept that leaves no finding it was for and adds none."""

from collections.abc import Iterator

from ptxlint import filters, tools
from ptxlint.fix.candidates import Candidate, candidates
from ptxlint.fix.edits import Edit, LineMap, apply
from ptxlint.fix.places import Places
from ptxlint.linter import analyse_kernel, analyse_text
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Module
from ptxlint.records import field, mutable_record, record
from ptxlint.report.finding import FileReport, Finding, KernelReport, Severity
from ptxlint.session import finish
from ptxlint.settings import Settings

# Candidates tried for one finding.
MAX_TRIES = 24

Key = tuple[str, int, int]


@record
class Repair:
    """A change that was shown to repair *finding*: the kernel, what is done, whether it can only order more."""

    kernel: str
    finding: Finding
    summary: str
    edits: tuple[Edit, ...]
    safe: bool


@mutable_record
class Outcome:
    """What became of one text: the text before and after, what was repaired, and what was not.

    *held_back* are unsafe repairs that were not asked for; they are not in *after*. *refused* says what ptxas
    has against the text after, then *after* is the text before.
    """

    before: str
    after: str
    repaired: list[Repair] = field(default_factory=list)
    held_back: list[Repair] = field(default_factory=list)
    left: list[tuple[str, Finding]] = field(default_factory=list)
    error: str | None = None
    refused: str | None = None


def repair_text(text: str, path: str, settings: Settings, unsafe: bool = False) -> Outcome:
    """Repair what is reported of *text* under *settings* at severity warning or higher, unless a comment hides it.

    With *unsafe* also by changes that do more than order, such as barriers. Each repair is shown to take its
    finding away without adding another; where ptxas is found, the text after assembles.
    """
    outcome = Outcome(text, text)
    module = parse(text, path)
    analysed = analyse_text(text, path, settings)
    if analysed.error is not None:
        outcome.error = analysed.error
        return outcome
    report = filters.apply(analysed, settings)
    shown = finish([(analysed, settings)]).files[0]
    visible = {(kernel.name, _key(f)) for kernel in shown.kernels for f in kernel.findings}
    functions = {function.name: function for function in module.functions if function.is_entry}
    for kernel in report.kernels:
        wanted = [
            f
            for f in kernel.findings
            if f.severity is not Severity.NOTE and (kernel.name, _key(f)) in visible
        ]
        _repair_kernel(outcome, module, functions[kernel.name], kernel, wanted, settings, unsafe)
    edits = [edit for repair in outcome.repaired for edit in repair.edits]
    outcome.after = apply(text, edits)
    if edits:
        outcome.refused = assembly_error(outcome.after, module)
        if outcome.refused is not None:
            outcome.left += [(repair.kernel, repair.finding) for repair in outcome.repaired]
            outcome.repaired, outcome.after = [], text
    return outcome


def _repair_kernel(
    outcome: Outcome,
    module: Module,
    function: Function,
    kernel: KernelReport,
    wanted: list[Finding],
    settings: Settings,
    unsafe: bool,
) -> None:
    present = {_key(f) for f in kernel.findings}
    made: list[Edit] = []
    gone: set[Key] = set()
    for finding in wanted:
        if _key(finding) in gone:
            outcome.repaired.append(Repair(kernel.name, finding, "with the repair before", (), True))
            continue
        held: Repair | None = None
        for candidate in _tries(Places(module, function, finding)):
            if held is not None and not candidate.safe:
                continue
            left = _left_after(module, function.name, [*made, *candidate.edits], settings)
            if left is None or _key(finding) in left or not left <= present:
                continue
            repair = Repair(kernel.name, finding, candidate.summary, candidate.edits, candidate.safe)
            if candidate.safe or unsafe:
                outcome.repaired.append(repair)
                made += candidate.edits
                gone |= present - left
                present = left
                break
            held = repair
        else:
            if held is not None:
                outcome.held_back.append(held)
            outcome.left.append((kernel.name, finding))


def _tries(places: Places) -> Iterator[Candidate]:
    seen: set[tuple[Edit, ...]] = set()
    for candidate in candidates(places):
        if not candidate.edits or candidate.edits in seen:
            continue
        seen.add(candidate.edits)
        yield candidate
        if len(seen) >= MAX_TRIES:
            return


def _left_after(module: Module, kernel: str, edits: list[Edit], settings: Settings) -> set[Key] | None:
    """Return what is reported of *kernel* after *edits*, in lines of the text before; None when it cannot be told."""
    text = module.source.text
    try:
        changed = apply(text, edits)
    except ValueError:
        return None
    again = parse(changed, module.source.path)
    if again.problems:
        return None
    function = next((f for f in again.functions if f.name == kernel and f.is_entry), None)
    if function is None:
        return None
    report = FileReport(module.source.path, text=changed)
    report.kernels = [analyse_kernel(again, function, settings)]
    findings = filters.apply(report, settings).kernels[0].findings
    lines = LineMap(text, edits)
    return {_key(f, lines) for f in findings if f.code != "PTX992"}


def _key(finding: Finding, lines: LineMap | None = None) -> Key:
    """Return what tells a finding from others, wherever it has moved."""

    def line(number: int) -> int:
        return number if lines is None else lines.before(number)

    first = next((step.site.line for step in finding.trace if step.role == "first"), 0)
    return finding.code, line(finding.site.line), line(first) if first else 0


def assembly_error(text: str, module: Module) -> str | None:
    """Return what ptxas says against *text*; None when it takes it, or there is no ptxas that can tell."""
    ptxas = tools.find_tool("ptxas")
    if ptxas is None or not module.targets:
        return None
    with tools.scratch_folder() as scratch:
        source = scratch / "repaired.ptx"
        source.write_text(text, encoding="utf-8")
        command = [ptxas, "-O0", "-arch", module.targets[0], "-o", str(scratch / "out.cubin"), str(source)]
        try:
            done = tools.run_tool(command, scratch=scratch)
        except tools.ToolError:
            return None
    if done.status == 0 or "Unsupported .version" in done.messages or "gpu-name" in done.messages:
        return None
    return done.messages.replace(str(source), module.source.path).splitlines()[0]
