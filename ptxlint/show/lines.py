"""The lines behind the items of a view, as far as they may be read."""

from ptxlint.report.finding import FileReport
from ptxlint.report.places import Sources
from ptxlint.show.html import Lines
from ptxlint.show.model import Item, shown_line


class FileLines(Lines):
    """The lines of one checked file and of the sources that it names."""

    def __init__(self, report: FileReport) -> None:
        self._sources = Sources.of(report)

    def ptx(self, number: int) -> str:
        """Return line *number* of the PTX."""
        return self._sources.ptx_line(number)

    def source(self, item: Item) -> str:
        """Return the author's line behind *item*, if its file is on disk."""
        link = shown_line(item.source)
        place = self._sources.find(link) if link is not None else None
        return self._sources.source_line(place) if place is not None else ""
