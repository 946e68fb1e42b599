from ptxlint.report import concise
from ptxlint.report.finding import Site
from tests.report.reports import report, weak_wait


def test_one_line_a_finding() -> None:
    problem = weak_wait(code="PTX999", message="expected ';'\n\x1b[0m", site=Site(3, 1))
    result = report(weak_wait())
    result.files[0].problems.append(problem)
    assert list(concise.render(result)) == [
        "copy.sm_90a.ptx:3:1: PTX999 expected ';'\\x0a\\x1b[0m [error]",
        "copy.sm_90a.ptx:8:2: PTX201 the stage is refilled while the store that reads it may be pending [error]",
    ]
