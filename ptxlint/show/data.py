"""The view as data, for JSON and for the HTML page."""

from typing import Any

from ptxlint.records import fields
from ptxlint.show.model import VERSION, View


def as_data(view: View) -> dict[str, Any]:
    """Return *view* as plain data; keys are stable, additions are allowed."""
    return {name: _plain(getattr(view, name)) for name in fields(view)}


def document(views: list[View]) -> dict[str, Any]:
    """Return what ``ptxlint show --output-format json`` prints."""
    return {"version": VERSION, "kernels": [as_data(view) for view in views]}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "__record_fields__"):
        return {name: _plain(getattr(value, name)) for name in fields(value)}
    return value
