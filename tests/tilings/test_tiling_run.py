"""Runs that are killed or interrupted anywhere, on schedulers of any kind, end with the same store."""

import json
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clusters import Cluster
from faults import NAMES, SYNCS, Calls, Killed, fault_at, kill
from programs import Process, first_message, kill_within
from stores import contents
from tiling_stores import BOX, IMPOSSIBLE, SQUARE, tiled
from waiting import PATIENCE

from antipodes.executors.api import Scheduler
from antipodes.executors.open_scheduler import open_scheduler
from antipodes.executors.threads import Threads
from antipodes.system.events import PartitionsCommitted, PartitionSearched, PartitionsInProgress, TilingSearchStarted
from antipodes.tables.run import RunOptions
from antipodes.tilings.board_config import BoardConfig, load_board
from antipodes.tilings.run import tile_board
from antipodes.tilings.store import TilingStore
from antipodes.tilings.tiling_search import count_tilings
from antipodes_tasks.base.errors import (
    ConfigError,
    InputError,
    InterruptedRunError,
    ResourceLimitError,
    SchedulerError,
    StoreError,
    StoreMismatchError,
)
from antipodes_tasks.exact_cover.partition_search import search_partition
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.placements import distinct

LARGER_COPIES = {
    "name": "larger",
    "cells": "?.....\n......\n......\n......\n......\n.....?",
    "pieces": {"V": {"shape": "##\n#.", "count": 6}, "D": {"shape": "##", "count": 8}},
}
EACH = RunOptions(workers=2, checkpoint_every=0)


@pytest.fixture
def cluster_of_two(shared: Cluster) -> Iterator[Scheduler]:
    """A cluster of two worker processes."""
    with open_scheduler(shared.address, 2) as scheduler:
        yield scheduler


