"""The fuzzer finds what it is for, and a little of it is run each time."""

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Module
from tests.conftest import FIXTURES, ROOT
from tests.fuzz import generate, mutate, printer, properties, rewrite, run
from tests.fuzz.__main__ import main
from tests.ptx.compare import body

SMALL = "ptx202/wait_at_loop_top_lookalike.sm_90a.ptx"
TWO_KERNELS = generate.module(Random(1), 2)


randoms = st.randoms(use_true_random=False)
# The same examples each time, as new ones are the fuzzer's; it also cuts failures down, and faster.
quick = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@quick
@given(randoms)
def test_made_up_kernels_are_parsed_and_printed(random: Random) -> None:
    text = generate.module(random, 2)
    assert properties.parses(text).problems == ()
    properties.prints(text)


@pytest.mark.skipif(properties.ptxas() is None, reason="ptxas is not installed")
def test_ptxas_accepts_made_up_kernels() -> None:
    for seed in range(8):
        assert properties.accepts(generate.module(Random(seed), 3))


@settings(quick, max_examples=3)
@given(randoms)
def test_verdicts_outlast_rewriting(random: Random) -> None:
    text = generate.module(random, random.randint(1, 2))
    for rewriting in run.REWRITES:
        rewriting(text, random)


@quick
@given(randoms)
def test_broken_texts_get_a_report(random: Random) -> None:
    text = (FIXTURES / SMALL).read_text("utf-8")
    broken = mutate.mutate_text(text, random)
    properties.checks(broken)
    properties.prints(mutate.mutate_statements(text, random, TWO_KERNELS))


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("syntax/*.sm_*.ptx")), ids=lambda path: path.name.partition(".")[0]
)
def test_fixtures_of_syntax_are_printed(path: Path) -> None:
    properties.prints(path.read_text("utf-8"))


def test_inputs_are_reproducible() -> None:
    one, other = ([item for item, _ in zip(run.inputs(7), range(12), strict=False)] for _ in range(2))
    assert one == other
    assert {item.kind for item in one} == set(run.KINDS)
    assert {item.kind for item, _ in zip(run.inputs(7, ["text"]), range(5), strict=False)} == {"text"}


def test_mutants_differ_and_rewritten_texts_mean_the_same() -> None:
    text = (FIXTURES / SMALL).read_text("utf-8")
    mutants = {mutate.mutate_statements(text, Random(seed)) for seed in range(30)}
    assert len(mutants) > 25
    renamed, names = rewrite.rename(text, parse(text), Random(1))
    [kernel] = [function for function in parse(renamed).functions if function.is_entry]
    assert names[kernel.name] == "_Z12offset_tilesPKfPffi"
    assert "%tid.x" in renamed
    assert not re.search(r"%r\d", renamed)


# What must be noticed: each property is shown something that breaks it.


def test_a_printer_that_forgets_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = body("L: @!%p1 bra L; add.s32 %r1, %r1, -4; st.shared.u32 [%r1+8], %r2;")
    properties.prints(text)
    whole = printer.print_instruction
    monkeypatch.setattr(printer, "print_instruction", lambda at: whole(at).replace("!", ""))
    with pytest.raises(AssertionError, match="k is not parsed as it was printed"):
        properties.prints(text)


@pytest.mark.parametrize("name", ["names", "order", "comments"])
def test_a_verdict_that_changes_is_noticed(name: str) -> None:
    text = (FIXTURES / SMALL).read_text("utf-8")
    other = text.replace("wait_group.read \t0", "wait_group.read \t1").replace(
        "wait_group.read 0", "wait_group.read 1"
    )
    assert other != text
    before, after = (properties.verdicts(each, parse(each)) for each in (text, other))
    properties.same(before, before, name, text)
    with pytest.raises(AssertionError, match=f"{name} changes the"):
        properties.same(before, after, name, text)


def test_an_internal_error_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("ptxlint.linter.analyse_kernel", fail)
    with pytest.raises(AssertionError, match="internal error"):
        properties.checks(TWO_KERNELS)


def test_a_fence_that_adds_a_finding_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FIXTURES / SMALL).read_text("utf-8")
    properties.fences(text, Random(1))
    fence = "fence.proxy.async.shared::cta;"
    assert fence in text
    monkeypatch.setattr(rewrite, "add_fence", lambda text, *rest: text.replace(fence, ""))
    with pytest.raises(AssertionError, match=r"with a fence more there is .*PTX10"):
        properties.fences(text, Random(1))


def test_reports_do_not_depend_on_hashing() -> None:
    script = (
        "import json; from random import Random; from tests.fuzz import generate, properties;"
        "from ptxlint.report.json import as_dict; from ptxlint.report.finding import Report;"
        "print([as_dict(Report([properties.checks(generate.module(Random(s), 2))])) for s in range(4)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert b"PTX" in printed.pop()


def test_a_hang_is_noticed() -> None:
    def hang() -> None:
        with properties.time_limit(0.05):
            while True:
                pass

    with pytest.raises(properties.TooSlowError, match=r"not done after 0\.05 seconds"):
        hang()


@pytest.mark.skipif(properties.ptxas() is None, reason="ptxas is not installed")
def test_legal_text_that_does_not_parse_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        properties, "parse", lambda text, path="": parse(text.replace("bar.sync", "bar sync"), path)
    )
    with pytest.raises(AssertionError, match=r"ptxas accepts what is reported as (?s:.)*bar"):
        properties.accepts(body("bar.sync 0; ret;"))


def test_failures_are_cut_down_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def parses(text: str) -> Module:
        assert "bar.sync" not in text, "there is a barrier"
        return parse(text)

    monkeypatch.setattr(properties, "parses", parses)
    options = ["--seconds", "60", "--inputs", "6", "--kind", "generated", "--keep", str(tmp_path)]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 1, done.output
    assert "AssertionError: there is a barrier" in done.output
    assert "1 distinct failures" in done.output
    [kept] = tmp_path.iterdir()
    assert kept.name.startswith("parses.0.")
    assert re.fullmatch(r"[^\n]*bar\.sync[^\n]*", kept.read_text("utf-8").strip())


@pytest.mark.slow
def test_some_seconds_of_fuzzing(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--seconds", "25", "--keep", str(tmp_path)])
    assert done.exit_code == 0, done.output
