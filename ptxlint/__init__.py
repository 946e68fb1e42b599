"""ptxlint: a static lint tool for PTX."""
