"""Workers and schedulers that are lost at chosen calls: the search resumes from its commit, and counts the loss."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from puzzle_settings import LINE
from stores import contents

from antipodes.config import Config, load_config
from antipodes.errors import SchedulerError, SchedulerLostError, WorkersLostError
from antipodes.events import Committed, Event, LayerSettled, Listener, SearchStarted, Widened, WorkersLost
from antipodes.executors.api import Call, Handle, Key, OnDone, Stop, never
from antipodes.executors.threads import Threads
from antipodes.tables.run import RunOptions, RunReport, run_puzzle

ByThreads = Callable[[str], dict[str, bytes]]
PUZZLE = "knights-coloured"
EVERY_LAYER, AT_THE_END = 0.0, 1e9
"""Seconds between commits: the tasks of the first run are other ones than those of the second, and a hundred more."""


@pytest.fixture(autouse=True)
def _a_layer_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Submit each layer alone, since the tests count calls."""
    monkeypatch.setattr("antipodes.tables.layers.pace.RECENT", 1)


class Forgetful(Threads):
    """Threads that lose workers at the calls of these numbers, and restore each commit, as clusters do."""

    shares_memory = False

    def __init__(self, at: Collection[int], error: type[SchedulerError] = WorkersLostError) -> None:
        super().__init__(2)
        self.at = at
        self.error = error
        self.calls: list[str] = []

    def submit(self, calls: Mapping[Key, Call]) -> dict[Key, Handle]:
        self._call("submit")
        return super().persist(calls)

    def persist(
        self, calls: Mapping[Key, Call], wanted: Sequence[Key] | None = None, on_done: OnDone | None = None
    ) -> dict[Key, Handle]:
        self._call("persist")
        return super().persist(calls, wanted, on_done)

    def gather(self, handles: Sequence[Handle], stop: Stop = never) -> list[Any]:
        self._call("gather")
        return super().gather(handles, stop)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) in self.at:
            raise self.error("worker tcp://gone:1")


def run_on(scheduler: Forgetful, store: Path, every: float, events: list[Event] | None = None) -> RunReport:
    listener = (lambda _: None) if events is None else events.append
    options = RunOptions(workers=2, checkpoint_every=every)
    return run_puzzle(load_config(PUZZLE), store, options, listener, scheduler=scheduler)


def number_of(name: str, after: int, store: Path, every: float) -> int:
    """The number of the first call of that name after as many calls, in a run that loses nothing."""
    quiet = Forgetful(())
    run_on(quiet, store, every)
    return quiet.calls.index(name, after) + 1


@pytest.mark.parametrize(
    ("every", "call"),
    [*((AT_THE_END, call) for call in range(1, 50, 7)), *((EVERY_LAYER, c) for c in range(1, 150, 20))],
)
def test_a_loss_at_any_call(every: float, call: int, by_threads: ByThreads, tmp_path: Path) -> None:
    events: list[Event] = []
    report = run_on(Forgetful({call}), tmp_path / "t.zarr", every, events)
    assert report.complete
    assert report.workers_lost == 1
    assert [event.recomputed for event in events if isinstance(event, WorkersLost)] == [report.recomputed]
    assert len([event for event in events if isinstance(event, SearchStarted)]) == 1
    found = sum(event.count for event in events if isinstance(event, LayerSettled))
    assert report.recomputed - 1 <= found - (report.manifest.states - 1) <= report.recomputed
    assert contents(tmp_path / "t.zarr") == by_threads(PUZZLE)


def test_lost_positions_are_counted_once(tmp_path: Path) -> None:
    """When workers are lost again while the commit is restored, nothing was recomputed yet."""
    late = number_of("persist", 30, tmp_path / "quiet.zarr", AT_THE_END)
    once = run_on(Forgetful({late}), tmp_path / "once.zarr", AT_THE_END)
    assert once.recomputed > 1
    twice = run_on(Forgetful({late, late + 1}), tmp_path / "twice.zarr", AT_THE_END)
    assert twice.workers_lost == 2
    assert twice.recomputed == once.recomputed


