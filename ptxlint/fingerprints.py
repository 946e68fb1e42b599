"""Identities of findings that survive moved lines, renumbered registers and other kernels in the file.

Baselines and code scanning know a finding again by them.
"""

import hashlib
import re

from ptxlint.checks.base import Draft
from ptxlint.engine.events import Access
from ptxlint.engine.launch import Launch

# What the compiler makes of a file's path and text in the names of its anonymous namespace.
_HASH = re.compile(r"[0-9a-f]{8}(?=_\d+_\w*?_cu_)|(?<=_cu_)[0-9a-f]{8}(?:_\d+)?")


def fingerprint_of(*parts: str) -> str:
    """Return the fingerprint of what *parts* say, as 16 hexadecimal digits."""
    text = _HASH.sub("", "\0".join(parts))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def fingerprints(drafts: list[Draft], kernel: str, launch: Launch) -> list[tuple[Draft, str]]:
    """Return *drafts* in the order of their places, each with its fingerprint.

    It is made of the code and the cause, the kernel, the opcodes and buffers of the accesses, and a number
    among those that are alike in all that.
    """
    seen: dict[tuple[str, ...], int] = {}
    found = []
    for draft in sorted(drafts, key=lambda d: (d.finding.site.line, d.finding.site.column, d.finding.code)):
        parts = [draft.finding.code, draft.finding.cause or "", kernel]
        if draft.conflict is not None:
            for access in (draft.conflict.first, draft.conflict.second):
                parts += [access.event.instruction.opcode, _buffer(access, launch)]
        elif draft.first is not None:
            parts.append(draft.first.instruction.opcode)
        key = tuple(parts)
        number = seen[key] = seen.get(key, 0) + 1
        found.append((draft, fingerprint_of(*parts, str(number))))
    return found


def _buffer(access: Access, launch: Launch) -> str:
    """Return the variable that *access* is in, empty when no name is known; offsets change too easily."""
    name = launch.symbol_at(access.low).partition("+")[0]
    return "" if name.startswith("0x") else name
