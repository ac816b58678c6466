"""Shards of partitions: who may change one, and what dask may do with it."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from antipodes.config import load_config
from antipodes.storage.address import storage_at
from antipodes.tables.journal import Journal
from antipodes.tables.layers.shard import Shard
from antipodes.tables.planning.plan import Plan, plan_run
from antipodes_tasks.bfs.partition import Links, links
from antipodes_tasks.errors import InterruptedRunError

PUZZLE = load_config("knights-coloured").puzzle


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_run(PUZZLE, 2)


@pytest.fixture(scope="module")
def linked(plan: Plan) -> Links:
    bounds = [*(part.first_row for part in plan.partitions), plan.space.rows]
    return links(plan.space.filler.filled(), bounds)


def begun(plan: Plan, folder: Path, token: str = "first", buffer_bytes: int = 1 << 20) -> Shard:
    """A shard of all partitions at depth 0."""
    journal = Journal(storage_at(folder), "a table", 100, 1 << 20)
    shard = Shard(plan.partitions, plan.space.width, plan.chunk_rows, journal, buffer_bytes)
    shard.begin(plan.space.rank(PUZZLE.start_labels))
    if token:
        shard.go_back(0, token)
    return shard


def bits_of(shard: Shard) -> bytes:
    return np.concatenate([state.visited for state in shard.states]).tobytes()


def test_a_late_task_changes_nothing(plan: Plan, linked: Links, tmp_path: Path) -> None:
    shard = begun(plan, tmp_path)
    shard.advance((), linked, 0, 6, "first")
    shard.go_back(3, "second")
    before = bits_of(shard), shard.depth, shard.segments.log.size
    for late in (
        lambda: shard.advance((), linked, 3, 1, "first"),
        lambda: shard.boundary(linked, 3, "first"),
        lambda: shard.flush(6, "first"),
    ):
        with pytest.raises(InterruptedRunError, match="returned to an earlier depth"):
            late()
    assert (bits_of(shard), shard.depth, shard.segments.log.size) == before
    assert list(tmp_path.iterdir()) == []


def test_a_shard_that_dask_makes_anew_is_not_searched(plan: Plan, linked: Links, tmp_path: Path) -> None:
    """It is at its first depth, whatever the depth of the others."""
    shard = begun(plan, tmp_path, token="")
    with pytest.raises(InterruptedRunError, match="the shard was lost"):
        shard.advance((), linked, 7, 1, "first")
    with pytest.raises(InterruptedRunError, match="the shard was lost"):
        shard.boundary(linked, 7, "first")


def test_a_shard_that_went_back_replays(
    plan: Plan, linked: Links, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = begun(plan, tmp_path)
    found = shard.advance((), linked, 0, 9, "first")
    bits, size = bits_of(shard), shard.segments.log.size
    assert shard.go_back(4, "second") == found[3]
    with monkeypatch.context() as patch:
        patch.setattr("antipodes_tasks.bfs.partition.expand", None)
        patch.setattr("antipodes_tasks.bfs.partition.pull", None)
        assert shard.advance((), linked, 4, 5, "second") == found[4:]
    assert (bits_of(shard), shard.segments.log.size) == (bits, size)


def test_a_task_that_runs_twice_finds_the_same(plan: Plan, linked: Links, tmp_path: Path) -> None:
    shard = begun(plan, tmp_path)
    found = shard.advance((), linked, 0, 5, "first")
    bits = bits_of(shard)
    assert shard.advance((), linked, 0, 5, "first") == found
    assert bits_of(shard) == bits


def test_a_shard_does_not_leave_its_process(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="cannot leave its process"):
        pickle.dumps(begun(plan, tmp_path))


def test_the_memory_of_a_shard_is_known(plan: Plan, linked: Links, tmp_path: Path) -> None:
    shard = begun(plan, tmp_path)
    bitmap = sum(state.visited.nbytes for state in shard.states)
    assert 2 * bitmap < sys.getsizeof(shard) < 3.5 * bitmap
    shard.advance((), linked, 0, 9, "first")
    assert 2 * bitmap < sys.getsizeof(shard) - shard.segments.log.size < 4 * bitmap
