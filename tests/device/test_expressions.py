"""Expressions: what they may do, and what they may not."""

import numpy as np
import pytest

from ptxlint.device.expressions import ExpressionError, check, evaluate

VALUES = {"source": np.arange(8, dtype=np.int32).reshape(2, 4), "factor": 3}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("source * factor", [[0, 3, 6, 9], [12, 15, 18, 21]]),
        ("-source[:, ::-1]", [[-3, -2, -1, 0], [-7, -6, -5, -4]]),
        ("source.sum(axis=1)", [6, 22]),
        ("np.where(source < 4, source, 0)[0]", [0, 1, 2, 3]),
        ("source.reshape(4, 2)[..., 1]", [1, 3, 5, 7]),
        ("np.stack([source[0], source[1]], axis=1)[[0, 3]]", [[0, 4], [3, 7]]),
        ("np.bitwise_xor.reduce(source, axis=1)", [0, 0]),
        ("~source[0] & 1", [1, 0, 1, 0]),
    ],
)
def test_allowed(text: str, value: object) -> None:
    assert np.asarray(evaluate(text, VALUES)).tolist() == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source *", "is no expression"),
        ("x = 1", "is no expression"),
        ("other + 1", "there is no argument 'other'; there are factor, source"),
        ("open('x')", "there is no argument 'open'"),
        ("__import__('os')", "there is no argument '__import__'"),
        ("source.__class__", "'__class__' is not allowed"),
        ("np._globals", "'_globals' is not allowed"),
        ("np.load('x')", "'load' is not allowed"),
        ("source.tofile('x')", "'tofile' is not allowed"),
        ("np.lib.format", "'lib' is not allowed"),
        ("[v for v in source]", "ListComp is not allowed"),
        ("(lambda: 1)()", "Lambda is not allowed"),
        ("f'{source}'", "JoinedStr is not allowed"),
        ("(y := source)", "NamedExpr is not allowed"),
        ("source if factor else 0", "IfExp is not allowed"),
        ("{}", "Dict is not allowed"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        check(text, frozenset(VALUES))
    with pytest.raises(ExpressionError):
        evaluate(text, VALUES)


def test_what_fails_is_told() -> None:
    with pytest.raises(ExpressionError, match=r"'source\[9\]' cannot be evaluated: index 9 is out of bounds"):
        evaluate("source[9]", VALUES)
    with pytest.raises(ExpressionError, match="cannot be evaluated"):
        evaluate("source.no_such_thing()", VALUES)
