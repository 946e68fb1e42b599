"""The specifications beside the fixtures: they fit their kernels, and their expressions give what is compared."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxlint.device.expressions import evaluate
from ptxlint.device.spec import Spec, read_spec
from ptxlint.device.worker import filled, wrong_words
from tests.evidence import name_of, specifications

SPECIFICATIONS = specifications()
_KERNEL = r"\.entry\s+{}\s*\((?P<parameters>[^)]*)\)"
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.(?P<type>[a-z]+)(?P<bits>\d+)(?P<more>[^,\[]*(?:\[(?P<count>\d+)\])?)"
)


def widths(path: Path, kernel: str) -> list[int]:
    """Return the bytes of each parameter of *kernel*."""
    found = re.search(_KERNEL.format(re.escape(kernel)), path.read_text("utf-8"))
    assert found is not None, kernel
    return [int(p["bits"]) // 8 * int(p["count"] or 1) for p in _PARAMETER.finditer(found["parameters"])]


def passed(spec: Spec) -> list[int]:
    """Return the bytes of each argument that is passed."""
    return [
        128 if a.tensor_map is not None else 8 if a.shape else np.dtype(a.dtype).itemsize
        for a in spec.arguments
        if a.parameter
    ]


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=name_of)
def test_it_fits_its_kernels(path: Path) -> None:
    spec = read_spec(path)
    assert widths(spec.ptx, spec.kernel) == passed(spec)
    if spec.fixed is not None:
        assert widths(spec.fixed, spec.fixed_kernel or spec.kernel) == passed(spec)
    if spec.reference is not None:
        assert widths(spec.reference, spec.reference_kernel or spec.kernel) == passed(spec)


@pytest.mark.parametrize(
    "path", [p for p in SPECIFICATIONS if "[expect]" in p.read_text("utf-8")], ids=name_of
)
def test_expressions(path: Path) -> None:
    spec = read_spec(path)
    generator = np.random.default_rng(1)
    buffers = {a.name: filled(a, generator) for a in spec.arguments if a.shape}
    given: dict[str, Any] = {a.name: buffers[a.name] for a in spec.arguments if a.shape and not a.output}
    given |= {a.name: a.value for a in spec.arguments if a.value is not None}
    expected = {name: evaluate(text, given) for name, text in spec.expect.items()}
    outputs = {a.name: buffers[a.name] for a in spec.outputs}
    right = {
        name: np.broadcast_to(np.asarray(value), outputs[name].shape).astype(outputs[name].dtype)
        for name, value in expected.items()
    }
    total = sum(value.size for value in outputs.values())
    assert wrong_words(spec, right, expected) == (0, total)
    # What the buffers hold before is not taken for a result.
    assert wrong_words(spec, outputs, expected)[0] > 0


def test_how_many() -> None:
    hazards = [p for p in SPECIFICATIONS if "_lookalike" not in p.stem and p.parent.name != "clean"]
    assert len(hazards) >= 100
    assert len(SPECIFICATIONS) - len(hazards) >= 25
