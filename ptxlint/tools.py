"""Find and run the programs of the CUDA toolkit that ptxlint uses: never through a shell.

None is required to check PTX. ``pip install "ptxlint[tools]"`` brings nvcc, ptxas and cuobjdump into
the environment, where they are found without a PATH.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

EXTRA = 'pip install "ptxlint[tools]"'
TIME_LIMIT = 600.0  # seconds for one run of a tool
MAX_OUTPUT_BYTES = 16 << 20  # of what a tool prints, more is cut
MAX_FILE_BYTES = 2 << 30  # of a file that a tool writes


class ToolError(Exception):
    """A tool that is missing, cannot be run, or does not end; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a tool printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def messages(self) -> str:
        """What the tool had to say, its standard error first."""
        return "\n".join(part for part in (self.err.strip(), self.out.strip()) if part)


def search_path() -> list[tuple[str, str]]:
    """Return the folders that are searched, in order, each with how it was found.

    First what the environment names (``CUDA_HOME``, ``CUDA_PATH``), then ``PATH``, then the packages
    of this Python environment, last the usual place of a CUDA toolkit.
    """
    folders: list[tuple[str, str]] = []
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            folders.append((os.path.join(os.environ[variable], "bin"), variable))
    folders += [(folder, "PATH") for folder in os.get_exec_path() if folder]
    for packages in dict.fromkeys(sysconfig.get_paths()[name] for name in ("purelib", "platlib")):
        root = Path(packages)
        with contextlib.suppress(OSError):
            folders += [(str(found), "site-packages") for found in sorted(root.glob("nvidia/*/bin"))]
        folders.append((str(root / "triton" / "backends" / "nvidia" / "bin"), "triton"))
    folders.append(("/usr/local/cuda/bin", "/usr/local/cuda"))
    return folders


def find_tool(name: str) -> str | None:
    """Return the path of the program *name*, or None."""
    found = locate(name)
    return found[0] if found else None


def locate(name: str) -> tuple[str, str] | None:
    """Return the path of the program *name* and how it was found, or None."""
    for folder, origin in search_path():
        path = shutil.which(name, path=folder)
        if path is not None:
            return os.path.abspath(path), origin
    return None


def need_tool(name: str, purpose: str) -> str:
    """Return the path of the program *name*.

    Raises:
        ToolError: there is none; the message says how to get it.
    """
    path = find_tool(name)
    if path is None:
        raise ToolError(
            f"{purpose} needs {name}, which was not found; {EXTRA} brings it, "
            "or set CUDA_HOME to a CUDA toolkit"
        )
    return path


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="ptxlint-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def run_tool(
    command: Sequence[str],
    *,
    scratch: Path,
    cwd: str | os.PathLike[str] | None = None,
    time_limit: float = TIME_LIMIT,
    environment: Mapping[str, str] | None = None,
) -> Completed:
    """Run *command*; its temporary files go to *scratch*, and nothing it started outlives the call.

    Args:
        command: The path of a program and its arguments, handed over as they are.
        scratch: A folder for temporary files.
        cwd: The working directory; the current one by default.
        time_limit: Seconds after which the program is ended.
        environment: Variables to set besides those of this process.

    Raises:
        ToolError: the program cannot be started or did not end in time.
    """
    name = os.path.basename(command[0])
    variables = {**os.environ, "TMPDIR": str(scratch), "TMP": str(scratch), "TEMP": str(scratch)}
    with tempfile.TemporaryFile(dir=scratch) as out, tempfile.TemporaryFile(dir=scratch) as err:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=cwd,
                env={**variables, **(environment or {})},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise ToolError(f"cannot run {command[0]}: {reason[:1].lower()}{reason[1:]}") from None
        try:
            _limit_files(process.pid)
            status = process.wait(time_limit)
        except subprocess.TimeoutExpired:
            raise ToolError(f"{name} did not end within {time_limit:g} seconds") from None
        finally:
            _end(process)
        return Completed(status, _head(out), _head(err))


def _limit_files(pid: int) -> None:
    """Bound the size of each file that a process writes, where the system can."""
    try:
        import resource

        prlimit = resource.prlimit
    except (ImportError, AttributeError):  # not Linux
        return
    with contextlib.suppress(OSError, ValueError):
        prlimit(pid, resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and what it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _head(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_OUTPUT_BYTES).decode("utf-8", errors="replace")
