"""Waits for the storage in the tasks of a run: other processes report them to the run, which may end them.

A process that works for runs calls `report_to`. If a run is asked to stop, it has each of these processes call
`end_waits`. Both identify the run, because several runs may share a process.
"""

from collections.abc import Callable
from dataclasses import dataclass

Report = Callable[[str, str], None]
"""Called from any thread with the identifier of a run and a description of what it is waiting for."""

_reports: list[Report] = []
_ended: set[str] = set()
"""Runs that were asked to stop."""


@dataclass
class RunOfAnotherProcess:
    """A run of another process that has tasks in this process."""

    name: str

    def report(self, waited_for: str) -> None:
        """Report a wait to the run."""
        for report in _reports:
            report(self.name, waited_for)

    def stop(self) -> bool:
        """Return whether the run was asked to stop."""
        return self.name in _ended


def report_to(report: Report) -> None:
    """Report the waits of this process with this function from now on."""
    _reports[:] = [report]


def end_waits(run: str) -> None:
    """End all waits of a run in this process, present and future, that take longer than an answer should."""
    _ended.add(run)
