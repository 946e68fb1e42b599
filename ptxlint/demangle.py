"""C++ names as people know them: kernels and shared variables, by their mangled names (Itanium C++ ABI).

The library ``demangle`` does it where it is installed, else ``cu++filt`` or ``c++filt`` where one is found;
without either, mangled names stay as they are.
"""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

LONGEST = 60
TOOLS = ("cu++filt", "c++filt")
TIME_LIMIT = 20.0

_NAME = re.compile(r"_Z[\w$]+")
_OPERATOR = re.compile(r"\boperator\s*(?:\(\)|<=>|<<=?|>>=?|->\*?|[<>]=?)")
_QUALIFIERS = re.compile(r"(?: const| volatile| &&?|&&?)*(?=::|$)")
_CLOSING = {"(": ")", "<": ">", "[": "]", "{": "}"}

_known: dict[str, str] = {}


def mangled_names(text: str) -> list[str]:
    """Return the mangled names in *text*, in order."""
    return _NAME.findall(text) if "_Z" in text else []


def demangle(names: Iterable[str]) -> dict[str, str]:
    """Return what each of *names* means, itself where that is not known; one call serves all."""
    wanted = list(dict.fromkeys(names))
    new = [name for name in wanted if name not in _known]
    mangled = [name for name in new if name.startswith("_Z")]
    _known.update(zip(new, new, strict=True))
    if mangled:
        _known.update(zip(mangled, _demangler()(mangled), strict=True))
    return {name: _known[name] for name in wanted}


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return a short name for each of *names*: no types of parameters, long template arguments elided.

    Names that would look the same stay longer, or get a tag made of the mangled name: ``f<…>[3f2a]``.
    """
    plain = {name: without_parameters(text) for name, text in demangle(names).items()}
    short = {name: elided(text, LONGEST) for name, text in plain.items()}
    for name in _alike(short):
        short[name] = elided(plain[name], 2 * LONGEST)
    for name in _alike(short):
        short[name] += f"[{hashlib.sha256(name.encode()).hexdigest()[:4]}]"
    return short


def matches_kernel(name: str, pattern: str) -> bool:
    """Return whether a glob matches a kernel's name: mangled, demangled, or without types of parameters."""
    if fnmatchcase(name, pattern):
        return True
    full = demangle([name])[name]
    return full != name and any(fnmatchcase(known, pattern) for known in (full, without_parameters(full)))


def _alike(names: dict[str, str]) -> list[str]:
    by_text: dict[str, list[str]] = {}
    for name, text in names.items():
        by_text.setdefault(text, []).append(name)
    return [name for alike in by_text.values() if len(alike) > 1 for name in alike]


@cache
def _demangler() -> Callable[[list[str]], list[str]]:
    try:
        library: Any = __import__("demangle")
    except ImportError:
        return _by_tool
    return lambda names: [str(library.demangle(name, language="itanium")) for name in names]


def _by_tool(names: list[str]) -> list[str]:
    for tool in TOOLS:
        path = shutil.which(tool)
        if path is None:
            continue
        try:
            done = subprocess.run(
                [path],
                input="\n".join(names) + "\n",
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=TIME_LIMIT,
            )
        except (OSError, subprocess.SubprocessError):
            continue
        lines = done.stdout.splitlines()
        if done.returncode == 0 and len(lines) == len(names):
            return [line.strip() or name for line, name in zip(lines, names, strict=True)]
    return names


def without_parameters(name: str) -> str:
    """Return a demangled name without the types of parameters and of what is returned.

    ``void f<2>(int)::stages`` is ``f<2>::stages``.
    """
    kept: list[str] = []
    at = start = 0
    while at < len(name):
        operator = _OPERATOR.match(name, at)
        if operator is not None:
            kept.append(operator[0])
            at = operator.end() + name.startswith(" <", operator.end())
        elif name[at] in _CLOSING:
            end = _closing(name, at)
            group = name[at:end]
            at = end
            if group[0] == "(" and group != "(anonymous namespace)":
                qualifiers = _QUALIFIERS.match(name, at)
                at = qualifiers.end() if qualifiers is not None else at
            else:
                kept.append(group)
        elif name[at] == " ":
            start = len(kept) + 1
            kept.append(" ")
            at += 1
        else:
            kept.append(name[at])
            at += 1
    return "".join(kept[start:]) or name


def elided(name: str, longest: int) -> str:
    """Return *name* with ``…`` for the innermost template arguments, as far as *longest* characters ask."""
    depth = _depth(name)
    while len(name) > longest and depth > 0:
        name = _without_arguments(name, depth) if depth > 1 else _fitting(name, longest)
        depth -= 1
    return name


def _closing(text: str, at: int) -> int:
    """Return the end of the group that opens at *at*, or of the text when nothing closes it."""
    stack: list[str] = []
    while at < len(text):
        if text[at] in _CLOSING:
            stack.append(_CLOSING[text[at]])
        elif text[at] == ">" and text[at - 1] == "-":
            pass
        elif stack and text[at] in stack:
            while stack.pop() != text[at]:
                pass
            if not stack:
                return at + 1
        at += 1
    return len(text)


def _depth(text: str) -> int:
    depth = deepest = 0
    for at, character in enumerate(text):
        if character == "<":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ">" and text[at - 1] != "-":
            depth -= 1
    return deepest


def _without_arguments(text: str, level: int) -> str:
    """Replace the template arguments at *level* of nesting."""
    parts: list[str] = []
    depth = 0
    for at, character in enumerate(text):
        if character == ">" and text[at - 1] != "-":
            depth -= 1
        if depth < level:
            parts.append(character)
        if character == "<":
            depth += 1
            if depth == level:
                parts.append("…")
    return "".join(parts)


def _fitting(text: str, longest: int) -> str:
    """Drop the last arguments of the outermost lists of *text* until it fits, at least all but ``…``."""
    while len(text) > longest:
        opens = text.find("<")
        while opens >= 0:
            end = _closing(text, opens)
            inner = text[opens + 1 : end - 1]
            if inner != "…":
                rest = _without_last(inner.removesuffix(", …"))
                text = f"{text[:opens]}<{rest}>{text[end:]}"
                break
            opens = text.find("<", end)
        else:
            return text
    return text


def _without_last(arguments: str) -> str:
    depth = 0
    last = -1
    for at, character in enumerate(arguments):
        if character in _CLOSING:
            depth += 1
        elif character in _CLOSING.values() and arguments[at - 1] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            last = at
    return "…" if last < 0 else f"{arguments[:last]}, …"
