"""The whole pipeline on one page: text → syntax → effects → runs → conflicts → findings."""

import time
from dataclasses import replace

from ptxlint import filters
from ptxlint.checks import ALL_CHECKS
from ptxlint.checks.base import Context, Draft
from ptxlint.coverage import coverage_of, incomplete_notes
from ptxlint.demangle import matches_kernel
from ptxlint.engine.events import Conflict, Family, Gap
from ptxlint.engine.run import MAX_STEPS, Analysis, analyse, prepare
from ptxlint.fingerprints import fingerprint_of, fingerprints
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Module
from ptxlint.report.finding import (
    Confidence,
    Coverage,
    FileReport,
    Finding,
    KernelReport,
    Severity,
    Site,
    Step,
)
from ptxlint.settings import Settings, Triple


def check_text(text: str, path: str, settings: Settings) -> FileReport:
    """Check one PTX text and keep what *settings* ask for.

    Syntax errors become problems (PTX999) and an error text; nothing is raised.
    """
    return filters.apply(analyse_text(text, path, settings), settings)


def analyse_text(text: str, path: str, settings: Settings) -> FileReport:
    """Find everything in one PTX text, advice that is off by default included."""
    start = time.perf_counter()
    module, report = read_text(text, path)
    report.kernels = [analyse_kernel(module, function, settings) for function in kernels_of(module)]
    report.seconds = time.perf_counter() - start
    return report


def read_text(text: str, path: str) -> tuple[Module, FileReport]:
    """Parse one PTX text; the report has what concerns the file as a whole, and no kernels yet."""
    module = parse(text, path)
    report = FileReport(path, text=text)
    for problem in module.problems:
        site = Site(problem.position.line, problem.position.column)
        expected = f"; expected {', '.join(problem.expected)}" if problem.expected else ""
        report.problems.append(
            Finding(
                "PTX999",
                "syntax-error",
                None,
                Severity.ERROR,
                Confidence.HIGH,
                problem.message + expected,
                site,
                fingerprint=fingerprint_of("PTX999", problem.message),
            )
        )
    if report.problems:
        first = report.problems[0]
        report.error = f"line {first.site.line}, column {first.site.column}: {first.message}"
    bodies = [function for function in module.functions if not function.is_declaration]
    if bodies and not any(function.is_entry for function in bodies):
        report.problems.append(_no_kernel(module, bodies[0]))
    return module, report


def kernels_of(module: Module) -> list[Function]:
    """Return the kernels of *module* that have a body, in order."""
    return [function for function in module.functions if function.is_entry and not function.is_declaration]


def _no_kernel(module: Module, function: Function) -> Finding:
    """Return the note that a file's functions were not analysed, as no kernel calls them."""
    position = module.source.position(function.offset)
    return Finding(
        "PTX990",
        "analysis-incomplete",
        None,
        Severity.NOTE,
        Confidence.HIGH,
        "there is no kernel (.entry): the functions in this file were not analysed",
        Site(position.line, position.column),
        fingerprint=fingerprint_of("PTX990"),
    )


def analyse_kernel(module: Module, function: Function, settings: Settings) -> KernelReport:
    """Find everything in one kernel of a parsed module."""
    return report_of(analysis_of(module, function, settings))


def analysis_of(module: Module, function: Function, settings: Settings) -> Analysis:
    """Run one kernel of a parsed module under all scenarios."""
    analysis = prepare(module, function, *launch_of(function.name, settings))
    return analyse(analysis, settings.max_steps or MAX_STEPS)


def report_of(analysis: Analysis) -> KernelReport:
    """Return what an analysed kernel is reported with: its findings, and what was not analysed."""
    module = analysis.module
    coverage = coverage_of(analysis)
    findings = findings_of(analysis)
    findings += limits(analysis, coverage)
    findings.sort(key=lambda f: (f.site.line, f.site.column, f.code))
    target = module.targets[0] if module.targets else ""
    return KernelReport(analysis.function.name, target, coverage, findings)


def launch_of(kernel: str, settings: Settings) -> tuple[Triple | None, Triple | None]:
    """Return the threads a CTA and the CTAs a cluster that *settings* give for *kernel*."""
    hints = [hint for hint in settings.kernels if matches_kernel(kernel, hint.pattern)]
    block = next((hint.block for hint in hints if hint.block is not None), settings.block)
    cluster = next((hint.cluster for hint in hints if hint.cluster is not None), settings.cluster)
    return block, cluster


def findings_of(analysis: Analysis) -> list[Finding]:
    """Let the checks claim the conflicts, look for what they look for, and fold copies."""
    context = Context(analysis)
    drafts: list[Draft] = []
    for conflict in without_echoes(analysis.conflicts):
        if any(check.explains(conflict, context) for check in ALL_CHECKS):
            continue
        for check in ALL_CHECKS:
            verdict = check.claim(conflict, context)
            if verdict is not None:
                drafts.append(check.draft(conflict, verdict, context))
                break
    drafts = without_consequences(drafts)
    for check in ALL_CHECKS:
        drafts.extend(check.run(context))
    return [
        replace(draft.finding, count=draft.count, fingerprint=fingerprint)
        for draft, fingerprint in fingerprints(fold(drafts, context), analysis.function.name, analysis.launch)
    ]


