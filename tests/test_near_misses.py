"""What looks like the missing order is told: for each kind, fixtures pin the cause and the line."""

import pytest

from tests import expect
from tests.expect import Marker
from tests.test_fixtures import ALL

# Each cause, and the codes for which a fixture pins it.
KINDS = {
    "fence-wrong-space": ("PTX101", "PTX102", "PTX105"),
    "thread-fence-only": ("PTX101", "PTX102", "PTX103"),
    "fence-before-access": ("PTX101",),
    "not-ordered": ("PTX101",),
    "fence-off-path": ("PTX101", "PTX102"),
    "proxy-fence-instead-of-wait": ("PTX202",),
    "wait-not-published": ("PTX202",),
    "wait-off-path": ("PTX202",),
    "non-issuer": ("PTX204", "PTX206"),
    "drain-off-path": ("PTX206",),
    "read-wait": ("PTX205",),
    "cp-async-for-bulk": ("PTX207",),
    "bulk-for-cp-async": ("PTX207",),
    "parity": ("PTX304",),
}


def pinned() -> dict[str, list[Marker]]:
    """Return the markers that name a cause and the line of a near miss, by cause, each source once."""
    found: dict[str, list[Marker]] = {}
    for source in sorted({fixture.source for fixture in ALL if fixture.folder != "syntax"}):
        for marker in expect.read(source).markers:
            if marker.kind == "expect" and marker.cause and marker.near:
                found.setdefault(marker.cause, []).append(marker)
    return found


PINNED = pinned()


@pytest.mark.parametrize("cause", KINDS)
def test_each_kind_is_pinned(cause: str) -> None:
    codes = {marker.code for marker in PINNED.get(cause, ())}
    assert [code for code in KINDS[cause] if code not in codes] == []


def test_fences_off_the_path_are_of_three_kinds() -> None:
    """By another thread, on another branch, and in a loop that may not run."""
    assert len([marker for marker in PINNED["fence-off-path"] if marker.code == "PTX101"]) >= 3
