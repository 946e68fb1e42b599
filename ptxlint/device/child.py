"""Runs texts in child processes, because a launch that hangs or faults takes its process along."""

import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from ptxlint import tools
from ptxlint.device.results import Confirmation, ConfirmError, Tally, Text
from ptxlint.device.spec import Spec

# The command that launches; the file of the job comes behind it.
WORKER = (sys.executable, "-m", "ptxlint.device.worker")


def run_texts(
    spec: Spec,
    texts: Sequence[Text],
    reference: Text,
    found: Confirmation,
    runs: int,
    worker: Sequence[str] | None = None,
) -> None:
    """Run *texts* *runs* times each, interleaved, and write into *found* what they gave.

    A text that hangs or faults is left out of the runs that remain.

    Raises:
        ConfirmError: there is no GPU, or the kernels cannot be loaded.
    """
    left = list(texts)
    found.tallies = {text.name: Tally() for text in texts}
    done = 0
    while left and done < runs:
        lost = _child(spec, left, reference, found, runs - done, worker or WORKER)
        if lost is None:
            return
        left = [text for text in left if text.name != lost]
        done = min((found.tallies[text.name].runs for text in left), default=runs)


def _child(
    spec: Spec,
    texts: list[Text],
    reference: Text,
    found: Confirmation,
    runs: int,
    worker: Sequence[str],
) -> str | None:
    """Run one child; return the name of the text that hung or faulted, or None."""
    with tools.scratch_folder() as scratch:
        variants = []
        for number, text in enumerate(texts):
            path = scratch / f"variant{number}.ptx"
            path.write_text(text.text, "utf-8")
            variants.append({"name": text.name, "path": str(path), "kernel": text.entry})
        right = scratch / "reference.ptx"
        right.write_text(reference.text, "utf-8")
        job = {
            "spec": str(spec.path.absolute()),
            "variants": variants,
            "runs": runs,
            "seed": secrets.randbits(32),
            "reference": {"path": str(right), "kernel": reference.entry},
        }
        described = scratch / "job.json"
        described.write_text(json.dumps(job), "utf-8")
        root = str(Path(__file__).resolve().parents[2])
        path_variable = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            [*worker, str(described)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path_variable},
        )
        return _Watch(process, spec, found).lost()


class _Watch:
    """Reads what a child tells; ends it when it is silent for longer than the time limit."""

    def __init__(self, process: "subprocess.Popen[str]", spec: Spec, found: Confirmation) -> None:
        self.process = process
        self.spec = spec
        self.found = found
        self.current = ""
        self.faulted: str | None = None
        self.problem: str | None = None
        self.errors: list[str] = []
        self.hung = threading.Event()
        self.timer: threading.Timer | None = None

    def lost(self) -> str | None:
        """Return the name of the text that hung or faulted, or None when all runs ended."""
        reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr or ()), daemon=True)
        reader.start()
        try:
            self._read()
        finally:
            self._end(reader)
        if self.hung.is_set():
            if not self.current:
                raise ConfirmError(f"the kernels could not be loaded within {self.spec.time_limit:g} seconds")
            self.found.tallies[self.current].hang = True
            return self.current
        if self.faulted is not None:
            return self.faulted
        if self.problem is not None or self.process.returncode:
            raise ConfirmError(_said(self.problem, self.errors))
        return None

    def _read(self) -> None:
        assert self.process.stdout is not None
        self._restart()
        for line in self.process.stdout:
            self._restart()
            try:
                told = json.loads(line)
            except ValueError:
                continue
            if not isinstance(told, dict):
                continue
            if "about" in told:
                self.found.about = told["about"]
            elif "start" in told:
                self.current = told["start"]
            elif "fault" in told:
                self.faulted = self.current
                self.found.tallies[self.current].fault = told["fault"]
            elif "error" in told:
                self.problem = told["error"]
            elif "variant" in told:
                tally = self.found.tallies[told["variant"]]
                tally.runs += 1
                tally.words += told["words"]
                tally.wrong_words += told["wrong"]
                tally.wrong_runs += told["wrong"] > 0
        self.process.wait()

    def _restart(self) -> None:
        """Let the time limit begin anew."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = threading.Timer(self.spec.time_limit, self._stop)
        self.timer.daemon = True
        self.timer.start()

    def _stop(self) -> None:
        self.hung.set()
        self.process.kill()

    def _end(self, reader: threading.Thread) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        reader.join(1.0)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def _said(problem: str | None, errors: list[str]) -> str:
    """Return what went wrong in the child, in words."""
    text = problem or (errors[-1].strip() if errors else "the process that launches died")
    if "No module named 'cupy'" in text:
        return 'CuPy is not installed: pip install "ptxlint[device]" (or ptxlint[device-cuda13]) brings it'
    absent = ("NoDevice", "InsufficientDriver", "no CUDA-capable device", "libcuda")
    if any(word in text for word in absent):
        return f"there is no GPU to run on: {text}"
    return text
