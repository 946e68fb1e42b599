"""Names of inner blocks, after they were flattened."""

from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Guard, Name
from tests.ptx.compare import FIXTURES, body


def kernel(text: str, declarations: str = "") -> Function:
    module = parse(body(text, declarations))
    assert module.problems == ()
    return module.functions[0]


def names(function: Function) -> list[str]:
    return [
        operand.text for at in function.instructions for operand in at.operands if isinstance(operand, Name)
    ]


def test_unique_names_stay() -> None:
    found = kernel("{ .reg .pred only; .reg .b32 %q<4>; mov.b32 %q3, 1; @only bra HERE; HERE: ret; }")
    assert found.labels == {"HERE": 2}
    assert found.registers == {"only": "pred"}
    assert found.ranges == {"%q": ("b32", 4)}
    assert names(found) == ["%q3", "HERE"]


def test_repeated_labels_and_registers() -> None:
    block = "{ .reg .pred P; W: try P, [a]; @P bra D; bra W; D: }"
    found = kernel(block + block + "ret;")
    assert found.labels == {"W#1": 0, "D#1": 3, "W#2": 3, "D#2": 6}
    assert found.registers == {"P#1": "pred", "P#2": "pred"}
    assert names(found) == ["P#1", "D#1", "W#1", "P#2", "D#2", "W#2"]
    assert [at.guard for at in found.instructions if at.guard] == [Guard("P#1", False), Guard("P#2", False)]


def test_inner_name_hides_the_outer_one() -> None:
    found = kernel(
        ".reg .b32 x; mov.b32 x, 1; { .reg .b64 x; mov.b64 x, 2; { mov.b64 x, 3; } } mov.b32 x, 4;"
    )
    assert names(found) == ["x", "x#1", "x#1", "x"]
    assert found.register_type("x") == "b32"
    assert found.register_type("x#1") == "b64"


def test_label_used_before_it_is_declared_in_the_outer_block() -> None:
    found = kernel("{ bra END; { bra END; END: } } END: ret;")
    assert names(found) == ["END", "END#2"]
    assert found.labels == {"END": 2, "END#2": 2}


def test_ranges() -> None:
    found = kernel(".reg .b32 %r<9>; { .reg .b64 %r<2>; op %r1, %r5; } { .reg .f32 %r3; op %r3, %r1; }")
    assert names(found) == ["%r1#1", "%r5", "%r3#2", "%r1"]
    assert found.register_type("%r1#1") == "b64"
    assert found.register_type("%r3#2") == "f32"
    assert found.register_type("%r1") == "b32"


def test_names_of_the_module_and_parameters_are_hidden() -> None:
    text = "{ .reg .b32 g; .reg .b64 out; op g, out; } op g, out;"
    found = kernel(text, ".global .b32 g;")
    assert names(found) == ["g#1", "out#1", "g", "out"]


def test_variables_and_targets_of_blocks() -> None:
    block = "{ .local .b32 v; op v; T: .branchtargets L; brx.idx i, T; L: }"
    found = kernel(block + block)
    assert [each.name for each in found.variables] == ["v#1", "v#2"]
    assert found.targets == {"T#1": ("L#1",), "T#2": ("L#2",)}
    assert names(found) == ["v#1", "i", "T#1", "v#2", "i", "T#2"]


def test_elements_of_renamed_vectors() -> None:
    block = "{ .reg .v2 .f32 v; op v.x; }"
    assert names(kernel(block + block)) == ["v.x#1".replace(".x#1", "#1.x"), "v#2.x"]


def test_every_operand_kind_is_renamed() -> None:
    block = "{ .reg .b32 a; op {a, _}, [a+4, {a, 1}], !a, a|a, a+8, (a); }"
    found = kernel(block + block)
    assert repr(found.instructions[0].operands).count("'a#1'") == 8
    assert repr(found.instructions[1].operands).count("'a#2'") == 8
    assert "'a'" not in repr([at.operands for at in found.instructions])


def test_fixture() -> None:
    text = (FIXTURES / "syntax" / "scopes.sm_90a.ptx").read_text("utf-8")
    found = parse(text).functions[0]
    targets = {at.operands[0].text for at in found.instructions if at.opcode == "bra"}  # type: ignore[union-attr]
    assert targets == {"LAB_WAIT#1", "DONE#1", "LAB_WAIT#2", "DONE#2", "OUT", "END"}
    assert targets == set(found.labels)


def test_thousands_of_blocks() -> None:
    block = "{ .reg .pred P; W: try P, [a]; @P bra D; bra W; D: }\n"
    found = kernel(block * 5000)
    assert len(found.labels) == 10000
    assert names(found)[-1] == "W#5000"
