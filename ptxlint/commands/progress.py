"""A bar on the terminal while many inputs are checked; nothing anywhere else."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxlint.runner import Progress

_PATIENCE = 0.5  # seconds before a bar appears


@contextlib.contextmanager
def progress_bar() -> "Iterator[Progress | None]":
    """Give what shows progress on standard error; None when that is no terminal.

    The bar appears when there is more than one thing to do and it takes a while, and is gone at the end.
    """
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.show
    finally:
        bar.close()


class _Bar:
    def __init__(self) -> None:
        self._start = time.monotonic()
        self._close: contextlib.ExitStack = contextlib.ExitStack()
        self._update: Progress | None = None

    def show(self, done: int, total: int) -> None:
        if self._update is None:
            if total < 2 or time.monotonic() - self._start < _PATIENCE:
                return
            self._update = self._open(total)
        self._update(done, total)

    def close(self) -> None:
        self._close.close()

    def _open(self, total: int) -> "Progress":
        from rich import progress
        from rich.console import Console

        # No thread of its own: processes may be forked while the bar is there.
        bar = progress.Progress(
            progress.TextColumn("checking"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )
        self._close.enter_context(bar)
        task = bar.add_task("checking", total=total)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            bar.refresh()

        return update
