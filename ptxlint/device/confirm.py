"""Runs a kernel as it is, under its witness schedule, and repaired under both, and counts what is wrong."""

import json
import os
import secrets
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from ptxlint import tools
from ptxlint.device.spec import Spec, SpecError
from ptxlint.device.witness import WitnessError, defer_stores, is_bulk_store, witness
from ptxlint.fix.places import Places
from ptxlint.fix.repair import repair_text
from ptxlint.linter import check_text
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Module
from ptxlint.records import field, mutable_record, record
from ptxlint.report.finding import Finding, Severity
from ptxlint.settings import Settings

NATURAL, WITNESSED = "natural", "witness"
HAZARDOUS, REPAIRED = "as it is", "repaired"


class ConfirmError(Exception):
    """The kernel cannot be run, or there is nothing to confirm; the text says why."""


@record
class Text:
    """One text to run: whose it is (``as it is`` or ``repaired``), under which schedule."""

    kernel: str
    schedule: str
    text: str
    entry: str

    @property
    def name(self) -> str:
        """The name of the variant."""
        return f"{self.kernel}, {self.schedule}"


@mutable_record
class Tally:
    """What the runs of one text gave; *hang* tells that one did not end."""

    runs: int = 0
    wrong_runs: int = 0
    wrong_words: int = 0
    words: int = 0
    hang: bool = False


@mutable_record
class Confirmation:
    """The result for one specification."""

    finding: Finding | None
    what: str
    repair: str
    about: dict[str, Any] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)

    @property
    def repaired_is_wrong(self) -> bool:
        """Whether a run of the repaired kernel gave a wrong result, or none."""
        return any(t.wrong_runs or t.hang for name, t in self.tallies.items() if name.startswith(REPAIRED))

    @property
    def is_reproduced(self) -> bool:
        """Whether a run of the kernel as it is gave a wrong result, or none."""
        return any(t.wrong_runs or t.hang for name, t in self.tallies.items() if name.startswith(HAZARDOUS))


def confirm(spec: Spec, settings: Settings, runs: int | None = None) -> Confirmation:
    """Run what *spec* describes on the GPU.

    Raises:
        SpecError: the kernel or its repaired text cannot be read.
        ConfirmError: there is no GPU, no such kernel, or nothing that could be run.
    """
    texts, finding, what, repair = prepare(spec, settings)
    found = Confirmation(finding, what, repair)
    _run(spec, texts, found, spec.runs if runs is None else runs)
    return found


def prepare(spec: Spec, settings: Settings) -> tuple[list[Text], Finding | None, str, str]:
    """Return the texts to run, the finding, and in words what the witness does and what the repair is.

    A kernel without a finding is run as it is, and under the witness of its bulk stores.
    """
    text = _read(spec.ptx)
    module = parse(text, str(spec.ptx))
    function = _kernel(module, spec.kernel, spec.ptx)
    settings = settings.with_choices(block=settings.block or spec.block)
    finding = _finding(spec, text, settings)
    if finding is None:
        raise ConfirmError(f"nothing is reported of {spec.kernel} in {spec.ptx}: there is nothing to confirm")
    texts = [Text(HAZARDOUS, NATURAL, text, spec.kernel)]
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
    first = Places(*_parts(before, finding), finding).first
    if first is not None and is_bulk_store(first):
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
    """Return *finding* at the lines that the unchanged lines of *before* have in *after*."""
    import difflib

    old, new = before.splitlines(), after.splitlines()
    lines: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for start, there, size in matcher.get_matching_blocks():
        for n in range(size):
            lines[start + n + 1] = there + n + 1
    from dataclasses import replace

    steps = tuple(
        replace(step, site=replace(step.site, line=lines.get(step.site.line, step.site.line)))
        for step in finding.trace
    )
    return replace(finding, trace=steps)


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


