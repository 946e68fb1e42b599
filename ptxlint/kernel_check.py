"""Check inputs and say as text what fails: what tests and the pytest plugin share."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ptxlint.codes import read_prefixes
from ptxlint.inputs import Input
from ptxlint.report.finding import Severity
from ptxlint.settings import BLOCK_LIMITS, CLUSTER_LIMITS, Settings, Triple, read_shape

if TYPE_CHECKING:
    from ptxlint.report.finding import FileReport

Shape = int | str | Sequence[int]


def make_settings(
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    fail_on: str | None = None,
    strict: bool | None = None,
    block: Shape | None = None,
    cluster: Shape | None = None,
    settings: Settings | None = None,
) -> Settings:
    """Return *settings* (the defaults) with values as people write them over them; None and () say nothing.

    Raises:
        ValueError: a value is none that its option takes; the text begins with the option.
    """
    return (settings or Settings()).with_choices(
        select=_codes("select", select),
        ignore=_codes("ignore", ignore),
        extend_select=_codes("extend_select", extend_select),
        fail_on=None if fail_on is None else _severity(fail_on),
        strict=strict,
        block=_shape("block", block, *BLOCK_LIMITS),
        cluster=_shape("cluster", cluster, *CLUSTER_LIMITS),
    )


def _codes(option: str, values: Iterable[str]) -> tuple[str, ...]:
    try:
        return read_prefixes([values] if isinstance(values, str) else values)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def _severity(value: str) -> Severity:
    try:
        return Severity(value)
    except ValueError:
        known = ", ".join(severity.value for severity in Severity)
        raise ValueError(f"fail_on: {value!r} is none of {known}") from None


def _shape(option: str, value: Shape | None, limits: Triple, most: int, what: str) -> Triple | None:
    if value is None:
        return None
    text = str(value) if isinstance(value, (int, str)) else ",".join(map(str, value))
    try:
        return read_shape(text, limits, most, what)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def check_item(item: Input, settings: Settings) -> "FileReport":
    """Check *item*; shapes of the settings come before those that its producer tells."""
    from ptxlint.session import check_input

    hints = replace(settings, block=settings.block or item.block, cluster=settings.cluster or item.cluster)
    return check_input(item, hints)


def failure(files: Sequence["FileReport"]) -> str | None:
    """Return the report as text if something in *files* fails by their settings, else None."""
    from ptxlint.report import text
    from ptxlint.report.finding import Report
    from ptxlint.report.printable import printable

    report = Report(list(files))
    errors = [file for file in files if file.error is not None]
    if not errors and not any(file.fails() for file in files):
        return None
    lines = [line.plain for line in text.render(report)]
    lines += [f"error: {printable(file.path)}: {printable(str(file.error))}" for file in errors]
    return "\n".join(lines)
