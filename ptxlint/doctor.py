"""Which helpers are there: programs, Python packages, a GPU; what each is for, and how to get it."""

import contextlib
import importlib.metadata
import importlib.util
import platform
import re
from dataclasses import asdict, dataclass
from typing import Any

import ptxlint
from ptxlint.tools import EXTRA, ToolError, locate, run_tool, scratch_folder

FORMAT_VERSION = 1
TIME_LIMIT = 20.0  # seconds for one question to a program


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper: where it was found, or None; *purpose* and *hint* say what for, and how to get it.

    *origin* is how it was found (``PATH``, ``CUDA_HOME``, ``site-packages``, …), *problem* what it said when it
    could not tell its version.
    """

    name: str
    kind: str
    purpose: str
    hint: str
    path: str | None = None
    origin: str | None = None
    version: str | None = None
    problem: str | None = None

    @property
    def found(self) -> bool:
        return self.path is not None


_TOOLS = (
    ("nvcc", "checking CUDA source (.cu)", EXTRA),
    ("cuobjdump", "checking the PTX in compiled files and wheels", EXTRA),
    ("ptxas", "seeing that it takes what ptxlint fix changed; no check needs it", EXTRA),
    ("cu++filt", "C++ names, where the package demangle is missing", "a CUDA toolkit has it"),
    ("c++filt", "C++ names, where the package demangle is missing", "binutils have it"),
)
_PACKAGES = (
    ("demangle", "demangle", "C++ names", "pip install demangle (Python 3.11 and newer)"),
    ("triton", "triton", "checking the kernels of Triton in tests", "pip install triton"),
    (
        "cupy",
        "cupy-cuda12x",
        "running kernels on a GPU, and checking those of CuPy in tests",
        'pip install "ptxlint[device]"',
    ),
)
_CUPY_NAMES = ("cupy-cuda12x", "cupy-cuda13x", "cupy-cuda11x", "cupy")
_VERSION = re.compile(r"\bV(\d+(?:\.\d+)+)|\brelease (\d+(?:\.\d+)+)|\b(\d+(?:\.\d+)+)\b")


def examine() -> list[Helper]:
    """Look for every helper. Nothing is raised, and no package is imported."""
    helpers = [_tool(name, purpose, hint) for name, purpose, hint in _TOOLS]
    helpers += [_package(*package) for package in _PACKAGES]
    return [*helpers, _gpu()]


def as_json(helpers: list[Helper]) -> dict[str, Any]:
    """Return what was found as plain values."""
    return {
        "version": FORMAT_VERSION,
        "ptxlint": ptxlint.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "helpers": [{**asdict(helper), "found": helper.found} for helper in helpers],
    }


def as_text(helpers: list[Helper]) -> list[str]:
    """Return what was found as lines: a line a helper, and one on what it is for."""
    lines = [
        f"ptxlint {ptxlint.__version__}, Python {platform.python_version()}, {platform.platform()}",
        "PTX files need no helper.",
    ]
    width = max(len(helper.name) for helper in helpers)
    for helper in helpers:
        if helper.found:
            version = helper.version or helper.problem or "of unknown version"
            place = f"{helper.path} ({helper.origin})" if helper.path != helper.origin else helper.path
            lines.append(f"  {helper.name:{width}}  {version}  {place}")
        else:
            lines.append(f"  {helper.name:{width}}  {helper.problem or 'not found'}; {helper.hint}")
        lines.append(f"  {'':{width}}  for {helper.purpose}")
    return lines


def _tool(name: str, purpose: str, hint: str) -> Helper:
    found = locate(name)
    if found is None:
        return Helper(name, "tool", purpose, hint)
    path, origin = found
    said, problem = _ask([path, "--version"])
    return Helper(name, "tool", purpose, hint, path, origin, _version(said), problem)


def _version(said: str) -> str | None:
    matches = list(_VERSION.finditer(said))
    exact = next((match for match in matches if match.group(1)), matches[0] if matches else None)
    return next((group for group in exact.groups() if group), None) if exact else None


def _package(module: str, distribution: str, purpose: str, hint: str) -> Helper:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return Helper(module, "package", purpose, hint)
    names = _CUPY_NAMES if module == "cupy" else (distribution,)
    version = None
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            version = version or importlib.metadata.version(name)
    return Helper(module, "package", purpose, hint, spec.origin, "Python package", version)


def _gpu() -> Helper:
    purpose, hint = "running kernels; no check needs it", "install the driver of an NVIDIA GPU"
    found = locate("nvidia-smi")
    if found is None:
        return Helper("GPU", "device", purpose, hint)
    query = ["--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"]
    said, problem = _ask([found[0], *query])
    if problem is not None or not said.strip():
        return Helper("GPU", "device", purpose, hint, problem=problem or "nvidia-smi lists none")
    gpus = "; ".join(line.strip() for line in said.strip().splitlines())
    return Helper("GPU", "device", purpose, hint, *found, version=gpus)


def _ask(command: list[str]) -> tuple[str, str | None]:
    """Return what a program prints, and what went wrong."""
    try:
        with scratch_folder() as scratch:
            done = run_tool(command, scratch=scratch, time_limit=TIME_LIMIT)
    except (ToolError, OSError) as error:
        return "", str(error)
    if done.status != 0:
        first = next(iter(done.messages.splitlines()), "it said nothing")
        return done.out, f"does not run (exit status {done.status}): {first}"
    return done.out or done.err, None
