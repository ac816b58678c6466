"""Workers of a cluster that have too little memory together: the run waits for others to join."""

import time
from collections.abc import Iterator, Sequence

import pytest

from antipodes.config import load_config
from antipodes.events import Event, Listener, WaitingForWorkers
from antipodes.executors.api import WORKER_SHARE, Stop
from antipodes.executors.threads import Threads
from antipodes.runs.options import RunOptions
from antipodes.runs.session import Session
from antipodes.sizes import MIB
from antipodes.tables.planning import plan as fitting
from antipodes.tables.planning.plan import Plan, plan_checked, plan_that_fits
from antipodes.tables.store.stores import TableStore
from antipodes_tasks.errors import InterruptedRunError, ResourceLimitError

TOO_LITTLE, ENOUGH = 1_000, 2**30


class Growing(Threads):
    """A scheduler whose workers change each time it is asked to be ready, and their memory with them."""

    shares_memory = False

    def __init__(self, memory: Sequence[int]) -> None:
        super().__init__(1)
        self._coming: Iterator[int] = iter(memory)
        self.memory = next(self._coming)
        self._next = next(self._coming, None)

    @property
    def workers_changed(self) -> bool:  # type: ignore[override]
        return self._next is not None

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        assert self._next is not None
        self.memory, self._next = self._next, next(self._coming, None)
        return not stop()


def plan_on(scheduler: Threads, events: list[Event], *, interrupted: bool = False, at: str = "tcp://there:1") -> Plan:
    options = RunOptions(scheduler=at)
    session = Session(TableStore, "none.zarr", options, events.append, lambda: interrupted)
    return plan_that_fits(session, load_config("eight-puzzle"), scheduler, None)


def test_enough_once_others_joined() -> None:
    events: list[Event] = []
    scheduler = Growing([TOO_LITTLE, TOO_LITTLE, ENOUGH])
    assert plan_on(scheduler, events).partitions
    assert [type(event) for event in events] == [WaitingForWorkers] * 2
    assert scheduler.memory == ENOUGH


def test_never_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "JOIN_SECONDS", 0.3)
    begin, events = time.monotonic(), list[Event]()
    with pytest.raises(ResourceLimitError):
        plan_on(Growing([TOO_LITTLE, TOO_LITTLE]), events)
    assert time.monotonic() - begin >= 0.3
    assert [type(event) for event in events] == [WaitingForWorkers] * 2


def test_an_interruption_ends_the_waiting() -> None:
    begin = time.monotonic()
    with pytest.raises(InterruptedRunError):
        plan_on(Growing([TOO_LITTLE]), [], interrupted=True)
    assert time.monotonic() - begin < fitting.JOIN_SECONDS / 2


def test_no_worker_joins_a_local_cluster() -> None:
    events: list[Event] = []
    with pytest.raises(ResourceLimitError):
        plan_on(Growing([TOO_LITTLE, ENOUGH]), events, at="local")
    assert events == []


class Fixed(Threads):
    """Processes with a memory limit in bytes each."""

    shares_memory = False

    def __init__(self, processes: int, limit: int) -> None:
        super().__init__(processes)
        self.processes = processes  # type: ignore[misc]
        self.memory = int(WORKER_SHARE * processes * limit)


@pytest.mark.parametrize("processes", [1, 3])
def test_the_suggested_limit_is_enough(processes: int) -> None:
    config, options = load_config("seven-tiles"), RunOptions(scheduler="tcp://there:1")
    with pytest.raises(ResourceLimitError, match=r"each worker needs a memory limit of \d+MiB or more$") as refused:
        plan_checked(config, options, Fixed(processes, 300 * MIB))
    least = int(str(refused.value).split()[-3].removesuffix("MiB"))
    assert 500 < least < 1000
    plan_checked(config, options, Fixed(processes, least * MIB))
    with pytest.raises(ResourceLimitError):
        plan_checked(config, options, Fixed(processes, (least - 1) * MIB))
