"""Runs a kernel as it is, under its witness schedule, and repaired under both, and counts what is wrong."""

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from ptxlint.device.child import run_texts
from ptxlint.device.results import HAZARDOUS, NATURAL, REPAIRED, WITNESSED, Confirmation, ConfirmError, Text
from ptxlint.device.spec import Spec, SpecError
from ptxlint.device.witness import (
    WitnessError,
    all_witnesses,
    defer_stores,
    is_bulk_store,
    late_access,
    witness,
)
from ptxlint.fix.places import Places
from ptxlint.fix.repair import repair_text
from ptxlint.linter import check_text
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Module
from ptxlint.report.finding import Finding, Severity
from ptxlint.report.summary import plural
from ptxlint.settings import Settings


def confirm(
    spec: Spec, settings: Settings, runs: int | None = None, worker: Sequence[str] | None = None
) -> Confirmation:
    """Run what *spec* describes on the GPU; *worker* is the command that launches, if not the usual.

    Raises:
        SpecError: the kernel or its repaired text cannot be read.
        ConfirmError: there is no GPU, no such kernel, or nothing that could be run.
    """
    texts, finding, what, repair = prepare(spec, settings)
    found = Confirmation(finding, what, repair)
    reference = _reference(spec, texts, is_clean=finding is None)
    run_texts(spec, texts, reference, found, spec.runs if runs is None else runs, worker)
    return found


def prepare(spec: Spec, settings: Settings) -> tuple[list[Text], Finding | None, str, str]:
    """Return the texts to run, the finding, and in words what the witness does and what the repair is.

    A kernel without a finding is run as it is, and under every witness schedule that can be made of it.
    """
    text = _read(spec.ptx)
    module = parse(text, str(spec.ptx))
    function = _kernel(module, spec.kernel, spec.ptx)
    settings = settings.with_choices(block=settings.block or spec.block)
    finding = _finding(spec, text, settings)
    texts = [Text(HAZARDOUS, NATURAL, text, spec.kernel)]
    if finding is None:
        schedules = all_witnesses(module, function)
        texts += [Text(HAZARDOUS, made.what, made.text, spec.kernel) for made in schedules]
        return texts, None, f"{plural(len(schedules), 'schedule')} of a kernel without a finding", "none"
    what = "no witness schedule"
    try:
        made = witness(module, function, finding)
        what = made.what
        texts.append(Text(HAZARDOUS, WITNESSED, made.text, spec.kernel))
    except WitnessError as error:
        what = f"no witness schedule: {error}"
    fixed, entry, repair = _repaired(spec, text, settings)
    if fixed is None:
        return texts, finding, what, repair
    texts.append(Text(REPAIRED, NATURAL, fixed, entry))
    if len(texts) == 3:
        again = parse(fixed, str(spec.fixed or spec.ptx))
        target = _kernel(again, entry, spec.fixed or spec.ptx)
        try:
            texts.append(Text(REPAIRED, WITNESSED, _same_witness(again, target, finding, text, fixed), entry))
        except WitnessError as error:
            what += f" (none of the repaired kernel: {error})"
    return texts, finding, what, repair


def _same_witness(module: Module, function: Function, finding: Finding, before: str, after: str) -> str:
    """Return the witness of the repaired text that delays what the witness of the text before delays."""
    late = late_access(Places(*_parts(before, finding), finding))
    if late is not None and is_bulk_store(late):
        return defer_stores(module, function).text
    return witness(module, function, _shifted(finding, before, after)).text


def _parts(text: str, finding: Finding) -> tuple[Module, Function]:
    """Return the module of *text*, and the kernel that *finding* is in."""
    module = parse(text)
    found = None
    for function in module.functions:
        if function.instructions and module.position(function.instructions[0]).line <= finding.site.line:
            found = function
    assert found is not None
    return module, found


def _shifted(finding: Finding, before: str, after: str) -> Finding:
    """Return *finding* at the lines that the like lines of *before* have in *after*.

    A line that the repair moved is found by its text; of several of one text the one of the same number counts.
    """
    old, new = _shapes(before), _shapes(after)
    lines: dict[int, int] = {}
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for start, there, size in matcher.get_matching_blocks():
        for n in range(size):
            lines[start + n + 1] = there + n + 1

    def line(number: int) -> int:
        if number in lines:
            return lines[number]
        shape = old[number - 1]
        same = [n for n, other in enumerate(new, 1) if other == shape]
        nth = old[: number - 1].count(shape)
        return same[nth] if nth < len(same) else 0

    steps = tuple(replace(step, site=replace(step.site, line=line(step.site.line))) for step in finding.trace)
    return replace(finding, trace=steps)


def _shapes(text: str) -> list[str]:
    """Return the lines of *text* without comments and what a compiler numbers: registers, labels, source lines."""
    return [re.sub(r"\.loc.*|\s*//.*|(?<=[%$])[\w$]+", "", line) for line in text.splitlines()]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _kernel(module: Module, name: str, path: Path) -> Function:
    if module.problems:
        problem = module.problems[0]
        raise SpecError(f"{path}:{problem.position.line}:{problem.position.column}: {problem.message}")
    kernels = {f.name: f for f in module.functions if f.is_entry and not f.is_declaration}
    if name not in kernels:
        raise SpecError(f"{path}: there is no kernel {name!r}; there are {', '.join(kernels) or 'none'}")
    return kernels[name]


def _finding(spec: Spec, text: str, settings: Settings) -> Finding | None:
    report = check_text(text, str(spec.ptx), settings)
    for kernel in report.kernels:
        if kernel.name != spec.kernel:
            continue
        for finding in kernel.findings:
            if spec.finding is None:
                if finding.severity is not Severity.NOTE:
                    return finding
            elif finding.code == spec.finding or finding.fingerprint.startswith(spec.finding):
                return finding
    if spec.finding is not None:
        raise ConfirmError(f"{spec.finding} is not reported of {spec.kernel} in {spec.ptx}")
    return None


def _repaired(spec: Spec, text: str, settings: Settings) -> tuple[str | None, str, str]:
    if spec.fixed is not None:
        return _read(spec.fixed), spec.fixed_kernel or spec.kernel, f"the text of {spec.fixed.name}"
    outcome = repair_text(text, str(spec.ptx), settings, unsafe=True)
    done = [repair for repair in outcome.repaired if repair.kernel == spec.kernel]
    if not done or any(kernel == spec.kernel for kernel, _ in outcome.left):
        return None, spec.kernel, "no repair was found"
    return outcome.after, spec.kernel, "; ".join(dict.fromkeys(repair.summary for repair in done))


def _reference(spec: Spec, texts: list[Text], is_clean: bool) -> Text:
    """Return the text whose result is the right one where there are no expressions."""
    if spec.reference is not None:
        text, name = _read(spec.reference), spec.reference_kernel or spec.kernel
        _kernel(parse(text, str(spec.reference)), name, spec.reference)
        return Text("reference", NATURAL, text, name)
    repaired = [text for text in texts if text.kernel == REPAIRED]
    if not repaired and not spec.expect and not is_clean:
        raise ConfirmError(
            "the specification has no [expect] and no reference, and there is no repaired kernel"
        )
    return (repaired or texts)[0]
