"""Tests of ptxlint.ptx."""
