"""Compile the CUDA fixtures: ``python -m tests.build_fixtures [--force] [NAMES]``.

Each ``NAME.cu`` under ``fixtures/`` gets a ``NAME.TARGET.ptx`` beside it for every target that it already
has, or for sm_90a when there is none; ``// nvcc: -arch=sm_100a -DX=1`` in the ``.cu`` names the target
and further arguments instead. NAMES are parts of paths (``ptx201``, ``two_stage_copy``). Only what is
out of date is compiled.

The PTX names no folder of the machine that it was made on: nvcc runs beside the ``.cu``, and the paths of
toolkit headers are cut after their ``include`` folder.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
DEFAULT_TARGET = "sm_90a"
FLAGS = ("-std=c++17", "-lineinfo", "-ptx")

HEADER = re.compile(r"// from (?P<name>\S+\.cu) sha256:(?P<digest>[0-9a-f]{64}) by nvcc (?P<rest>.+)\n")
_ARGUMENTS = re.compile(r"^// nvcc: (.+)$", re.MULTILINE)
_FILE = re.compile(r'^(\s*\.file\s+\d+\s+)"([^"]*)"(?:,[^\n]*)?$', re.MULTILINE)


@dataclass(frozen=True)
class Job:
    """One compilation: a ``.cu``, the target, and what the ``.cu`` asks for besides."""

    source: Path
    target: str
    extra: tuple[str, ...] = ()

    @property
    def ptx(self) -> Path:
        return self.source.with_name(f"{self.source.stem}.{self.target}.ptx")

    @property
    def arguments(self) -> list[str]:
        return [f"-arch={self.target}", *FLAGS, *self.extra]

    def header(self, version: str) -> str:
        """Return the first line of the PTX."""
        made = f"by nvcc {version} {' '.join(self.arguments)}"
        return f"// from {self.source.name} sha256:{digest(self.source)} {made}\n"

    def is_current(self) -> bool:
        """Return whether the PTX was made from the ``.cu`` as it is, with these arguments."""
        if not self.ptx.exists():
            return False
        with self.ptx.open(encoding="utf-8") as file:
            match = HEADER.fullmatch(file.readline())
        return (
            match is not None
            and match["digest"] == digest(self.source)
            and match["rest"].split()[1:] == self.arguments
        )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def jobs(names: list[str]) -> Iterator[Job]:
    """Yield what can be compiled, sorted, among the fixtures whose path holds one of *names*."""
    for source in sorted(FIXTURES.rglob("*.cu")):
        if names and not any(name in source.relative_to(ROOT).as_posix() for name in names):
            continue
        found = _ARGUMENTS.search(source.read_text("utf-8"))
        extra = found[1].split() if found else []
        targets = [word.removeprefix("-arch=") for word in extra if word.startswith("-arch=")]
        if not targets:
            made = sorted(source.parent.glob(f"{source.stem}.sm_*.ptx"))
            targets = [path.name.split(".")[-2] for path in made] or [DEFAULT_TARGET]
        others = tuple(word for word in extra if not word.startswith("-arch="))
        for target in targets:
            yield Job(source, target, others)


def relative_names(ptx: str) -> str:
    """Return *ptx* with the paths of its ``.file`` directives cut to what does not depend on the machine."""

    def cut(match: re.Match[str]) -> str:
        path = PurePosixPath(match[2])
        parts = path.parts
        if "include" in parts:
            last = len(parts) - 1 - parts[::-1].index("include")
            path = PurePosixPath(*parts[last + 1 :])
            if path.parts[0] == "cccl":
                path = PurePosixPath(*path.parts[1:])
        elif path.is_absolute():
            path = PurePosixPath(path.name)
        return f'{match[1]}"{path}"'

    return _FILE.sub(cut, ptx)


def compile_job(job: Job, version: str) -> None:
    """Compile one fixture.

    Raises:
        subprocess.CalledProcessError: nvcc failed; its ``stderr`` says why.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "out.ptx"
        subprocess.run(
            ["nvcc", *job.arguments, "-o", str(made), job.source.name],
            cwd=job.source.parent,
            check=True,
            capture_output=True,
            text=True,
        )
        ptx = relative_names(made.read_text("utf-8"))
    job.ptx.write_text(job.header(version) + ptx, "utf-8")


def nvcc_version() -> str:
    """Return nvcc's version: ``13.0.88``."""
    done = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True)
    match = re.search(r"V([\d.]+)", done.stdout)
    return match[1] if match else "unknown"


def main() -> int:
    """Compile what is out of date; return 1 when something did not compile."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.build_fixtures", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--force", action="store_true", help="compile what is current too")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of the paths to compile")
    arguments = parser.parse_args()
    stale = [job for job in jobs(arguments.names) if arguments.force or not job.is_current()]
    if stale and shutil.which("nvcc") is None:
        print("nvcc is not in PATH", file=sys.stderr)
        return 1
    failed = 0
    version = nvcc_version() if stale else ""
    for job in stale:
        try:
            compile_job(job, version)
            print(job.ptx.relative_to(ROOT))
        except subprocess.CalledProcessError as error:
            failed += 1
            print(f"{job.source.relative_to(ROOT)}: nvcc failed\n{error.stderr}", file=sys.stderr)
    print(f"{len(stale) - failed} compiled, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
