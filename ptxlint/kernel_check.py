"""Check inputs and say as text what fails: what tests and the pytest plugin share."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ptxlint.codes import read_prefixes
from ptxlint.inputs import Input
from ptxlint.report.finding import Severity
from ptxlint.settings import BLOCK_LIMITS, CLUSTER_LIMITS, Triple, read_shape

if TYPE_CHECKING:
    from ptxlint.report.finding import Report

Shape = int | str | Sequence[int]


class Checker:
    """Checks by the settings of one run: what is chosen here, over what configuration files say."""

    def __init__(
        self,
        choices: Mapping[str, Any],
        config: str | os.PathLike[str] | None = None,
        isolated: bool = False,
    ) -> None:
        """Take choices as people write them, None and () for those that are not made.

        Args:
            choices: ``select``, ``ignore``, ``extend_select`` (codes), ``fail_on`` (a severity), ``strict``,
                ``block`` and ``cluster`` (shapes), ``baseline`` (a path).
            config: the configuration file to use; without it the one that is nearest to each input.
            isolated: read no configuration file.

        Raises:
            ValueError: a choice is none that there is; the text begins with its name.
            UserError: a configuration or the baseline cannot be read.
        """
        from ptxlint.baseline import Baseline
        from ptxlint.config import Configurations
        from ptxlint.session import Session

        path = None if config is None else os.fspath(config)
        self._session = Session(Configurations(path, isolated), read_choices(choices))
        known = self._session.settings_here().baseline
        self._baseline = None if known is None else Baseline.read(known)

    def check(self, items: Iterable[Input]) -> "Report":
        """Check *items*; findings that comments or the baseline hide are not among those of the report.

        Raises:
            UserError: a configuration cannot be read.
        """
        report = self._session.check(items)
        return report if self._baseline is None else self._baseline.hide(report)


def read_choices(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return *choices* as settings have them.

    Raises:
        ValueError: a choice is none that there is; the text begins with its name.
    """
    readers: dict[str, Callable[[Any], Any]] = {
        "select": _codes,
        "ignore": _codes,
        "extend_select": _codes,
        "fail_on": _severity,
        "block": lambda value: _shape(value, *BLOCK_LIMITS),
        "cluster": lambda value: _shape(value, *CLUSTER_LIMITS),
    }
    read = dict(choices)
    for name, reader in readers.items():
        value = read.get(name)
        if value is None or value == () or value == [] or value == "":
            read[name] = None
            continue
        try:
            read[name] = reader(value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return read


def _codes(values: Iterable[str]) -> tuple[str, ...]:
    return read_prefixes([values] if isinstance(values, str) else values)


def _severity(value: str) -> Severity:
    try:
        return Severity(value)
    except ValueError:
        known = ", ".join(severity.value for severity in Severity)
        raise ValueError(f"{value!r} is none of {known}") from None


def _shape(value: Shape, limits: Triple, most: int, what: str) -> Triple:
    text = str(value) if isinstance(value, (int, str)) else ",".join(map(str, value))
    return read_shape(text, limits, most, what)


def failure(report: "Report") -> str | None:
    """Return *report* as text if something in it fails by the settings of its files, else None."""
    from ptxlint.report import text
    from ptxlint.report.finding import Report
    from ptxlint.report.printable import printable, printable_lines

    errors = [file for file in report.files if file.error is not None]
    if not errors and all(
        finding.severity.rank < file.fail_on.rank
        for file in report.files
        for finding in Report([file]).findings()
    ):
        return None
    lines = [line.plain for line in text.render(report)]
    for file in errors:
        if any(problem.code == "PTX999" for problem in file.problems):
            continue  # the report says so already
        lines.append(f"error: {printable(file.path)}: " + "\n".join(printable_lines(str(file.error))))
    return "\n".join(lines)
