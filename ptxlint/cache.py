"""What was found before, kept on disk: by the text, the settings that change the analysis, and ptxlint itself.

An entry is JSON, written whole or not at all; one that cannot be read, or is not what it should be, counts
as absent. Nothing is ever executed or believed about files other than the one that is asked for.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

import ptxlint
from ptxlint._data import data_dir
from ptxlint.report.finding import FileReport
from ptxlint.report.plain import from_plain, to_plain
from ptxlint.settings import Settings

FORMAT = 1
MAX_ENTRY_BYTES = 256 << 20
UNUSED_SECONDS = 30 * 24 * 3600  # after which the entries of another version are removed

_TAG_NAME = "CACHEDIR.TAG"
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache of ptxlint; it may be removed at any time.\n"
)


class CacheError(Exception):
    """A folder that is no cache of ptxlint, or that cannot be removed."""


def default_dir() -> Path:
    """Return the folder for caches of this user."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("ptxlint", appauthor=False))


@cache
def engine_digest() -> str:
    """Return a digest of everything that a result depends on besides the text and the settings."""
    digest = hashlib.sha256(f"{FORMAT} {ptxlint.__version__}".encode())
    package = Path(ptxlint.__file__).parent
    for root, pattern in ((package, "*.py"), (data_dir("grammar"), "*.lark")):
        for path in sorted(root.rglob(pattern)):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def key_of(text: str, settings: Settings) -> str:
    """Return the name of the entry for *text* under *settings*."""
    kernels = [[hint.pattern, hint.block, hint.cluster] for hint in settings.kernels]
    shapes = json.dumps([settings.block, settings.cluster, kernels, settings.max_steps])
    return hashlib.sha256(f"{shapes}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


class Cache:
    """One folder of results. Trouble with it never stops a check: what cannot be kept is made again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._version = folder / f"v{FORMAT}-{engine_digest()}"
        self._ready = False

    def get(self, text: str, path: str, settings: Settings) -> FileReport | None:
        """Return what was found in *text*, reported under *path*, or None."""
        try:
            file = self._file(text, settings)
            if file.stat().st_size > MAX_ENTRY_BYTES:
                return None
            report = from_plain(FileReport, json.loads(file.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        report.path, report.text = path, text
        return report

    def put(self, report: FileReport, settings: Settings) -> None:
        """Keep *report*, all that was found in its text."""
        plain = to_plain(FileReport("", report.error, report.kernels, report.problems))
        with contextlib.suppress(OSError):
            self._prepare()
            file = self._file(report.text, settings)
            file.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(file, json.dumps(plain, separators=(",", ":")).encode())

    def _file(self, text: str, settings: Settings) -> Path:
        key = key_of(text, settings)
        return self._version / key[:2] / f"{key[2:]}.json"

    def _prepare(self) -> None:
        """Make the folder once; when this version is new to it, remove what others left long ago."""
        if self._ready:
            return
        self._ready = True
        if not self._version.is_dir():
            self._version.mkdir(parents=True)
            _write_whole(self.folder / _TAG_NAME, _TAG.encode())
            for old in self.folder.glob("v*-*"):
                if old != self._version and time.time() - old.stat().st_mtime > UNUSED_SECONDS:
                    shutil.rmtree(old, ignore_errors=True)
        os.utime(self._version)


def clean(folder: Path) -> int:
    """Remove the cache in *folder*; return how many results were in it.

    Raises:
        CacheError: the folder is not a cache of ptxlint, or cannot be removed.
    """
    if not folder.exists():
        return 0
    try:
        if (folder / _TAG_NAME).read_bytes() != _TAG.encode():
            raise CacheError(f"{folder} is not a cache of ptxlint: its {_TAG_NAME} is another's")
        versions = [path for path in folder.glob("v*-*") if path.is_dir() and not path.is_symlink()]
        count = sum(1 for version in versions for _ in version.glob("??/*.json"))
        for version in versions:
            shutil.rmtree(version)
        (folder / _TAG_NAME).unlink()
        with contextlib.suppress(OSError):  # something else is in it
            folder.rmdir()
    except FileNotFoundError:
        raise CacheError(f"{folder} is not a cache of ptxlint: there is no {_TAG_NAME} in it") from None
    except OSError as error:
        raise CacheError(f"cannot remove {error.filename}: {error.strerror}") from None
    return count


def _write_whole(file: Path, data: bytes) -> None:
    """Write *file* so that nobody ever sees a part of it."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
