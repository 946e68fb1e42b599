import json

from ptxlint import __version__
from ptxlint.report import json as json_report
from ptxlint.report.finding import Coverage, FileReport, Report, Severity
from tests.report.reports import report, weak_wait

NOTHING_HIDDEN = {"hidden_by_comments": 0, "hidden_by_baseline": 0, "stale_baseline_entries": []}


def test_the_whole_object() -> None:
    finding = weak_wait()
    site = {"line": 8, "column": 2}
    load = [{"file": "copy.cu", "line": 2, "column": 55}, {"file": "copy.cu", "line": 9, "column": 3}]
    result = report(
        finding,
        coverage=Coverage((8, 8), (40, 40), (15, 15), (26, 27), 1, 2, False, ["why"], True, {"a.b": 2}),
    )
    written = json.loads(json_report.render(result))
    trace = written["files"][0]["kernels"][0]["findings"][0].pop("trace")
    assert written == {
        "version": 1,
        "ptxlint": __version__,
        "files": [
            {
                "path": "copy.sm_90a.ptx",
                "error": None,
                "problems": [],
                "hidden": [],
                "kernels": [
                    {
                        "name": "copy",
                        "demangled": "copy",
                        "symbols": {},
                        "hidden": [],
                        "target": "sm_90a",
                        "coverage": {
                            "async_ops": [8, 8],
                            "shared_accesses": [40, 40],
                            "mbarrier_ops": [15, 15],
                            "events_reached": [26, 27],
                            "forced_completions": 1,
                            "unknown_instructions": 2,
                            "unknown_opcodes": {"a.b": 2},
                            "step_budget_reached": True,
                            "complete": False,
                            "notes": ["why"],
                        },
                        "findings": [
                            {
                                "code": "PTX201",
                                "name": "wait-group-too-weak",
                                "cause": "count",
                                "severity": "error",
                                "confidence": "medium",
                                "message": finding.message,
                                **site,
                                "count": 3,
                                "fingerprint": "0123456789abcdef",
                                "place": {"file": "copy.sm_90a.ptx", **site},
                                "source": load,
                                "fix": {
                                    "summary": "wait for all groups before the refill",
                                    "ptx": "cp.async.bulk.wait_group.read 0;",
                                    "cuda": 'asm volatile("cp.async.bulk.wait_group.read 0;"\n'
                                    '             ::: "memory");',
                                },
                            }
                        ],
                    }
                ],
            }
        ],
        "summary": {"files": 1, "kernels": 1, "errors": 1, "warnings": 0, "notes": 0, **NOTHING_HIDDEN},
    }
    assert [step["role"] for step in trace] == ["first", "path", "near-miss", "second"]
    assert trace[3] == {
        "actor": "async unit",
        "role": "second",
        **site,
        "note": "writes 4096 bytes of stages",
        "source": load,
    }


def test_problems_count_and_errors_are_kept() -> None:
    note = weak_wait(severity=Severity.NOTE, fix=None)
    written = json_report.as_dict(Report([FileReport("a\udcff.ptx", "cannot read", [], [note])]))
    assert written["files"][0]["error"] == "cannot read"
    assert written["files"][0]["problems"][0]["fix"] is None
    assert written["summary"] == {
        **{"files": 1, "kernels": 0, "errors": 0, "warnings": 0, "notes": 1},
        **NOTHING_HIDDEN,
    }


def test_the_text_is_ascii() -> None:
    assert json_report.render(Report([FileReport("ä\udcff\x1b.ptx")])).isascii()
