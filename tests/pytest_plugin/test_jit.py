"""``pytest --ptxlint-jit``: what Triton compiles in a test run is checked."""

import importlib.util

import pytest

from tests.pytest_plugin.conftest import Run

needs_triton = pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="Triton is not installed")

TESTS = """
import pytest
from triton import knobs
from tests.pytest_plugin.triton_kernels import CLEAN, HAZARD, compiled

@pytest.fixture
def made(): return compiled(HAZARD)

def test_clean(): compiled(CLEAN)
def test_hazard(): compiled(HAZARD)
def test_from_the_cache(): compiled(HAZARD)
def test_failing_anyhow():
    compiled(HAZARD)
    raise RuntimeError("its own failure")
def test_of_a_fixture(made): pass
def test_nothing(): pass
def test_other_listener(monkeypatch):
    monkeypatch.setattr(knobs.compilation, "listener", None)
def test_after_it(): compiled(HAZARD)
"""


@pytest.fixture(autouse=True)
def _triton_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns where it is not set


@needs_triton
def test_the_test_that_compiles_it_fails(
    pytester: pytest.Pytester, run: Run, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from triton import knobs

    seen: list[str] = []
    monkeypatch.setattr(knobs.compilation, "listener", lambda metadata, **rest: seen.append(metadata["name"]))
    before = knobs.compilation.listener
    pytester.makepyfile(TESTS)
    done = run("--ptxlint-jit", "-v")
    done.assert_outcomes(passed=3, failed=4, errors=1)
    done.stdout.fnmatch_lines(
        [
            "*::test_clean PASSED*",
            "*::test_hazard FAILED*",
            "*::test_from_the_cache FAILED*",
            "*::test_failing_anyhow FAILED*",
            "*::test_of_a_fixture ERROR*",
            "*::test_nothing PASSED*",
            "*::test_other_listener PASSED*",
            "*::test_after_it FAILED*",
        ]
    )
    done.stdout.fnmatch_lines(
        [
            "*_ test_failing_anyhow _*",
            "E * RuntimeError: its own failure",
            "*Captured ptxlint call*",
            "error[[]PTX101]: *",
            "kernel store (sm_90a): *",
        ]
    )
    done.stdout.fnmatch_lines(["FAILED *::test_hazard - *PTX101*"])
    assert len(parsed) == 2  # each distinct PTX once
    assert len(seen) == 6
    assert knobs.compilation.listener is before


@needs_triton
def test_what_a_module_compiles_is_an_error_of_its_collection(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makepyfile(
        "from tests.pytest_plugin.triton_kernels import HAZARD, compiled\n"
        "compiled(HAZARD)\n"
        "def test_one(): pass\n"
    )
    pytester.makeini("[pytest]\nptxlint_jit = true\n")
    done = run()
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*ERROR collecting*", "error[[]PTX101]: *"])


@needs_triton
def test_workers_and_options(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makepyfile(
        "from tests.pytest_plugin.triton_kernels import CLEAN, HAZARD, compiled\n"
        "def test_clean(): compiled(CLEAN)\n"
        "def test_hazard(): compiled(HAZARD)\n"
    )
    run("--ptxlint-jit", "--ptxlint-ignore=PTX1").assert_outcomes(passed=2)
    done = run("-p", "xdist.plugin", "-p", "xdist.looponfail", "-n", "2", "--ptxlint-jit")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["FAILED *::test_hazard - *PTX101*"])


@needs_triton
def test_a_kernel_without_ptx_is_warned_of(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_STORE_BINARY_ONLY", "1")
    pytester.makepyfile(
        "from tests.pytest_plugin.triton_kernels import HAZARD, compiled\n"
        "def test_hazard():\n"
        "    try: compiled(HAZARD)\n"
        "    except StopIteration: pass  # CompiledKernel itself misses its PTX\n"
    )
    done = run("--ptxlint-jit")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["*the Triton kernel store was not checked: Triton kept no PTX*"])


def test_without_triton(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "triton" else find_spec(name, *rest)
    )
    done = run("--ptxlint-jit")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--ptxlint-jit: Triton is not installed*"])
