from hypothesis import given
from hypothesis import strategies as st

from ptxlint.report.printable import expand, printable


@given(st.text(st.characters(max_codepoint=0x3000)))
def test_nothing_that_moves_the_cursor_is_left(text: str) -> None:
    shown = printable(text)
    assert all(character.isprintable() or character.isspace() for character in shown if ord(character) < 0xA0)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


@given(st.text())
def test_places_follow_the_characters(line: str) -> None:
    shown, places = expand(line)
    assert len(places) == len(line) + 1
    assert places == sorted(places)
    assert places[-1] == len(shown)


def test_escapes() -> None:
    assert printable("a\x1b\x9b\u202eb\tc") == "a\\x1b\\x9b\\u202eb c"
    assert expand("a\tb") == ("a   b", [0, 1, 4, 5])
