"""Post-dominators, dominators and natural loops of a control-flow graph.

Dominators by the iterative algorithm of Cooper, Harvey and Kennedy; a natural loop is a back edge
``a -> h`` with h dominating a, and every block that reaches a without passing h. Compilers that turn
a loop around also enter it in its middle; such a loop has *side entries* (Havlak, "Nesting of reducible
and irreducible loops", 1997: its blocks are those on a cycle with the header below the header's dominator).
"""

from collections.abc import Callable, Iterable

from ptxlint.flow.cfg import Cfg
from ptxlint.records import record


@record
class Loop:
    """A loop: its header, all its blocks, the sources of its back edges, other blocks it is entered by."""

    header: int
    blocks: frozenset[int]
    latches: frozenset[int]
    side_entries: frozenset[int] = frozenset()


def immediate_dominators(cfg: Cfg) -> dict[int, int]:
    """Return block → immediate dominator for each reachable block (the entry maps to itself)."""
    order = cfg.reverse_postorder()
    predecessors = _predecessors(cfg)
    return _idoms(order, lambda node: predecessors.get(node, ()))


def immediate_postdominators(cfg: Cfg) -> dict[int, int]:
    """Return block → immediate post-dominator; blocks that never reach the exit map to it."""
    predecessors = _predecessors(cfg)
    order: list[int] = []
    seen = {cfg.exit}
    stack: list[tuple[int, int]] = [(cfg.exit, 0)]
    while stack:
        node, at = stack[-1]
        sources = predecessors.get(node, [])
        if at < len(sources):
            stack[-1] = (node, at + 1)
            if sources[at] not in seen:
                seen.add(sources[at])
                stack.append((sources[at], 0))
        else:
            stack.pop()
            order.append(node)
    order.reverse()
    result = _idoms(order, lambda node: cfg.blocks[node].successors if node != cfg.exit else ())
    for block in cfg.blocks:
        result.setdefault(block.index, cfg.exit)
    return result


def natural_loops(cfg: Cfg, idom: dict[int, int]) -> list[Loop]:
    """Return the loops, one a header, inner loops before the loops that contain them."""
    latches: dict[int, set[int]] = {}
    for node in idom:
        if node == cfg.exit:
            continue
        for target in cfg.blocks[node].successors:
            if target in idom and target != cfg.exit and _dominates(idom, target, node):
                latches.setdefault(target, set()).add(node)
    loops = []
    for header, ends in latches.items():
        body = {header}
        stack = [end for end in ends if end != header]
        while stack:
            node = stack.pop()
            if node in body:
                continue
            body.add(node)
            stack.extend(p for p in cfg.blocks[node].predecessors if p in idom)
        body |= _around(cfg, idom, header, body)
        sides = {
            node
            for node in body
            if node != header and any(p not in body and p in idom for p in cfg.blocks[node].predecessors)
        }
        ends = {p for p in cfg.blocks[header].predecessors if p in body}
        loops.append(Loop(header, frozenset(body), frozenset(ends), frozenset(sides)))
    loops.sort(key=lambda loop: (len(loop.blocks), loop.header))
    return loops


def _around(cfg: Cfg, idom: dict[int, int], header: int, body: set[int]) -> set[int]:
    """Return the blocks outside *body* that lead from it back to *header* under the header's dominator."""
    above = idom[header]
    found: set[int] = set()
    leaving = {t for node in body for t in cfg.blocks[node].successors if t not in body and t in idom}
    for start in leaving:
        if start == cfg.exit or start == above or not _dominates(idom, above, start):
            continue
        ahead: set[int] = set()
        stack = [start]
        while stack:
            node = stack.pop()
            if node in ahead or node in body or node == cfg.exit or node not in idom:
                continue
            if node == above or not _dominates(idom, above, node):
                continue
            ahead.add(node)
            stack.extend(cfg.blocks[node].successors)
        # Of these, what comes back.
        stack = [p for p in cfg.blocks[header].predecessors if p in ahead]
        while stack:
            node = stack.pop()
            if node in found or node not in ahead:
                continue
            found.add(node)
            stack.extend(cfg.blocks[node].predecessors)
    return found


def region(cfg: Cfg, start: int, stop: int) -> set[int]:
    """Return the blocks reachable from *start* without passing *stop*."""
    found: set[int] = set()
    stack = [start]
    while stack:
        node = stack.pop()
        if node == stop or node in found or node == cfg.exit:
            continue
        found.add(node)
        stack.extend(cfg.blocks[node].successors)
    return found


def _predecessors(cfg: Cfg) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {}
    for block in cfg.blocks:
        for target in block.successors:
            result.setdefault(target, []).append(block.index)
    return result


def _dominates(idom: dict[int, int], above: int, below: int) -> bool:
    node = below
    while node != above:
        parent = idom[node]
        if parent == node:
            return False
        node = parent
    return True


def _idoms(order: list[int], sources: Callable[[int], Iterable[int]]) -> dict[int, int]:
    rank = {node: i for i, node in enumerate(order)}
    root = order[0]
    idom: dict[int, int] = {root: root}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            best: int | None = None
            for source in sources(node):
                if source not in idom or source not in rank:
                    continue
                if best is None:
                    best = source
                    continue
                a, b = source, best
                while a != b:
                    while rank[a] > rank[b]:
                        a = idom[a]
                    while rank[b] > rank[a]:
                        b = idom[b]
                best = a
            if best is not None and idom.get(node) != best:
                idom[node] = best
                changed = True
    return idom
