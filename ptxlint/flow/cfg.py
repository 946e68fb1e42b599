"""Basic blocks and their edges; knows control transfers only as the caller describes them."""

from collections.abc import Mapping

from ptxlint.records import field, mutable_record, record


@record
class Transfer:
    """How control leaves an instruction: to *targets* (instruction indices), and on when it may."""

    targets: tuple[int, ...]
    falls_through: bool


@mutable_record
class BasicBlock:
    """Instructions ``start`` to ``end`` (exclusive) that run one after another."""

    index: int
    start: int
    end: int
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)


@mutable_record
class Cfg:
    """The control-flow graph of a function. Block 0 is the entry; ``exit`` is a virtual block."""

    blocks: list[BasicBlock]
    block_at: dict[int, int]
    exit: int

    def reverse_postorder(self) -> list[int]:
        """Return the blocks reachable from the entry, in reverse postorder."""
        order: list[int] = []
        seen = {0}
        stack: list[tuple[int, int]] = [(0, 0)]
        while stack:
            node, at = stack[-1]
            successors = self.blocks[node].successors if node != self.exit else []
            if at < len(successors):
                stack[-1] = (node, at + 1)
                target = successors[at]
                if target not in seen:
                    seen.add(target)
                    stack.append((target, 0))
            else:
                stack.pop()
                order.append(node)
        order.reverse()
        return order


def build_cfg(count: int, transfers: Mapping[int, Transfer], leaders: set[int]) -> Cfg:
    """Return the graph of *count* instructions with *transfers*; *leaders* start blocks too."""
    starts = {0} | {at for at in leaders if at < count}
    for at, transfer in transfers.items():
        if at + 1 < count:
            starts.add(at + 1)
        starts.update(target for target in transfer.targets if target < count)
    ordered = sorted(starts)
    if count == 0:
        ordered = [0]
    blocks = [
        BasicBlock(i, start, ordered[i + 1] if i + 1 < len(ordered) else count)
        for i, start in enumerate(ordered)
    ]
    block_at = {block.start: block.index for block in blocks}
    exit_ = len(blocks)
    for block in blocks:
        leaving = transfers.get(block.end - 1) if block.end > block.start else None
        following = block.index + 1
        if leaving is None:
            targets = [following]
        else:
            targets = [block_at.get(target, exit_) for target in leaving.targets]
            if leaving.falls_through:
                targets.append(following)
        if not targets:
            targets = [exit_]
        for target in targets:
            if target not in block.successors:
                block.successors.append(target)
                if target != exit_:
                    blocks[target].predecessors.append(block.index)
    return Cfg(blocks, block_at, exit_)
