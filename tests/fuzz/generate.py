"""Made-up kernels that ptxas accepts: typed statements, structured control flow, all the async machinery.

Everything is drawn from a ``random.Random``, so that hypothesis can drive (``st.randoms()``) and shrink it.
The kernels make no sense; that they are legal is all that is promised, and a test asks ptxas.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

STAGES = 4
STAGE_BYTES = 1024
HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"
SPECIAL = ("%tid.x", "%tid.y", "%ntid.x", "%ctaid.x", "%laneid", "%warpid", "%cluster_ctarank", "%nctaid.x")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BLANKS = (" ", "\t", "  ", " /* c */ ", "\n\t")


@dataclass
class Writer:
    """The body of one kernel in the making."""

    random: Random
    name: str
    lines: list[str] = field(default_factory=list)
    labels: int = 0
    scopes: int = 0
    depth: int = 0

    def emit(self, statement: str, guarded: bool = True) -> None:
        """Write a statement, sometimes under a guard."""
        if guarded and self.random.random() < 0.15:
            statement = f"@{self.random.choice(('', '!'))}{self.predicate()} {statement}"
        self.lines.append("    " + statement)

    def label(self) -> str:
        self.labels += 1
        return self.random.choice((f"$L__{self.labels}", f"L{self.labels}", f"_x_{self.labels}"))

    def word(self) -> str:
        """Return a 32-bit register."""
        return f"%r{self.random.randrange(1, 24)}"

    def double(self) -> str:
        """Return a 64-bit register."""
        return f"%rd{self.random.randrange(1, 12)}"

    def predicate(self) -> str:
        return f"%p{self.random.randrange(1, 8)}"

    def number(self, most: int = 255) -> str:
        value = self.random.randrange(most + 1)
        return self.random.choice((str(value), hex(value), f"{value}U", f"({value} + 0)", f"0{value:o}"))

    def value(self) -> str:
        return self.word() if self.random.random() < 0.6 else self.number()

    def stage(self) -> str:
        """Return an address in one of the tiles, aligned to 16 bytes."""
        offset = self.random.randrange(0, STAGES) * STAGE_BYTES
        return self.random.choice((f"{self.name}_tile+{offset}", "%tile", f"%tile+{offset}"))

    def barrier(self) -> str:
        """Return the address of an mbarrier."""
        offset = self.random.randrange(0, STAGES) * 8
        return self.random.choice((f"{self.name}_full+{offset}", f"%full+{offset}", "%full"))


Statement = Callable[[Writer], None]


def arithmetic(w: Writer) -> None:
    choose = w.random.choice
    a, b, c, d = w.word(), w.value(), w.value(), w.value()
    w.emit(
        choose(
            (
                f"mov.u32 {a}, {choose((*SPECIAL, b))};",
                f"mov.b32 {a}, {w.name}_tile;",
                f"add.s32 {a}, {w.word()}, {b};",
                f"sub.{choose(('s32', 'u32'))} {a}, {w.word()}, {b};",
                f"mad.lo.s32 {a}, {w.word()}, {c}, {d};",
                f"{choose(('and', 'or', 'xor'))}.b32 {a}, {w.word()}, {b};",
                f"{choose(('shl.b32', 'shr.u32', 'shr.s32'))} {a}, {w.word()}, {w.number(31)};",
                f"{choose(('min', 'max', 'div', 'rem'))}.{choose(('s32', 'u32'))} {a}, {w.word()}, {w.word()};",
                f"selp.b32 {a}, {b}, {c}, {w.predicate()};",
                f"bfe.u32 {a}, {w.word()}, {w.number(31)}, {w.number(31)};",
                f"prmt.b32 {a}, {w.word()}, {w.word()}, 0x3210;",
                f"lop3.b32 {a}, {w.word()}, {w.word()}, {w.word()}, 0x96;",
                f"popc.b32 {a}, {w.word()};",
                f"cvt.u64.u32 {w.double()}, {w.word()};",
                f"mul.wide.u32 {w.double()}, {w.word()}, {w.number()};",
                f"add.s64 {w.double()}, {w.double()}, {w.number()};",
                f"mov.b64 {w.double()}, {{{w.word()}, {w.word()}}};",
                f"mov.b64 {{{w.word()}, _}}, {w.double()};",
                f"shfl.sync.{choose(('idx', 'bfly', 'up', 'down'))}.b32 {a}|{w.predicate()}, {w.word()}, 0, 31, -1;",
                f"activemask.b32 {a};",
            )
        )
    )


def comparison(w: Writer) -> None:
    p, q = w.predicate(), w.predicate()
    relation = f"setp.{w.random.choice(COMPARISONS)}"
    w.emit(
        w.random.choice(
            (
                f"{relation}.{w.random.choice(('s32', 'u32'))} {p}, {w.word()}, {w.value()};",
                f"{relation}.u32 {p}|{w.random.choice((q, '_'))}, {w.word()}, {w.value()};",
                f"{relation}.and.s32 {p}, {w.word()}, {w.value()}, {w.random.choice(('', '!'))}{q};",
                f"and.pred {p}, {q}, {w.predicate()};",
                f"not.pred {p}, {q};",
                f"elect.sync _|{p}, -1;",
                f"vote.sync.any.pred {p}, {q}, -1;",
            )
        )
    )


def access(w: Writer) -> None:
    choose = w.random.choice
    at = choose(
        (
            f"[%own+{w.random.randrange(4) * STAGE_BYTES}]",
            f"[{w.name}_tile+{w.random.randrange(64) * 16}]",
            "[%own]",
        )
    )
    many = f"{{{w.word()}, {w.word()}, {w.word()}, {w.word()}}}"
    w.emit(
        choose(
            (
                f"st.shared.u32 {at}, {w.word()};",
                f"st.shared.v4.b32 {at}, {many};",
                f"st.shared.b64 {at}, {w.double()};",
                f"st.volatile.shared.u32 {at}, {w.word()};",
                f"ld.shared.u32 {w.word()}, {at};",
                f"ld.shared::cta.v4.u32 {many}, {at};",
                f"ld.volatile.shared.u32 {w.word()}, {at};",
                f"ld.acquire.cta.shared.u32 {w.word()}, {at};",
                f"st.release.cta.shared.u32 {at}, {w.word()};",
                f"atom.shared.add.u32 {w.word()}, {at}, {w.value()};",
                f"red.shared.add.u32 {at}, {w.value()};",
                f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {many}, {at};",
                f"stmatrix.sync.aligned.m8n8.x4.shared.b16 {at}, {many};",
                f"ld.global.u32 {w.word()}, [%from+{w.random.randrange(16) * 16}];",
                f"st.global.v4.u32 [%to], {many};",
                f"ld.global.nc.u32 {w.word()}, [%from];",
                "prefetch.global.L2 [%from];",
            )
        )
    )


def barrier(w: Writer) -> None:
    choose = w.random.choice
    w.emit(
        choose(
            (
                "bar.sync 0;",
                "barrier.cta.sync.aligned 0;",
                f"bar.sync {w.number(15)}, 128;",
                f"bar.arrive {1 + w.random.randrange(15)}, 128;",
                "bar.warp.sync -1;",
                "bar.warp.sync 0xffffffff;",
                f"bar.red.popc.u32 {w.word()}, 0, {w.predicate()};",
                "membar.cta;",
                "fence.acq_rel.cta;",
                "fence.sc.gpu;",
                "fence.mbarrier_init.release.cluster;",
                "barrier.cluster.arrive;",
                "barrier.cluster.arrive.release.aligned;",
                "barrier.cluster.wait;",
                "fence.proxy.async;",
                "fence.proxy.async.shared::cta;",
                "fence.proxy.async.global;",
                "fence.proxy.alias;",
                "griddepcontrol.wait;",
                "griddepcontrol.launch_dependents;",
            )
        )
    )


def mbarrier(w: Writer) -> None:
    choose = w.random.choice
    at = w.barrier()
    w.emit(
        choose(
            (
                f"mbarrier.init.shared::cta.b64 [{at}], {1 + w.random.randrange(128)};",
                f"mbarrier.inval.shared::cta.b64 [{at}];",
                f"mbarrier.arrive.shared::cta.b64 {w.double()}, [{at}];",
                f"mbarrier.arrive.shared::cta.b64 _, [{at}];",
                f"mbarrier.arrive.release.cta.shared::cta.b64 _, [{at}], 1;",
                f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{at}], {STAGE_BYTES};",
                f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{at}], {STAGE_BYTES};",
                f"mbarrier.test_wait.shared::cta.b64 {w.predicate()}, [{at}], {w.double()};",
                f"mbarrier.test_wait.parity.shared::cta.b64 {w.predicate()}, [{at}], {w.word()};",
                f"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 {w.predicate()}, [{at}], {w.number(1)};",
                f"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [{at}];",
            )
        )
    )


def wait_loop(w: Writer) -> None:
    again, p, at = w.label(), w.predicate(), w.barrier()
    w.lines.append(f"{again}:")
    w.emit(
        f"mbarrier.try_wait.parity.shared::cta.b64 {p}, [{at}], {w.random.choice(('0', '1', w.word()))};",
        False,
    )
    w.emit(f"@!{p} bra {again};", False)


def copy(w: Writer) -> None:
    choose = w.random.choice
    at, full = w.stage(), w.barrier()
    size = choose(("16", str(STAGE_BYTES), "%size"))
    tx = "mbarrier::complete_tx::bytes"
    w.emit(
        choose(
            (
                f"cp.async.bulk.shared::cluster.global.{tx} [{at}], [%from], {size}, [{full}];",
                f"cp.async.bulk.shared::cluster.shared::cta.{tx} [%peer], [{at}], {size}, [%peer_full];",
                f"cp.async.bulk.global.shared::cta.bulk_group [%to], [{at}], {size};",
                f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%to], [{at}], {size};",
                f"cp.async.bulk.prefetch.L2.global [%from], {size};",
                f"cp.async.bulk.tensor.2d.shared::cluster.global.tile.{tx} "
                f"[{at}], [%map, {{{w.word()}, {w.word()}}}], [{full}];",
                f"cp.async.bulk.tensor.1d.shared::cluster.global.tile.{tx}.multicast::cluster "
                f"[{at}], [%map, {{{w.word()}}}], [{full}], %mask;",
                f"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                f"[%map, {{{w.word()}, {w.word()}}}], [{at}];",
                f"st.async.shared::cluster.{tx}.u32 [%peer], {w.word()}, [%peer_full];",
                f"cp.async.cg.shared.global [{at}], [%from], 16;",
                f"cp.async.ca.shared.global [{at}], [%from], 4, {choose((w.word(), '0', '4'))};",
            )
        )
    )


def group(w: Writer) -> None:
    w.emit(
        w.random.choice(
            (
                "cp.async.bulk.commit_group;",
                f"cp.async.bulk.wait_group {w.random.randrange(4)};",
                f"cp.async.bulk.wait_group.read {w.random.randrange(4)};",
                "cp.async.commit_group;",
                f"cp.async.wait_group {w.random.randrange(4)};",
                "cp.async.wait_all;",
            )
        )
    )


def wgmma(w: Writer) -> None:
    floats = ", ".join(f"%f{number}" for number in range(1, 5))
    w.emit("wgmma.fence.sync.aligned;", False)
    w.emit(
        f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{floats}}}, {w.double()}, {w.double()}, "
        f"{w.predicate()}, 1, 1, 0, 0;",
        False,
    )
    w.emit("wgmma.commit_group.sync.aligned;", False)
    if w.random.random() < 0.7:
        w.emit(f"wgmma.wait_group.sync.aligned {w.random.randrange(2)};", False)


def call(w: Writer) -> None:
    w.emit(
        w.random.choice(
            (
                f"call.uni ({w.word()}), helper, ({w.word()}, {w.double()});",
                f"call ({w.word()}), helper, ({w.word()}, {w.double()});",
            )
        )
    )


def branch(w: Writer) -> None:
    """An ``if``, perhaps with an ``else``."""
    end = w.label()
    w.emit(f"@{w.random.choice(('', '!'))}{w.predicate()} bra{w.random.choice(('', '.uni'))} {end};", False)
    body(w)
    if w.random.random() < 0.4:
        after = w.label()
        w.emit(f"bra{w.random.choice(('', '.uni'))} {after};", False)
        w.lines.append(f"{end}:")
        body(w)
        end = after
    w.lines.append(f"{end}:")


def loop(w: Writer) -> None:
    """A loop with a counter of its own, so that it ends."""
    w.scopes += 1
    counter, test, again = f"%count{w.scopes}", f"%again{w.scopes}", w.label()
    w.emit("{", False)
    w.emit(f".reg .u32 {counter}; .reg .pred {test};", False)
    w.emit(f"mov.u32 {counter}, {w.random.choice(('0', '%n', '%tid.x'))};", False)
    w.lines.append(f"{again}:")
    body(w)
    w.emit(f"add.u32 {counter}, {counter}, 1;", False)
    w.emit(f"setp.lt.u32 {test}, {counter}, {w.random.choice(('4', '%n', '16'))};", False)
    w.emit(f"@{test} bra {again};", False)
    w.emit("}", False)


def scope(w: Writer) -> None:
    """A block whose registers hide some of the kernel's."""
    w.emit("{", False)
    w.emit(w.random.choice((".reg .b32 %r1;", ".reg .b32 %r<3>;", ".reg .b32 %inner<4>, %r7;")), False)
    body(w)
    w.emit("}", False)


