"""Make text from a file fit to print: no control characters, tabs as blanks."""

import re

TAB = 4

_UNSAFE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f"  # C0 but for the tab, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of writing
    "\u2028\u2029\ufeff\ud800-\udfff]"
)

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f]")


def printable(text: str) -> str:
    """Return *text* with control characters spelled out, as hexadecimal escapes, and tabs as one blank."""
    return _UNSAFE.sub(lambda match: _spell(match.group()), text).replace("\t", " ")


def printable_lines(text: str) -> list[str]:
    """Return the lines of *text*, each printable; none when it is empty."""
    return [expand(line)[0].rstrip() for line in text.splitlines()]


def spell_surrogates(text: str) -> str:
    r"""Return *text* with lone surrogates spelled out, so that it can be encoded.

    Those that stand for a byte (PEP 383) become that byte: ``\xff``.
    """
    return _SURROGATE.sub(lambda match: _spell_surrogate(match.group()), text)


def xml_text(text: str) -> str:
    """Return *text* with the characters that XML 1.0 does not allow spelled out."""
    return _NOT_XML.sub(lambda match: _spell(match.group()), spell_surrogates(text))


def expand(line: str) -> tuple[str, list[int]]:
    """Return a source line with tabs as blanks, and the printed place of each of its characters.

    The list has one entry more than *line*: the place after its end.
    """
    parts: list[str] = []
    places: list[int] = []
    width = 0
    for character in line:
        places.append(width)
        shown = " " * (TAB - width % TAB) if character == "\t" else printable(character)
        parts.append(shown)
        width += len(shown)
    places.append(width)
    return "".join(parts), places


def _spell(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _spell_surrogate(character: str) -> str:
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
