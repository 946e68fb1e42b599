"""ptxlint: a static lint tool for PTX."""

__version__ = "0.1.0"
