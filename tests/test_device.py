"""Every launch specification on a GPU: what is repaired, and what is correct, is right under every schedule."""

import warnings
from pathlib import Path

import pytest

from ptxlint.device.confirm import confirm
from ptxlint.device.results import ConfirmError
from ptxlint.device.spec import read_spec
from ptxlint.settings import Settings
from tests.evidence import name_of, specifications

RUNS = 3


@pytest.fixture(scope="module")
def gpu() -> None:
    """Skip where no kernel can be launched."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import cupy
    except ImportError:
        pytest.skip("needs CuPy: the extra 'device'")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"needs a GPU: {error}")
    if not count or int(cupy.cuda.Device().compute_capability) != 90:
        pytest.skip("needs a GPU of compute capability 9.0")


@pytest.mark.device
@pytest.mark.parametrize("path", specifications(), ids=name_of)
def test_specification(path: Path, gpu: None) -> None:
    try:
        found = confirm(read_spec(path), Settings(), RUNS)
    except ConfirmError as error:
        if "cuda-bindings" in str(error):
            pytest.skip(str(error))
        raise
    told = {name: (tally.wrong_runs, tally.runs) for name, tally in found.tallies.items()}
    assert not found.clean_is_wrong, told
    assert not found.repaired_is_wrong, told
    if found.finding is not None:
        assert any(name.startswith("repaired") for name in told), found.repair


@pytest.mark.device
def test_the_ring_copies_show_under_their_witness(gpu: None) -> None:
    for path in specifications(["_stage_copy."]):
        tally = confirm(read_spec(path), Settings(), RUNS).tallies["as it is, witness"]
        assert tally.wrong_runs == RUNS, path
