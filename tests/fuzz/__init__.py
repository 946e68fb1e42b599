"""Fuzzing: made-up and broken PTX, and what must hold of each (``python -m tests.fuzz --help``)."""
