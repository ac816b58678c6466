"""Workers and schedulers that are lost at chosen calls: the search finds again what was lost, and counts the loss."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from forgetful import Forgetful
from program_runs import Same
from stores import contents

from antipodes.executors.api import Call, Handle, Key, OnDone, OnResult, Stop, never_stop
from antipodes.puzzles.config import load_config
from antipodes.storage.file_lock import FileLock
from antipodes.system.events import Committed, Committing, Event, Listener, SearchStarted, WorkersLost
from antipodes.system.output_files import PARTIAL
from antipodes.tables.run import RunOptions, RunReport, run_puzzle
from antipodes_tasks.base.errors import SchedulerError, SchedulerLostError, WorkersLostError, WorkersRetiredError
from antipodes_tasks.bfs.partition import State

ByThreads = Callable[[str], dict[str, bytes]]
PUZZLE = "knights-coloured"
EVERY_LAYER, AT_THE_END = 0.0, 1e9
"""Seconds between commits: the tasks of the first run are other ones than those of the second, and a hundred more."""


@pytest.fixture(autouse=True)
def _a_layer_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Submit each layer alone, since the tests count calls."""
    monkeypatch.setattr("antipodes.tables.layers.commits.MAX_TOGETHER", 1)


class Searched:
    """The layers of partitions that are searched, and not replayed."""

    def __init__(self) -> None:
        self.layers: list[tuple[State, int]] = []
        self.positions = 0

    def advance(self, state: State, depth: int, *arguments: Any) -> int:
        assert (state, depth) not in self.layers, "a partition that was not lost is searched again"
        found = ADVANCE(state, depth, *arguments)
        self.layers.append((state, depth))
        self.positions += found
        return found


ADVANCE = State.advance


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Searched:
    """What a run searches; it fails if a partition finds a layer twice."""
    counting = Searched()

    def advance(state: State, depth: int, *arguments: Any) -> int:
        return counting.advance(state, depth, *arguments)

    monkeypatch.setattr(State, "advance", advance)
    return counting


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
    [
        *((AT_THE_END, 43), (EVERY_LAYER, 57)),
        *(pytest.param(AT_THE_END, call, marks=pytest.mark.slow) for call in (1, 8)),
        *(pytest.param(EVERY_LAYER, call, marks=pytest.mark.slow) for call in (15, 99)),
    ],
)
def test_a_loss_at_any_call(every: float, call: int, searched: Searched, by_threads: ByThreads, tmp_path: Path) -> None:
    """What was lost is searched again, and nothing else.

    A layer under way was not counted yet; of a commit under way, some may be in the journal.
    """
    whole, events = by_threads(PUZZLE), list[Event]()
    searched.positions = 0
    scheduler = Forgetful({call})
    report = run_on(scheduler, tmp_path / "t.zarr", every, events)
    assert report.complete
    assert report.workers_lost == 1
    assert [event.recomputed for event in events if isinstance(event, WorkersLost)] == [report.recomputed]
    assert len([event for event in events if isinstance(event, SearchStarted)]) == 1
    again = searched.positions - (report.manifest.states - 1)
    (lost,) = (number for number, event in enumerate(events) if isinstance(event, WorkersLost))
    committing = lost > 0 and isinstance(events[lost - 1], Committing)
    assert committing or again >= report.recomputed - 1
    assert again <= report.recomputed or scheduler.calls[call - 1] == "gather"
    assert contents(tmp_path / "t.zarr") == whole


def test_lost_positions_are_counted_once(tmp_path: Path) -> None:
    """When workers are lost again while the commit is restored, nothing was recomputed yet."""
    late = number_of("persist", 30, tmp_path / "quiet.zarr", AT_THE_END)
    once = run_on(Forgetful({late}), tmp_path / "once.zarr", AT_THE_END)
    assert once.recomputed > 1
    twice = run_on(Forgetful({late, late + 1}), tmp_path / "twice.zarr", AT_THE_END)
    assert twice.workers_lost == 2
    assert twice.recomputed == once.recomputed


def test_three_losses_without_a_commit(same: Same, tmp_path: Path) -> None:
    report = run_on(Forgetful({1, 2, 3}), tmp_path / "t.zarr", AT_THE_END)
    assert report.complete
    assert report.workers_lost == 3
    same(PUZZLE)


class LosesAWriter(Forgetful):
    """Threads that lose a worker during the assembly, while it writes a file."""

    def __init__(self, store: Path) -> None:
        super().__init__(())
        self.unfinished = store / f"0.lost{PARTIAL}"
        self.assembles = False

    def run_unordered(self, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop) -> int:
        self.assembles = ("assemble", 0) in calls
        if self.assembles:
            self.unfinished.touch()
        return super().run_unordered(calls, on_result, stop) + self.assembles


