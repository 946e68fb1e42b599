"""The options and ini keys of a pytest run as settings of checks."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from ptxlint.inputs import Input
from ptxlint.kernel_check import Checker
from ptxlint.settings import UserError

if TYPE_CHECKING:
    from ptxlint.report.finding import Report

_CHOICES = ("select", "ignore", "extend_select", "fail_on", "strict", "block", "cluster", "baseline")


def keywords(config: pytest.Config) -> dict[str, Any]:
    """Return what the run chose, options first, then ini keys, as keywords of ``assert_ptx_clean``."""
    chosen = {name: _value(config, name) or None for name in _CHOICES}
    for name in ("select", "ignore", "extend_select"):
        chosen[name] = chosen[name] or ()
    chosen["config"] = _value(config, "config") or None
    chosen["isolated"] = bool(_value(config, "isolated"))
    return chosen


def _value(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"ptxlint_{name}")
    return config.getini(f"ptxlint_{name}") if given is None else given


class RunChecker:
    """Checks by what the run chose; what the user has to put right is a usage error of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        chosen = keywords(config)
        path, isolated = chosen.pop("config"), chosen.pop("isolated")
        if path is not None and isolated:
            raise pytest.UsageError("ptxlint_config and ptxlint_isolated contradict each other")
        try:
            self._checker = Checker(chosen, path, isolated)
        except ValueError as error:
            raise pytest.UsageError(f"ptxlint_{error}") from None
        except UserError as error:
            raise pytest.UsageError(f"ptxlint: {error}") from None

    def check(self, items: Iterable[Input]) -> "Report":
        """Check *items*.

        Raises:
            pytest.fail.Exception: a configuration near them cannot be read.
        """
        try:
            return self._checker.check(items)
        except UserError as error:
            pytest.fail(f"ptxlint: {error}", pytrace=False)
