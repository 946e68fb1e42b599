"""The codes that can be reported, and reading lists of them as people write them.

Nothing here loads the checks: what was found before is reported without them. That the codes are theirs is
tested.
"""

from collections.abc import Iterable
from functools import cache

from ptxlint.report.rule_page import page_codes

# Advice that is reported only when it is selected by its whole code.
OFF_BY_DEFAULT = frozenset({"PTX901"})


@cache
def known_codes() -> tuple[str, ...]:
    """Return the codes that can be reported, in order: those that have a page."""
    return tuple(page_codes())


def read_prefixes(values: Iterable[str]) -> tuple[str, ...]:
    """Return the codes or beginnings in *values*, each of which may be a comma list: ``PTX101,PTX2``.

    Raises:
        ValueError: one names no code, or no code begins with it.
    """
    prefixes: list[str] = []
    for value in values:
        parts = [part.strip().upper() for part in value.split(",")]
        prefixes += [known_prefix(part) for part in parts if part]
        if not any(parts):
            raise ValueError(f"{value!r} names no code.")
    return tuple(prefixes)


def known_prefix(prefix: str) -> str:
    """Return *prefix* if a code begins with it.

    Raises:
        ValueError: none does; the message names the nearest that would.
    """
    codes = known_codes()
    if any(code.startswith(prefix) for code in codes):
        return prefix
    from difflib import get_close_matches

    beginnings = sorted({code[:length] for code in codes for length in (4, len(code))})
    near = get_close_matches(prefix, beginnings, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else "."
    raise ValueError(f"no rule's code begins with {prefix!r}{hint}")
