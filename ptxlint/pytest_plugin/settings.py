"""The options and ini keys of a pytest run as settings of a check."""

from typing import Any

import pytest

from ptxlint.kernel_check import Settings


def settings_of(config: pytest.Config) -> Settings:
    """Return what the run chose: options first, then ini keys.

    Raises:
        pytest.UsageError: a value is none that the option takes.
    """
    return Settings(**keywords(config))


def keywords(config: pytest.Config) -> dict[str, Any]:
    """Return the settings as keyword arguments of ``assert_ptx_clean``."""
    from ptxlint.report.finding import Severity

    fail_on = _value(config, "ptxlint_fail_on")
    severities = [severity.value for severity in Severity]
    if fail_on not in severities:
        raise pytest.UsageError(f"ptxlint_fail_on: {fail_on!r} is none of {', '.join(severities)}")
    return {
        "select": _codes(config, "ptxlint_select"),
        "ignore": _codes(config, "ptxlint_ignore"),
        "fail_on": fail_on,
        "strict": bool(_value(config, "ptxlint_strict")),
        "block": _shape(config, "ptxlint_block"),
        "cluster": _shape(config, "ptxlint_cluster"),
    }


def _value(config: pytest.Config, name: str) -> Any:
    given = config.getoption(name)
    return config.getini(name) if given is None else given


def _codes(config: pytest.Config, name: str) -> tuple[str, ...]:
    import click

    from ptxlint.cli import known_prefix

    words = [word.strip().upper() for value in _value(config, name) for word in value.split(",")]
    try:
        return tuple(known_prefix(word) for word in words if word)
    except click.BadParameter as error:
        raise pytest.UsageError(f"{name}: {error.message}") from None


def _shape(config: pytest.Config, name: str) -> tuple[int, int, int] | None:
    value = _value(config, name)
    if not value:
        return None
    parts = [part.strip() for part in value.split(",")]
    if len(parts) > 3 or not all(part.isdecimal() and int(part) for part in parts):
        raise pytest.UsageError(f"{name}: {value!r} is not of the form X[,Y[,Z]]")
    x, y, z = [int(part) for part in parts] + [1] * (3 - len(parts))
    return x, y, z
