"""Changes of a program that must not change what is reported: names, order, lines, comments."""

import re
from itertools import pairwise
from random import Random

from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Function, Module

_TOKEN = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"[^"\n]*"|(?<![\w.$%])[A-Za-z_$%][\w$]*')
_DIGITS = "0123456789"


def rename(text: str, module: Module, random: Random) -> tuple[str, dict[str, str]]:
    """Return *text* with other names of registers, labels, variables and functions; and the names, new to old."""
    names: dict[str, str] = {}
    ranges: dict[str, str] = {}
    letters = random.sample("abcdefghijklmnopqrstuvwxyz", 26)

    def fresh(starts: str = "%$z") -> str:
        number, word = len(names) + len(ranges), ""
        while True:
            word += letters[number % 26]
            number //= 26
            if not number:
                return f"{random.choice(starts)}{word}{random.choice('_$')}"

    for variable in module.variables:
        names[variable.name] = fresh()
    for function in module.functions:
        names.setdefault(function.name, fresh("$z"))  # a call of %name is one through a register
        for name in _declared(function):
            names.setdefault(name.partition("#")[0], fresh())
        for prefix in function.ranges:
            ranges.setdefault(prefix, names.get(prefix) or fresh())
            names.setdefault(prefix, ranges[prefix])

    for word in [word for word in names if _prefix(word, ranges) and word not in ranges]:
        del names[word]  # elsewhere it is one of a range
    for function in module.functions:  # a register may have the name of an instruction, and keeps it
        for instruction in function.instructions:
            names.pop(instruction.opcode.partition(".")[0], None)

    def replacement(match: re.Match[str]) -> str:
        word = match.group()
        if word[0] in '/"':
            return word
        if word in names:
            return names[word]
        prefix = _prefix(word, ranges)
        if prefix is not None:
            return ranges[prefix] + word[len(prefix) :]
        return word

    return _TOKEN.sub(replacement, text), {new: old for old, new in names.items()}


def _prefix(word: str, ranges: dict[str, str]) -> str | None:
    """Return the prefix in *ranges* that *word* has, a number after it."""
    return next(
        (word[:at] for at in range(len(word.rstrip(_DIGITS)), len(word)) if word[:at] in ranges), None
    )


def _declared(function: Function) -> list[str]:
    variables = (*function.parameters, *function.returns, *function.variables)
    return [*function.registers, *(v.name for v in variables), *function.labels, *function.targets]


def reorder(text: str, module: Module, random: Random) -> str | None:
    """Return *text* with its kernels in another order, or None where something lies between them."""
    kernels = [function for function in module.functions if function.is_entry]
    if len(kernels) < 2:
        return None
    first, last = kernels[0], kernels[-1]
    others = [f.offset for f in module.functions if not f.is_entry] + [v.offset for v in module.variables]
    if any(first.offset < offset < last.end for offset in others):
        return None
    pieces = [text[kernel.offset : kernel.end] for kernel in kernels]
    gaps = [text[a.end : b.offset] for a, b in pairwise(kernels)] + [""]
    random.shuffle(pieces)
    shuffled = "".join(piece + gap for piece, gap in zip(pieces, gaps, strict=True))
    return text[: first.offset] + shuffled + text[last.end :]


def add_lines(text: str, module: Module) -> str | None:
    """Return *text* with a ``.loc`` of its own before each instruction; None when it has some already."""
    if module.locations:
        return None
    at = [instruction.offset for function in module.functions for instruction in function.instructions]
    pieces, before = [], 0
    for number, offset in enumerate(at):
        pieces += [text[before:offset], f"\n.loc 1 {number + 1} 5\n"]
        before = offset
    return '.file 1 "made_up.cu"\n'.join(["", "".join(pieces) + text[before:]])


def add_comments(text: str, module: Module, random: Random) -> str:
    """Return *text* with comments, blanks and empty lines where they mean nothing."""
    pieces, before = [], 0
    for function in module.functions:
        for instruction in function.instructions:
            for offset in (instruction.offset, instruction.end):
                noise = random.choice(("", "\n", "/* ; } */", " // {\n", "\t", "\n// .entry k()\n"))
                pieces += [text[before:offset], noise]
                before = offset
    return "".join(pieces) + text[before:]


def add_fence(text: str, module: Module, random: Random) -> str | None:
    """Return *text* with one more proxy fence, before the first branch of a kernel; None where there is no place."""
    at = []
    for function in module.functions:
        end = min(function.labels.values(), default=len(function.instructions))
        for instruction in function.instructions[:end] if function.is_entry else ():
            at.append(instruction.offset)
            if instruction.opcode.partition(".")[0] in ("bra", "brx", "call", "ret", "exit", "trap"):
                break
    if not at:
        return None
    place = random.choice(at)
    return f"{text[:place]}fence.proxy.async;\n{text[place:]}"


def reparsed(text: str) -> Module:
    """Return the module of a rewritten text, which must parse as what it came from did."""
    module = parse(text)
    assert not module.problems, f"the rewritten text does not parse: {module.problems[0]}"
    return module