@pytest.fixture(scope="module")
def square_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the finished store of the square."""
    return contents(tiled(SQUARE, tmp_path_factory.mktemp("whole") / "square.zarr"))


@contextmanager
def killed_at(step: int) -> Iterator[Calls]:
    """Raise at a call that makes something durable or deletes a folder; 0: only count these calls.

    Other files are not counted: one is the lock, which the end of a process would release.
    """
    with fault_at(step, kill, (SYNCS, NAMES)) as calls, pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "rmtree", calls.before(NAMES, shutil.rmtree))
        yield calls


@pytest.mark.parametrize("run", [tile_board, lambda board, _: count_tilings(board)], ids=["tile", "count"])
def test_too_many_placements_are_refused_before_there_is_a_store(
    run: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("antipodes_tasks.exact_cover.fewest_first.MAX_OPTIONS", 10)
    with pytest.raises(ResourceLimitError, match="a search has 67 placements to choose from; at most 10 are supported"):
        run(BoardConfig(LARGER_COPIES), tmp_path / "store.zarr")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("where", [3, [3], {"X": 1}])
def test_conditions_beside_malformed_ones(where: object) -> None:
    with pytest.raises(ConfigError, match=r"\[board\] where: expected a list of conditions, found"):
        BoardConfig({**SQUARE, "where": where}).under(["I covers 0"])


@pytest.mark.parametrize("settings", [SQUARE, BOX, IMPOSSIBLE], ids=["square", "box", "impossible"])
def test_the_store_has_the_tilings_of_the_search(settings: dict[str, Any], tmp_path: Path) -> None:
    config = BoardConfig(settings)
    report = tile_board(config, tmp_path / "store.zarr", options=RunOptions(workers=2))
    parts = [search_partition(config.problem, number) for number in range(len(partitions_of(config.problem)))]
    none = np.empty((0, len(config.problem.pieces)), dtype=np.int32)
    expected = distinct(np.concatenate([none, *(part.tilings for part in parts)]))
    stored = TilingStore(tmp_path / "store.zarr").tilings(report.manifest)
    assert np.array_equal(stored, expected)
    assert [one.tilings for one in report.manifest.searched] == [len(part.tilings) for part in parts]
    assert report.manifest.placements == sum(part.placements for part in parts)
    assert report.complete


@pytest.mark.parametrize("stride", [40, pytest.param(9, marks=pytest.mark.slow)])
def test_killed_at_every_step(stride: int, square_files: dict[str, bytes], tmp_path: Path) -> None:
    config = BoardConfig(SQUARE)
    with killed_at(0) as calls:
        tile_board(config, tmp_path / "counted.zarr", options=EACH)
    assert calls.count > 30
    for step in range(1 + random.randrange(stride), calls.count + 1, stride):
        store = tmp_path / f"{step}.zarr"
        with killed_at(step), pytest.raises(Killed):
            tile_board(config, store, options=EACH)
        assert tile_board(config, store, options=EACH).complete
        assert contents(store) == square_files, f"killed at step {step}"


def test_interrupted_after_any_number_of_partitions(square_files: dict[str, bytes], tmp_path: Path) -> None:
    config = BoardConfig(SQUARE)
    partitions = len(partitions_of(config.problem))
    for count in range(partitions):
        asked = iter(range(-1, 1000))  # the first time before the kernels are loaded
        store = tmp_path / f"{count}.zarr"
        first = tile_board(
            config, store, options=RunOptions(workers=1), interrupted=lambda: next(asked) >= count  # noqa: B023
        )  # fmt: skip
        assert (first.complete, len(first.manifest.searched)) == (False, count)
        second = tile_board(config, store, options=RunOptions(workers=2))
        assert second.resumed_from == (count or None)
        assert contents(store) == square_files


def test_an_interrupt_inside_a_partition_abandons_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The run tells of the partitions under way, and ends inside one when it is to stop; the next searches it again."""
    monkeypatch.setattr("antipodes_tasks.exact_cover.partition_search.FIRST_SLICE", 5)
    monkeypatch.setattr("antipodes.tilings.tiling_search.PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr("antipodes.tilings.tiling_search.GRACE_SECONDS", 0.0)
    config, seen = load_board("3x20"), []

    def interrupted() -> bool:
        return any(isinstance(event, PartitionsInProgress) for event in seen)

    first = tile_board(config, tmp_path / "store.zarr", None, RunOptions(workers=1), seen.append, interrupted)
    told = next(event for event in seen if isinstance(event, PartitionsInProgress))
    assert (told.partitions, told.under_way) == (first.manifest.partitions, 1)
    assert told.placements > 0
    assert len(first.manifest.searched) == told.done < first.manifest.partitions
    seen.clear()
    with pytest.raises(InterruptedRunError, match=rf"{told.done} of {told.partitions} partitions were counted"):
        count_tilings(config, None, RunOptions(workers=1), seen.append, interrupted)
    tile_board(config, tmp_path / "store.zarr")
    tile_board(config, tmp_path / "whole.zarr")
    assert contents(tmp_path / "store.zarr") == contents(tmp_path / "whole.zarr")


def test_schedulers_and_workers_leave_the_same_store(cluster_of_two: Scheduler, tmp_path: Path) -> None:
    whole = contents(tiled(BOX, tmp_path / "whole.zarr"))
    for number, scheduler in enumerate((Threads(1), Threads(3), cluster_of_two)):
        store = tmp_path / f"{number}.zarr"
        report = tile_board(BoardConfig(BOX), store, options=RunOptions(checkpoint_every=0), scheduler=scheduler)
        assert contents(store) == whole
        assert len(report.busy) == scheduler.workers
        assert report.busy[0] > 0


def test_a_cluster_stops_between_partitions_and_resumes(cluster_of_two: Scheduler, tmp_path: Path) -> None:
    config, store, seen = load_board("6x10"), tmp_path / "store.zarr", []

    def interrupted() -> bool:
        return any(isinstance(event, PartitionSearched) for event in seen)

    first = tile_board(config, store, None, RunOptions(), seen.append, interrupted, cluster_of_two)
    assert not first.complete
    assert 1 <= len(first.manifest.searched) < first.manifest.partitions
    assert tile_board(config, store, scheduler=cluster_of_two).manifest.tilings == 2339


def test_both_methods_store_the_same_tilings(tmp_path: Path) -> None:
    arrays = {}
    for method in ("pruning", "plain"):
        tile_board(BoardConfig(BOX), tmp_path / method, method)
        arrays[method] = {name: bytes for name, bytes in contents(tmp_path / method).items() if name != "commit.json"}
    assert arrays["pruning"] == arrays["plain"]


def test_events(tmp_path: Path) -> None:
    seen: list[Any] = []
    tile_board(BoardConfig(SQUARE), tmp_path / "store.zarr", options=EACH, listener=seen.append)
    partitions = len(partitions_of(BoardConfig(SQUARE).problem))
    assert seen[0] == TilingSearchStarted("square", partitions, 0, 0)
    assert [event.done for event in seen if isinstance(event, PartitionSearched)] == [*range(1, partitions + 1)]
    assert seen[-1] == PartitionsCommitted(partitions, partitions)


def test_a_finished_store_is_reported_and_unchanged(tmp_path: Path) -> None:
    store = tiled(SQUARE, tmp_path / "store.zarr")
    before = contents(store)
    report = tile_board(BoardConfig({**SQUARE, "name": "another name"}), store, scheduler=Threads(2))
    assert (report.complete, report.clock.search, report.balance) == (True, 0, None)
    assert report.resumed_from == report.manifest.partitions
    assert contents(store) == before


def test_other_boards_and_methods_are_refused(tmp_path: Path) -> None:
    store = tiled(SQUARE, tmp_path / "store.zarr")
    with pytest.raises(StoreMismatchError, match=r"another board \('square'\)"):
        tile_board(BoardConfig(BOX), store)
    with pytest.raises(StoreMismatchError, match=r"found by the method pruning; expected plain"):
        tile_board(BoardConfig(SQUARE), store, "plain")
    with pytest.raises(InputError, match=r"method: expected pruning or plain, found 'fast'"):
        tile_board(BoardConfig(SQUARE), store, "fast")
    tile_board(BoardConfig(SQUARE), store, "plain", RunOptions(overwrite=True))
    assert tile_board(BoardConfig(SQUARE), store).manifest.method == "plain"


def test_nothing_is_overwritten_before_the_scheduler_answers(tmp_path: Path) -> None:
    store = tiled(SQUARE, tmp_path / "store.zarr")
    before = contents(store)
    with pytest.raises(SchedulerError, match="foo://nowhere:1"):
        tile_board(BoardConfig(SQUARE), store, options=RunOptions(scheduler="foo://nowhere:1", overwrite=True))
    assert contents(store) == before
    with pytest.raises(SchedulerError, match="foo://nowhere:1"):
        tile_board(BoardConfig(SQUARE), tmp_path / "new.zarr", options=RunOptions(scheduler="foo://nowhere:1"))
    assert not (tmp_path / "new.zarr").exists()


def test_an_error_says_how_much_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "store.zarr"
    write, calls = TilingStore._write, []

    def full(self: TilingStore, *arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise StoreError("cannot write it: No space left on device")
        return write(self, *arguments)

    monkeypatch.setattr(TilingStore, "_write", full)
    with pytest.raises(
        StoreError, match=r"No space left on device; 2 of \d+ partitions are kept; the same call resumes"
    ):
        tile_board(BoardConfig(SQUARE), store, options=EACH)


@pytest.mark.slow
def test_many_killed_processes(process: Process, tmp_path: Path) -> None:
    """Runs are killed at random moments; the last one finishes, and its store is that of an uninterrupted run."""
    rng, kills = random.Random(3), 5
    command = ["tile", "2x5x6", "--method", "pruning", "--workers", 2, "--checkpoint-every", 0]
    report, _ = process(*command, "--store", "whole.zarr", "--quiet", "--json").communicate()
    phases = json.loads(report)["seconds"]
    seconds = phases["tables"] + phases["search"] + phases["write"]  # libraries load before the first message
    whole = contents(tmp_path / "whole.zarr")
    counts = set()
    for _ in range(kills):
        kill_within(2 * seconds / kills, process(*command, "--store", "killed.zarr"), rng)
        counts.add(len(list(tmp_path.glob("killed.zarr/partitions/*"))))
    again = ["resume", "killed.zarr"] if (tmp_path / "killed.zarr").exists() else [*command, "--store", "killed.zarr"]
    last = process(*again, "--json")
    out, err = last.communicate()
    assert last.returncode == 0, err
    assert json.loads(out)["complete"]
    assert contents(tmp_path / "killed.zarr") == whole, f"kills {sorted(counts)}"


@pytest.mark.slow
def test_a_signal_commits_and_ends_the_run_of_tilings(process: Process, tmp_path: Path) -> None:
    """2x5x6 by the plain method has many partitions of a fraction of a second; searched ones are committed."""
    running = process("tile", "2x5x6", "--method", "plain", "--workers", 2, "--checkpoint-every", 0)
    assert any(" partition 2" in line for line in running.stderr)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 75
    assert out == ""
    last = err.splitlines()[-1]
    assert last.endswith("resume with: antipodes resume outputs/2x5x6.zarr --workers 2 --checkpoint-every 0")
    manifest = TilingStore(tmp_path / "outputs/2x5x6.zarr").read()
    assert f"{len(manifest.searched)} of 61 partitions are kept in" in last
    assert 2 <= len(manifest.searched) < 61


def test_a_second_signal_stops_tilings_immediately(process: Process, tmp_path: Path) -> None:
    running = process("tile", "3x4x5", "--method", "plain", "--workers", 2)
    line = first_message(running)
    assert "starting" in line
    running.send_signal(signal.SIGINT)
    assert any("interrupt again to stop immediately" in line for line in running.stderr)
    running.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 75
    assert time.monotonic() - begin < 60
    assert err.splitlines()[-1].endswith("resume with: antipodes resume outputs/3x4x5.zarr --workers 2")
