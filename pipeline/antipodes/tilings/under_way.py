"""The partitions that are being searched: what a run tells of them, and when it abandons them."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from antipodes.events import Listener, PartitionSearched, PartitionsUnderWay
from antipodes.executors.api import Call, Key, Scheduler
from antipodes_tasks.exact_cover.search import OnProgress, unwatched

TOLD_SECONDS = 1.0
"""Seconds between two events about the partitions under way."""
GRACE_SECONDS = 1.0
"""Seconds that the partitions under way have to end, after the run is told to stop."""


class PartitionAbandonedError(Exception):
    """The search of a partition ends before its end, because the run is to stop; its result is lost."""


def unless_abandoned(function: Callable[..., Any], *arguments: Any) -> Any:
    """The task of one partition: the result of its search, or None if that was abandoned."""
    try:
        return function(*arguments)
    except PartitionAbandonedError:
        return None


@dataclass
class PartitionsOfRun:
    """The partitions that a run searches, and what it has found so far.

    Threads tell of the partitions that they search while they do. Other processes do not: they end each partition that
    they began.
    """

    partitions: int
    """All partitions, those of earlier runs included."""
    done: int
    """Partitions searched, those of earlier runs included."""
    tilings: int
    """Tilings in those."""
    listener: Listener
    stop: Callable[[], bool]
    placements: int = 0
    """Placements that this run made, in partitions that it has searched."""
    began: float = field(default_factory=time.monotonic)
    _under_way: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The placements and tilings so far of each partition under way."""
    _told_at: float = field(default_factory=time.monotonic)
    _stopped_at: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def calls(self, scheduler: Scheduler, name: str, numbers: list[int], task: Call) -> dict[Key, Call]:
        """The tasks of these partitions; ``task`` is called with a number and, last, whom to tell of the progress."""
        function, problem, method = task
        watches = {number: self._watch(number) if scheduler.shares_memory else unwatched for number in numbers}
        return {
            (name, number): (unless_abandoned, function, problem, number, method, watches[number]) for number in numbers
        }

    def searched(self, number: int, placements: int, tilings: int) -> None:
        """Note, and tell, that a partition is searched."""
        with self._lock:
            self._under_way.pop(number, None)
            self.done, self.tilings = self.done + 1, self.tilings + tilings
            self.placements += placements
            self._told_at = time.monotonic()
            self.listener(PartitionSearched(self.done, self.partitions, self.tilings, self._rate(self.placements)))

    def _watch(self, number: int) -> OnProgress:
        return partial(self._progress, number)

    def _progress(self, number: int, placements: int, tilings: int) -> None:
        """Note how far the search of a partition is; raises PartitionAbandonedError if it is to end."""
        now = time.monotonic()
        if self.stop():
            self._stopped_at = self._stopped_at or now
            if now - self._stopped_at > GRACE_SECONDS:
                raise PartitionAbandonedError
        with self._lock:
            self._under_way[number] = placements, tilings
            if now - self._told_at >= TOLD_SECONDS:
                self._told_at = now
                self.listener(self._event())

    def _event(self) -> PartitionsUnderWay:
        placements = self.placements + sum(made for made, _ in self._under_way.values())
        found = sum(tilings for _, tilings in self._under_way.values())
        return PartitionsUnderWay(
            self.done, self.partitions, len(self._under_way), placements, found, self.tilings, self._rate(placements)
        )

    def _rate(self, placements: int) -> float:
        return placements / (time.monotonic() - self.began)
