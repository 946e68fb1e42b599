"""Check each kernel that Triton compiles in a test run, and fail what compiled it (``--ptxlint-jit``).

Triton's public hook ``triton.knobs.compilation.listener`` (Triton 3.4 and newer) is called after each
compilation, and when a compiled kernel is taken from its cache on disk. A listener that was there before is
still called. Kernels that other processes compile are not seen.
"""

import importlib.util
import threading
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from ptxlint.inputs import Input, InputError
from ptxlint.kernel_check import check_item, failure
from ptxlint.kernel_objects import triton_input
from ptxlint.pytest_plugin.settings import RunSettings

if TYPE_CHECKING:
    from ptxlint.report.finding import FileReport

Result = TypeVar("Result")


class UncheckedKernelWarning(pytest.PytestWarning):
    """A kernel was compiled and its PTX could not be had."""


@dataclass(frozen=True, slots=True)
class Listener:
    """What Triton calls; *previous* is the listener in whose place it came, and is called too."""

    recorder: "Recorder"
    previous: Any

    def __call__(self, *, metadata: Any, metadata_group: Any, **rest: Any) -> None:
        if self.previous is not None:
            self.previous(metadata=metadata, metadata_group=metadata_group, **rest)
        self.recorder.record(metadata, metadata_group)


class Recorder:
    """Listens to Triton, and keeps the kernels that were compiled since they were last taken."""

    def __init__(self) -> None:
        self._kernels: list[Input] = []
        self._unchecked: list[str] = []
        self._lock = threading.Lock()

    def record(self, metadata: Any, metadata_group: Any) -> None:
        """Keep the PTX of one compilation, which Triton has in a file."""
        if getattr(metadata.get("target"), "backend", "cuda") != "cuda":
            return
        name = str(metadata.get("name", "kernel"))
        path = next((Path(made) for file, made in metadata_group.items() if file.endswith(".ptx")), None)
        try:
            if path is None:
                raise InputError("Triton kept no PTX; TRITON_STORE_BINARY_ONLY must not be set")
            kernel = triton_input(name, path.read_text("utf-8"), metadata)
        except (InputError, OSError, ValueError) as error:
            with self._lock:
                self._unchecked.append(f"the Triton kernel {name} was not checked: {error}")
            return
        with self._lock:
            self._kernels.append(kernel)

    def listen(self) -> None:
        """Become Triton's listener, unless that is so already."""
        from triton import knobs

        current = knobs.compilation.listener
        if not self._is_own(current):
            knobs.compilation.listener = Listener(self, current)

    def leave(self) -> None:
        """Put the listener back in whose place this one came."""
        from triton import knobs

        while self._is_own(current := knobs.compilation.listener):
            knobs.compilation.listener = current.previous

    def _is_own(self, listener: object) -> bool:
        return isinstance(listener, Listener) and listener.recorder is self

    def take(self) -> tuple[list[Input], list[str]]:
        """Return the distinct kernels since the last call, and what is to be said of others."""
        with self._lock:
            kernels, unchecked = list(dict.fromkeys(self._kernels)), self._unchecked
            self._kernels, self._unchecked = [], []
        return kernels, unchecked


class JitChecks:
    """The hooks of ``--ptxlint-jit``."""

    def __init__(self, config: pytest.Config) -> None:
        self.settings = RunSettings(config).of_run()
        self.recorder = Recorder()
        self._reports: dict[Input, FileReport] = {}
        if importlib.util.find_spec("triton") is None:
            raise pytest.UsageError("--ptxlint-jit: Triton is not installed")
        runs_tests = config.getoption("dist", "no") == "no" or hasattr(config, "workerinput")
        self.active = runs_tests
        if runs_tests:
            import triton

            if not hasattr(getattr(getattr(triton, "knobs", None), "compilation", None), "listener"):
                raise pytest.UsageError(
                    f"--ptxlint-jit: Triton {triton.__version__} has no compilation listener; 3.4 or newer has"
                )
            self.recorder.listen()

    def pytest_unconfigure(self) -> None:
        """Give Triton its listener back."""
        if self.active:
            self.recorder.leave()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch the fixtures of a test."""
        return (yield from self._watch(item, "setup"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch a test."""
        return (yield from self._watch(item, "call"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch the fixtures of a test as they end."""
        return (yield from self._watch(item, "teardown"))

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Watch the import of a test module; what it compiles is an error of its collection."""
        if not self.active:
            return (yield)
        self.recorder.listen()
        report = yield
        text = self._verdict()
        if text is not None and report.passed:
            report.outcome = "failed"
            report.longrepr = text
            report.result = []
        return report

    def _watch(self, item: pytest.Item, when: str) -> Generator[None, Result, Result]:
        self.recorder.listen()  # a fixture may have put another one in its place
        try:
            result = yield
        except BaseException as error:
            text = self._verdict()
            if text is not None and text not in str(error):
                item.add_report_section(when, "ptxlint", text)
            raise
        text = self._verdict()
        if text is not None:
            pytest.fail(text, pytrace=False)
        return result

    def _verdict(self) -> str | None:
        """Return the reports of kernels with findings among those compiled since the last call."""
        kernels, unchecked = self.recorder.take()
        for message in unchecked:
            warnings.warn(UncheckedKernelWarning(message), stacklevel=2)
        texts = []
        for kernel in kernels:
            if kernel not in self._reports:
                self._reports[kernel] = check_item(kernel, self.settings)
            text = failure([self._reports[kernel]])
            if text is not None:
                texts.append(text)
        return "\n\n".join(texts) or None
