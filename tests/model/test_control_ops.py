"""Branches, calls and ends of a thread (PTX ISA 9.7.12, 9.7.19)."""

import pytest

from ptxlint.model import semantics
from ptxlint.model.effects import Branch, Call, Effect, Exit, IndirectBranch, Return, Trap
from ptxlint.ptx.syntax import Group, Instruction, Operand
from tests.model.decoding import I, N, R, effects_of, roles_of

ROWS: list[tuple[str, Effect]] = [
    ("ret", Return()),
    ("ret.uni", Return()),
    ("exit", Exit()),
    ("trap", Trap()),
    ("brkpt", Trap()),
    ("call foo", Call("foo", (), ())),
    ("call.uni foo, (%r1, 4)", Call("foo", (N("%r1"), I(4)), ())),
    ("call (%r1), foo, (%r2, %rd1)", Call("foo", R("%r2", "%rd1"), R("%r1"))),
    ("call (retval0), vprintf, (param0, param1)", Call("vprintf", R("param0", "param1"), R("retval0"))),
    ("call (%r1), %rd9, (%r2), proto_0", Call(None, R("%r2"), R("%r1"), "proto_0")),
    ("call %rd9, (%r2), table", Call(None, R("%r2"), (), "table")),
]


@pytest.mark.parametrize(("text", "expected"), ROWS, ids=[text for text, _ in ROWS])
def test_control(text: str, expected: Effect) -> None:
    assert effects_of(text) == (expected,)


def _made(opcode: str, *operands: Operand) -> Instruction:
    return Instruction(opcode, operands, None, 0, 0, -1, 0)


def test_branches_name_their_targets() -> None:
    direct = _made("bra", N("$L__BB0_2"))
    uniform = _made("bra.uni", N("LOOP"))
    indexed = _made("brx.idx.uni", N("%r1"), N("targets"))
    assert semantics.decode(direct) == (Branch("$L__BB0_2", False),)
    assert semantics.decode(uniform) == (Branch("LOOP", True),)
    assert semantics.decode(indexed) == (IndirectBranch(N("%r1"), "targets"),)
    assert (semantics.definitions(direct), semantics.uses(direct)) == ((), ())
    assert (semantics.definitions(indexed), semantics.uses(indexed)) == ((), ("%r1",))


def test_calls_read_arguments_and_write_returns() -> None:
    assert roles_of("call (%r1), foo, (%r2, %rd1)") == (("%r1",), ("%r2", "%rd1"))
    assert roles_of("call (%r1), %rd9, (%r2), proto_0") == (("%r1",), ("%rd9", "%r2"))
    assert roles_of("call foo") == ((), ())


def test_a_call_may_return_several_values() -> None:
    made = _made("call", Group(R("%r1", "%r2")), N("foo"), Group(()))
    assert semantics.decode(made) == (Call("foo", (), R("%r1", "%r2")),)
    assert semantics.definitions(made) == ("%r1", "%r2")
