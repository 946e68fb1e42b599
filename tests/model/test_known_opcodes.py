"""Every opcode of the list beside this file is known."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxlint.model import semantics
from ptxlint.model.effects import Unknown
from ptxlint.ptx.syntax import Instruction

LIST = Path(__file__).with_name("opcodes.txt")
LINES = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]


def expand(pattern: str) -> Iterator[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        yield pattern
        return
    for choice in found.group(1).split(","):
        yield from expand(pattern[: found.start()] + choice + pattern[found.end() :])


@pytest.mark.parametrize("pattern", LINES)
def test_opcode_is_known(pattern: str) -> None:
    for opcode in expand(pattern):
        effects = semantics.decode(Instruction(opcode, (), None, 0, 0, -1, 0))
        for effect in effects:
            # Without operands, all that may be missed are the operands.
            assert not isinstance(effect, Unknown) or effect.what == f"operands of {opcode}"


def test_list_covers_the_tables() -> None:
    listed = {opcode.split(".")[0] for pattern in LINES for opcode in expand(pattern)}
    assert listed == set(semantics.families())


def test_expansion() -> None:
    assert list(expand("ld{,.weak}.{u8,f32}")) == ["ld.u8", "ld.f32", "ld.weak.u8", "ld.weak.f32"]
