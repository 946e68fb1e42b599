"""Prints what each stage made of a kernel: for newcomers, golden tests and bug reports."""

from ptxlint.engine.program import Alu, Event
from ptxlint.engine.run import Analysis, analyse, prepare
from ptxlint.flow.dominators import immediate_postdominators
from ptxlint.model import effects as fx
from ptxlint.model import semantics
from ptxlint.ptx.syntax import Function, Module
from ptxlint.records import fields

Shape = tuple[int, int, int] | None


def dump(module: Module, block: Shape, cluster: Shape, stage: str, kernel: str | None) -> str:
    """Return *stage* (effects, cfg or events) of the named kernel, or of all.

    Raises:
        KeyError: there is no kernel of that name.
        ValueError: there is no such stage.
    """
    chosen = [f for f in module.functions if not f.is_declaration and (kernel is None or f.name == kernel)]
    if kernel is not None and not chosen:
        raise KeyError(kernel)
    parts = []
    for function in chosen:
        if stage == "effects":
            parts.append(_effects(module, function))
        elif stage == "cfg":
            parts.append(_cfg(module, function, block, cluster))
        elif stage == "events":
            if function.is_entry:
                parts.append(_events(module, function, block, cluster))
        else:
            raise ValueError(stage)
    return "\n".join(parts)


def _describe(effect: fx.Effect) -> str:
    shown = []
    for entry in fields(effect):
        value = getattr(effect, entry)
        if value not in (None, False, (), "", 0, frozenset()):
            shown.append(f"{entry}={_brief(value)}")
    return f"{type(effect).__name__}({', '.join(shown)})"


def _brief(value: object) -> str:
    if hasattr(value, "text"):
        return str(value.text)
    if isinstance(value, tuple):
        return "(" + ", ".join(_brief(v) for v in value) + ")"
    if hasattr(value, "base") and hasattr(value, "offset"):
        base = _brief(value.base) if value.base is not None else ""
        return f"[{base}+{value.offset}]" if value.offset else f"[{base}]"
    if hasattr(value, "value"):
        return str(value.value)
    if isinstance(value, frozenset):
        return "{" + ",".join(sorted(map(str, value))) + "}"
    return str(value)


def _effects(module: Module, function: Function) -> str:
    lines = [f"{'kernel' if function.is_entry else 'function'} {function.name}"]
    for instruction in function.instructions:
        position = module.position(instruction)
        described = "; ".join(_describe(e) for e in semantics.decode(instruction)) or "-"
        guard = instruction.guard
        prefix = f"@{'!' if guard.negated else ''}{guard.register} " if guard else ""
        lines.append(f"{position.line:6} {prefix}{instruction.opcode}: {described}")
    return "\n".join(lines)


def _cfg(module: Module, function: Function, block: Shape, cluster: Shape) -> str:
    analysis = prepare(module, function, block, cluster)
    code = analysis.kernel
    join = immediate_postdominators(code.cfg)
    lines = [f"kernel {function.name}: {len(code.cfg.blocks)} blocks, {len(code.loops)} loops"]
    for basic in code.cfg.blocks:
        kept = code.blocks[basic.index].items
        events = sum(isinstance(item, Event) for item in kept)
        flags = " dead" if basic.index in code.dead else ""
        if basic.index in code.headers:
            flags += " loop"
        lines.append(
            f"  block {basic.index}: instructions {basic.start}-{basic.end - 1}, {len(kept)} kept, "
            f"{events} events -> {code.blocks[basic.index].exit.targets or tuple(basic.successors)} "
            f"join {join[basic.index]}{flags}"
        )
    return "\n".join(lines)


def _events(module: Module, function: Function, block: Shape, cluster: Shape) -> str:
    analysis = analyse(prepare(module, function, block, cluster))
    lines = [
        f"kernel {function.name}: {analysis.launch.threads} threads, cluster of {analysis.launch.cluster_size}, "
        f"{analysis.steps} steps, scenarios: {', '.join(analysis.scenarios) or 'none needed'}"
    ]
    lines += [_event_line(analysis, module, event, id(code)) for code, event in analysis.events()]
    for note in analysis.forced_notes:
        lines.append(f"  forced: {note}")
    for conflict in analysis.conflicts:
        first, second = conflict.first, conflict.second
        lines.append(
            f"  conflict ({conflict.gap.value}): line {module.position(first.event.instruction).line} {first.actor} "
            f"[0x{first.low:x}, 0x{first.high:x}) -> line {module.position(second.event.instruction).line} "
            f"{second.actor} [0x{second.low:x}, 0x{second.high:x}), {conflict.count} times, {conflict.scenario}"
        )
    return "\n".join(lines)


def _event_line(analysis: Analysis, module: Module, event: Event, code: int) -> str:
    site = (code, event.instruction.index)
    state = "reached" if site in analysis.executed else "not reached"
    if site in analysis.unresolved:
        state += ", address not known"
    return f"{module.position(event.instruction).line:6} {event.instruction.opcode}: {event.kind}, {state}"


__all__ = ["Alu", "dump"]
