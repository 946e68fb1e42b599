"""Global addresses by base, and what is selected by default."""

from ptxlint.engine.global_memory import locate, polls
from ptxlint.engine.program import Lowering
from ptxlint.engine.run import decode
from ptxlint.engine.values import LANES, Linear, Unknowns
from ptxlint.filters import wanted
from ptxlint.ptx.parser import parse
from ptxlint.settings import Settings

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def test_lanes_of_one_pointer_share_a_base() -> None:
    unknowns = Unknowns()
    pointer = unknowns.atom(("pointer",))
    value = Linear(pointer.terms, tuple(4 * lane for lane in range(LANES)))
    ((base, offsets),) = locate(unknowns, value, 0b101)
    assert base == ((pointer.terms[0][0].id, 1),)
    assert offsets == [0, 8]


def test_other_pointers_have_other_bases() -> None:
    unknowns = Unknowns()
    a, b = unknowns.atom(("a",)), unknowns.atom(("b",))
    lanes = tuple(a if lane % 2 else b for lane in range(LANES))
    found = dict(locate(unknowns, lanes, 0b11))
    assert len(found) == 2
    assert all(offsets == [0] for offsets in found.values())


def polled(body: str) -> int:
    """Return how many loads of *body* are taken for polling."""
    text = f"""{HEAD}.visible .entry k(.param .u64 p) {{
    .reg .u64 a; .reg .u32 v; .reg .pred q; .shared .align 8 .b64 bar; .reg .u32 b;
    ld.param.u64 a, [p];
    mov.u32 b, bar;
    {body}
    mbarrier.init.shared.b64 [b], 1;
    ret;
    }}"""
    module = parse(text, "k.ptx")
    function = module.functions[0]
    code = Lowering(function, decode(function), lambda _: False).run()
    return len(polls(code))


def test_a_loop_on_one_address_polls() -> None:
    assert polled("L: ld.acquire.gpu.global.u32 v, [a]; setp.ne.u32 q, v, 1; @q bra L;") == 1


def test_a_loop_over_addresses_does_not_poll() -> None:
    loop = "L: ld.acquire.gpu.global.u32 v, [a]; add.u64 a, a, 4; setp.ne.u32 q, v, 1; @q bra L;"
    assert polled(loop) == 0


def test_advice_is_selected_by_its_whole_code_only() -> None:
    assert not wanted("PTX901", Settings())
    assert not wanted("PTX901", Settings(select=("PTX",)))
    assert wanted("PTX901", Settings(select=("PTX901",)))
    assert wanted("PTX101", Settings())
