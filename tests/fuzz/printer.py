"""A parsed module as PTX: the inverse of the parser, up to names of inner scopes, sizes and comments."""

from collections.abc import Iterator

from ptxlint.ptx.syntax import (
    Address,
    FloatImmediate,
    Function,
    Group,
    Immediate,
    Instruction,
    Module,
    Name,
    Not,
    Operand,
    Pair,
    Sink,
    Symbolic,
    Variable,
    Vector,
)


def plain(name: str) -> str:
    """Return *name* as PTX can write it: ``name#3`` is how the parser tells scopes apart."""
    return name.replace("#", "$in")


def print_module(module: Module) -> str:
    """Return the text of *module*; functions come in their order, declarations of variables before them."""
    lines = [
        *([f".version {module.version}"] if module.version else []),
        *([f".target {', '.join(module.targets)}"] if module.targets else []),
        f".address_size {module.address_size}",
        *map(print_variable, module.variables),
    ]
    for function in module.functions:
        lines.extend(print_function(function))
    return "\n".join(lines) + "\n"


def print_variable(variable: Variable) -> str:
    """Return the declaration of *variable*, in bytes."""
    extern = ".extern " if variable.external else ""
    size = "" if variable.size is None else str(variable.size)
    initial = f" = {{{', '.join(map(str, variable.initial))}}}" if variable.initial else ""
    return f"{extern}.{variable.space} .align {variable.align} .b8 {plain(variable.name)}[{size}]{initial};"


def print_function(function: Function) -> Iterator[str]:
    """Yield the lines of *function*."""
    kind = ".entry" if function.is_entry else ".func"
    returns = f" ({_parameters(function.returns)})" if function.returns else ""
    yield f"{kind}{returns} {function.name} ({_parameters(function.parameters)})"
    for name, numbers in function.directives.items():
        yield f".{name} {', '.join(map(str, numbers))}"
    if function.is_declaration:
        yield ";"
        return
    yield "{"
    for name, type_name in function.registers.items():
        yield f".reg .{type_name} {plain(name)};"
    for prefix, (type_name, count) in function.ranges.items():
        yield f".reg .{type_name} {prefix}<{count}>;"
    yield from map(print_variable, function.variables)
    for label, names in function.targets.items():
        yield f"{plain(label)}: .branchtargets {', '.join(map(plain, names))};"
    at: dict[int, list[str]] = {}
    for label, index in function.labels.items():
        at.setdefault(index, []).append(label)
    for index, instruction in enumerate(function.instructions):
        yield from (f"{plain(label)}:" for label in at.get(index, ()))
        yield print_instruction(instruction)
    yield from (f"{plain(label)}:" for label in at.get(len(function.instructions), ()))
    yield "}"


def _parameters(variables: tuple[Variable, ...]) -> str:
    return ", ".join(print_variable(variable).rstrip(";") for variable in variables)


def print_instruction(instruction: Instruction) -> str:
    """Return the statement of *instruction*."""
    guard = ""
    if instruction.guard is not None:
        guard = f"@{'!' if instruction.guard.negated else ''}{plain(instruction.guard.register)} "
    operands = ", ".join(map(print_operand, instruction.operands))
    return f"{guard}{instruction.opcode} {operands};"


def print_operand(operand: Operand) -> str:
    """Return *operand* as it is written."""
    match operand:
        case Name(text=text):
            return plain(text)
        case Immediate(value=value):
            return str(value)
        case FloatImmediate(text=text):
            return text
        case Sink():
            return "_"
        case Not(operand=inner):
            return f"!{plain(inner.text)}"
        case Vector(elements=elements):
            return f"{{{', '.join(map(print_operand, elements))}}}"
        case Group(elements=elements):
            return f"({', '.join(map(print_operand, elements))})"
        case Pair(first=first, second=second):
            return f"{print_operand(first)}|{print_operand(second)}"
        case Symbolic(base=base, offset=offset, function=function):
            name = f"{function}({plain(base.text)})" if function else plain(base.text)
            return f"{name}+{offset}" if offset or function is None else name
        case Address(base=base, offset=offset, rest=rest):
            where = str(offset) if base is None else plain(base.text)
            if base is not None and offset:
                where += f"+{offset}"
            return f"[{', '.join([where, *map(print_operand, rest)])}]"
    raise AssertionError(operand)
