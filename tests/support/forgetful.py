"""A scheduler that loses workers at chosen calls."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from direct_channel import DirectChannel

from antipodes.executors.api import Call, Handle, Key, OnDone, Stop, never_stop
from antipodes.executors.threads import Threads
from antipodes_tasks.base.errors import SchedulerError, WorkersLostError


class Forgetful(Threads):
    """Threads that lose one of two workers, with every other result of `submit`, at the calls with these numbers."""

    shares_memory = False

    def __init__(self, at: Collection[int], error: type[SchedulerError] = WorkersLostError) -> None:
        super().__init__(2)
        self.at = at
        self.error = error
        self.calls: list[str] = []
        self.held: list[Handle] = []
        self.channel = DirectChannel()

    def submit(
        self, calls: Mapping[Key, Call], beside: Sequence[Handle] = (), on_done: OnDone | None = None
    ) -> dict[Key, Handle]:
        self._call("submit")
        submitted = super().persist(calls, on_done=on_done)
        self.held += submitted.values()
        return submitted

    def groups_by_thread(self, handles: Sequence[Handle]) -> list[list[int]]:
        places = list(range(len(handles)))
        return [group for group in (places[::2], places[1::2]) if group]

    def groups_by_process(self, handles: Sequence[Handle]) -> dict[str, list[int]]:
        return {str(number): group for number, group in enumerate(self.groups_by_thread(handles))}

    def threads_of(self, process: str) -> int:
        return 1

    def holds(self, handle: Handle) -> bool:
        return any(one is handle for one in self.held)

    def persist(
        self,
        calls: Mapping[Key, Call],
        on_done: OnDone | None = None,
        places: Mapping[Key, Handle] | None = None,
    ) -> dict[Key, Handle]:
        self._call("persist")
        return super().persist(calls, on_done)

    def gather(self, handles: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        self._call("gather")
        return super().gather(handles, stop)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) in self.at:
            del self.held[::2]
            raise self.error("worker tcp://gone:1")
