"""What several test files use: the fixtures' folder, and ``--update-expect``."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"

# Tests see what is found, not what was; those of the cache ask for one.
os.environ["PTXLINT_NO_CACHE"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-expect",
        action="store_true",
        help="rewrite the expect markers of fixtures to what is reported",
    )
    parser.addoption("--slow", action="store_true", help="run the tests that take more than 20 seconds, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        skip = pytest.mark.skip(reason="slow: pytest --slow runs it")
        for item in items:
            if item.get_closest_marker("slow") is not None:
                item.add_marker(skip)
