"""Imports point one way: ptx, flow -> model -> engine -> checks -> linter -> cli; report beside them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ptxlint

PACKAGE = Path(ptxlint.__file__).parent

# What each part may import besides itself. `ptxlint` itself is the package's __init__ (the version).
ALLOWED = {
    "records": set(),
    "ptx": {"_data", "records"},
    "flow": {"ptx", "model", "records"},
    "model": {"ptx", "records"},
    "engine": {"ptx", "flow", "model", "records"},
    "report": {"ptx", "_data"},
    "checks": {"ptx", "flow", "model", "engine", "report", "records"},
    "coverage": {"ptx", "flow", "model", "engine", "report"},
    "dump": {"ptx", "flow", "model", "engine", "records"},
    "settings": {"report"},
    "codes": {"report"},
    "versions": {"_data"},
    "demangle": set(),
    "names": {"report", "demangle"},
    "filters": {"report", "settings", "codes", "demangle"},
    "suppressions": {"ptx", "report", "settings", "codes", "filters"},
    "baseline": {"report", "settings", "demangle"},
    "fingerprints": {"checks", "engine"},
    "config": {"report", "settings", "codes"},
    "linter": {
        *("ptx", "flow", "model", "engine", "checks", "report", "coverage", "dump"),
        *("settings", "filters", "demangle", "fingerprints"),
    },
    "tools": set(),
    "doctor": {"tools"},
    "inputs": {"report", "tools"},
    "cache": {"report", "settings", "_data"},
    "workers": set(),
    "runner": {"session", "linter", "settings", "inputs", "report", "cache", "workers", "tools", "records"},
    "session": {
        *("config", "records", "linter", "filters", "settings", "inputs", "report"),
        *("suppressions", "names", "baseline"),
    },
    "api": {"cache", "runner", "config", "session", "settings", "codes", "inputs", "report"},
    "fix": {
        *("ptx", "model", "linter", "filters", "settings", "report", "records", "tools", "session"),
    },
    "device": {"ptx", "model", "fix", "linter", "config", "settings", "report", "records", "tools"},
    "show": {"engine", "model", "ptx", "linter", "session", "settings", "report", "records", "demangle"},
    "rule_table": {"checks", "report"},
    "commands": {
        *("config", "rule_table", "linter", "codes", "settings", "session", "report", "inputs"),
        *("runner", "cache", "doctor", "baseline", "fix", "device", "show"),
    },
    "cli": {"commands", "versions", "session", "report"},
    "__main__": {"cli"},
    "cuda_source": {"inputs", "tools"},
    "kernel_objects": {"cuda_source", "inputs"},
    "kernel_check": {"session", "settings", "codes", "inputs", "report"},
    "testing": {"kernel_objects", "kernel_check", "inputs", "settings"},
    "pytest_plugin": {
        *("testing", "kernel_objects", "kernel_check", "settings", "inputs", "report"),
        *("config", "filters", "baseline"),
    },
    "__init__": {"config", "api", "settings", "inputs", "report", "ptx"},
    "_data": set(),
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the part of ptxlint that each import names; imports for type checkers only count too."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "ptxlint" else [module]
        for name in names:
            root, _, rest = name.partition(".")
            if root == "ptxlint" and rest:
                yield rest.split(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    own = part(path)
    assert own in ALLOWED, f"say in this test what {own} may import"
    wrong = set(imports(ast.parse(path.read_text("utf-8")))) - ALLOWED[own] - {own, "__version__"}
    assert not wrong, f"{own} must not import {', '.join(sorted(wrong))}"


def test_only_the_model_asks_for_opcodes() -> None:
    asks = re.compile(
        r"\.opcode\.(?:startswith|endswith)\(|\.opcode (?:==|!=|in|not in) | in [\w.]+\.opcode\b"
    )
    modules = [path for path in MODULES if asks.search(path.read_text("utf-8"))]
    assert {part(path) for path in modules} <= {"model", "ptx"}, modules
