"""The main run of a kernel once more, with every access and every synchronising event written down."""

from ptxlint.engine.clocks import Times
from ptxlint.engine.events import Access, LogEntry
from ptxlint.engine.machine import Machine
from ptxlint.engine.run import Analysis, main_machine
from ptxlint.engine.shadow import Shadow


class Recording(Shadow):
    """A shadow memory that keeps the accesses it is told of, in order."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.conflict)
        self.accesses: list[Access] = []

    def access(self, access: Access, seen: Times, lanes_all: bool) -> None:
        """Keep a generic access."""
        self.accesses.append(access)
        super().access(access, seen, lanes_all)

    def operation(self, access: Access, seen: Times, fenced: Times, strict: bool) -> None:
        """Keep an asynchronous access."""
        self.accesses.append(access)
        super().operation(access, seen, fenced, strict)


class Trace:
    """What one run did: accesses and synchronising events in order, and the barriers it used."""

    def __init__(self, analysis: Analysis) -> None:
        machine = main_machine(analysis)
        recording = Recording(machine)
        machine.shadow = recording
        machine.run()
        self.machine = machine
        self.accesses = recording.accesses
        self.entries: list[LogEntry] = sorted(
            (entry for log in machine.logs.values() for entry in log), key=lambda entry: entry.sequence
        )
