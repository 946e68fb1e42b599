"""What must hold of every input: each property raises an AssertionError that says how it is broken."""

import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from ptxlint.inputs import Input
from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Module
from ptxlint.report.finding import FileReport, Report
from ptxlint.report.json import as_dict
from ptxlint.session import check_input
from ptxlint.settings import Settings
from tests.fuzz import rewrite
from tests.fuzz.printer import plain, print_instruction, print_module

SETTINGS = Settings(max_steps=8_000, extend_select=("PTX9",))
TIME_LIMIT = 60.0  # seconds of processor time for one property of one input


class TooSlowError(AssertionError):
    """A property did not end within its bound."""


@contextmanager
def time_limit(seconds: float = TIME_LIMIT) -> Iterator[None]:
    """Raise TooSlowError when the block uses more processor time; without signals there is no bound."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"not done after {seconds:g} seconds")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def parses(text: str) -> Module:
    """Parsing ends without an exception; each problem has a place in the text and a message."""
    module = parse(text, "fuzz.ptx")
    lines = text.count("\n") + 1
    for problem in module.problems:
        assert problem.message, "a problem without a message"
        assert 1 <= problem.position.line <= lines, f"a problem on line {problem.position.line} of {lines}"
        assert problem.position.column >= 1, "a problem before the first column"
    return module


def checks(text: str) -> FileReport:
    """A check ends without an exception; an error is a syntax error that is reported."""
    report = check_input(Input("fuzz.ptx", text), SETTINGS)
    if report.error is not None:
        assert "internal error" not in report.error, report.error
        assert any(problem.code == "PTX999" for problem in report.problems), report.error
    json.dumps(as_dict(Report([report])))
    return report


def repeats(text: str) -> None:
    """Two checks of one text give the same report."""
    first, second = (json.dumps(as_dict(Report([checks(text)]))) for _ in range(2))
    assert first == second, "two checks of the same text differ"


def prints(text: str) -> None:
    """What is printed of a parsed module is parsed as the same module, and printed as the same text."""
    module = parses(text)
    if module.problems:
        return
    printed = print_module(module)
    again = parse(printed)
    assert not again.problems, f"{again.problems[0]} in {_line(printed, again.problems[0].position.line)!r}"
    assert print_module(again) == printed, "printing twice differs"
    for before, after in zip(module.functions, again.functions, strict=True):
        assert describe(before) == describe(after), f"{before.name} is not parsed as it was printed"


def describe(function: Function) -> dict[str, Any]:
    """Return what a function says, with the names that PTX can write."""
    variables = (*function.parameters, *function.returns, *function.variables)
    return {
        "head": (function.name, function.is_entry, function.is_declaration, dict(function.directives)),
        "registers": {plain(name): kind for name, kind in function.registers.items()},
        "ranges": dict(function.ranges),
        "variables": [(plain(v.name), v.space, v.align, v.size, v.external, v.initial) for v in variables],
        "labels": {plain(name): at for name, at in function.labels.items()},
        "targets": {plain(name): [plain(to) for to in targets] for name, targets in function.targets.items()},
        "instructions": [print_instruction(instruction) for instruction in function.instructions],
    }


def renames(text: str, random: Random) -> None:
    """Other names of registers, labels and symbols change no verdict."""
    module = parses(text)
    if not module.problems:
        renamed, names = rewrite.rename(text, module, random)
        same(verdicts(text, module), verdicts(renamed, rewrite.reparsed(renamed), names), "names", renamed)


def reorders(text: str, random: Random) -> None:
    """Another order of kernels changes no verdict."""
    module = parses(text)
    changed = None if module.problems else rewrite.reorder(text, module, random)
    if changed is not None:
        same(verdicts(text, module), verdicts(changed, rewrite.reparsed(changed)), "order", changed)


def relocates(text: str, random: Random) -> None:
    """Line information for each instruction changes no verdict."""
    module = parses(text)
    changed = None if module.problems else rewrite.add_lines(text, module)
    if changed is not None:
        same(verdicts(text, module), verdicts(changed, rewrite.reparsed(changed)), ".loc", changed)


def comments(text: str, random: Random) -> None:
    """Comments and blanks change no verdict."""
    module = parses(text)
    if not module.problems:
        changed = rewrite.add_comments(text, module, random)
        same(verdicts(text, module), verdicts(changed, rewrite.reparsed(changed)), "comments", changed)


MISSING_FENCES = ("PTX101", "PTX102", "PTX103", "PTX104", "PTX105")


def fences(text: str, random: Random) -> None:
    """One more proxy fence, where all threads execute it, is not followed by more rules on missing ones."""
    module = parses(text)
    changed = None if module.problems else rewrite.add_fence(text, module, random)
    if changed is not None:
        before, after = (
            {(k.name, f.code) for k in checks(each).kernels for f in k.findings if f.code in MISSING_FENCES}
            for each in (text, changed)
        )
        assert after <= before, f"with a fence more there is {sorted(after - before)}"


Verdicts = dict[str, list[Any]]


def verdicts(text: str, module: Module, names: dict[str, str] | None = None) -> Verdicts:
    """Return what is reported of each kernel; places are numbers of instructions."""
    report = checks(text)
    found: Verdicts = {}
    places = {}
    for function in module.functions:
        for instruction in function.instructions:
            position = module.position(instruction)
            places[position.line, position.column] = instruction.index
    for kernel in report.kernels:
        name = names.get(kernel.name, kernel.name) if names else kernel.name
        coverage = kernel.coverage
        said: list[Any] = [
            (coverage.async_ops, coverage.shared_accesses, coverage.mbarrier_ops, coverage.events_reached),
            (coverage.forced_completions, coverage.unknown_instructions, coverage.complete),
        ]
        for finding in kernel.findings:
            trace = [
                (step.actor, step.role, places.get((step.site.line, step.site.column)))
                for step in finding.trace
            ]
            at = places.get((finding.site.line, finding.site.column))
            said.append(
                (
                    finding.code,
                    finding.cause,
                    finding.severity.value,
                    finding.confidence.value,
                    finding.count,
                    at,
                )
            )
            said.append(trace)
        found[name] = said
    return found


def same(before: Verdicts, after: Verdicts, what: str, text: str) -> None:
    """Raise an AssertionError that names the first difference of two verdicts."""
    if before == after:
        return
    assert set(before) == set(after), f"{what}: other kernels"
    for name, said in before.items():
        for one, other in zip(said, after[name], strict=False):
            assert one == other, f"{what} changes the verdict on {name}: {one} became {other}"
        assert len(said) == len(after[name]), f"{what} changes the number of findings in {name}"


@cache
def ptxas() -> str | None:
    """Return the path of ptxas, if there is one."""
    return shutil.which("ptxas")


def accepted(text: str, arch: str = "sm_90a") -> bool | None:
    """Return whether ptxas accepts *text*; None when it cannot be asked, or does not end in time."""
    program = ptxas()
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "k.ptx"
        file.write_text(text, "utf-8", errors="surrogatepass")
        try:
            command = [program, f"-arch={arch}", "-O0", "--compile-only", "k.ptx", "-o", "k.cubin"]
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            return None
        return done.returncode == 0


def accepts(text: str, arch: str = "sm_90a") -> bool | None:
    """What ptxas accepts parses; return whether it does accept the text.

    A backslash before a statement is let pass by ptxas; it is in no PTX ISA, and reported here.
    """
    verdict = accepted(text, arch)
    if verdict:
        module = parses(text)
        if any(problem.message == 'unexpected "\\"' for problem in module.problems):
            return verdict
        assert not module.problems, (
            f"ptxas accepts what is reported as {module.problems[0]}: "
            f"{_line(text, module.problems[0].position.line)!r}"
        )
    return verdict


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1].strip()[:200] if number <= len(lines) else ""
