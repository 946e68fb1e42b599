"""What is in a module, checked against what was written."""

import pytest

from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import (
    Address,
    FloatImmediate,
    Function,
    Group,
    Guard,
    Immediate,
    Module,
    Name,
    Not,
    Operand,
    Pair,
    Sink,
    Symbolic,
    Variable,
    Vector,
)
from tests.ptx.compare import FIXTURES, HEADER, body

SYNTAX = FIXTURES / "syntax"


def load(name: str) -> Module:
    module = parse((SYNTAX / name).read_text("utf-8"), name)
    assert module.problems == ()
    return module


def function(module: Module, name: str) -> Function:
    (found,) = [each for each in module.functions if each.name == name and not each.is_declaration]
    return found


def operands(text: str, opcode: str = "op", declarations: str = "") -> tuple[Operand, ...]:
    module = parse(body(f"{opcode} {text};", declarations))
    assert module.problems == ()
    (instruction,) = module.functions[0].instructions
    assert instruction.opcode == opcode
    return instruction.operands


R1, R2, P1 = Name("%r1"), Name("%r2"), Name("%p1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("%r1", (R1,)),
        ("%r1,%r2", (R1, R2)),
        (" %r1 ,\n\t%r2 ", (R1, R2)),
        ("%tid.x", (Name("%tid.x"),)),
        ("%r1.b0, %r2.h1", (Name("%r1.b0"), Name("%r2.h1"))),
        ("_", (Sink(),)),
        ("_, %r1", (Sink(), R1)),
        ("__x", (Name("__x"),)),
        ("5, -5, 0x1F, 0b11, 017, 4U", tuple(map(Immediate, (5, -5, 31, 3, 15, 4)))),
        ("0xFFFFFFFFFFFFFFFF", (Immediate(2**64 - 1),)),
        ("WARP_SZ", (Immediate(32),)),
        ("(5)", (Immediate(5),)),
        ("5 % 3, 7/2, -7/2, 1<<4, 5>3?2:1", tuple(map(Immediate, (2, 3, -3, 16, 2)))),
        ("(1+2)*3, ~0, !0, 1<2, 1<=0", tuple(map(Immediate, (9, -1, 1, 1, 0)))),
        ("0f3F800000, 1.5, .5, 1.5e-3", tuple(map(FloatImmediate, ("0f3F800000", "1.5", ".5", "1.5e-3")))),
        ("-0f3F800000", (FloatImmediate("-0f3F800000"),)),
        ("1.0/3.0", (FloatImmediate("1.0/3.0"),)),
        ("!%p1", (Not(P1),)),
        ("%p1|%p2, %p1 | _", (Pair(P1, Name("%p2")), Pair(P1, Sink()))),
        ("_|%p1", (Pair(Sink(), P1),)),
        ("{%r1, _}, {}", (Vector((R1, Sink())), Vector(()))),
        ("{%r1, 0, -1}", (Vector((R1, Immediate(0), Immediate(-1))),)),
        ("[%r1]", (Address(R1),)),
        ("[ %r1 ]", (Address(R1),)),
        ("[%r1+16]", (Address(R1, 16),)),
        ("[%r1+-16]", (Address(R1, -16),)),
        ("[%r1-16]", (Address(R1, -16),)),
        ("[ %r1 + 0 ]", (Address(R1, 0),)),
        ("[%r1+(4-2)*2]", (Address(R1, 4),)),
        ("[%r1+4+8]", (Address(R1, 12),)),
        ("[1024]", (Address(None, 1024),)),
        ("[%r1, {%r2, 0}]", (Address(R1, 0, (Vector((R2, Immediate(0))),)),)),
        ("[%r1+8, {%r2}]", (Address(R1, 8, (Vector((R2,)),)),)),
        ("[%r1, %r2], %r1", (Address(R1, 0, (R2,)), R1)),
        ("tile+16", (Symbolic(Name("tile"), 16),)),
        ("tile-16", (Symbolic(Name("tile"), -16),)),
        ("generic(tile)", (Symbolic(Name("tile"), 0, "generic"),)),
        ("%r1, /* , */ %r2 // ,\n", (R1, R2)),
    ],
)
def test_operands(text: str, expected: tuple[Operand, ...]) -> None:
    assert operands(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f", (Name("f"),)),
        ("f, (%r1)", (Name("f"), Group((R1,)))),
        ("f, (5)", (Name("f"), Group((Immediate(5),)))),
        ("(%r1), f, (%r2, 1), p", (Group((R1,)), Name("f"), Group((R2, Immediate(1))), Name("p"))),
    ],
)
def test_call_operands(text: str, expected: tuple[Operand, ...]) -> None:
    assert operands(text, "call.uni") == expected


