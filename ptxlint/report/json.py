"""The report as one JSON object. Keys are stable: additions are allowed, changes are not."""

import json
from pathlib import Path
from typing import Any

import ptxlint
from ptxlint.ptx.source import SourceLocation
from ptxlint.report import statistics
from ptxlint.report.finding import Coverage, FileReport, Hidden, KernelReport, Report, Step
from ptxlint.report.paths import shown_path
from ptxlint.report.printable import spell_surrogates
from ptxlint.report.rows import Row, rows_of_file
from ptxlint.report.summary import Summary

FORMAT_VERSION = 1


def schema_text() -> str:
    """Return the JSON schema (draft 2020-12) of the report."""
    return Path(__file__).with_name("schema.json").read_text("utf-8")


def render(report: Report, with_statistics: bool = False) -> str:
    """Return the whole report as JSON text, indented by two, in ASCII."""
    return json.dumps(as_dict(report, with_statistics), indent=2)


def as_dict(report: Report, with_statistics: bool = False) -> dict[str, Any]:
    """Return the report as plain dictionaries and lists; lone surrogates in texts are spelled out."""
    summary = Summary.of(report)
    found = {
        "version": FORMAT_VERSION,
        "ptxlint": ptxlint.__version__,
        "files": [_file(file) for file in report.files],
        "summary": {
            "files": summary.files,
            "kernels": summary.kernels,
            "errors": summary.errors,
            "warnings": summary.warnings,
            "notes": summary.notes,
            "hidden_by_comments": summary.hidden_by_comments,
            "hidden_by_baseline": summary.hidden_by_baseline,
            "stale_baseline_entries": list(report.stale),
        },
    }
    if with_statistics:
        found["statistics"] = statistics.as_dict(statistics.Statistics.of(report))
    clean: dict[str, Any] = _clean(found)
    return clean


def _clean(value: Any) -> Any:
    """Spell out what strict readers of JSON refuse, in all texts of *value*."""
    if isinstance(value, str):
        return spell_surrogates(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return value


def _file(file: FileReport) -> dict[str, Any]:
    found = list(rows_of_file(file))
    return {
        "path": shown_path(file.path),
        "error": file.error,
        "problems": [_finding(row) for row in found if row.kernel is None],
        "hidden": [_hidden(hidden) for hidden in file.hidden],
        "kernels": [
            _kernel(kernel, [row for row in found if row.kernel is kernel]) for kernel in file.kernels
        ],
    }


def _kernel(kernel: KernelReport, rows: list[Row]) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "demangled": kernel.demangled or kernel.name,
        "symbols": dict(kernel.symbols),
        "target": kernel.target,
        "coverage": _coverage(kernel.coverage),
        "findings": [_finding(row) for row in rows],
        "hidden": [_hidden(hidden) for hidden in kernel.hidden],
    }


def _hidden(hidden: Hidden) -> dict[str, Any]:
    return {
        "code": hidden.finding.code,
        "line": hidden.finding.site.line,
        "column": hidden.finding.site.column,
        "fingerprint": hidden.finding.fingerprint,
        "by": hidden.by,
        "reason": hidden.reason,
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "async_ops": list(coverage.async_ops),
        "shared_accesses": list(coverage.shared_accesses),
        "mbarrier_ops": list(coverage.mbarrier_ops),
        "events_reached": list(coverage.events_reached),
        "forced_completions": coverage.forced_completions,
        "unknown_instructions": coverage.unknown_instructions,
        "unknown_opcodes": dict(coverage.unknown_opcodes),
        "step_budget_reached": coverage.step_budget_reached,
        "complete": coverage.complete,
        "notes": list(coverage.notes),
    }


def _finding(row: Row) -> dict[str, Any]:
    finding, place = row.finding, row.place
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "cause": finding.cause,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "line": finding.site.line,
        "column": finding.site.column,
        "count": finding.count,
        "fingerprint": finding.fingerprint,
        "place": {"file": place.file, "line": place.line, "column": place.column},
        "source": _source(finding.site.source),
        "trace": [_step(step) for step in finding.trace],
        "fix": None if fix is None else {"summary": fix.summary, "ptx": fix.ptx, "cuda": fix.cuda},
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "actor": step.actor,
        "role": step.role,
        "line": step.site.line,
        "column": step.site.column,
        "note": step.note,
        "source": _source(step.site.source),
    }


def _source(chain: tuple[SourceLocation, ...]) -> list[dict[str, Any]]:
    return [{"file": link.file, "line": link.line, "column": link.column} for link in chain]
