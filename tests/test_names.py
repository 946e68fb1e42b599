"""Mangled names in reports: short C++ names in texts, the mangled name where it is an identity."""

import json

import pytest

from ptxlint import demangle
from ptxlint.names import demangled
from ptxlint.report import sarif
from ptxlint.report.finding import Coverage, FileReport, Hidden, KernelReport, Report, Step
from ptxlint.report.formats import render
from tests.report.reports import LOAD, STORE, weak_wait

KERNEL = "_ZN2my4copyILi2EEEvPKhPhi"
STAGES = "_ZZN2my4copyILi2EEEvPKhPhiE6stages"
OTHER = "_ZZN2my4copyILi2EEEvPKhPhmE6stages"  # the parameters alone differ


def file() -> FileReport:
    trace = (
        Step("warp 0", STORE, f"reads {STAGES}+16", "first"),
        Step("warp 0", LOAD, f"writes {OTHER}", "second"),
    )
    finding = weak_wait(message=f"4096 bytes at {STAGES}, or at _Znothing", trace=trace)
    kernels = [
        KernelReport(KERNEL, "sm_90a", Coverage(), [finding]),
        KernelReport("plain", "", Coverage(), [weak_wait()]),
    ]
    return FileReport("k.ptx", kernels=kernels)


def hiding() -> KernelReport:
    """The kernel with its finding hidden."""
    kernel = file().kernels[0]
    return KernelReport(KERNEL, "", Coverage(), hidden=[Hidden(kernel.findings[0], "comment")])


@pytest.mark.skipif(demangle.demangle(["_Z1fi"])["_Z1fi"] == "_Z1fi", reason="nothing demangles here")
def test_texts_have_short_names_that_differ() -> None:
    [named] = demangled(Report([file()])).files
    kernel, plain = named.kernels
    assert (kernel.name, kernel.title) == (KERNEL, "my::copy<2>")
    assert kernel.demangled.startswith("void my::copy<2>(")
    assert (plain.name, plain.title) == ("plain", "")
    assert set(kernel.symbols) == {STAGES, OTHER}
    first, second = (step.note for step in kernel.findings[0].trace)
    assert first.startswith("reads my::copy<2>")
    assert first.removeprefix("reads ").removesuffix("+16") != second.removeprefix("writes ")
    assert kernel.findings[0].message.endswith("or at _Znothing")
    assert kernel.findings[0].fingerprint == file().kernels[0].findings[0].fingerprint
    [hidden] = demangled(Report([FileReport("k.ptx", kernels=[hiding()])])).files[0].kernels[0].hidden
    assert hidden.finding.message.startswith("4096 bytes at my::copy<2>::stages")
    report = Report([named])
    assert "kernel my::copy<2> (sm_90a): analysed" in render(report, "full")
    assert "%0Akernel: my::copy<2>" in render(report, "github")
    assert 'name="my::copy&lt;2&gt;"' in render(report, "junit")
    written = json.loads(render(report, "json"))["files"][0]["kernels"][0]
    assert (written["name"], written["demangled"]) == (KERNEL, kernel.demangled)
    [logical] = sarif.as_dict(report)["runs"][0]["results"][0]["locations"][0]["logicalLocations"]
    assert logical == {
        "name": "my::copy<2>",
        "fullyQualifiedName": kernel.demangled,
        "decoratedName": KERNEL,
        "kind": "function",
    }


def test_nothing_to_do_gives_the_report_itself() -> None:
    report = Report([FileReport("k.ptx", kernels=[KernelReport("plain", "", Coverage(), [weak_wait()])])])
    assert demangled(report) is report


def test_without_a_demangler_names_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangle, "_demangler", lambda: lambda names: names)
    monkeypatch.setattr(demangle, "_known", {})
    [named] = demangled(Report([file()])).files
    assert named.kernels[0].title == KERNEL
    assert STAGES in named.kernels[0].findings[0].message
