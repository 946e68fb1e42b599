"""Confirmation of findings on a GPU: witness schedules, launches. Only the commands that need it import this."""
