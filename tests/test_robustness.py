"""No input makes ptxlint raise: broken files get an error, odd kernels a report."""

import random
import time

import pytest

from ptxlint.linter import check_text
from ptxlint.report.finding import Severity
from ptxlint.settings import Settings
from tests.conftest import FIXTURES

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
FULL = (FIXTURES / "ptx102" / "two_stage_combine.sm_90a.ptx").read_text("utf-8")


def kernel(body: str, before: str = "") -> str:
    registers = ".reg .pred %p<9>;\n.reg .b32 %r<9>;"
    return f"{HEAD}{before}.visible .entry k(.param .u64 p)\n{{\n{registers}\n{body}\nret;\n}}\n"


ODD = {
    "no shared memory": kernel("mov.u32 %r1, %tid.x;"),
    "only functions": HEAD + ".visible .func f()\n{\nret;\n}\n.func g()\n{\nret;\n}\n",
    "an infinite loop": kernel("L: bra L;"),
    "an infinite loop with events": kernel(
        "L: st.shared.u32 [s], %r1; bar.sync 0; bra L;", ".shared .align 16 .b8 s[64];\n"
    ),
    "a wait that never ends": kernel(
        "L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], 0; @!%p1 bra L;", ".shared .align 8 .b64 s;\n"
    ),
    "recursion": kernel("call f;", ".func f()\n{\ncall f;\nret;\n}\n"),
    "mutual recursion": kernel(
        "call f;", ".func g();\n.func f()\n{\ncall g;\nret;\n}\n.func g()\n{\ncall f;\nret;\n}\n"
    ),
    "a call of what is not there": kernel("call g;", ".extern .func g();\n"),
    "an empty body": HEAD + ".visible .entry k()\n{\n}\n",
    "a declaration only": HEAD + ".extern .entry k();\n",
    "a branch to nowhere": kernel("bra NOWHERE;"),
    "an undeclared register": kernel("add.s32 %q1, %q2, %q3;"),
    "an undeclared symbol": kernel("st.shared.u32 [nothing], %r1;"),
    "an unknown opcode": kernel("frobnicate.u32 %r1, %r2;"),
    "operands that do not fit": kernel(
        "bar.sync; mbarrier.init.shared::cta.b64; cp.async.bulk.wait_group; st.shared.u32 %r1;"
    ),
    "addresses for numbers": kernel(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [p], [%r2], [%r3];\n"
        "mbarrier.init.shared::cta.b64 [s], [%r1]; bar.sync [%r1]; mbarrier.arrive.shared::cta.b64 _, [s], [%r2];\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], [%r1];",
        ".shared .align 16 .b8 s[64];\n",
    ),
    "too few sources": kernel(
        "add.s32 %r1, s; setp.eq.u32 %p1, %r1; selp.b32 %r2, %r1, %p1;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [p], 16, [%r2];\n"
        "@%p1 bra L; st.shared.u32 [%r1], %r2; L:",
        ".shared .align 16 .b8 s[64];\n",
    ),
    "a huge constant": kernel("mov.u32 %r1, 0xffffffffffffffffffffffff;"),
    "a division by zero": kernel("div.u32 %r1, 1, 0; rem.s32 %r2, %r1, 0; mov.u32 %r3, 1/0;"),
    "only a comment": "// nothing\n",
    "an open comment": HEAD + "/* nothing",
    "an open string": HEAD + '.file 1 "abc',
    "deep nesting": kernel("{" * 500 + "}" * 500),
    "deep parentheses": kernel(f"mov.u32 %r1, {'(' * 500}1{')' * 500};"),
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_files_get_a_report(text: str) -> None:
    report = check_text(text, "k.ptx", Settings())
    broken = [problem for problem in report.problems if problem.code == "PTX999"]
    assert bool(broken) == (report.error is not None)


@pytest.mark.parametrize(("strict", "severity"), [(False, Severity.NOTE), (True, Severity.ERROR)])
def test_functions_without_a_kernel_are_not_called_clean(strict: bool, severity: Severity) -> None:
    report = check_text(ODD["only functions"], "k.ptx", Settings(strict=strict))
    assert [(problem.code, problem.severity) for problem in report.problems] == [("PTX990", severity)]


@pytest.mark.parametrize("call", ["call.uni other, ();", "call.uni other, ();\n bar.sync 0;"])
def test_calls_out_of_the_file_are_not_called_complete(call: str) -> None:
    text = f""".version 8.6
.target sm_90a
.address_size 64
.extern .func other ();
.visible .entry k() {{
 {call}
 ret;
}}
"""
    (kernel,) = check_text(text, "k.ptx", Settings()).kernels
    assert not kernel.coverage.complete
    assert [finding.code for finding in kernel.findings] == ["PTX990"]


@pytest.mark.parametrize("seed", range(40))
def test_truncated_and_damaged_files_get_a_report(seed: int) -> None:
    chance = random.Random(seed)
    text = FULL[: chance.randrange(len(FULL))] if seed % 2 else damage(FULL, chance)
    check_text(text, "k.ptx", Settings(max_steps=2000))


def damage(text: str, chance: random.Random) -> str:
    """Return *text* with a few characters dropped, doubled, or exchanged for others of PTX."""
    characters = list(text)
    for _ in range(chance.randrange(1, 9)):
        at = chance.randrange(len(characters))
        characters[at] = chance.choice(["", characters[at] * 2, *';{}()[]@%$.,"/*+-|!_ 0x\n'])
    return "".join(characters)


def test_a_syntax_error_does_not_hide_the_other_kernels() -> None:
    broken = ".visible .entry bad()\n{\nmov.u32 %r1 %r2;\nret;\n}\n"
    report = check_text(FULL + broken, "k.ptx", Settings())
    assert [finding.code for finding in report.problems] == ["PTX999"]
    assert "PTX102" in [finding.code for kernel in report.kernels for finding in kernel.findings]


@pytest.mark.slow
def test_a_file_of_20_megabytes() -> None:
    body = "add.s32 %r1, %r2, %r3;\nxor.b32 %r2, %r1, 12345;\n" * 1000
    text = HEAD + "".join(
        kernel(body).removeprefix(HEAD).replace(" k(", f" k{number}(")
        for number in range(20_000_000 // len(body))
    )
    assert len(text) > 20_000_000
    start = time.monotonic()
    report = check_text(text, "k.ptx", Settings())
    assert report.error is None
    assert time.monotonic() - start < 300


@pytest.mark.parametrize(
    "used", ["", "mbarrier.init.shared::cta.b64 [bar], 1;"], ids=["idle", "asynchronous"]
)
def test_a_branch_to_no_label_is_not_passed_over(used: str) -> None:
    text = (
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        f".entry k() {{ .shared .b64 bar; {used} bra NOWHERE; ret; }}\n"
    )
    (kernel,) = check_text(text, "k.ptx", Settings()).kernels
    assert not kernel.coverage.complete
    assert kernel.coverage.notes == ["1 branch was not followed: no such label in the function"]