def leave(w: Writer) -> None:
    w.emit(f"@{w.predicate()} {w.random.choice(('ret', 'exit'))};", False)


SIMPLE: tuple[tuple[Statement, int], ...] = (
    (arithmetic, 6),
    (comparison, 2),
    (access, 5),
    (barrier, 3),
    (mbarrier, 3),
    (wait_loop, 1),
    (copy, 3),
    (group, 2),
    (wgmma, 1),
    (call, 1),
    (leave, 1),
)
NESTED: tuple[tuple[Statement, int], ...] = ((branch, 3), (loop, 2), (scope, 1))


def body(w: Writer) -> None:
    """Write a few statements, the more of them nested the less deep this is."""
    w.depth += 1
    kinds = SIMPLE if w.depth > 3 else SIMPLE + NESTED
    statements, weights = [kind for kind, _ in kinds], [weight for _, weight in kinds]
    for _ in range(w.random.randrange(1, 9)):
        w.random.choices(statements, weights)[0](w)
        if w.random.random() < 0.1:
            w.lines.append(
                w.random.choice(("// a comment", "/* another\n one */", "", '.pragma "nounroll";'))
            )
    w.depth -= 1


def kernel(random: Random, name: str) -> str:
    """Return one kernel."""
    w = Writer(random, name)
    for _ in range(random.randrange(1, 4)):
        body(w)
    reqntid = random.choice(("", ".reqntid 128\n", ".maxntid 256, 1, 1\n", ".reqntid 64, 2, 1\n"))
    cluster = random.choice(("", "", ".explicitcluster\n.reqnctapercluster 2, 1, 1\n"))
    return "\n".join(
        [
            f".visible .entry {name}(",
            f"    .param .u64 {name}_from, .param .u64 .ptr .global .align 16 {name}_to,",
            f"    .param .u32 {name}_n, .param .align 64 .b8 {name}_map[128]",
            f")\n{reqntid}{cluster}{{",
            "    .reg .pred %p<8>;\n    .reg .b32 %r<24>;\n    .reg .b64 %rd<12>;\n    .reg .f32 %f<5>;",
            "    .reg .b32 %tile, %full, %own, %peer, %peer_full, %n, %size;",
            "    .reg .b64 %from, %to, %map;\n    .reg .b16 %mask;",
            f"    .shared .align 128 .b8 {name}_tile[{STAGES * STAGE_BYTES}];",
            f"    .shared .align 8 .b64 {name}_full[{STAGES}];",
            f"    mov.u32 %tile, {name}_tile;\n    mov.u32 %full, {name}_full;",
            "    mov.u32 %r1, %tid.x;\n    mad.lo.s32 %own, %r1, 16, %tile;",
            f"    ld.param.u64 %from, [{name}_from];\n    cvta.to.global.u64 %from, %from;",
            f"    ld.param.u64 %to, [{name}_to];\n    cvta.to.global.u64 %to, %to;",
            f"    ld.param.u32 %n, [{name}_n];\n    mov.b64 %map, {name}_map;",
            "    mapa.shared::cluster.u32 %peer, %tile, 0;\n    mapa.shared::cluster.u32 %peer_full, %full, 0;",
            f"    cvta.param.u64 %map, %map;\n    mov.u32 %size, {STAGE_BYTES};\n    mov.u16 %mask, 3;",
            *w.lines,
            "    ret;\n}\n",
        ]
    )


HELPER = """.func (.reg .b32 out) helper(.reg .b32 a, .reg .b64 b)
{
    .reg .pred %p;
    setp.eq.u64 %p, b, 0;
    selp.b32 out, a, 7, %p;
    ret;
}
"""


def module(random: Random, kernels: int = 1) -> str:
    """Return a module with some kernels: k0, k1 and so on."""
    return HEADER + HELPER + "\n".join(kernel(random, f"k{number}") for number in range(kernels))
