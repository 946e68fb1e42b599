"""What two modules must agree on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptxlint.ptx.syntax import Function, Module

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def statements(module: Module, function: Function) -> list[tuple[Any, ...]]:
    """Return everything there is to say of each instruction."""
    return [
        (
            at.opcode,
            at.operands,
            at.guard,
            module.position(at),
            at.offset,
            at.end,
            module.source_chain(at),
            at.index,
        )
        for at in function.instructions
    ]


def differences(left: Module, right: Module) -> Iterator[str]:
    """Yield where two modules differ, statement by statement."""
    for name in ("version", "targets", "address_size", "variables", "comments"):
        if getattr(left, name) != getattr(right, name):
            yield f"{name}: {getattr(left, name)} / {getattr(right, name)}"
    if [function.name for function in left.functions] != [function.name for function in right.functions]:
        yield "other functions"
        return
    for one, other in zip(left.functions, right.functions, strict=True):
        for name in [
            "is_entry",
            "offset",
            "end",
            "parameters",
            "returns",
            "directives",
            "registers",
            "ranges",
            "variables",
            "labels",
            "targets",
            "is_declaration",
        ]:
            if getattr(one, name) != getattr(other, name):
                yield f"{one.name}.{name}: {getattr(one, name)} / {getattr(other, name)}"
        if len(one.instructions) != len(other.instructions):
            yield f"{one.name}: {len(one.instructions)} / {len(other.instructions)} instructions"
        pairs = zip(statements(left, one), statements(right, other), strict=False)
        yield from (f"{one.name}: {a} / {b}" for a, b in pairs if a != b)


def body(text: str, declarations: str = "") -> str:
    """Return a module with one kernel ``k`` of this body."""
    return f"{HEADER}{declarations}\n.visible .entry k(.param .u64 out)\n{{\n{text}\n}}\n"
