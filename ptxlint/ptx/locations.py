"""``.loc`` and ``.file`` (PTX ISA 11.5): which high-level lines an instruction comes from.

``inlined_at F L C`` names a place whose own chain is that of the last ``.loc`` at this place in
the same function; a compiler that inlines three deep writes three ``.loc`` lines and the last one
governs. Triton writes no ``inlined_at``: it keeps the chain in a comment,
``// a.py:4:12 @[ b.py:30:8 ]``.
"""

import re
from typing import TypeAlias

from ptxlint.ptx.source import SourceLocation

Place: TypeAlias = tuple[int | str, int, int]

_LONGEST_CHAIN = 64
_INLINE = re.compile(r"@\[\s*(\S+?):(\d+):(\d+)")


class Locations:
    """The ``.loc`` entries of one module."""

    def __init__(self) -> None:
        self.files: dict[int, str] = {}
        self._chains: list[tuple[Place, ...]] = []
        self._seen: dict[tuple[str, int, str], int] = {}
        self._known: dict[tuple[Place, ...], int] = {}
        self._places: dict[str, Place] = {}
        self._latest: dict[str | Place, int] = {}

    def start_function(self) -> None:
        """Forget which place was inlined where."""
        self._latest = {}

    def add(self, place: str, inlined_at: str | None, comment: str | None) -> int:
        """Return the index of a ``.loc`` whose numbers are *place*, as written.

        An entry with line 0 (code of no line) has the chain of the place it is inlined at, and
        index -1 when there is none.
        """
        latest = self._latest
        parent = -1
        if inlined_at is not None:
            spot = self._place(inlined_at)
            parent = latest.get(spot, -2)
            if parent == -2:
                parent = self._entry((spot,))
        inline = comment if comment is not None and inlined_at is None and "@[" in comment else ""
        key = (place, parent, inline)
        index = self._seen.get(key)
        if index is None:
            index = self._seen[key] = self._resolve(place, parent, inline)
        latest[self._place(place)] = index
        return index

    def chains(self) -> list[tuple[SourceLocation, ...]]:
        """Return every entry with its file names."""
        by_base: dict[str, list[str]] = {}
        for path in self.files.values():
            by_base.setdefault(path.replace("\\", "/").rsplit("/", 1)[-1], []).append(path)
        made: dict[Place, SourceLocation] = {}

        def location(place: Place) -> SourceLocation:
            found = made.get(place)
            if found is None:
                file, line, column = place
                if isinstance(file, int):
                    name = self.files.get(file, f"<file {file}>")
                else:
                    paths = by_base.get(file, [])
                    name = paths[0] if len(paths) == 1 else file
                found = made[place] = SourceLocation(name, line, column)
            return found

        return [tuple([location(place) for place in chain]) for chain in self._chains]

    def _place(self, text: str) -> Place:
        found = self._places.get(text)
        if found is None:
            file, line, column = map(_number, text.split())
            found = self._places[text] = (file, line, column)
        return found

    def _resolve(self, place: str, parent: int, inline: str) -> int:
        chain: tuple[Place, ...] = (self._place(place),)
        if chain[0][1] == 0:
            chain = ()
        if parent >= 0:
            chain += self._chains[parent]
        for file, line, column in _INLINE.findall(inline):
            chain += ((file, int(line[:18]), int(column[:18])),)
        return self._entry(chain[:_LONGEST_CHAIN]) if chain else -1

    def _entry(self, chain: tuple[Place, ...]) -> int:
        index = self._known.get(chain)
        if index is None:
            index = self._known[chain] = len(self._chains)
            self._chains.append(chain)
        return index


def _number(text: str) -> int:
    """Return a number of a ``.loc``, in any form of an integer (PTX ISA 4.5.1)."""
    if text.isdigit() and text[0] != "0":
        return int(text[:18])
    digits = text.rstrip("uU")[:18]
    try:
        return int(digits, 8 if digits[0] == "0" and digits.isdigit() else 0)
    except ValueError:  # no octal number
        return int(digits) if digits.isdigit() else 0
