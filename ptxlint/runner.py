"""Many inputs: read and analysed side by side, kept in a cache, reported in order.

Every caller gets the same reports in the same order, however many processes there are and whatever was in
the cache. Filters are for the caller: what is found here is everything.
"""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ptxlint.cache import Cache
from ptxlint.inputs import Input, InputOptions, Reader
from ptxlint.records import field, mutable_record, record
from ptxlint.report.finding import FileReport
from ptxlint.session import ParsedInput, Part, internal_error, join, launch_settings
from ptxlint.settings import Settings
from ptxlint.tools import scratch_folder
from ptxlint.workers import Died, NoWorkerError, Worker, Workers, available_processors

Progress = Callable[[int, int], None]
SettingsOf = Callable[[Input], Settings]

MOMENT = 0.5  # seconds that a process keeps the kernels of a text to itself before it shares them
TICK = 0.1  # seconds between two reports of progress while nothing happens


@record
class Running:
    """How to work: *jobs* processes at most (0: one a processor), *cache* for results, if any."""

    jobs: int = 0
    cache: Cache | None = None


def analyse_all(
    arguments: Sequence[str | Input],
    options: InputOptions,
    settings_of: SettingsOf,
    running: Running,
    progress: Progress | None = None,
) -> list[tuple[FileReport, Settings]]:
    """Read what *arguments* name and find everything in it.

    Args:
        arguments: Files, folders, ``-`` for standard input; what was read already.
        options: How to read them.
        settings_of: What applies to an input; those of the launch matter here.
        running: Processes and cache.
        progress: Called from time to time with how much is done, and of how much: inputs, and kernels.

    Returns:
        A report for each PTX text with its settings, in the order of *arguments*; what went wrong is in
        ``error``.
    """
    reader = Reader(options)
    sources = reader.find(arguments)
    jobs = running.jobs or available_processors()
    run = _Run(reader, sources, settings_of, running.cache, progress)
    if jobs > 1 and len(sources) > 0 and (len(sources) > 1 or run.is_worth_sharing(sources[0])):
        run.in_processes(jobs)
    else:
        run.here()
    return run.reports()


@mutable_record
class _Text:
    """One PTX text on its way: its head and the parts of its kernels, as they come in."""

    item: Input
    settings: Settings
    launch: Settings
    head: FileReport | None = None
    parts: list[Part | None] = field(default_factory=list)
    report: FileReport | None = None
    failed: bool = False


@record
class _Read:
    """The task to read one source."""

    source: int


@record
class _Begin:
    """The task to parse a text, and, unless *only_parse*, to analyse kernels of it for a moment."""

    source: int
    place: int
    only_parse: bool = False


@record
class _Kernel:
    """The task to analyse one kernel of a text that was parsed before."""

    source: int
    place: int
    number: int


_Task = _Read | _Begin | _Kernel


