"""Find the data directories that ship with ptxlint: ``grammar/`` and ``rules/``."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_dir(name: str) -> Path:
    """Return the directory *name*: inside the wheel, or beside the package in a checkout."""
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name