def test_same_shape_binds_each_text() -> None:
    lines = [f"op.v2 {{%r{i}, {i}}}, [%rd{i}+{16 * i}, {{%r{i}}}], !%p{i}, -{i};" for i in range(1, 50)]
    module = parse(body("\n".join(lines)))
    for i, instruction in enumerate(module.functions[0].instructions, 1):
        assert instruction.operands == (
            Vector((Name(f"%r{i}"), Immediate(i))),
            Address(Name(f"%rd{i}"), 16 * i, (Vector((Name(f"%r{i}"),)),)),
            Not(Name(f"%p{i}")),
            Immediate(-i),
        )


def test_array_elements_count_in_elements() -> None:
    declarations = ".global .align 128 .b32 a[8];"
    assert operands("%r1, a[3]", "ld.global.u32", declarations) == (R1, Address(Name("a"), 12))
    assert operands("%rd1, a[3]", "mov.u64", declarations) == (Name("%rd1"), Symbolic(Name("a"), 12))


def test_opcode_is_written_without_blanks() -> None:
    module = parse(body("mov .u32\n.x::y %r1, 2;"))
    (instruction,) = module.functions[0].instructions
    assert (instruction.opcode, instruction.operands) == ("mov.u32.x::y", (R1, Immediate(2)))


@pytest.mark.parametrize(
    ("text", "negated"),
    [("@%p1 ", False), ("@!%p1 ", True), ("@ %p1\n", False), ("@ ! %p1 ", True), ("@%p1 // x\n", False)],
)
def test_guard(text: str, negated: bool) -> None:
    source = body(f"  {text}bra L;\nL: ret;")
    module = parse(source)
    instruction = module.functions[0].instructions[0]
    assert instruction.guard == Guard("%p1", negated)
    assert source[instruction.offset : instruction.end] == f"{text}bra L;"


def test_offsets_cut_out_the_statements() -> None:
    source = (SYNTAX / "layout.sm_90a.ptx").read_text("utf-8")
    (kernel,) = load("layout.sm_90a.ptx").functions
    pieces = [source[at.offset : at.end] for at in kernel.instructions]
    assert len(pieces) == 9
    assert all(piece.endswith(";") for piece in pieces)
    assert pieces[3] == "mov.u32 c,a;"
    assert source[kernel.offset :].startswith(".visible /* linkage */")
    assert source[: kernel.end].endswith("}")


def test_module_header() -> None:
    module = load("layout.sm_90a.ptx")
    assert module.version == "9.0"
    assert module.targets == ("sm_90a", "texmode_independent")
    assert module.address_size == 64


def test_marked_comments() -> None:
    module = load("layout.sm_90a.ptx")
    assert [comment.text for comment in module.comments] == [
        "// ptxlint: kept",
        "/* ptxlint: in a block comment */",
    ]
    for comment in module.comments:
        assert module.source.text.startswith(comment.text, comment.offset)
    assert parse('.file 1 "// ptxlint: text"\n').comments == ()


def variables(found: tuple[Variable, ...]) -> dict[str, tuple[str, int, int | None]]:
    return {each.name: (each.space, each.align, each.size) for each in found}


def test_module_variables() -> None:
    module = load("declarations.sm_90a.ptx")
    assert variables(module.variables) == {
        "dynamic": ("shared", 1024, None),
        "barriers": ("shared", 8, 32),
        "quad": ("global", 16, 16),
        "managed": ("global", 4, 4),
        "first": ("global", 4, 4),
        "second": ("global", 4, 8),
        "third": ("global", 4, 4),
        "fourth": ("global", 4, 24),
        "outside": ("const", 4, 4),
        "shared_by_name": ("global", 8, 8),
        "texture": ("global", 8, 8),
        "sampler": ("global", 8, 8),
        "surface": ("global", 8, 8),
    }
    assert [each.name for each in module.variables if each.external] == ["dynamic", "outside"]
    text = module.source.text
    assert all(text.startswith(each.name, each.offset) for each in module.variables)


