"""The search layer by layer: events, commits and their pace, and the graph of tasks."""

from pathlib import Path
from typing import Any

import pytest
from every_kind import config_of
from stores import contents, resume

from antipodes.puzzles.config import load_config
from antipodes.storage.manifest_file import ManifestFile
from antipodes.system.events import Assembling, Committed, Event, LayerFinished, PartitionFinished, SearchStarted
from antipodes.tables.layers.commits import BLOCK_SECONDS, FIRST_BLOCK, MAX_TOGETHER, CommitPace
from antipodes.tables.planning.plan import Plan, plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.errors import StoreError


def events_of(store: Path, **options: float) -> list[Event]:
    events: list[Event] = []
    run_puzzle(load_config("knights-coloured"), store, RunOptions(workers=2, **options), events.append)  # type: ignore[arg-type]
    return events


def test_events_of_a_run(tmp_path: Path) -> None:
    events = events_of(tmp_path / "t.zarr")
    started = [event for event in events if isinstance(event, SearchStarted)]
    settled = [event for event in events if isinstance(event, LayerFinished)]
    assert started == [SearchStarted("knights-coloured", 18480, 0, 1, False, reachable=18480)]
    assert [event.depth for event in settled] == list(range(1, 23))
    assert settled[-1].states == 18480
    assert all(event.rate > 0 for event in settled)
    assert not [event for event in events if isinstance(event, Committed)], "nothing is due before the end"
    assert events[-1] == Assembling(18480, 18480)
    partitions = [event for event in events if isinstance(event, PartitionFinished) and event.depth == 3]
    assert [event.settled for event in partitions] == list(range(1, partitions[0].partitions + 1))


@pytest.mark.parametrize("failing", [0, 4, 9, 12])
def test_a_failed_write_loses_no_commit(failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, store = config_of("corners and equal edges"), tmp_path / "t.zarr"
    run_puzzle(config, tmp_path / "whole.zarr")
    write_manifest = ManifestFile.write
    committed: list[int] = []

    def write(self: ManifestFile, manifest: TableManifest) -> None:
        if len(committed) == failing:
            raise StoreError("cannot write")
        write_manifest(self, manifest)
        committed.append(manifest.committed_depth)

    with monkeypatch.context() as patch:
        patch.setattr(ManifestFile, "write", write)
        try:
            run_puzzle(config, store, RunOptions(workers=2, checkpoint_every=0))
        except StoreError:
            assert len(committed) == failing
    if failing > 0:
        manifest: TableManifest = TableStore(store).read()
        assert manifest.committed_depth == committed[-1]
    report = resume(store) if failing > 0 else run_puzzle(config, store)
    assert report.resumed_from == (committed[-1] if committed and committed[-1] >= 0 else None)
    assert contents(store) == contents(tmp_path / "whole.zarr")


def test_interrupted_between_layers(tmp_path: Path) -> None:
    asked = []

    def interrupted() -> bool:
        asked.append(True)
        return len(asked) == 6

    report = run_puzzle(load_config("knights-coloured"), tmp_path / "t.zarr", interrupted=interrupted)
    assert not report.complete
    assert report.manifest.committed_depth == 5
    assert report.to_json()["antipodes"] is None


def test_the_phases_of_a_run_are_timed(tmp_path: Path) -> None:
    report = run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr")
    seconds = report.to_json()["seconds"]
    assert all(seconds[phase] > 0 for phase in ("total", "tables", "search", "write"))
    assert seconds["tables"] + seconds["search"] + seconds["write"] <= seconds["total"]


def test_a_fresh_run_plans_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []

    def planned(*arguments: Any, **options: Any) -> Plan:
        plans.append(plan_run(*arguments, **options))
        return plans[-1]

    monkeypatch.setattr("antipodes.tables.planning.fitting.plan_run", planned)
    run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr")
    assert len(plans) == 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock, to be set."""
    now = [1000.0]
    monkeypatch.setattr("antipodes.tables.layers.commits.time.monotonic", lambda: now[0])
    return now


def pace_of(*, every: float | None = None, shares_memory: bool = False) -> CommitPace:
    chosen = CommitPace.of(RunOptions(checkpoint_every=every), shares_memory)
    chosen.restored()
    return chosen


def test_fast_blocks_are_doubled_and_slow_ones_halved() -> None:
    chosen = pace_of()
    assert chosen.layers_together == FIRST_BLOCK
    chosen.advanced(FIRST_BLOCK, 0)
    assert chosen.layers_together == min(2 * FIRST_BLOCK, MAX_TOGETHER)
    chosen.advanced(FIRST_BLOCK, BLOCK_SECONDS)
    assert chosen.layers_together == FIRST_BLOCK // 2
    chosen.advanced(1, 10 * BLOCK_SECONDS)
    assert chosen.layers_together == 1


@pytest.mark.parametrize(("every", "shares_memory"), [(0, False), (None, True)])
def test_single_layers(every: float | None, shares_memory: bool) -> None:
    """Each is to be committed, or there is no round trip to save."""
    assert pace_of(every=every, shares_memory=shares_memory).layers_together == 1


@pytest.mark.parametrize(("every", "shares_memory", "seconds"), [(7, True, 7), (None, True, 120), (None, False, 30)])
def test_seconds_between_commits(every: float | None, shares_memory: bool, seconds: float, clock: list[float]) -> None:
    chosen = pace_of(every=every, shares_memory=shares_memory)
    clock[0] += seconds - 1
    assert not chosen.is_commit_overdue
    clock[0] += 1
    assert chosen.is_commit_overdue


@pytest.mark.parametrize(("every", "wait"), [(None, 900), (5, 5)])
def test_long_commits_are_rarer_unless_told_otherwise(every: float | None, wait: float, clock: list[float]) -> None:
    chosen = pace_of(every=every)
    chosen.committed(100)
    clock[0] += wait - 1
    assert not chosen.is_commit_overdue
    clock[0] += 1.001
    assert chosen.is_commit_overdue
