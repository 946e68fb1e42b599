"""Expected results as expressions over arrays: arithmetic, indexing and NumPy functions, nothing else."""

import ast
from collections.abc import Mapping
from typing import Any

_ALLOWED = (
    ast.Expression,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.Compare,
    ast.cmpop,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.List,
    ast.Call,
    ast.keyword,
    ast.Attribute,
)
# Functions and methods that read or write files, or run code.
_FORBIDDEN = frozenset(
    {"load", "save", "savez", "savetxt", "loadtxt", "fromfile", "tofile", "genfromtxt", "memmap", "fromregex"}
    | {
        "dump",
        "dumps",
        "frompyfunc",
        "vectorize",
        "lib",
        "ctypeslib",
        "f2py",
        "testing",
        "core",
        "DataSource",
    }
)


class ExpressionError(Exception):
    """An expression that is not allowed, or cannot be evaluated; the text says why."""


def check(text: str, names: frozenset[str]) -> ast.Expression:
    """Return the expression *text* over *names* and ``np``.

    Raises:
        ExpressionError: it is no expression, or does more than compute.
    """
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ExpressionError(f"{text!r} is no expression: {getattr(error, 'msg', error)}") from None
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"{text!r}: {type(node).__name__} is not allowed in an expression")
        if isinstance(node, ast.Name) and node.id not in names | {"np"}:
            raise ExpressionError(f"{text!r}: there is no argument {node.id!r}; there are {_listed(names)}")
        if isinstance(node, ast.Attribute) and (node.attr.startswith("_") or node.attr in _FORBIDDEN):
            raise ExpressionError(f"{text!r}: {node.attr!r} is not allowed in an expression")
    return tree


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """Return the value of *text* over *values*, NumPy arrays and scalars by name.

    Raises:
        ExpressionError: it is not allowed, or fails.
    """
    import numpy as np

    tree = check(text, frozenset(values))
    try:
        # NumPy's methods import on first use; the text itself cannot name a builtin.
        scope = {"__builtins__": {"__import__": __import__}, "np": np}
        return eval(compile(tree, "<expect>", "eval"), scope, dict(values))
    except Exception as error:
        raise ExpressionError(f"{text!r} cannot be evaluated: {error}") from None
