"""Configuration files: finding them, reading them, and showing what applies."""

from ptxlint.config.find import Configurations
from ptxlint.config.read import Config, ConfigError, read_config

__all__ = ["Config", "ConfigError", "Configurations", "read_config"]