def _run(spec: Spec, texts: list[Text], found: Confirmation, runs: int) -> None:
    """Let child processes run *texts*, interleaved; a text that hangs is left out of the runs that remain."""
    reference = _reference(spec, texts)
    left = list(texts)
    found.tallies = {text.name: Tally() for text in texts}
    done = 0
    while left and done < runs:
        hung = _child(spec, left, found, runs - done, reference)
        if hung is None:
            return
        found.tallies[hung].hang = True
        left = [text for text in left if text.name != hung]
        done = min((found.tallies[text.name].runs for text in left), default=runs)


def _reference(spec: Spec, texts: list[Text]) -> Text:
    """Return the text whose result is the right one where there are no expressions."""
    if spec.reference is not None:
        text, name = _read(spec.reference), spec.reference_kernel or spec.kernel
        _kernel(parse(text, str(spec.reference)), name, spec.reference)
        return Text("reference", NATURAL, text, name)
    repaired = [text for text in texts if text.kernel == REPAIRED]
    if not repaired and not spec.expect:
        raise ConfirmError(
            "the specification has no [expect] and no reference, and there is no repaired kernel"
        )
    return (repaired or texts)[0]


def _child(spec: Spec, texts: list[Text], found: Confirmation, runs: int, reference: Text) -> str | None:
    """Run one child; return the name of the text that hung, or None."""
    with tools.scratch_folder() as scratch:
        variants = []
        for number, text in enumerate(texts):
            path = scratch / f"variant{number}.ptx"
            path.write_text(text.text, "utf-8")
            variants.append({"name": text.name, "path": str(path), "kernel": text.entry})
        right = scratch / "reference.ptx"
        right.write_text(reference.text, "utf-8")
        job = scratch / "job.json"
        job.write_text(
            json.dumps(
                {
                    "spec": str(spec.path.absolute()),
                    "variants": variants,
                    "runs": runs,
                    "seed": secrets.randbits(32),
                    "reference": {"path": str(right), "kernel": reference.entry},
                }
            ),
            "utf-8",
        )
        command = [sys.executable, "-m", "ptxlint.device.worker", str(job)]
        root = str(Path(__file__).resolve().parents[2])
        path_variable = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path_variable},
        )
        return _watch(process, spec, found)


def _watch(process: "subprocess.Popen[str]", spec: Spec, found: Confirmation) -> str | None:
    """Read what the child tells; end it when it is silent for longer than the time limit."""
    assert process.stdout is not None
    current = ""
    timer: threading.Timer | None = None
    hung = threading.Event()

    def stop() -> None:
        hung.set()
        process.kill()

    def restart() -> None:
        nonlocal timer
        if timer is not None:
            timer.cancel()
        timer = threading.Timer(spec.time_limit, stop)
        timer.daemon = True
        timer.start()

    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
    reader.start()
    restart()
    problem = None
    try:
        for line in process.stdout:
            restart()
            try:
                told = json.loads(line)
            except ValueError:
                continue
            if "about" in told:
                found.about = told["about"]
            elif "start" in told:
                current = told["start"]
            elif "error" in told:
                problem = told["error"]
            elif "variant" in told:
                tally = found.tallies[told["variant"]]
                tally.runs += 1
                tally.words += told["words"]
                tally.wrong_words += told["wrong"]
                tally.wrong_runs += told["wrong"] > 0
        process.wait()
    finally:
        if timer is not None:
            timer.cancel()
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join(1.0)
        process.stdout.close()
        if process.stderr is not None:
            process.stderr.close()
    if hung.is_set():
        if not current:
            raise ConfirmError(f"the kernel could not be loaded within {spec.time_limit:g} seconds")
        return current
    if problem is not None or process.returncode:
        raise ConfirmError(_said(problem, errors))
    return None


def _said(problem: str | None, errors: list[str]) -> str:
    """Return what went wrong in the child, in words."""
    text = problem or (errors[-1].strip() if errors else "the process that launches died")
    if "No module named 'cupy'" in text:
        return 'CuPy is not installed: pip install "ptxlint[device]" (or ptxlint[device-cuda13]) brings it'
    if (
        "NoDevice" in text
        or "InsufficientDriver" in text
        or "no CUDA-capable device" in text
        or "libcuda" in text
    ):
        return f"there is no GPU to run on: {text}"
    return text