class _Run:
    """The state of one run: for each source its texts, and what is to be done next."""

    def __init__(
        self,
        reader: Reader,
        sources: Sequence[str | Input],
        settings_of: SettingsOf,
        cache: Cache | None,
        progress: Progress | None,
    ) -> None:
        self._reader = reader
        self._sources = sources
        self._settings_of = settings_of
        self._cache = cache
        self._progress = progress
        self._texts: list[list[_Text]] = [[] for _ in sources]
        self._left = [0] * len(sources)  # tasks of each source that are not done
        self._next = 0  # the first source that is not begun
        self._done = 0  # sources, and kernels that are tasks of their own
        self._total = len(sources)
        self._ready: deque[_Task] = deque()

    def reports(self) -> list[tuple[FileReport, Settings]]:
        """Return what was found, in order."""
        every = [text for texts in self._texts for text in texts]
        return [(text.report, text.settings) for text in every if text.report is not None]

    def is_worth_sharing(self, source: str | Input) -> bool:
        """Return whether one source alone may keep several processes busy."""
        if isinstance(source, str) and self._reader.is_slow(source):
            return True
        items = [source] if isinstance(source, Input) else list(self._reader.read(source))
        self._add(0, items)
        self._next = 1
        return any(item.text.count(".entry") > 1 for item in items)

    def here(self) -> None:
        """Do everything in this process, one after the other."""
        answer, held = _Answerer(self._reader), _Held()
        while task := self._take(held.held):
            self._accept(task, answer(self._message(task, held)))
            self._tell()

    def in_processes(self, jobs: int) -> None:
        """Do everything in at most *jobs* processes, or here where none can be started."""
        make = partial(_Answerer, self._reader.without_search())
        with contextlib.ExitStack() as stack:
            try:
                scratch = stack.enter_context(scratch_folder())
                workers = stack.enter_context(Workers[_Task](jobs, make, scratch))
                while self._hand_out(workers):
                    for task, result in workers.collect(TICK if self._progress else None):
                        self._accept(task, result)
                    self._tell()
            except NoWorkerError:
                self.here()

    def _hand_out(self, workers: "Workers[_Task]") -> bool:
        """Give every process that waits something to do; return whether any has."""
        if self._has_work():
            from ptxlint import linter  # noqa: F401 (once, before processes are forked, and not in each of them)
        while self._has_work() and (worker := workers.idle()):
            task = self._take(worker.held)
            assert task is not None
            workers.send(worker, task, self._message(task, worker))
        return workers.is_busy

    def _message(self, task: _Task, worker: "Worker[_Task] | _Held") -> "str | _Job":
        if isinstance(task, _Read):
            source = self._sources[task.source]
            assert isinstance(source, str)
            return source
        text = self._texts[task.source][task.place]
        held, worker.held = worker.held, (task.source, task.place)
        number = task.number if isinstance(task, _Kernel) else None
        seconds = 0.0 if isinstance(task, _Begin) and task.only_parse else MOMENT
        # A process that has the text already is not sent it again.
        known = isinstance(task, _Kernel) and held == worker.held
        return _Job(None if known else text.item, text.launch, number, seconds)

    def _accept(self, task: _Task, result: Any) -> None:
        if isinstance(task, _Read):
            if isinstance(result, Died | str):
                path = str(self._sources[task.source])
                result = [Input(path, error=_failure("this file was being read", result))]
            self._add(task.source, result)
        elif isinstance(task, _Begin):
            self._begin(task, self._texts[task.source][task.place], result)
        else:
            text = self._texts[task.source][task.place]
            if isinstance(result, Died | str):
                result = Part(None, f"kernel {task.number + 1}: {_failure('it was being analysed', result)}")
            text.parts[task.number] = result
            self._join(text)
        self._end(task)

    def _begin(self, task: _Begin, text: _Text, result: Any) -> None:
        if isinstance(result, Died) and not task.only_parse:
            # Once more, one kernel at a time, so that only the one that is to blame is lost.
            self._ready.appendleft(_Begin(task.source, task.place, only_parse=True))
            self._left[task.source] += 1
            return
        if isinstance(result, Died | str):
            error = _failure("this text was being parsed", result)
            self._finish(text, FileReport(text.item.path, error=error, text=text.item.text), False)
            return
        text.head, parts, missing, text.failed = result
        text.parts = [*parts, *[None] * missing]
        numbers = range(len(parts), len(parts) + missing)
        self._ready.extendleft(_Kernel(task.source, task.place, number) for number in reversed(numbers))
        self._left[task.source] += missing
        self._total += missing
        self._join(text)

    def _join(self, text: _Text) -> None:
        parts = [part for part in text.parts if part is not None]
        if text.head is not None and len(parts) == len(text.parts):
            report = join(text.head, parts)
            report.text = text.item.text
            self._finish(text, report, not text.failed and _all_found(parts))

    def _take(self, held: object = None) -> _Task | None:
        """Return the next task: first what goes on, of that what a process has in memory; then new sources."""
        for task in self._ready:
            if isinstance(task, _Kernel) and (task.source, task.place) == held:
                self._ready.remove(task)
                return task
        return self._ready.popleft() if self._has_work() else None

    def _has_work(self) -> bool:
        while not self._ready and self._next < len(self._sources):
            self._open(self._next)
            self._next += 1
        return bool(self._ready)

    def _open(self, number: int) -> None:
        source = self._sources[number]
        if isinstance(source, Input):
            self._add(number, [source])
        elif self._reader.is_slow(source):
            self._ready.append(_Read(number))
            self._left[number] += 1
        else:
            self._add(number, list(self._reader.read(source)))

    def _add(self, number: int, items: list[Input]) -> None:
        """Note the texts of a source; what the cache knows of them is done."""
        for item in items:
            settings = self._settings_of(item)
            text = _Text(item, settings, launch_settings(item, settings))
            self._texts[number].append(text)
            known = None
            if item.error is not None:
                known = FileReport(item.path, error=item.error)
            elif self._cache is not None:
                known = self._cache.get(item.text, item.path, text.launch)
            if known is not None:
                known.notes = list(item.notes)
                text.report = known
            else:
                self._ready.append(_Begin(number, len(self._texts[number]) - 1))
                self._left[number] += 1
        if self._left[number] == 0:
            self._count()

    def _finish(self, text: _Text, report: FileReport, is_whole: bool) -> None:
        text.report, text.head, text.parts = report, None, []
        if is_whole and self._cache is not None:
            self._cache.put(report, text.launch)

    def _end(self, task: _Task) -> None:
        self._done += isinstance(task, _Kernel)
        self._left[task.source] -= 1
        if self._left[task.source] == 0:
            self._count()

    def _count(self) -> None:
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)


def _all_found(parts: Sequence[Part]) -> bool:
    """Return whether no kernel ran into an error of ptxlint itself, or of the machine."""
    return all(part.error is None for part in parts)


def _failure(doing: str, result: Died | str) -> str:
    if isinstance(result, str):
        return result
    return f"a worker process died while {doing} ({result.how}); a smaller -j needs less memory"


@record
class _Job:
    """A message to a process: a text, unless it has it, and the kernel of it that is to be analysed.

    Without a kernel, the text is parsed, and its kernels are analysed for so many seconds.
    """

    item: Input | None
    settings: Settings
    number: int | None
    seconds: float


class _Held:
    """Which text this process has in memory."""

    held: object = None


class _Answerer:
    """What a process does: read a source, parse a text, analyse a kernel of the text that it has."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._parsed: ParsedInput | None = None

    def __call__(self, message: str | _Job) -> Any:
        """Return the inputs of a source, or what is in a kernel, or how far a text is.

        That is its head, what is in the first kernels, how many are left, and whether parsing failed.
        """
        try:
            if isinstance(message, str):
                return list(self._reader.read(message))
            if message.item is not None:
                self._parsed = ParsedInput(message.item, message.settings)
            assert self._parsed is not None
            if message.number is not None:
                return self._parsed.kernel(message.number)
            parsed = self._parsed
            head = parsed.report
            head.text = ""  # who asks has it
            end = time.monotonic() + message.seconds
            parts: list[Part] = []
            while len(parts) < parsed.kernels and time.monotonic() < end:
                parts.append(parsed.kernel(len(parts)))
            return head, parts, parsed.kernels - len(parts), parsed.failed
        except Exception as error:
            return internal_error(error)
