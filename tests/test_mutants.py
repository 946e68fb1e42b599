"""The mutation command, on two kernels whose every synchronising instruction counts."""

import pytest

from tests.conftest import ROOT
from tests.mutants import Mutant, caught, mutants

NAMES = ("ptx201/two_stage_copy_fixed.sm_90a", "ptx102/two_stage_combine_fixed.sm_90a")


def cases() -> list[tuple[str, Mutant]]:
    found = []
    for name in NAMES:
        text = (ROOT / "fixtures" / f"{name}.ptx").read_text("utf-8")
        found += [(name, mutant) for mutant in mutants(text) if mutant.what in WANTED]
    return found


WANTED = (
    "commit_group deleted",
    "proxy fence deleted",
    "proxy fence made one of global memory",
    "mbarrier wait taken as done",
)


def test_there_are_mutants_of_each_kind() -> None:
    assert {mutant.what for _, mutant in cases()} == set(WANTED)


@pytest.mark.parametrize(("name", "mutant"), cases(), ids=lambda value: getattr(value, "what", value))
def test_mutant_is_caught(name: str, mutant: Mutant) -> None:
    assert caught(mutant.text), f"{name}:{mutant.line}: {mutant.what}"
