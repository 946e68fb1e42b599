"""The report as JUnit XML: a suite a file, a case a kernel; a kernel fails by findings of ``fail_on`` or worse.

What is below that, and what was analysed, stands in the case's ``system-out``. There are no times, so that
the same input gives the same text.
"""

import xml.etree.ElementTree as ElementTree

from ptxlint.report import text
from ptxlint.report.finding import FileReport, Finding, KernelReport, Report, Severity
from ptxlint.report.paths import shown_path
from ptxlint.report.places import Sources
from ptxlint.report.printable import printable, xml_text


def render(report: Report) -> str:
    """Return the XML document, in ASCII."""
    root = ElementTree.Element("testsuites", name="ptxlint")
    for file in report.files:
        root.append(_suite(file))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return document.decode("ascii")


def _suite(file: FileReport) -> ElementTree.Element:
    path = xml_text(shown_path(file.path))
    suite = ElementTree.Element("testsuite", name=path)
    sources = Sources.of(file)
    fail_on = file.fail_on
    if file.error is not None or file.problems or not file.kernels:
        case = ElementTree.SubElement(suite, "testcase", classname=path, name="(file)", file=path)
        _findings(case, file.problems, sources, fail_on)
        if file.error is not None:
            for failure in case.findall("failure"):
                case.remove(failure)
            error = ElementTree.SubElement(case, "error", message=xml_text(printable(file.error)))
            error.text = xml_text(_text(file.problems, sources) or printable(file.error))
    for kernel in file.kernels:
        suite.append(_case(path, kernel, sources, fail_on))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    return suite


def _case(path: str, kernel: KernelReport, sources: Sources, fail_on: Severity) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", classname=path, name=xml_text(printable(kernel.title or kernel.name)), file=path
    )
    _findings(case, kernel.findings, sources, fail_on)
    minor = [finding for finding in kernel.findings if finding.severity.rank < fail_on.rank]
    out = ElementTree.SubElement(case, "system-out")
    out.text = xml_text(_text(minor, sources) + text.coverage_line(kernel).plain)
    return case


def _findings(
    case: ElementTree.Element, findings: list[Finding], sources: Sources, fail_on: Severity
) -> None:
    """Add a failure that holds the findings of *fail_on* or worse, if there are any."""
    severe = [finding for finding in findings if finding.severity.rank >= fail_on.rank]
    if severe:
        titles = [f"{finding.code}: {printable(finding.message)}" for finding in severe]
        kinds = ",".join(dict.fromkeys(finding.code for finding in severe))
        failure = ElementTree.SubElement(case, "failure", message=xml_text("\n".join(titles)), type=kinds)
        failure.text = xml_text(_text(severe, sources))


def _text(findings: list[Finding], sources: Sources) -> str:
    lines = [line.plain for finding in findings for line in text.finding_lines(finding, sources)]
    return "\n".join(lines)