@pytest.mark.parametrize(("every", "stopped"), [(EVERY_LAYER, False), (AT_THE_END, True)])
def test_a_worker_that_is_lost_during_the_assembly(
    every: float, stopped: bool, monkeypatch: pytest.MonkeyPatch, same: Same, tmp_path: Path
) -> None:
    """The file that it was writing is removed. If it is not gone after all, it can write nothing any more."""
    rotated, rotate = list[FileLock](), FileLock.rotate_token
    monkeypatch.setattr(FileLock, "rotate_token", lambda lock: rotated.append(lock) or rotate(lock))  # type: ignore[func-returns-value]
    scheduler, options = LosesAWriter(tmp_path / "t.zarr"), RunOptions(checkpoint_every=every)
    report = run_puzzle(
        load_config(PUZZLE),
        tmp_path / "t.zarr",
        options,
        interrupted=lambda: stopped and scheduler.assembles,
        scheduler=scheduler,
    )
    assert (report.complete, report.workers_lost, len(rotated)) == (not stopped, 1, 2)
    assert not scheduler.unfinished.exists()
    run_puzzle(load_config(PUZZLE), tmp_path / "t.zarr")
    same(PUZZLE)


def test_workers_that_retire_are_not_lost(same: Same, tmp_path: Path) -> None:
    """Any number of them may retire without a commit in between."""
    report = run_on(Forgetful(range(20, 200, 20), WorkersRetiredError), tmp_path / "t.zarr", AT_THE_END)
    assert report.complete
    assert report.workers_lost == 0
    assert report.recomputed > 1
    same(PUZZLE)