def without_echoes(conflicts: list[Conflict]) -> list[Conflict]:
    """Drop conflicts that only repeat another one's cause.

    A load whose destination somebody uses without waiting is not complete for its issuer either, so
    that the refill of the stage conflicts too, and a store out of it; a refill that comes too early conflicts
    with the load before it and with each reader. The conflict with a reader tells more.
    """
    loads = (Family.BULK_LOAD, Family.CANCEL)
    used_early = {
        c.first.event.instruction.index
        for c in conflicts
        if c.gap is Gap.COMPLETION and c.first.family in loads and c.second.family not in loads
    }
    touched_early = {
        c.first.event.instruction.index
        for c in conflicts
        if c.gap is Gap.COMPLETION and c.first.family in loads and c.second.family is Family.GENERIC
    }
    refilled_early = {
        c.second.event.instruction.index for c in conflicts if c.gap is Gap.ORDER and c.second.family in loads
    }
    pending_source = {
        c.second.event.instruction.index
        for c in conflicts
        if c.gap is Gap.COMPLETION and c.second.family in loads and not c.first.write
    }
    kept = []
    for c in conflicts:
        if c.gap is Gap.COMPLETION and c.first.family in loads and c.second.family in loads:
            if c.first.event.instruction.index in used_early:
                continue
            if c.second.event.instruction.index in refilled_early | pending_source:
                continue
        if c.gap is Gap.COMPLETION and c.first.family in loads and c.second.family is Family.BULK_STORE:
            if c.first.event.instruction.index in touched_early:
                continue
        kept.append(c)
    return kept


def without_consequences(drafts: list[Draft]) -> list[Draft]:
    """Drop findings about two instructions that a finding about the same two explains.

    A thread that uses a stage without waiting, or after it gave the stage back, is not ordered before
    the next refill either; lanes that are not ordered at all are not joined either.
    """

    def pair(draft: Draft) -> frozenset[int]:
        assert draft.conflict is not None
        return frozenset(
            (draft.conflict.first.event.instruction.index, draft.conflict.second.event.instruction.index)
        )

    explained = {pair(d) for d in drafts if d.finding.code in ("PTX301", "PTX303", "PTX304", "PTX306")}
    stronger = {d.fold[1] for d in drafts if d.finding.code != "PTX309"}
    return [
        d
        for d in drafts
        if not (d.finding.code == "PTX302" and pair(d) in explained)
        and not (d.finding.code == "PTX309" and d.fold[1] in stronger)
    ]


def fold(drafts: list[Draft], context: Context) -> list[Draft]:
    """Make one finding of the copies of a hazard: of the same rule, with one of the two statements in common.

    An unrolled loop of writes before an unrolled loop of reads makes many pairs, and one barrier mends them all.
    """
    group: dict[object, object] = {}

    def root(key: object) -> object:
        while group.get(key, key) != key:
            key = group[key]
        return key

    for draft in drafts:
        for key in _statements(draft, context):
            group[root(key)] = root(draft.fold)
    best: dict[object, Draft] = {}
    for draft in drafts:
        key = root(draft.fold)
        found = best.get(key)
        if found is None:
            best[key] = draft
            continue
        total = found.count + draft.count
        better = draft if _rank(draft) > _rank(found) else found
        better.count = total
        best[key] = better
    return list(best.values())


def _statements(draft: Draft, context: Context) -> list[object]:
    """The two statements of a conflict, each with the rule and its side; none when one is a load of a stage.

    Each load's stage is a buffer of its own, also where one instruction reads two of them.
    """
    conflict = draft.conflict
    if conflict is None or {conflict.first.family, conflict.second.family} & {
        Family.BULK_LOAD,
        Family.CANCEL,
    }:
        return []
    code = draft.finding.code
    return [
        (code, 1, context.fold_key(conflict.first.event)),
        (code, 2, context.fold_key(conflict.second.event)),
    ]


def _rank(draft: Draft) -> tuple[int, int]:
    confidence = ("low", "medium", "high").index(draft.finding.confidence.value)
    return confidence, -draft.finding.site.line


def limits(analysis: Analysis, coverage: Coverage) -> list[Finding]:
    """Report what was not analysed (PTX990) and what the tables do not know (PTX991)."""
    context = Context(analysis)
    found: list[Finding] = []
    for code in analysis.codes:
        seen: set[str] = set()
        for instruction, what in code.unknown:
            if what in seen:
                continue
            seen.add(what)
            position = analysis.module.position(instruction)
            site = Site(position.line, position.column, analysis.module.source_chain(instruction))
            found.append(
                Finding(
                    "PTX991",
                    "unknown-instruction",
                    None,
                    Severity.NOTE,
                    Confidence.HIGH,
                    _unknown(instruction.opcode, what),
                    site,
                    fingerprint=fingerprint_of("PTX991", analysis.function.name, instruction.opcode, what),
                )
            )
    notes = incomplete_notes(analysis, coverage)
    if notes:
        position = analysis.module.source.position(analysis.function.offset)
        steps = tuple(
            Step("ptxlint", context.site(event) if event else Site(position.line, position.column), note)
            for note, event in notes
        )
        found.append(
            Finding(
                "PTX990",
                "analysis-incomplete",
                None,
                Severity.NOTE,
                Confidence.HIGH,
                "not everything was analysed: " + "; ".join(note for note, _ in notes),
                Site(position.line, position.column),
                steps,
                fingerprint=fingerprint_of("PTX990", analysis.function.name),
            )
        )
    return found


def _unknown(opcode: str, what: str) -> str:
    """Return in words that *what* is not in the tables: the opcode, or something of it."""
    return f"{opcode} is not known" + (f": {what}" if what not in (opcode, f"opcode {opcode}") else "")


def dump_text(text: str, path: str, settings: Settings, stage: str, kernel: str | None) -> str:
    """Return what *stage* (effects, cfg, events) made of the kernels in *text*."""
    from ptxlint.dump import dump

    module = parse(text, path)
    return dump(module, settings.block, settings.cluster, stage, kernel)
