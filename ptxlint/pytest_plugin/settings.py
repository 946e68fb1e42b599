"""What applies to the checks of a pytest run: its options, its ini keys, and ptxlint's configuration files."""

from typing import Any

import pytest

from ptxlint.baseline import Baseline
from ptxlint.config import Config, Configurations
from ptxlint.kernel_check import make_settings
from ptxlint.settings import Settings, UserError


class RunSettings:
    """The settings of one run: options come before ini keys, and both before configuration files."""

    def __init__(self, config: pytest.Config) -> None:
        """Take what the run chose.

        Raises:
            pytest.UsageError: a value is none that the option takes, or a configuration cannot be read.
        """
        self._chosen = keywords(config)
        path, isolated = _value(config, "config") or None, bool(_value(config, "isolated"))
        if path is not None and isolated:
            raise pytest.UsageError("--ptxlint-config and --ptxlint-isolated contradict each other")
        try:
            self._configurations = Configurations(path, isolated)
            self._baseline = _value(config, "baseline") or None
            if self._baseline is not None:
                Baseline.read(self._baseline)  # so that trouble with it is told at once
        except UserError as error:
            raise pytest.UsageError(str(error)) from None
        self._root = str(config.rootpath)
        self.of_run()

    def of_run(self) -> Settings:
        """Return what applies to kernels that come from no file: the configuration nearest to the root.

        Raises:
            pytest.UsageError: a configuration cannot be read.
        """
        try:
            return self._settings(self._configurations.of_folder(self._root))
        except UserError as error:
            raise pytest.UsageError(str(error)) from None

    def of_file(self, path: str) -> Settings:
        """Return what applies to the file at *path*.

        Raises:
            ConfigError: a configuration cannot be read.
        """
        return self._settings(self._configurations.of_file(path))

    def _settings(self, config: Config) -> Settings:
        try:
            chosen = make_settings(**self._chosen, settings=config.settings)
            return chosen.with_choices(baseline=self._baseline)
        except ValueError as error:
            raise pytest.UsageError(f"ptxlint_{error}") from None


def keywords(config: pytest.Config) -> dict[str, Any]:
    """Return what the run chose as keyword arguments of ``assert_ptx_clean``, not yet validated."""
    names = ("select", "ignore", "extend_select", "fail_on", "strict", "block", "cluster")
    values = {name: _value(config, name) for name in names}
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _value(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"ptxlint_{name}")
    return config.getini(f"ptxlint_{name}") if given is None else given