class RetiresMeanwhile(Forgetful):
    """Threads that lose a worker at a call, and whose other worker retires while the moves are built again."""

    retiring = noticed = False

    def __init__(self, at: int) -> None:
        super().__init__({at})
        self.gone = set[str]()
        self.waits_for = set[str]()
        """The workers that must run tasks under way."""

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        self.retiring, self.gone = len(self.calls) in self.at, set()
        return super().wait_for_workers(listener, stop)

    def persist(
        self, calls: Mapping[Key, Call], on_done: OnDone | None = None, places: Mapping[Key, str] | None = None
    ) -> dict[Key, Handle]:
        if self.retiring:
            self.retiring, self.gone, self.held = False, {process for process, _ in self.held}, []
        self.waits_for |= set((places or {}).values())
        return super().persist(calls, on_done, places)

    def gather(self, handles: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        required, self.waits_for = self.waits_for, set()
        if required & self.gone:
            self.noticed = True
            raise WorkersRetiredError("worker tcp://retired:1")
        return super().gather(handles, stop)

    def divide(self, items: Sequence[int], held: Mapping[str, int]) -> dict[str, Sequence[int]]:
        """Return all items for the worker that is still there."""
        return super().divide(items, held) if not self.gone else dict.fromkeys({"0", "1"} - self.gone, items)


def test_a_worker_that_retires_while_the_shards_of_another_one_are_restored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its shards are not forgotten: the run notices that it has left, and restores them, too."""
    for name, states in (("CHUNK_STATES", (1024, 2048)), ("PARTITION_STATES", 1024), ("SHARD_STATES", (1, 1))):
        monkeypatch.setattr(f"antipodes.tables.layers.division.{name}", states)
    run_puzzle(load_config(PUZZLE), tmp_path / "threads.zarr", RunOptions(workers=2))
    scheduler = RetiresMeanwhile(20)
    assert run_on(scheduler, tmp_path / "t.zarr", AT_THE_END).workers_lost == 1
    assert scheduler.noticed
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "threads.zarr")


def test_four_losses_without_a_commit(tmp_path: Path) -> None:
    with pytest.raises(SchedulerError, match="workers were lost 4 times without a commit") as caught:
        run_on(Forgetful({1, 2, 3, 4}), tmp_path / "t.zarr", AT_THE_END)
    assert not isinstance(caught.value, SchedulerLostError | WorkersLostError)
    assert "the same call resumes" in str(caught.value)


def test_commits_between_losses(same: Same, tmp_path: Path) -> None:
    """Any number of losses is allowed with a commit between them."""
    report = run_on(Forgetful(range(20, 1000, 20)), tmp_path / "t.zarr", EVERY_LAYER)
    assert report.complete
    assert report.workers_lost > 4
    same(PUZZLE)


def test_a_lost_scheduler_is_no_lost_worker(same: Same, tmp_path: Path) -> None:
    report = run_on(Forgetful({30}, SchedulerLostError), tmp_path / "t.zarr", AT_THE_END)
    assert report.complete
    assert report.workers_lost == 0
    assert report.recomputed > 1
    same(PUZZLE)


def test_a_scheduler_that_is_lost_for_good(tmp_path: Path) -> None:
    with pytest.raises(SchedulerLostError, match="the same call resumes"):
        run_on(Forgetful({1, 2, 3, 4}, SchedulerLostError), tmp_path / "t.zarr", AT_THE_END)


def test_no_commit_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 4, 8 and 16 layers, each committed; the last one holds the end, and needs no second commit."""
    monkeypatch.setattr("antipodes.tables.layers.commits.MAX_TOGETHER", 16)
    monkeypatch.setattr("antipodes.tables.layers.commits.BLOCK_SECONDS", math.inf)
    events: list[Event] = []
    run_on(Forgetful(()), tmp_path / "t.zarr", 1e-9, events)
    assert [event.depth for event in events if isinstance(event, Committed)] == [0, 4, 12, 22]


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


@pytest.mark.parametrize("call", [1, 25, 41])
def test_workers_that_join_at_any_call(call: int, same: Same, tmp_path: Path) -> None:
    events: list[Event] = []
    report = run_on(Changing(call), tmp_path / "t.zarr", AT_THE_END, events)
    assert (report.complete, report.workers_lost, report.recomputed) == (True, 0, 0)
    assert len([event for event in events if isinstance(event, SearchStarted)]) == 1
    same(PUZZLE)


def test_shards_that_nothing_reaches_lose_no_commit(tmp_path: Path) -> None:
    """The shard of a survivor is at an earlier depth as long as no moves lead to it."""
    events: list[Event] = []
    options = RunOptions(workers=2, checkpoint_every=EVERY_LAYER)

    def committed() -> list[int]:
        return [event.depth for event in events if isinstance(event, Committed)]

    def after_a_while() -> bool:
        return len(committed()) > 40

    hanoi = load_config("hanoi-3-pegs")
    run_puzzle(hanoi, tmp_path / "t.zarr", options, events.append, after_a_while, scheduler=Forgetful({60}))
    assert committed() == sorted(set(committed()))
    assert any(isinstance(event, WorkersLost) for event in events)


@pytest.mark.parametrize("left", [0, 1])
def test_a_loss_after_which_the_journal_is_gone(left: int, same: Same, tmp_path: Path) -> None:
    """Without the starts nothing that a survivor holds is of use."""
    store, events = tmp_path / "t.zarr", list[Event]()

    def listener(event: Event) -> None:
        events.append(event)
        if isinstance(event, WorkersLost):
            assert event.depth > 3
            for path in sorted((store / "journal").iterdir())[left:]:
                path.unlink()

    options = RunOptions(workers=2, checkpoint_every=EVERY_LAYER)
    scheduler = Forgetful({number_of("gather", 60, tmp_path / "quiet.zarr", EVERY_LAYER)})
    report = run_puzzle(load_config(PUZZLE), store, options, listener, scheduler=scheduler)
    assert any(isinstance(event, WorkersLost) for event in events)
    assert report.complete
    same(PUZZLE)


class Counted(Forgetful):
    """Notes how many shards the run has, and how many tasks it starts together."""

    shards, tasks = 0, 0

    def divide(self, items: Sequence[int], held: Mapping[str, int]) -> dict[str, Sequence[int]]:
        self.shards = max(self.shards, len(items))
        return super().divide(items, held)

    def persist(self, calls: Mapping[Key, Call], *others: Any) -> dict[Key, Handle]:
        self.tasks = max(self.tasks, len(calls))
        return super().persist(calls, *others)


@pytest.mark.slow
def test_each_process_has_one_task_whatever_the_number_of_its_shards(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """When shards are created, advanced, written, lost and restored, beside those of the other process."""
    for name, states in (("CHUNK_STATES", (1024, 2048)), ("PARTITION_STATES", 1024), ("SHARD_STATES", (1, 1))):
        monkeypatch.setattr(f"antipodes.tables.layers.division.{name}", states)
    run_puzzle(load_config(PUZZLE), tmp_path / "threads.zarr", RunOptions(workers=2))
    scheduler = Counted({20, 30, 40, 70})
    assert run_on(scheduler, tmp_path / "t.zarr", EVERY_LAYER).workers_lost == 4
    assert scheduler.shards > 4
    assert scheduler.tasks == 2
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "threads.zarr")
