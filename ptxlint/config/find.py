"""Find the configuration of a file: the nearest one in its folder or a folder above."""

import os
from pathlib import Path

from ptxlint.config.read import OWN_FILE, PYPROJECT, Config, ConfigError, read_config

_NONE = Config("")


class Configurations:
    """The configurations of the files of one run; each file of settings is read once.

    In one folder ``ptxlint.toml`` is preferred to ``pyproject.toml``; a ``pyproject.toml`` without a table
    for ptxlint is passed over.
    """

    def __init__(self, explicit: str | None = None, isolated: bool = False) -> None:
        """Take *explicit* for all files, or nothing at all when *isolated*.

        Raises:
            ConfigError: *explicit* cannot be read, or has no table for ptxlint.
        """
        self._by_folder: dict[str, Config] = {}
        self._fixed: Config | None = _NONE if isolated else None
        if explicit is not None:
            self._fixed = read_config(Path(explicit))
            if self._fixed is None:
                raise ConfigError(f"{explicit}: there is no table [tool.ptxlint]")

    def of_file(self, path: str) -> Config:
        """Return what applies to the file at *path*.

        Raises:
            ConfigError: a configuration cannot be read.
        """
        return self.of_folder(os.path.dirname(os.path.abspath(path)))

    def of_folder(self, folder: str = "") -> Config:
        """Return what applies in *folder*, by default the working directory.

        Raises:
            ConfigError: a configuration cannot be read.
        """
        if self._fixed is not None:
            return self._fixed
        return self._nearest(os.path.abspath(folder))

    def _nearest(self, folder: str) -> Config:
        passed: list[str] = []
        found = _NONE
        while folder not in self._by_folder:
            passed.append(folder)
            here = _in_folder(Path(folder))
            above = os.path.dirname(folder)
            if here is not None or above == folder:
                found = here or _NONE
                break
            folder = above
        else:
            found = self._by_folder[folder]
        for name in passed:
            self._by_folder[name] = found
        return found


def _in_folder(folder: Path) -> Config | None:
    for name in (OWN_FILE, PYPROJECT):
        path = folder / name
        if os.path.isfile(path):
            found = read_config(_shown(path))
            if found is not None:
                return found
    return None


def _shown(path: Path) -> Path:
    """Return *path* relative to the working directory when it lies there."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
