"""The mutation command: its operators on three kernels, and its list of changes that are no hazard."""

import json

import pytest

from tests.mutants.operators import Mutant, mutants
from tests.mutants.score import EQUIVALENT, KERNELS, codes, is_caught, source

PICKED = {
    "ptx201/two_stage_copy_fixed.sm_90a": (
        "arrive with expect-tx deleted",
        "commit_group deleted",
        "commit_group moved before the copy",
        "expect-tx deleted",
        "expect-tx raised",
        "init count raised",
        "init deleted",
        "mbarrier wait moved after the use",
        "mbarrier wait taken as done",
        "parity inverted",
        "wait_group deleted",
    ),
    "ptx204/copy_loader_waits_fixed.sm_90a": ("arrive deleted",),
    "ptx102/two_stage_combine_fixed.sm_90a": (
        "arrive deleted",
        "proxy fence deleted",
        "proxy fence made one of global memory",
        "proxy fence moved before the accesses",
    ),
}


def picked() -> list[tuple[str, Mutant]]:
    """Return the first mutant of each picked operator."""
    found = []
    for kernel, operators in PICKED.items():
        made = list(mutants(source(kernel)))
        for operator in operators:
            found += [(kernel, mutant) for mutant in made if mutant.operator == operator][:1]
    return found


@pytest.mark.parametrize(("kernel", "mutant"), picked(), ids=lambda v: getattr(v, "operator", v))
def test_mutant_is_reported_with_a_code_of_its_family(kernel: str, mutant: Mutant) -> None:
    found = codes(mutant.text)
    assert is_caught(mutant, found), f"{kernel}:{mutant.line}: {mutant.statement}: {found}"


def test_every_operator_is_picked_up_again() -> None:
    assert {mutant.operator for _, mutant in picked()} == {o for names in PICKED.values() for o in names}


def test_there_are_kernels_enough_and_each_change_that_is_no_hazard_names_one_of_them() -> None:
    entries = json.loads(EQUIVALENT.read_text("utf-8"))
    assert len(set(KERNELS)) >= 15
    for entry in entries:
        assert entry["kernel"] in KERNELS
        assert len(entry["reason"]) > 20
        made = {(m.operator, m.statement, m.nth) for m in mutants(source(entry["kernel"]))}
        for operator in entry["operators"]:
            for nth in entry["nth"]:
                assert (operator, entry["statement"], nth) in made, entry
