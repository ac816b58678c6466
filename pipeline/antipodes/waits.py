"""Waits for the storage in the tasks of a run: other processes report them to the run, which may end them.

A process that works for runs sets `report_to`, and a run that is told to stop has each of these processes call
`end_waits`. Both name the run, since several runs may share a process.
"""

from collections.abc import Callable
from dataclasses import dataclass

Report = Callable[[str, str], None]
"""Called with the name of a run and what it waits for; in any thread."""

_reports: list[Report] = []
_ended: set[str] = set()
"""Runs that were told to stop."""


@dataclass
class RunOfAnotherProcess:
    """A run of another process, as the tasks of this process know it."""

    name: str

    def report(self, waited_for: str) -> None:
        """Report a wait to the run."""
        for report in _reports:
            report(self.name, waited_for)

    def stop(self) -> bool:
        """Return whether the run was told to stop."""
        return self.name in _ended


def report_to(report: Report) -> None:
    """Report the waits of this process in this way from now on."""
    _reports[:] = [report]


def end_waits(run: str) -> None:
    """End the waits of a run in this process that last longer than an answer should take, also those to come."""
    _ended.add(run)
