"""Inputs, trials of them, and cutting a failing input down."""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from tests.conftest import FIXTURES
from tests.fuzz import generate, mutate, properties

KINDS = ("generated", "statements", "text")
WEIGHTS = (3, 4, 6)
MAX_FIXTURE_BYTES = 16_000
REWRITES = (
    properties.renames,
    properties.reorders,
    properties.relocates,
    properties.comments,
    properties.fences,
)


@dataclass(frozen=True, slots=True)
class Item:
    """One input: how it was made, for which target, and the text."""

    kind: str
    arch: str
    text: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A property that an input breaks; *again* tries it on another text."""

    property: str
    message: str
    signature: str
    text: str
    again: Callable[[str], object]


@cache
def fixtures() -> tuple[tuple[str, str], ...]:
    """Return the small fixtures: target and text of each."""
    found = []
    for path in sorted(FIXTURES.rglob("*.ptx")):
        arch = path.name.rsplit(".", 2)[-2] if path.name.count(".") > 1 else "sm_90a"
        if path.stat().st_size <= MAX_FIXTURE_BYTES and path.name != "errors.ptx":
            found.append((arch, path.read_text("utf-8")))
    return tuple(found)


def inputs(seed: int, kinds: Sequence[str] = ()) -> Iterator[Item]:
    """Yield inputs without end; each depends on the seed and its number alone."""
    number = 0
    while True:
        random = Random(f"inputs/{seed}/{number}")
        number += 1
        [kind] = random.choices(KINDS, WEIGHTS)
        if kinds and kind not in kinds:
            kind = random.choice(tuple(kinds))
        arch, text = random.choice(fixtures())
        if kind == "generated" or random.random() < 0.2:
            arch, text = "sm_90a", generate.module(random, random.randint(1, 3))
        if kind == "statements":
            text = mutate.mutate_statements(text, random, random.choice(fixtures())[1])
        elif kind == "text":
            text = mutate.mutate_text(text, random)
        yield Item(kind, arch, text)


def trial(item: Item, random: Random, parser_only: bool = False) -> tuple[Failure | None, list[str]]:
    """Try what must hold of *item*, or only of its parsing; return the first failure, and what there is to count."""
    notes: list[str] = []

    def is_accepted(text: str) -> None:
        verdict = properties.accepts(text, item.arch)
        if item.kind == "generated":
            assert verdict is not False, "ptxas does not accept a made-up kernel"
        if verdict:
            notes.append("accepted by ptxas")

    seed = random.random()
    steps: list[tuple[str, Callable[[str], object]]] = [
        ("parses", properties.parses),
        ("prints", properties.prints),
    ]
    if item.kind != "text" or random.random() < 0.2:
        steps.append(("accepts", is_accepted))
    if not parser_only:
        steps += _analyses(item, random, seed)
    for name, step in steps:
        failure = attempt(name, step, item.text)
        if failure is not None:
            return failure, notes
    return None, notes


def _analyses(item: Item, random: Random, seed: float) -> Iterator[tuple[str, Callable[[str], object]]]:
    yield "checks", properties.checks
    if item.kind != "text":
        rewriting = random.choice(REWRITES)
        yield rewriting.__name__, lambda text: rewriting(text, Random(seed))
    elif random.random() < 0.1:
        yield "repeats", properties.repeats


def attempt(name: str, step: Callable[[str], object], text: str) -> Failure | None:
    """Try one property; whatever is raised is a failure."""
    try:
        with properties.time_limit():
            step(text)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error}"
        place = "" if isinstance(error, AssertionError) else f" at {frame.filename}:{frame.lineno}"
        signature = f"{name} {type(error).__name__}{place} {_without_numbers(str(error))}"
        return Failure(name, message + place, signature, text, step)
    return None


def _without_numbers(message: str) -> str:
    return "".join(letter for letter in message if not letter.isdigit())[:90]


def reduce(failure: Failure, deadline: float) -> Failure:
    """Delete lines as long as the same property fails in the same way, and a legal program stays legal."""
    legal = failure.property in {rewriting.__name__ for rewriting in REWRITES} and properties.accepted(
        failure.text
    )
    lines = failure.text.split("\n")
    size = max(1, len(lines) // 2)
    best = failure
    while size and time.monotonic() < deadline:
        at = 0
        while at < len(lines) and time.monotonic() < deadline:
            fewer = lines[:at] + lines[at + size :]
            found = attempt(failure.property, failure.again, "\n".join(fewer))
            same = found is not None and found.signature.split()[:2] == failure.signature.split()[:2]
            if found is not None and same and not (legal and not properties.accepted(found.text)):
                lines, best = fewer, found
            else:
                at += size
        size //= 2
    return best
