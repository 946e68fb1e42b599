"""The pytest plugin: PTX files as tests, a fixture, and a check of what Triton compiles. Off unless asked.

This module is loaded by every pytest run of an environment that has ptxlint, so that it imports nothing
but pytest; what it offers is loaded when it is asked for.
"""

from collections.abc import Callable
from typing import Any

import pytest

CODES = "CODES"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the ini keys; each key is the option's default."""
    group = parser.getgroup("ptxlint", "PTX checks (ptxlint)")
    group.addoption("--ptxlint", action="store_true", help="collect PTX files, one test a kernel")
    group.addoption(
        "--ptxlint-jit",
        action="store_true",
        default=None,
        help="check each kernel that Triton compiles, and fail the test that compiled it",
    )
    group.addoption("--ptxlint-select", action="append", metavar=CODES, help="report only these codes")
    group.addoption("--ptxlint-ignore", action="append", metavar=CODES, help="do not report these codes")
    group.addoption("--ptxlint-extend-select", action="append", metavar=CODES, help="report these besides")
    group.addoption("--ptxlint-fail-on", metavar="SEVERITY", help="least severity that fails a test")
    group.addoption(
        "--ptxlint-strict", action="store_true", default=None, help="what was not analysed is an error"
    )
    group.addoption("--ptxlint-block", metavar="X[,Y[,Z]]", help="threads a CTA, where the PTX does not say")
    group.addoption("--ptxlint-cluster", metavar="X[,Y[,Z]]", help="CTAs a cluster, likewise")
    group.addoption("--ptxlint-baseline", metavar="FILE", help="known findings do not fail a test")
    group.addoption("--ptxlint-config", metavar="FILE", help="configuration, instead of the nearest one")
    group.addoption(
        "--ptxlint-isolated", action="store_true", default=None, help="read no configuration of ptxlint"
    )
    parser.addini("ptxlint_files", "patterns of the PTX files that --ptxlint collects", "args", ["*.ptx"])
    parser.addini("ptxlint_jit", "as --ptxlint-jit", "bool", False)
    parser.addini("ptxlint_select", "as --ptxlint-select", "args", [])
    parser.addini("ptxlint_ignore", "as --ptxlint-ignore", "args", [])
    parser.addini("ptxlint_extend_select", "as --ptxlint-extend-select", "args", [])
    parser.addini("ptxlint_fail_on", "as --ptxlint-fail-on", "string", "")
    parser.addini("ptxlint_strict", "as --ptxlint-strict", "bool", None)
    parser.addini("ptxlint_baseline", "as --ptxlint-baseline", "string", "")
    parser.addini("ptxlint_config", "as --ptxlint-config", "string", "")
    parser.addini("ptxlint_isolated", "as --ptxlint-isolated", "bool", False)
    parser.addini("ptxlint_block", "as --ptxlint-block", "string", "")
    parser.addini("ptxlint_cluster", "as --ptxlint-cluster", "string", "")


def pytest_configure(config: pytest.Config) -> None:
    """Register the parts that are asked for."""
    config.addinivalue_line("markers", "ptxlint: a kernel of a PTX file (pytest --ptxlint)")
    if config.getoption("ptxlint"):
        from ptxlint.pytest_plugin.collect import Collector

        config.pluginmanager.register(Collector(config), "ptxlint-collect")
    jit = config.getoption("ptxlint_jit")
    if config.getini("ptxlint_jit") if jit is None else jit:
        from ptxlint.pytest_plugin.jit import JitChecks

        config.pluginmanager.register(JitChecks(config), "ptxlint-jit")


@pytest.fixture
def assert_ptx_clean(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Return ``ptxlint.testing.assert_ptx_clean`` with the run's options as its defaults."""
    from ptxlint import testing
    from ptxlint.pytest_plugin.settings import RunSettings

    settings = RunSettings(pytestconfig).of_run()

    def check(kernel: object, **options: Any) -> None:
        __tracebackhide__ = True
        testing.assert_ptx_clean(kernel, **{"settings": settings, **options})

    return check
