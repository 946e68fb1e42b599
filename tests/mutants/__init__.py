"""Breaks correct kernels, one synchronising instruction at a time, and counts what ptxlint reports.

``python -m tests.mutants`` prints the score. ``edits.py`` knows how to change PTX text, ``operators.py``
which changes there are and with which codes each must be reported, ``score.py`` runs them, and
``equivalent.json`` lists the changes that the memory model allows, each with its reason.
"""
