"""The options and ini keys of a pytest run as settings of a check."""

from typing import Any

import pytest

from ptxlint.kernel_check import make_settings
from ptxlint.settings import Settings


def settings_of(config: pytest.Config) -> Settings:
    """Return what the run chose: options first, then ini keys.

    Raises:
        pytest.UsageError: a value is none that the option takes.
    """
    try:
        return make_settings(**keywords(config))
    except ValueError as error:
        raise pytest.UsageError(f"ptxlint_{error}") from None


def keywords(config: pytest.Config) -> dict[str, Any]:
    """Return what the run chose as keyword arguments of ``assert_ptx_clean``, not yet validated."""
    return {
        "select": _value(config, "select"),
        "ignore": _value(config, "ignore"),
        "extend_select": _value(config, "extend_select"),
        "fail_on": _value(config, "fail_on"),
        "strict": bool(_value(config, "strict")),
        "block": _value(config, "block") or None,
        "cluster": _value(config, "cluster") or None,
    }


def _value(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"ptxlint_{name}")
    return config.getini(f"ptxlint_{name}") if given is None else given
