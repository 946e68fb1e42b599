"""The instructions that a finding speaks of, and the copies that a compiler made of each."""

from collections.abc import Iterator

from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import Function, Instruction, Module
from ptxlint.report.finding import Finding, Site


class Places:
    """One finding in one kernel, by instructions."""

    def __init__(self, module: Module, function: Function, finding: Finding) -> None:
        self.module = module
        self.text = module.source.text
        self.finding = finding
        self._instructions = function.instructions
        self._labels = function.labels
        self._by_place: dict[tuple[int, int], Instruction] = {}
        for instruction in function.instructions:
            place = module.position(instruction)
            self._by_place[place.line, place.column] = instruction

    def at(self, site: Site) -> Instruction | None:
        """Return the instruction at *site*."""
        return self._by_place.get((site.line, site.column))

    @property
    def first(self) -> Instruction | None:
        """The first access."""
        return self._role("first")

    @property
    def second(self) -> Instruction | None:
        """The second access, or what the finding is about."""
        return self._role("second") or self.at(self.finding.site)

    def _role(self, role: str) -> Instruction | None:
        for step in self.finding.trace:
            if step.role == role:
                return self.at(step.site)
        return None

    def steps(self, *kinds: type[fx.Effect]) -> Iterator[Instruction]:
        """Yield the synchronising instructions of *kinds* that the trace shows, near misses first."""
        for role in ("near-miss", "path"):
            for step in self.finding.trace:
                if step.role != role:
                    continue
                instruction = self.at(step.site)
                if instruction is not None and has(instruction, *kinds):
                    yield instruction

    def steps_of_first(self, *kinds: type[fx.Effect]) -> Iterator[Instruction]:
        """Yield those of ``steps`` that the warp of the first access executes after it."""
        actor = next((s.actor for s in self.finding.trace if s.role == "first"), "")
        warp = _warp(actor)
        begun = False
        for step in self.finding.trace:
            begun = begun or step.role == "first"
            if not begun or step.role not in ("path", "near-miss") or _warp(step.actor) != warp:
                continue
            instruction = self.at(step.site)
            if instruction is not None and has(instruction, *kinds):
                yield instruction

    def all(self, *kinds: type[fx.Effect]) -> Iterator[Instruction]:
        """Yield the kernel's instructions of *kinds*."""
        return (instruction for instruction in self._instructions if has(instruction, *kinds))

    def target(self, branch: Instruction) -> Instruction | None:
        """Return the instruction that *branch* goes to."""
        for effect in semantics.decode(branch):
            if isinstance(effect, fx.Branch):
                index = self._labels.get(effect.target, len(self._instructions))
                return self._instructions[index] if index < len(self._instructions) else None
        return None

    def copies(self, of: Instruction) -> list[Instruction]:
        """Return *of* and the copies of it that unrolling and peeling made: same effects, same source."""
        chain = self.module.source_chain(of)
        if not chain:
            return [of]
        return [
            other
            for other in self._instructions
            if kinds(other) == kinds(of) and self.module.source_chain(other) == chain
        ]


def has(instruction: Instruction, *kinds: type[fx.Effect]) -> bool:
    """Return whether *instruction* has an effect of one of *kinds*."""
    return any(isinstance(effect, kinds) for effect in semantics.decode(instruction))


def kinds(instruction: Instruction) -> tuple[type[fx.Effect], ...]:
    """Return the kinds of the effects of *instruction*."""
    return tuple(type(effect) for effect in semantics.decode(instruction))


def _warp(actor: str) -> str:
    words = actor.replace("(issued by ", "").replace(")", "").split()
    return " ".join(words[words.index("warp") : words.index("warp") + 2]) if "warp" in words else actor
