"""The figures of a whole run: files, kernels, findings by severity, what was not analysed."""

from dataclasses import dataclass

from ptxlint.report.finding import Report, Severity


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of a run.

    *incomplete* are kernels, *failed* are files that could not be checked, *stale* are entries of the baseline.
    """

    files: int
    kernels: int
    errors: int
    warnings: int
    notes: int
    incomplete: int
    failed: int
    hidden_by_comments: int = 0
    hidden_by_baseline: int = 0
    stale: int = 0

    @classmethod
    def of(cls, report: Report) -> "Summary":
        """Return the counts of *report*."""
        severities = [finding.severity for finding in report.findings()]
        hidden = [hidden.by for hidden in report.hidden()]
        kernels = [kernel for file in report.files for kernel in file.kernels]
        return cls(
            files=len(report.files),
            kernels=len(kernels),
            errors=severities.count(Severity.ERROR),
            warnings=severities.count(Severity.WARNING),
            notes=severities.count(Severity.NOTE),
            incomplete=sum(not kernel.coverage.complete for kernel in kernels),
            failed=sum(file.error is not None for file in report.files),
            hidden_by_comments=hidden.count("comment"),
            hidden_by_baseline=hidden.count("baseline"),
            stale=len(report.stale),
        )

    def __str__(self) -> str:
        found = [
            plural(count, word)
            for count, word in ((self.errors, "error"), (self.warnings, "warning"), (self.notes, "note"))
            if count
        ]
        text = f"{', '.join(found) or 'no findings'} in {plural(self.kernels, 'kernel')}"
        text += f" of {plural(self.files, 'file')}"
        if self.hidden_by_comments:
            text += f"; {self.hidden_by_comments} hidden by comments"
        if self.hidden_by_baseline:
            text += f"; {self.hidden_by_baseline} hidden by the baseline"
        if self.stale:
            text += f"; {plural(self.stale, 'entry of the baseline is', 'entries of the baseline are')} stale"
        if self.incomplete:
            text += f"; {plural(self.incomplete, 'kernel')} not analysed completely"
        if self.failed:
            text += f"; {plural(self.failed, 'file')} not checked completely"
        return text


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return ``1 file``, ``2 files``; *many* where it is not *one* with an s: ``1 wait was``, ``2 waits were``."""
    return f"{count} {one if count == 1 else many or one + 's'}"
