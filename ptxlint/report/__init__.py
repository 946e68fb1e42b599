"""Findings and how they are printed."""
