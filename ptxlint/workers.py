"""Processes that do one task after the other; one that dies costs the task that it was at, and no more.

The standard library's pools give up as a whole when a process is killed, and do not say at which task.
"""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

Task = TypeVar("Task")

MAX_WORKERS = 60  # what a wait for processes can take on Windows
_CPU_SHARE = Path("/sys/fs/cgroup/cpu.max")  # of control groups, version 2: microseconds, and of how many
_PATIENCE = 10.0  # seconds that a process has to end what it started, when asked


class Died:
    """The result of a task whose process was killed or crashed; *how* says so in words."""

    def __init__(self, how: str) -> None:
        self.how = how


class NoWorkerError(Exception):
    """The system lets no process start."""


class Worker(Generic[Task]):
    """One process; *task* is what it is at. *held* is for its owner: what the process has in memory."""

    def __init__(self, process: "BaseProcess", connection: "Connection[Any, Any]") -> None:
        self.process = process
        self.connection = connection
        self.task: Task | None = None
        self.held: object = None


class Workers(Generic[Task]):
    """At most *count* processes, started when there is work for them, ended with the ``with`` block.

    Args:
        count: How many processes there may be.
        make: Called once in each process; what it returns is called with each message and returns the
            result. It must be a function of a module, and messages and results such that can be pickled.
        scratch: The folder for temporary files of the processes.
    """

    def __init__(self, count: int, make: Callable[[], Callable[[Any], Any]], scratch: Path) -> None:
        self._count = max(1, min(count, MAX_WORKERS))
        self._make = make
        self._scratch = scratch
        self._context = _context()
        self._workers: list[Worker[Task]] = []

    def __enter__(self) -> "Workers[Task]":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()

    @property
    def is_busy(self) -> bool:
        """Whether a task is under way."""
        return any(worker.task is not None for worker in self._workers)

    def idle(self) -> Worker[Task] | None:
        """Return a process that waits for work, a new one while there are fewer than there may be.

        Raises:
            NoWorkerError: there is none, and the system does not let one start.
        """
        for worker in self._workers:
            if worker.task is None:
                return worker
        if len(self._workers) == self._count:
            return None
        try:
            return self._start()
        except OSError as error:
            if not self._workers:
                raise NoWorkerError(str(error)) from None
            self._count = len(self._workers)
            return None

    def send(self, worker: Worker[Task], task: Task, message: object) -> None:
        """Give *worker* something to do."""
        worker.task = task
        with contextlib.suppress(OSError):  # it is dead: collect tells
            worker.connection.send(message)

    def collect(self, seconds: float | None) -> list[tuple[Task, Any]]:
        """Wait until a task is done, no longer than *seconds*; return the tasks with their results."""
        from multiprocessing.connection import wait

        busy = {worker.connection: worker for worker in self._workers if worker.task is not None}
        done: list[tuple[Task, Any]] = []
        for connection in wait(list(busy), seconds):
            worker = busy[connection]  # type: ignore[index]
            assert worker.task is not None
            try:
                result = worker.connection.recv()
            except (EOFError, OSError):
                result = Died(self._bury(worker))
            done.append((worker.task, result))
            worker.task = None
        return done

    def _start(self) -> Worker[Task]:
        here, there = self._context.Pipe()
        others = [worker.connection for worker in self._workers] + [here]
        inherited = others if self._context.get_start_method() == "fork" else []
        process = self._context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(there, inherited, self._make, str(self._scratch)), daemon=True
        )
        process.start()
        there.close()
        self._workers.append(Worker(process, here))
        return self._workers[-1]

    def _bury(self, worker: Worker[Task]) -> str:
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join(_PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        code = worker.process.exitcode or 0
        if code >= 0:
            return f"exit status {code}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
            return f"{name}, out of memory perhaps" if name == "SIGKILL" else name
        return f"signal {-code}"


def _context() -> "BaseContext":
    """Return how to start processes: by forking, the fastest, where no other thread can hold a lock."""
    import multiprocessing

    if sys.platform != "win32" and sys.platform != "darwin" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _serve(
    connection: "Connection[Any, Any]",
    inherited: "list[Connection[Any, Any]]",
    make: Callable[[], Callable[[Any], Any]],
    scratch: str,
) -> None:
    """Answer messages until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that tools are ended and files removed
    for other in inherited:
        other.close()
    tempfile.tempdir = scratch
    answer = make()
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            message = connection.recv()
            connection.send(answer(message))


def available_processors() -> int:
    """Return how many processors this process may use, a container's share counted up to the next whole one."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = map(int, _CPU_SHARE.read_text("ascii").split())
    except (OSError, ValueError):  # no control group, or "max": no limit
        return count
    return max(1, min(count, -(-quota // max(1, period))))
