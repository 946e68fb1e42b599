"""``python -m ptxlint``."""

from ptxlint.cli import main

main()
