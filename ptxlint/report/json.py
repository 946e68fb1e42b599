"""The report as one JSON object. Keys are stable: additions are allowed, changes are not."""

import json
from typing import Any

import ptxlint
from ptxlint.ptx.source import SourceLocation
from ptxlint.report.finding import Coverage, FileReport, Finding, KernelReport, Report, Step
from ptxlint.report.summary import Summary

FORMAT_VERSION = 1


def render(report: Report) -> str:
    """Return the whole report as JSON text, indented by two, in ASCII."""
    return json.dumps(as_dict(report), indent=2)


def as_dict(report: Report) -> dict[str, Any]:
    """Return the report as plain dictionaries and lists."""
    summary = Summary.of(report)
    return {
        "version": FORMAT_VERSION,
        "ptxlint": ptxlint.__version__,
        "files": [_file(file) for file in report.files],
        "summary": {
            "files": summary.files,
            "kernels": summary.kernels,
            "errors": summary.errors,
            "warnings": summary.warnings,
            "notes": summary.notes,
        },
    }


def _file(file: FileReport) -> dict[str, Any]:
    return {
        "path": file.path,
        "error": file.error,
        "problems": [_finding(problem) for problem in file.problems],
        "kernels": [_kernel(kernel) for kernel in file.kernels],
    }


def _kernel(kernel: KernelReport) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "target": kernel.target,
        "coverage": _coverage(kernel.coverage),
        "findings": [_finding(finding) for finding in kernel.findings],
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "async_ops": list(coverage.async_ops),
        "shared_accesses": list(coverage.shared_accesses),
        "mbarrier_ops": list(coverage.mbarrier_ops),
        "events_reached": list(coverage.events_reached),
        "forced_completions": coverage.forced_completions,
        "unknown_instructions": coverage.unknown_instructions,
        "complete": coverage.complete,
        "notes": list(coverage.notes),
    }


def _finding(finding: Finding) -> dict[str, Any]:
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
