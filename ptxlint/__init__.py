"""ptxlint: a static lint tool for PTX.

As a library, ``ptxlint.check(text_or_path)`` returns a :class:`Report`. What ``__all__`` names is public
and stable; everything else may change. Importing the package is cheap: its parts load when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxlint.api import check, find_settings
    from ptxlint.config.read import ConfigError
    from ptxlint.inputs import InputError
    from ptxlint.ptx.source import SourceLocation
    from ptxlint.report.finding import (
        Confidence,
        Coverage,
        FileReport,
        Finding,
        Fix,
        Hidden,
        KernelReport,
        Report,
        Severity,
        Site,
        Step,
    )
    from ptxlint.settings import Settings, UserError

__version__ = "0.1.0"

__all__ = [
    "Confidence",
    "ConfigError",
    "Coverage",
    "FileReport",
    "Finding",
    "Fix",
    "Hidden",
    "InputError",
    "KernelReport",
    "Report",
    "Settings",
    "Severity",
    "Site",
    "SourceLocation",
    "Step",
    "UserError",
    "__version__",
    "check",
    "find_settings",
]

_MODULES = {
    "ConfigError": "ptxlint.config.read",
    "InputError": "ptxlint.inputs",
    "Settings": "ptxlint.settings",
    "UserError": "ptxlint.settings",
    "SourceLocation": "ptxlint.ptx.source",
    "check": "ptxlint.api",
    "find_settings": "ptxlint.api",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ptxlint' has no attribute {name!r}")
    value: object = getattr(import_module(_MODULES.get(name, "ptxlint.report.finding")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
