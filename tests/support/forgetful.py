"""A scheduler that loses workers at chosen calls."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from direct_channel import DirectChannel

from antipodes.executors.api import Call, Handle, Key, OnDone, Stop, never_stop
from antipodes.executors.threads import Threads
from antipodes_tasks.base.errors import SchedulerError, WorkersLostError


class Forgetful(Threads):
    """Threads that lose one of two workers, with its results, at the calls with these numbers."""

    shares_memory = False

    def __init__(self, at: Collection[int], error: type[SchedulerError] = WorkersLostError) -> None:
        super().__init__(2)
        self.at = at
        self.error = error
        self.calls: list[str] = []
        self.held: list[tuple[str, Handle]] = []
        """The worker of each result with a place, and the result."""
        self.channel = DirectChannel()

    def divide(self, items: Sequence[int], held: Mapping[str, int]) -> dict[str, Sequence[int]]:
        """Divide the items among two workers. A new worker with the same address takes the place of a lost worker."""
        half = (len(items) + 1) // 2
        return {process: part for process, part in (("0", items[:half]), ("1", items[half:])) if part}

    def threads_of(self, process: str) -> int:
        return 1

    def holds(self, handle: Handle) -> bool:
        return any(one is handle for _, one in self.held)

    def persist(
        self,
        calls: Mapping[Key, Call],
        on_done: OnDone | None = None,
        places: Mapping[Key, str] | None = None,
    ) -> dict[Key, Handle]:
        self._call("persist")
        handles = super().persist(calls, on_done)
        self.held += [(places[key], handle) for key, handle in handles.items() if places and key in places]
        return handles

    def gather(self, handles: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        self._call("gather")
        return super().gather(handles, stop)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) in self.at:
            gone = self.held[0][0] if self.held else ""
            self.held = [one for one in self.held if one[0] != gone]
            raise self.error("worker tcp://gone:1")
