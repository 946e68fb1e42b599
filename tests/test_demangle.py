"""C++ names: what is left out of them, and the programs that demangle where the library is missing."""

import os
import sys
from pathlib import Path

import pytest

from ptxlint import demangle
from ptxlint.demangle import elided, matches_kernel, short_names, without_parameters

COPY = "_ZN2my4copyILi2EEEvPKhPhi"
FULL = "void my::copy<2>(unsigned char const*, unsigned char*, int)"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (FULL, "my::copy<2>"),
        (f"{FULL}::stages", "my::copy<2>::stages"),
        ("(anonymous namespace)::k()::s", "(anonymous namespace)::k::s"),
        ("a::operator()(int) const::x", "a::operator()::x"),
        ("void k<&f(int), 3>(int*)", "k<&f(int), 3>"),
        ("bool operator< <int>(A<int>, B)", "operator<<int>"),
        ("A::operator->() const", "A::operator->"),
        ("void foo<(bool)1, (X)-3>(char const*)", "foo<(bool)1, (X)-3>"),
        ("k(int)::'lambda'(int)::operator()(int) const::buffer", "k::'lambda'::operator()::buffer"),
        ("decltype(auto) f<int>()", "f<int>"),
        ("plain", "plain"),
        ("f(", "f"),
        ("a<b", "a<b"),
        ("a>b)", "a>b)"),
        ("", ""),
    ],
)
def test_parameters_and_results_are_left_out(name: str, short: str) -> None:
    assert without_parameters(name) == short


@pytest.mark.parametrize(
    ("name", "longest", "short"),
    [
        ("f<a, b>", 20, "f<a, b>"),
        ("gemm<tile<128, 128>, half>::stages", 30, "gemm<tile<…>, half>::stages"),
        ("gemm<tile<128, 128>, half>::stages", 26, "gemm<tile<…>, …>::stages"),
        ("gemm<tile<128, 128>, half>::stages", 5, "gemm<…>::stages"),
        ("f<a<b<c>>>", 9, "f<a<…>>"),
        ("f<a->b, cccccccccc>", 12, "f<a->b, …>"),
        ("a_name_that_is_long", 5, "a_name_that_is_long"),
        ("a<b<c", 3, "a<…>"),
        ("a>b>c<d>e", 3, "a>b>c<d>e"),
    ],
)
def test_long_arguments_are_elided(name: str, longest: int, short: str) -> None:
    assert elided(name, longest) == short


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Know no names, have no library, and only the programs in a folder."""
    monkeypatch.setattr(demangle, "_known", {})
    monkeypatch.setattr(demangle, "_demangler", lambda: demangle._by_tool)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(path: Path, body: str) -> None:
    path.write_text(f"#!{sys.executable}\nimport sys\nnames = sys.stdin.read().split()\n{body}\n", "utf-8")
    path.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="needs scripts")
def test_one_program_is_asked_once_for_all_names(empty: Path) -> None:
    body = "open(__file__ + '.calls', 'a').write('x')\nprint(*('void ' + n[2:] + '(int)' for n in names), sep='\\n')"
    program(empty / "c++filt", body)
    assert short_names(["_Zone", "_Ztwo", "plain"]) == {"_Zone": "one", "_Ztwo": "two", "plain": "plain"}
    assert short_names(["_Ztwo", "_Zone"]) == {"_Zone": "one", "_Ztwo": "two"}
    assert (empty / "c++filt.calls").read_text() == "x"


@pytest.mark.skipif(os.name != "posix", reason="needs scripts")
@pytest.mark.parametrize(
    "body",
    [
        "print('one line')",
        "print(*names, sep='\\n'); sys.exit(1)",
        "sys.stdout.buffer.write(b'\\xff\\n')",
        "",
    ],
)
def test_a_program_that_fails_changes_nothing(empty: Path, body: str) -> None:
    program(empty / "cu++filt", body)
    assert demangle.demangle(["_Zone", "_Ztwo"]) == {"_Zone": "_Zone", "_Ztwo": "_Ztwo"}


def test_no_program_is_needed(empty: Path) -> None:
    assert demangle.demangle([COPY]) == {COPY: COPY}
    assert matches_kernel(COPY, "_ZN2my*")


def test_names_that_would_look_the_same_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "a" * 70
    full = {"_Z1": f"f<{long}, 1>", "_Z2": f"f<{long}, 2>", "_Z3": "g(int)", "_Z4": "g(float)", "_Z5": "h"}
    monkeypatch.setattr(demangle, "_known", full)
    short = short_names(full)
    assert (short["_Z1"], short["_Z2"]) == (full["_Z1"], full["_Z2"])
    assert short["_Z5"] == "h"
    assert short["_Z3"] != short["_Z4"]
    assert all(name.startswith("g[") for name in (short["_Z3"], short["_Z4"]))


@pytest.mark.skipif(demangle.demangle([COPY])[COPY] == COPY, reason="nothing demangles here")
def test_a_real_name() -> None:
    assert demangle.demangle([COPY, "_Znothing", "k"]) == {COPY: FULL, "_Znothing": "_Znothing", "k": "k"}
    assert [matches_kernel(COPY, glob) for glob in ("my::copy<*>", "void my::copy<2>(*", "my::copy")] == [
        True,
        True,
        False,
    ]
