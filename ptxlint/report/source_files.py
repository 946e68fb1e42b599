"""Source files by the names that PTX gives them. PTX is data: what it names is read only where it may lie.

That is the folder of the PTX, the folder of the project, and the folders that the user named. A link that
leads out of them is not followed.
"""

import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

MAX_SOURCE_BYTES = 16 << 20

_PROJECT_MARKS = (".git", "pyproject.toml", "ptxlint.toml")


class SourceFiles:
    """Finds and reads source files for one PTX file.

    Args:
        ptx_path: The name of the PTX; for PTX out of another file, ``FILE#NAME.ptx``.
        roots: Folders of the user's choice. A file that was built elsewhere is found in them by the end
            of its path: ``/build/src/k.cu`` as ``ROOT/src/k.cu`` or ``ROOT/k.cu``.
    """

    def __init__(self, ptx_path: str, roots: Iterable[str] = ()) -> None:
        beside = _folder_of(ptx_path)
        self._roots = [Path(root) for root in roots]
        self._folders = [beside, Path(), *self._roots]
        allowed = [beside, project_folder(), *self._roots]
        real = [path for path in map(_resolved, allowed) if path is not None]
        self._allowed = [path for path in real if path != Path(path.anchor)]  # never the whole disk

    def read(self, name: str) -> tuple[str, str] | None:
        """Return the path and the text of the file that PTX calls *name*; None if there is none to be read."""
        if not name or "\0" in name:
            return None
        for path in self._candidates(name):
            try:
                if self._is_allowed(path) and path.is_file() and path.stat().st_size <= MAX_SOURCE_BYTES:
                    return str(path), path.read_text("utf-8", errors="replace")
            except (OSError, ValueError):
                continue
        return None

    def _candidates(self, name: str) -> Iterator[Path]:
        for folder in self._folders:
            yield folder / name
        parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..")]
        for root in self._roots:
            for start in range(len(parts)):
                yield root.joinpath(*parts[start:])

    def _is_allowed(self, path: Path) -> bool:
        real = _resolved(path)
        return real is not None and any(real.is_relative_to(folder) for folder in self._allowed)


def project_folder() -> Path:
    """Return the nearest folder, from the working directory up, that is the root of a project; else the former."""
    return _project_folder(os.getcwd())


@cache
def _project_folder(here: str) -> Path:
    for folder in (Path(here), *Path(here).parents):
        if any((folder / mark).exists() for mark in _PROJECT_MARKS):
            return folder
    return Path(here)


def _folder_of(ptx_path: str) -> Path:
    """Return the folder of the file that the PTX was read from."""
    file = ptx_path if "#" not in ptx_path or os.path.exists(ptx_path) else ptx_path.partition("#")[0]
    return Path(file).parent


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return None