def test_three_losses_without_a_commit(by_threads: ByThreads, tmp_path: Path) -> None:
    report = run_on(Forgetful({1, 2, 3}), tmp_path / "t.zarr", AT_THE_END)
    assert report.complete
    assert report.workers_lost == 3
    assert contents(tmp_path / "t.zarr") == by_threads(PUZZLE)


def test_four_losses_without_a_commit(tmp_path: Path) -> None:
    with pytest.raises(SchedulerError, match="workers were lost 4 times without a commit") as caught:
        run_on(Forgetful({1, 2, 3, 4}), tmp_path / "t.zarr", AT_THE_END)
    assert not isinstance(caught.value, SchedulerLostError | WorkersLostError)
    assert "resume with: antipodes resume" in str(caught.value)


def test_commits_between_losses(by_threads: ByThreads, tmp_path: Path) -> None:
    """Any number of losses is allowed with a commit between them."""
    report = run_on(Forgetful(range(20, 1000, 20)), tmp_path / "t.zarr", EVERY_LAYER)
    assert report.complete
    assert report.workers_lost > 4
    assert contents(tmp_path / "t.zarr") == by_threads(PUZZLE)


def test_a_lost_scheduler_is_no_lost_worker(by_threads: ByThreads, tmp_path: Path) -> None:
    report = run_on(Forgetful({30}, SchedulerLostError), tmp_path / "t.zarr", AT_THE_END)
    assert report.complete
    assert report.workers_lost == 0
    assert report.recomputed > 1
    assert contents(tmp_path / "t.zarr") == by_threads(PUZZLE)


def test_a_scheduler_that_is_lost_for_good(tmp_path: Path) -> None:
    with pytest.raises(SchedulerLostError, match="resume with: antipodes resume"):
        run_on(Forgetful({1, 2, 3, 4}, SchedulerLostError), tmp_path / "t.zarr", AT_THE_END)


def test_no_commit_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four layers, each committed and restored; the last one holds the end, and needs no second commit."""
    monkeypatch.setattr("antipodes.tables.layers.pace.RECENT", 16)
    events: list[Event] = []
    run_on(Forgetful(()), tmp_path / "t.zarr", 1e-9, events)
    assert [event.depth for event in events if isinstance(event, Committed)] == [0, 4, 8, 12, 16, 20, 22]


def test_a_loss_after_widening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.layers.pace.RECENT", 16)

    def run(scheduler: Forgetful, name: str) -> tuple[RunReport, list[Event]]:
        events: list[Event] = []
        options = RunOptions(checkpoint_every=AT_THE_END)
        return run_puzzle(Config(LINE), tmp_path / name, options, events.append, scheduler=scheduler), events

    quiet = Forgetful(())
    run(quiet, "quiet.zarr")
    report, events = run(Forgetful({len(quiet.calls) - 3}), "t.zarr")
    lost_after = [event.depth for event in events if isinstance(event, WorkersLost)]
    assert (report.complete, report.manifest.radius, lost_after) == (True, 299, [254])
    assert len([event for event in events if isinstance(event, Widened)]) == 1
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "quiet.zarr")


class Changing(Forgetful):
    """Threads whose number changes during the call of this number."""

    workers_changed = False

    def __init__(self, at: int) -> None:
        super().__init__(())
        self.changing = at

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        self.workers_changed = False
        return True

    def _call(self, name: str) -> None:
        super()._call(name)
        if len(self.calls) == self.changing:
            self.workers, self.workers_changed = 3, True


@pytest.mark.parametrize("call", range(1, 50, 8))
def test_workers_that_join_at_any_call(call: int, by_threads: ByThreads, tmp_path: Path) -> None:
    events: list[Event] = []
    report = run_on(Changing(call), tmp_path / "t.zarr", AT_THE_END, events)
    assert (report.complete, report.workers_lost, report.recomputed) == (True, 0, 0)
    assert len([event for event in events if isinstance(event, SearchStarted)]) == 1
    assert contents(tmp_path / "t.zarr") == by_threads(PUZZLE)
