"""Find files in folders: by suffix, sorted; hidden folders and links to folders are left out."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ptxlint.inputs.content import reason
from ptxlint.inputs.item import Input

# What can be checked and is not looked for unless asked.
KNOWN = ("ptx", "cu", "cubin", "fatbin", "o", "so", "a", "whl")


def find_files(
    folder: str, include: Sequence[str], is_excluded: Callable[[str], bool] | None = None
) -> Iterator[str | Input]:
    """Yield the files below *folder* with a suffix of *include*, sorted, then what went wrong.

    Links to folders are not followed, so that links in a circle do no harm.
    """
    errors: list[Input] = []

    def note(error: OSError) -> None:
        errors.append(Input(str(error.filename), error=reason(error)))

    suffixes = tuple(f".{suffix}" for suffix in include)
    found: list[str] = []
    others: Counter[str] = Counter()
    excluded = 0
    left_out = is_excluded or (lambda path: False)
    for here, folders, files in os.walk(folder, onerror=note):
        folders[:] = [
            name for name in folders if not name.startswith(".") and not left_out(os.path.join(here, name))
        ]
        for name in files:
            if left_out(os.path.join(here, name)):
                excluded += 1
            elif name.endswith(suffixes):
                found.append(os.path.join(here, name))
            else:
                others[name.rpartition(".")[2]] += 1
    yield from sorted((path for path in found if _is_file(path)), key=lambda path: Path(path).parts)
    yield from errors
    if not found and not errors and not excluded:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        rest = [(suffix, others[suffix]) for suffix in KNOWN if others[suffix]]
        counts = " and ".join(f"{count} *.{suffix}" for suffix, count in rest)
        hint = f"; --include {','.join(suffix for suffix, _ in rest)} takes the {counts}" if rest else ""
        yield Input(folder, error=f"no {wanted} file in this folder{hint}")


def _is_file(path: str) -> bool:
    """Return whether *path* may be read; what cannot be asked (a broken link) is told when it is."""
    return os.path.isfile(path) or not os.path.exists(path)
