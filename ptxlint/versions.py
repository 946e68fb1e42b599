"""What ``ptxlint --version`` says: of the program, of the grammar, of the rules."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import ptxlint
from ptxlint._data import data_dir

# The newest PTX ISA whose instructions the grammar and the tables of ptxlint.model know.
ISA = "9.4"


def versions() -> str:
    """Return a line for each; the digests tell texts apart that have the same version."""
    grammar = data_dir("grammar") / "ptx.lark"
    pages = sorted(data_dir("rules").glob("PTX*.md"))
    return (
        f"ptxlint, version {ptxlint.__version__}\n"
        f"grammar of PTX ISA {ISA} ({_digest([grammar])})\n"
        f"{len(pages)} rules ({_digest(pages)})"
    )


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:8]
