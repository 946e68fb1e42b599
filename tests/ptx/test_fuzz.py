"""Random text: nothing raises, and where the grammar accepts it the scanner agrees."""

import gc
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptxlint.ptx.parser import parse, parse_plain
from tests.ptx.compare import FIXTURES, HEADER, body, differences

TEXTS = [path.read_text("utf-8") for path in sorted((FIXTURES / "syntax").glob("*.ptx"))]
PIECES = [
    *"{}[]()<>;,:.@!|%+-*/?_\"'#\\\n\t 0159x",
    "//",
    "/*",
    "*/",
    "::",
    "%r1",
    "_",
    "0x1F",
    "0f3F800000",
    "L:",
    ".reg .b32 %r<4>;",
    ".loc 1 2 3",
    ".pragma",
    ".entry k()",
    ".section .x {",
    "ret;",
    "@%p1 ",
    "{%r1, %r2}",
    "[%rd1+4]",
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    randomness = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(randomness.randint(1, 6)):
        at = randomness.randrange(len(text))
        kind = randomness.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + randomness.randint(1, 8) :]
        elif kind == 1:
            text = text[:at] + randomness.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:at] + randomness.choice(PIECES) + text[at + 1 :]
        else:
            other = randomness.randrange(len(text))
            text = text[:at] + text[other : other + 20] + text[at:]
    return text


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_mutations(text: str) -> None:
    quick, plain = parse(text), parse_plain(text)
    assert gc.isenabled()
    if not plain.problems:
        assert quick.problems == ()
        assert list(differences(quick, plain)) == []
    else:
        assert quick.problems


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join))
def test_random_bodies(text: str) -> None:
    for module in (body(text), HEADER + text, text):
        parse(module)


NAMES = st.sampled_from(["%r1", "%p2", "a", "$L__1", "_x", "%tid.x", "v.x"])
NUMBERS = st.sampled_from(["0", "7", "-1", "0x1F", "017", "0b11", "4U", "(1+2)", "1<<3", "7%4"])
SCALARS = NAMES | NUMBERS | st.sampled_from(["_", "0f3F800000", "1.5"])
BLANK = st.sampled_from(["", " ", "\n\t", " /* , */ "])


@st.composite
def operand(draw: st.DrawFn) -> str:
    blank = draw(BLANK)
    kind = draw(st.integers(0, 7))
    if kind == 0:
        return "[" + blank + draw(NAMES) + blank + draw(st.sampled_from(["", "+4", "+ -8", "-12"])) + "]"
    if kind == 1:
        return "{" + f",{blank}".join(draw(st.lists(SCALARS, min_size=1, max_size=5))) + blank + "}"
    if kind == 2:
        vector = f",{blank}".join(draw(st.lists(SCALARS, min_size=1, max_size=3)))
        return f"[{draw(NAMES)},{blank}{{{vector}}}]"
    if kind == 3:
        return f"!{draw(NAMES)}"
    if kind == 4:
        return f"{draw(NAMES)}{blank}|{blank}{draw(NAMES)}"
    if kind == 5:
        return f"{draw(NAMES)}{blank}+{blank}{draw(st.sampled_from(['4', '-4', '0x10', '(2*3)']))}"
    return draw(SCALARS)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(operand(), max_size=5), min_size=1, max_size=8))
def test_operand_lists(lists: list[list[str]]) -> None:
    text = body("\n".join(f"op{i}.x {', '.join(operands)};" for i, operands in enumerate(lists)))
    quick, plain = parse(text), parse_plain(text)
    assert plain.problems == ()
    assert list(differences(quick, plain)) == []
