"""Changes of PTX text that keep it assembling: deleting, replacing and moving single statements."""

import re
from collections.abc import Callable

from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import Function, Instruction, Module

CONTROL = (fx.Branch, fx.IndirectBranch, fx.Call, fx.Return, fx.Exit, fx.Trap)
_SCOPE = re.compile(r"\s*\.reg\b")


class Editor:
    """One function of a module, and new texts of the whole module with one change in that function."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.text = module.source.text
        self.function = function
        self.instructions = function.instructions
        self.effects = [semantics.decode(instruction) for instruction in self.instructions]
        self.labelled = set(function.labels.values())

    def statement(self, instruction: Instruction) -> str:
        """Return the text of *instruction*, from its guard to its semicolon."""
        return self.text[instruction.offset : instruction.end]

    def replaced(self, instruction: Instruction, new: str) -> str:
        """Return the module with *new* in place of *instruction*."""
        return self.text[: instruction.offset] + new + self.text[instruction.end :]

    def deleted(self, instruction: Instruction) -> str:
        """Return the module without *instruction*."""
        return self.replaced(instruction, "")

    # -- moving -----------------------------------------------------------------------------------

    def later(self, at: int, wanted: Callable[[fx.Effect], bool]) -> int | None:
        """Return the first instruction after *at* with a *wanted* effect that runs whenever *at* does."""
        start = self._loop(at)[1] + 1
        for index in range(start, len(self.instructions)):
            if any(isinstance(e, CONTROL) for e in self.effects[index]):
                return None
            if index in self.labelled and (index > start or start == at + 1):
                return None
            if any(wanted(effect) for effect in self.effects[index]):
                return index
        return None

    def earlier(self, at: int, wanted: Callable[[fx.Effect], bool]) -> int | None:
        """Return the last instruction before *at* with a *wanted* effect, in the same straight line."""
        for index in range(at - 1, -1, -1):
            if index + 1 in self.labelled or any(isinstance(e, CONTROL) for e in self.effects[index]):
                return None
            if any(wanted(effect) for effect in self.effects[index]):
                return index
        return None

    def earliest(self, at: int, wanted: Callable[[fx.Effect], bool]) -> int | None:
        """Return the first instruction with a *wanted* effect of the straight line that leads to *at*."""
        found = None
        while (before := self.earlier(found if found is not None else at, wanted)) is not None:
            found = before
        return found

    def moved_up(self, at: int, before: int) -> str | None:
        """Return the module with *at* moved to before instruction *before*; None when it cannot go there.

        What computes its operands on the way is repeated in front of it.
        """
        needed = set(semantics.uses(self.instructions[at]))
        slice_: list[int] = []
        for index in range(at - 1, before - 1, -1):
            made = set(semantics.definitions(self.instructions[index]))
            if not made & needed:
                continue
            if not all(isinstance(e, (fx.Compute, fx.Nothing)) for e in self.effects[index]):
                return None
            slice_.append(index)
            needed |= set(semantics.uses(self.instructions[index]))
        redefined: set[str] = set()
        for index in range(before, at):
            if index not in slice_:
                redefined |= set(semantics.definitions(self.instructions[index]))
        if redefined & needed or self._own_brace(self.instructions[at]) is not None:
            return None
        target, moved = self.instructions[before], self.instructions[at]
        front = [self.statement(self.instructions[index]) for index in reversed(slice_)]
        insert = "\n\t".join([*front, self.statement(moved), ""])
        start = self._outside(target)
        text = self.text
        return text[:start] + insert + text[start : moved.offset] + text[moved.end :]

    def moved_down(self, at: int, after: int) -> str | None:
        """Return the module with *at* moved to after instruction *after*; None when it cannot go there."""
        needed = set(semantics.uses(self.instructions[at]))
        for index in range(at + 1, after + 1):
            if needed & set(semantics.definitions(self.instructions[index])):
                return None
        first, last = self._loop(at)
        if first is None:
            return None
        start, end = self._block(first, last)
        stop = self._closing(self.instructions[after])
        text = self.text
        return text[:start] + text[end:stop] + "\n\t" + text[start:end] + text[stop:]

    def _loop(self, at: int) -> tuple[int | None, int]:
        """Return the instructions that go with *at*: a wait takes the branches that repeat it along."""
        if not any(isinstance(e, fx.MbarrierWait) for e in self.effects[at]):
            return at, at
        last = at
        while last + 1 < len(self.instructions) and last < at + 2:
            if not any(isinstance(e, fx.Branch) for e in self.effects[last + 1]):
                break
            last += 1
        return (at, last) if self._brace(self.instructions[at]) is not None else (None, at)

    def _brace(self, instruction: Instruction) -> tuple[int, int] | None:
        """Return the scope that a block of inline assembly puts around *instruction*, if it does."""
        opening = self.text.rfind("{", 0, instruction.offset)
        while opening >= 0:
            closing = self._matching(opening)
            if closing > instruction.end:
                return (opening, closing + 1) if _SCOPE.match(self.text, opening + 1) else None
            opening = self.text.rfind("{", 0, opening)
        return None

    def _matching(self, opening: int) -> int:
        depth = 0
        for match in re.compile(r"[{}]").finditer(self.text, opening):
            depth += 1 if match.group() == "{" else -1
            if not depth:
                return match.start()
        return len(self.text)

    def _block(self, first: int, last: int) -> tuple[int, int]:
        start, end = self.instructions[first].offset, self.instructions[last].end
        brace = self._own_brace(self.instructions[first])
        return brace if brace is not None and last > first else (start, end)

    def _own_brace(self, instruction: Instruction) -> tuple[int, int] | None:
        brace = self._brace(instruction)
        body = self.function_body()
        return brace if brace is not None and brace[0] > body else None

    def function_body(self) -> int:
        """Return where the body of the function opens."""
        return self.text.index("{", self.text.index(")", self.function.offset))

    def _outside(self, instruction: Instruction) -> int:
        brace = self._own_brace(instruction)
        return brace[0] if brace is not None else instruction.offset

    def _closing(self, instruction: Instruction) -> int:
        brace = self._own_brace(instruction)
        return brace[1] if brace is not None else instruction.end