def test_initialisers() -> None:
    found = {each.name: each for each in load("constants.sm_90a.ptx").variables}
    assert found["bases"].initial == (31, 5, 15, 4)
    assert found["folded"].initial == (9, 2, -2, 1, 3, 3, 16, 15, 2, 5, 7)
    assert found["folded"].size == 44
    assert found["compared"].initial == (1, 1, 0, 1, 1, 0, 0, 1, 3, 5)
    assert found["addresses"].initial == ("bases", "bases", 0)
    assert found["matrix"].initial == ("1.0", "2.5e3", "0f3F800000", "-4.0")
    assert found["text"].initial == (104, 101, 108, 108, 111)


def test_function_heads() -> None:
    module = load("declarations.sm_90a.ptx")
    kernel = function(module, "declarations")
    assert kernel.is_entry
    assert variables(kernel.parameters) == {
        "declarations_param_0": ("param", 8, 8),
        "declarations_param_1": ("param", 64, 128),
        "declarations_param_2": ("param", 2, 2),
        "declarations_param_3": ("param", 8, 8),
    }
    text = module.source.text
    assert all(text.startswith(each.name, each.offset) for each in kernel.parameters)
    assert kernel.directives == {
        "reqntid": (128, 1, 1),
        "minnctapersm": (2,),
        "reqnctapercluster": (2, 1, 1),
        "explicitcluster": (),
        "maxnreg": (96,),
    }
    assert [(each.name, each.is_declaration) for each in module.functions if each.name.startswith("fo")] == [
        ("forward", True),
        ("forward", False),
    ]
    helper = function(module, "with_registers")
    assert not helper.is_entry
    assert variables(helper.returns) == {"result": ("reg", 4, 4)}
    assert helper.register_type("result") == "u32"
    assert helper.register_type("p") == "pred"
    outside = next(each for each in module.functions if each.name == "outside_function")
    assert outside.is_declaration
    assert variables(outside.parameters) == {"a": ("param", 8, 8), "b": ("param", 8, 24)}


def test_function_declarations() -> None:
    kernel = function(load("declarations.sm_90a.ptx"), "declarations")
    assert kernel.ranges["%r"] == ("b32", 10)
    assert kernel.register_type("%r9") == "b32"
    assert kernel.register_type("%r10") is None
    assert kernel.register_type("lead") == "pred"
    assert variables(kernel.variables) == {
        "depot": ("local", 16, 48),
        "tile": ("shared", 128, 2048),
        "packed": ("shared", 4, 32),
        "argument": ("param", 8, 8),
    }


def test_labels_and_targets() -> None:
    kernel = function(load("calls.sm_90a.ptx"), "calls")
    opcodes = [at.opcode for at in kernel.instructions]
    assert kernel.targets["table"] == ("L0", "L1", "L2")
    assert kernel.targets["known"] == ("twice",)
    assert kernel.labels == {"L0": len(opcodes) - 3, "L1": len(opcodes) - 2, "L2": len(opcodes) - 1}


def test_label_at_the_end() -> None:
    kernel = parse(body("ret;\nL:")).functions[0]
    assert kernel.labels == {"L": 1}


def test_newer_forms_are_read() -> None:
    kernel = load("newer.ptx").functions[0]
    assert "frobnicate.async::quickly.b8x4" in {at.opcode for at in kernel.instructions}
    assert kernel.directives == {"blocksareclusters": (), "some_new_directive": (4, 2)}


def test_default_address_size() -> None:
    assert parse(".version 9.0\n.target sm_90\n").address_size == 32


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\0", "\n\0\0"])
def test_ends_of_files(end: str) -> None:
    module = parse("\ufeff" + HEADER.replace("\n", "\r\n") + ".entry k() { ret; }" + end)
    assert module.problems == ()
    assert [each.name for each in module.functions] == ["k"]
