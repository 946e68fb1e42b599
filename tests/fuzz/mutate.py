"""Broken PTX: fixtures and made-up kernels changed as text, or one statement at a time."""

from random import Random

from ptxlint.ptx.parser import parse
from ptxlint.ptx.syntax import Instruction

PIECES = (
    *"{}[]()<>;,:.@!|%+-*/?_\"'#\\\n\t\0\r 0159xé",
    *("//", "/*", "*/", "::", "%r1", "0x1F", "0f3F800000", "L:", ".reg .b32 %r<4>;", ".loc 1 2 3", ".pragma"),
    *(".entry k()", ".section .x {", "ret;", "@%p1 ", "{%r1, %r2}", "[%rd1+4]", "18446744073709551616"),
    *("-9223372036854775808", ".extern .shared .b8 s[];", ".branchtargets", "call (a), f, (b);", "\u2028"),
)
MODIFIERS = (
    ".release",
    ".acquire",
    ".relaxed",
    ".cta",
    ".cluster",
    ".gpu",
    ".sys",
    ".global",
    ".aligned",
    ".read",
)


def mutate_text(text: str, random: Random) -> str:
    """Return *text* with a few characters or pieces deleted, inserted, replaced or repeated."""
    for _ in range(random.randint(1, 5)):
        at = random.randrange(len(text) + 1)
        piece = random.choice(PIECES)
        match random.randrange(5):
            case 0:
                text = text[:at] + text[at + random.randint(1, 12) :]
            case 1:
                text = text[:at] + piece + text[at:]
            case 2:
                text = text[:at] + piece + text[at + len(piece) :]
            case 3:
                other = random.randrange(len(text) + 1)
                text = text[:at] + text[other : other + random.randint(1, 60)] + text[at:]
            case _:
                text = text[:at] if random.random() < 0.1 else text[:at] + text[at:].replace(" ", piece, 1)
    return text or " "


def mutate_statements(text: str, random: Random, other: str = "") -> str:
    """Return *text* with a few instructions deleted, repeated, exchanged, or changed in a part.

    Args:
        text: PTX that can be parsed.
        random: where choices come from.
        other: PTX from which statements are taken too.
    """
    for _ in range(random.randint(1, 4)):
        statements = _statements(text)
        if not statements:
            return text
        text = _mutate_one(text, statements, random, other)
    return text


def _statements(text: str) -> list[Instruction]:
    module = parse(text)
    return [instruction for function in module.functions for instruction in function.instructions]


def _mutate_one(text: str, statements: list[Instruction], random: Random, other: str) -> str:
    chosen = random.choice(statements)
    start, end = chosen.offset, chosen.end
    written = text[start:end]
    match random.randrange(9):
        case 0:
            changed = ""
        case 1:
            changed = f"{written}\n{written}"
        case 2:
            second = random.choice(statements)
            first, second = sorted((chosen, second), key=lambda at: at.offset)
            if first.end > second.offset:
                return text
            between = text[first.end : second.offset]
            exchanged = text[second.offset : second.end] + between + text[first.offset : first.end]
            return text[: first.offset] + exchanged + text[second.end :]
        case 3:
            changed = _other_modifier(written, random)
        case 4:
            changed = _other_operand(written, text, random.choice(statements), random)
        case 5:
            changed = written.partition(" ")[2] if chosen.guard else f"@%p1 {written}"
        case 6:
            changed = _other_number(written, random)
        case 7:
            foreign = _statements(other) if other else []
            source = random.choice(foreign) if foreign else None
            changed = f"{written}\n{other[source.offset : source.end]}" if source else written
        case _:
            moved = random.choice(statements)
            if start <= moved.offset < end or moved.offset <= start < moved.end:
                return text
            if moved.offset > start:
                return text[:start] + text[end : moved.offset] + written + "\n" + text[moved.offset :]
            return text[: moved.offset] + written + "\n" + text[moved.offset : start] + text[end:]
    return text[:start] + changed + text[end:]


def _other_modifier(written: str, random: Random) -> str:
    head, blank, rest = written.partition(" ")
    if head.startswith("@"):
        return written
    parts = head.split(".")
    at = random.randrange(1, len(parts) + 1)
    if random.random() < 0.5 and len(parts) > 1:
        del parts[min(at, len(parts) - 1)]
        return ".".join(parts) + blank + rest
    return (
        ".".join(parts[:at]) + random.choice(MODIFIERS) + "".join(f".{p}" for p in parts[at:]) + blank + rest
    )


def _other_operand(written: str, text: str, donor: Instruction, random: Random) -> str:
    mine = written.rstrip(";").split(",")
    theirs = text[donor.offset : donor.end].rstrip(";").partition(" ")[2].split(",")
    at = random.randrange(len(mine))
    if at == 0:
        opcode, blank, _ = mine[0].rpartition(" ")
        mine[0] = f"{opcode}{blank}{random.choice(theirs).strip()}"
    else:
        mine[at] = " " + random.choice(theirs).strip()
    return ",".join(mine) + ";"


def _other_number(written: str, random: Random) -> str:
    digits = [at for at, letter in enumerate(written) if letter.isdigit()]
    if not digits:
        return written
    at = random.choice(digits)
    return written[:at] + random.choice(("0", "1", "7", "16", "4294967295", "-1")) + written[at + 1 :]
