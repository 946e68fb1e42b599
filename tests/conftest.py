"""What several test files use: the fixtures' folder, and ``--update-expect``."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-expect",
        action="store_true",
        help="rewrite the expect markers of fixtures to what is reported",
    )
