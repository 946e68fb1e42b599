"""From PTX text to a ``Module``.

A scanner of regular expressions cuts a function body into statements; what their operands mean is
asked of the grammar once for each distinct shape (``operands.py``). A statement that the scanner
does not know is given to the grammar whole, and so is one whose error must be described.
``parse_plain`` gives the whole text to the grammar instead: ten times slower, and the reference
that the tests compare with.
"""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from ptxlint.ptx.builder import ModuleBuilder
from ptxlint.ptx.grammar import Mismatch, parse_tree
from ptxlint.ptx.operands import OperandTexts, Unbound, check_depth
from ptxlint.ptx.scopes import FunctionBuilder
from ptxlint.ptx.source import Source
from ptxlint.ptx.syntax import Guard, Module, Operand

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = "Tree[Token]"

_MOST_PROBLEMS_OF_FUNCTION = 20
_MOST_PROBLEMS = 200

_SKIP = r"[\s\0\ufeff]*(?://[^\n]*[\s\0\ufeff]*)*"
_OPCODE = r"[A-Za-z]\w*(?:\.\w+|::\w+)*(?![\w$.:])"

_BODY = re.compile(
    rf"""{_SKIP}(?:
      (@!?[%$\w]+\s+)?({_OPCODE})\s*([^;"/:]*);                            # 1-3 instruction
    | ([A-Za-z_$%][\w$]*)\s*:(?!:|\s*\.(?:branch|call))                    # 4 label
    | \.loc[ \t]+(\d+[ \t]+\d+[ \t]+\d+)                                   # 5-7 source line
      (?:[ \t]*,[ \t]*function_name[ \t]+[\w$]+(?:[ \t]*\+[ \t]*\d+)?
         [ \t]*,[ \t]*inlined_at[ \t]+(\d+[ \t]+\d+[ \t]+\d+))?
      (?!\w|[ \t]*,)[ \t]*((?://[^\n]*)?)
    | (\{{)                                                                # 8 block
    | (\}})                                                                # 9 its end
    | (\.(?:reg|shared|local|param|global|const)\b[^;"/{{}}]*;)            # 10 declaration
    | (\Z)                                                                 # 11 end of the text
    | (.)                                                                  # 12 anything else
    )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_INSTRUCTION, _LABEL, _LINE, _OPEN, _CLOSE, _DECLARATION, _END = 3, 4, 7, 8, 9, 10, 11

_BLANK = re.compile(r"(?:[\s\0\ufeff]+|//[^\n]*|/\*[\s\S]*?\*/|(?<![^\n])[ \t]*(?:\#|@@)[^\n]*)+", re.ASCII)
_NOT_CODE = r'"[^"\n]*"|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)'
_SEMICOLON = re.compile(rf"{_NOT_CODE}|;")
_COMMENT = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
_SIMPLE = re.compile(rf'(@!?[%$\w]+\s+)?({_OPCODE})\s*([^;"/]*);', re.ASCII)
_HEAD_END = re.compile(r'"[^"\n]*"(?:\s*;)?|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|[{;]')
_GAP = r"(?:\s+|//[^\n]*\n|/\*[\s\S]*?\*/)*"
_FUNCTION = re.compile(
    rf"(?:\.(?:visible|extern|weak|common)(?![\w$.:]){_GAP})*\.(?:entry|func)(?![\w$.:])", re.ASCII
)
_FUNCTION_NAME = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)", re.ASCII)
_INTEGER = r"(?:0[xX][0-9A-Fa-f]+|\d+)[uU]?(?!\w)"
_LOC = rf"""\.loc(?:\s+{_INTEGER})+
      (?:\s*,\s*(?:inlined_at(?:\s+{_INTEGER})+|function_name\s+[\w$]+(?:\s*\+\s*{_INTEGER})?|[\w$+ \t]+))*"""
_FILE = rf"""\.file\s+{_INTEGER}\s*"[^"]*"(?:\s*"[^"]*")?(?:\s*,\s*{_INTEGER})*"""
_UNENDED = re.compile(
    rf"""\.version{_GAP}[\w.$]+
    | \.target{_GAP}[\w$]+(?:{_GAP},{_GAP}[\w$]+)*
    | \.address_size{_GAP}[\w$]+
    | {_FILE}
    | {_LOC}
    | \.section[ \t][^{{;]*\{{[^{{}}]*\}}
    | ;""",
    re.VERBOSE | re.ASCII,
)
_SECTION = re.compile(r"\.section[ \t][^{;]*\{[^{}]*\}", re.ASCII)
_LINE_DIRECTIVE = re.compile(rf"{_FILE} | {_LOC}", re.VERBOSE | re.ASCII)
_NEXT_ITEM = re.compile(
    r"^[ \t]*(?=\.(?:visible|extern|weak|common|entry|func|global|const|shared|version|target"
    r"|address_size|file|section)(?![\w$.:]))",
    re.MULTILINE | re.ASCII,
)
_NEXT_FUNCTION = re.compile(
    r"^[ \t]*(?=(?:\.(?:visible|extern|weak|common)\s+)*\.(?:entry|func)(?![\w$.:]))",
    re.MULTILINE | re.ASCII,
)
_BRACE = re.compile(rf"{_NOT_CODE}|[{{}}]")
_STOP = re.compile(r"[;\n{}]")


def parse(text: str, path: str = "<stdin>") -> Module:
    """Parse PTX text; *path* is the name it is reported under. Never raises on bad text.

    What the grammar does not know is in ``Module.problems``. A function with a problem in its body
    is still in ``Module.functions``, with the statements that could be read; one whose head cannot
    be read is not. The problem names the function in both cases.
    """
    with _no_collection():
        scanner = _Scanner(text, path)
        return scanner.run()


def parse_plain(text: str, path: str = "<stdin>") -> Module:
    """Parse PTX text with the grammar alone; slow, and the whole text fails at its first error."""
    builder = ModuleBuilder(Source(text, path))
    with _no_collection():
        try:
            tree = parse_tree(text, "module")
            for node in tree.children:
                _apply_plain(builder, node, text)
        except Mismatch as mismatch:
            builder.problem(mismatch.offset, mismatch, None)
            builder.functions.clear()
        except RecursionError:
            builder.problem(0, Mismatch(0, "nested too deeply"), None)
            builder.functions.clear()
        return builder.finish()


def _apply_plain(builder: ModuleBuilder, node: Any, text: str) -> None:
    if node.data != "function":
        builder.apply(node, text, 0)
        return
    prototype, *body = node.children
    builder.start_function(prototype, text, 0, node.meta.start_pos)
    function = builder.function
    assert function is not None
    if not body:
        builder.end_function(node.meta.end_pos, declaration=True)
        return
    stack = [iter(body[0].children)]
    while stack:
        for child in stack[-1]:
            if child.data == "body":
                function.open()
                stack.append(iter(child.children))
                break
            builder.apply(child, text, 0)
        else:
            stack.pop()
            if stack:
                function.close()
    builder.end_function(node.meta.end_pos)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector off: nothing made here is cyclic, and there is much of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Scanner:
    """Parses one text."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.builder = ModuleBuilder(Source(text, path))
        self.operands = OperandTexts(self.builder.reader)
        self._guards: dict[str, Guard] = {}
        self._opcodes: dict[str, str] = {}
        self._lists: dict[str, tuple[Operand, ...]] = {}
        self._declarations: dict[str, Node] = {}

    def run(self) -> Module:
        builder, text = self.builder, self.text
        position = self._skip(0)
        if position == len(text):
            builder.problem(0, Mismatch(0, "there is no PTX in the text"), None)
        while position < len(text):
            read = self._function if _FUNCTION.match(text, position) else self._item
            position = self._skip(read(position))
            if len(builder.problems) >= _MOST_PROBLEMS and position < len(text):
                message = "too many errors: the rest of the text was not read"
                builder.problem(position, Mismatch(0, message), None)
                break
        return builder.finish()

    # ---- the module ---------------------------------------------------------------------------

    def _skip(self, position: int) -> int:
        found = _BLANK.match(self.text, position)
        return found.end() if found else position

    def _statement_end(self, position: int) -> int:
        """Return where the statement at *position* ends, after its semicolon."""
        for match in _SEMICOLON.finditer(self.text, position):
            if match.group() == ";":
                return match.end()
        return len(self.text)

    def _head_end(self, position: int) -> int:
        """Return where the body of a function begins, or the semicolon of a declaration stands."""
        for match in _HEAD_END.finditer(self.text, position):
            if match.group() in ("{", ";"):
                return match.start()
        return len(self.text)

    def _item(self, position: int) -> int:
        """Read one item of the module and return where it ends."""
        text = self.text
        found = _UNENDED.match(text, position)
        end = found.end() if found else self._statement_end(position)
        following = _NEXT_ITEM.search(text, position + 1, end)
        limit = following.start() if following else end
        try:
            if text.startswith(".section", position) and found:
                return end
            self._apply(text[position:end], position, "toplevel")
            return end
        except Mismatch as mismatch:
            self.builder.problem(position + mismatch.offset, mismatch, None)
            if limit < end:
                return limit
            after = _NEXT_ITEM.search(text, max(position + 1, min(end, position + mismatch.offset)))
            return after.start() if after else len(text)

    def _apply(self, chunk: str, position: int, start: str) -> None:
        """Give *chunk* to the grammar."""
        key = start + chunk if len(chunk) < 400 else ""
        tree = self._declarations.get(key) if key else None
        try:
            if tree is None:
                check_depth(chunk)
                tree = parse_tree(chunk, start)
                if key:
                    self._declarations[key] = tree
            self.builder.apply(tree, chunk, position)
        except RecursionError:
            raise Mismatch(0, "nested too deeply") from None

    # ---- functions ----------------------------------------------------------------------------

    def _function(self, position: int) -> int:
        """Read one function and return where it ends."""
        text, builder = self.text, self.builder
        end = self._head_end(position)
        head = text[position:end]
        try:
            try:
                check_depth(head)
                function = builder.start_function(parse_tree(head, "prototype"), head, position, position)
            except RecursionError:
                raise Mismatch(0, "nested too deeply") from None
            if end == len(text):
                raise Mismatch(len(head), "unexpected end", ('";"', '"{"'))
        except Mismatch as mismatch:
            builder.function = None
            name = _FUNCTION_NAME.search(text, position, end)
            at = position + mismatch.offset
            builder.problem(at, mismatch, name.group(1) if name else None)
            following = _NEXT_FUNCTION.search(text, position + 1, end)
            if following:
                return following.start()
            return self._skip_body(end + 1, 1) if text[end : end + 1] == "{" else end + 1
        if text[end] == ";":
            builder.end_function(end + 1, declaration=True)
            return end + 1
        end = self._body(function, end + 1)
        builder.end_function(end)
        return end

    def _skip_body(self, position: int, depth: int) -> int:
        """Return where the body ends that is *depth* braces deep at *position*."""
        following = _NEXT_FUNCTION.search(self.text, position)
        limit = following.start() if following else len(self.text)
        for match in _BRACE.finditer(self.text, position, limit):
            brace = match.group()
            if brace == "{":
                depth += 1
            elif brace == "}":
                depth -= 1
                if depth == 0:
                    return match.end()
        return limit

    def _body(self, function: FunctionBuilder, position: int) -> int:
        """Read statements until the brace that closes the body; return where it ends."""
        problems = len(self.builder.problems)
        while position >= 0:
            position, done = self._statements(function, position)
            if done:
                return position
            try:
                position, done = self._odd_statement(function, position)
            except Mismatch as mismatch:
                offset = mismatch.offset
                self.builder.problem(offset, mismatch, function.prototype.name)
                position, done = self._resume(position, offset), False
            if done:
                return position
            if len(self.builder.problems) - problems >= _MOST_PROBLEMS_OF_FUNCTION:
                return self._give_up(function, position)
        raise AssertionError

    def _give_up(self, function: FunctionBuilder, position: int) -> int:
        message = "too many errors: the rest of the function was not read"
        self.builder.problem(position, Mismatch(0, message), function.prototype.name)
        depth = 1
        while function.is_nested:
            function.close()
            depth += 1
        return self._skip_body(position, depth)

    def _statements(self, function: FunctionBuilder, position: int) -> tuple[int, bool]:
        """Read the statements that the scanner knows.

        Returns where it stopped, and whether this is the end of the body.
        """
        lookup = self.operands.__getitem__
        opcodes, guards, lists = self._opcodes, self._guards, self._lists
        add_location = self.builder.add_location
        instructions = function.instructions
        text = self.text
        add = function.add
        for match in _BODY.finditer(text, position):
            kind = match.lastindex
            if kind == _INSTRUCTION:
                guard_text, opcode, written = match.groups()[:3]
                try:
                    if not written:
                        operands: tuple[Operand, ...] = ()
                    elif "{" in written or "(" in written:
                        operands = lists.get(written) or self._list(opcode, written)
                    else:
                        try:
                            operands = tuple(map(lookup, written.replace(", ", ",").split(",")))
                        except Unbound:
                            operands = lists.get(written) or self._list(opcode, written)
                except Mismatch:
                    return match.start(1 if guard_text else 2), False
                except Unbound:
                    return match.start(1 if guard_text else 2), False
                guard = None
                start = match.start(2)
                if guard_text:
                    start = match.start(1)
                    guard = guards.get(guard_text) or self._guard(guard_text)
                add(opcodes.setdefault(opcode, opcode), operands, guard, start, match.end())
            elif kind == _LINE:
                add_location(match[5], match[6], match[7])
            elif kind == _LABEL:
                function.add_label(match[4])
            elif kind == _OPEN:
                function.open()
            elif kind == _CLOSE:
                if not function.is_nested:
                    return match.end(), True
                function.close()
            elif kind == _DECLARATION:
                try:
                    self._apply(match[10], match.start(10), "statement")
                except Mismatch:
                    return match.start(10), False
            elif kind == _END:
                return self._unclosed(function, len(text))
            else:
                return match.start(12), False
        raise AssertionError(len(instructions))

    def _list(self, opcode: str, written: str) -> tuple[Operand, ...]:
        operands = self.operands.read_list(written)
        if not opcode.startswith("call"):
            if "(" in written:
                raise Unbound
            self._lists[written] = operands
        return operands

    def _guard(self, written: str) -> Guard:
        register = written[1:].strip()
        negated = register.startswith("!")
        guard = self.builder.guard(register[1:] if negated else register, negated)
        self._guards[written] = guard
        return guard

    def _unclosed(self, function: FunctionBuilder, position: int) -> tuple[int, bool]:
        name = function.prototype.name
        mismatch = Mismatch(0, f"the body of {name} is not closed", ('"}"',))
        self.builder.problem(position, mismatch, name)
        return position, True

    def _odd_statement(self, function: FunctionBuilder, position: int) -> tuple[int, bool]:
        """Read one statement that the scanner does not know.

        Raises:
            Mismatch: the grammar does not know it either; the offset is one of the file.
        """
        text = self.text
        start = self._skip(position)
        if start != position:
            return start, False
        letter = text[start]
        if letter == ";":
            return start + 1, False
        if letter == ".":
            if _FUNCTION.match(text, start):
                return self._unclosed(function, start)
            section = _SECTION.match(text, start)
            if section:
                return section.end(), False
        found = _LINE_DIRECTIVE.match(text, start) if letter == "." else None
        end = found.end() if found else self._statement_end(start)
        chunk = text[start:end]
        try:
            if not self._commented(function, chunk, start):
                self._apply(chunk, start, "statement")
        except Mismatch as mismatch:
            raise Mismatch(start + mismatch.offset, mismatch.message, mismatch.expected) from None
        return end, False

    def _commented(self, function: FunctionBuilder, chunk: str, start: int) -> bool:
        """Read an instruction with comments inside; tell whether it was one."""
        if "/" not in chunk:
            return False
        match = _SIMPLE.fullmatch(_COMMENT.sub(" ", chunk))
        if match is None:
            return False
        guard_text, opcode, written = match.groups()
        try:
            operands = self.operands.read_list(written) if written.strip() else ()
        except (Mismatch, Unbound):
            return False
        guard = self._guard(guard_text) if guard_text else None
        settled = self.builder.settle(opcode, operands)
        function.add(opcode, settled, guard, start, start + len(chunk))
        return True

    def _resume(self, start: int, error: int) -> int:
        """Return where to go on after an error at *error* in the statement at *start*."""
        text = self.text
        if start < error < len(text):
            before = text[start:error].rstrip(" \t")
            if before.endswith("\n"):
                return error
        depth = text.count("{", start, error) - text.count("}", start, error)
        for match in _STOP.finditer(text, error):
            letter = match.group()
            if letter == "{":
                depth += 1
            elif letter == "}":
                if depth <= 0:
                    return max(match.start(), start + 1)
                depth -= 1
            elif letter == ";" or depth <= 0:
                return match.end()
        return len(text)
