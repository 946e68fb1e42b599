"""Witness schedules, specifications and their confirmation, without a GPU."""
