"""Plans: cuts, chunks, partitions and shards, memory and disk, and the wait for workers where these have too little."""

import json
import time
from collections.abc import Iterator, Sequence
from math import ceil, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from puzzle_settings import LINE
from stores import change_manifest, contents, stop_after
from strategies import puzzle_settings, spaces_of
from waiting import PATIENCE

from antipodes.executors.api import WORKER_SHARE, Stop
from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.runs.session import Session
from antipodes.system.events import Event, Listener, WaitingForWorkers
from antipodes.system.machine import MIB
from antipodes.system.options import RunOptions
from antipodes.tables.layers import division as plan
from antipodes.tables.layers.division import partitions, plan_chunk, plan_partition
from antipodes.tables.planning.fitting import plan_checked, plan_that_fits
from antipodes.tables.planning.plan import PROGRAM_BYTES, Plan, check_memory, plan_cut, plan_run
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.strategies.bit_strategy import BITS_STORED
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes_tasks import move_tables
from antipodes_tasks.base.errors import ConfigError, InterruptedRunError, ResourceLimitError, StoreDamagedError
from antipodes_tasks.bfs.partition import State
from antipodes_tasks.permutations.multisets import radices
from antipodes_tasks.spaces.selection import best_space, numbering_of
from antipodes_tasks.spaces.space import SpaceRecord


def sliding(rows: int, columns: int, tiles: list[int]) -> Puzzle:
    start = " ".join(map(str, [*tiles, 0]))
    return puzzle_from({"name": "p", "family": "sliding", "rows": rows, "columns": columns, "start": start})


@given(puzzle_settings(), st.integers(1, 8))
def test_partitions_are_all_rows_in_whole_chunks(table: dict[str, Any], workers: int) -> None:
    for space in spaces_of(puzzle_from(table)):
        chunk_rows = plan_chunk(space)
        cut = partitions(space, plan_partition(space, chunk_rows, workers))
        assert [part.number for part in cut] == list(range(len(cut)))
        assert [row for part in cut for row in range(part.first_row, part.end_row)] == list(range(space.rows))
        assert all(part.first_row % chunk_rows == 0 for part in cut)


@given(puzzle_settings())
def test_the_chunks_do_not_depend_on_the_workers(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    plans = [plan_run(puzzle, workers, limit) for workers in (1, 2, 16) for limit in (None, 1)]
    assert len({(plan.space, plan.chunk_rows) for plan in plans}) == 1
    assert all(plan.partition_count == len(plan.partitions) for plan in plans)


@pytest.mark.parametrize(("name", "parities"), [("seven-tiles", 1), ("eleven-puzzle", 2), ("three-colours", 1)])
def test_large_puzzles(name: str, parities: int) -> None:
    puzzle = load_config(name).puzzle
    plan = plan_run(puzzle, 2)
    assert plan.space.size == prod(radices(puzzle.rules.counts)) // parities
    assert plan.disk_bytes > plan.space.size
    assert plan.memory_bytes > plan.table_bytes
    assert 2 <= plan.partition_count <= 1000
    assert 1 <= plan.chunk_rows * plan.space.width <= 16 * 2**20


def test_what_a_limit_leaves_is_for_the_journal() -> None:
    puzzle = load_config("three-colours").puzzle
    ample = plan_run(puzzle, 2)
    half, least = ample.min_bytes + ample.buffer_bytes // 2, ample.min_bytes
    assert plan_run(puzzle, 2, half).buffer_bytes == half - least
    assert plan_run(puzzle, 2, half).memory_bytes == half
    assert plan_run(puzzle, 2, least).buffer_bytes == plan_run(puzzle, 2, 1).buffer_bytes == 0
    assert plan_run(puzzle, 2, 1 << 40) == ample
    check_memory(plan_run(puzzle, 2, least), least)
    with pytest.raises(ResourceLimitError, match="12,108,096 positions take at least"):
        check_memory(plan_run(puzzle, 2, least - 1), least - 1)


@pytest.mark.parametrize(("side", "found"), [(5, r", found about 10\^25"), (16, "")])
def test_more_positions_than_64_bits_or_a_float_hold(side: int, found: str) -> None:
    with pytest.raises(ConfigError, match=rf"expected at most 2\^63 - 1 positions{found}"):
        best_space(sliding(side, side, list(range(1, side * side))).rules)


@pytest.mark.parametrize(("rows", "columns", "singles"), [(32, 32, 2), (1, 1024, 0), (1024, 1, 1), (2, 512, 1)])
def test_the_largest_boards_are_planned_in_seconds(rows: int, columns: int, singles: int) -> None:
    begin = time.process_time()
    plan = plan_run(sliding(rows, columns, [1] * (rows * columns - 1 - singles) + list(range(2, 2 + singles))), 2)
    assert plan.space.size >= 1024
    assert time.process_time() - begin < 30


def test_a_puzzle_that_no_cut_makes_small_enough_is_refused() -> None:
    puzzle = sliding(6, 10, [1] * 29 + [2] * 30)
    with pytest.raises(ResourceLimitError, match=r"more than 2,147,483,647 rows or columns: .* has 60 rows of 59,1"):
        plan_run(puzzle, 2)
    labels = puzzle.start_labels
    assert numbering_of(puzzle.rules).unrank(numbering_of(puzzle.rules).rank(labels)).tolist() == labels.tolist()


def test_a_long_config_is_counted() -> None:
    edges = [[a, b] for a in range(100) for b in range(a)]
    table = {"name": "graph", "family": "jump", "start": "A" + "-" * 99, "edges": edges}
    plans = [plan_run(puzzle_from(table), settings=settings) for settings in (None, table)]
    assert plans[1].memory_bytes - plans[0].memory_bytes > 100 * len(edges)
    assert plans[1].disk_bytes - plans[0].disk_bytes > len(json.dumps(edges, indent=1))


def test_processes_hold_rows_of_others_and_uneven_shares() -> None:
    """Each process counts as the one with the most shards: of three shards on two processes, two."""
    puzzle = load_config("seven-tiles").puzzle
    one, two = plan_run(puzzle, 1, processes=1), plan_run(puzzle, 2, processes=2)
    bits = one.space.size // 8
    assert one.min_bytes >= PROGRAM_BYTES + BITS_STORED[3] * bits
    share = 2 * ceil(len(two.shards) / 2) / len(two.shards)
    assert two.min_bytes >= 2 * PROGRAM_BYTES + share * BITS_STORED[3] * bits + bits
    assert two.buffer_bytes == pytest.approx(share * one.buffer_bytes)


@given(puzzle_settings(), st.sampled_from((1, 2, 8, 64, 1024)), st.sampled_from((0, 2)))
def test_a_journal_on_disk_never_takes_more_memory(table: dict[str, Any], workers: int, processes: int) -> None:
    puzzle = puzzle_from(table)
    ample, lean = (plan_run(puzzle, workers, limit, processes=processes) for limit in (None, 1))
    assert lean.memory_bytes <= ample.memory_bytes


def test_the_states_of_partitions_are_counted() -> None:
    start = "-" * 12 + "A" * 12
    puzzle = puzzle_from({"name": "p", "family": "jump", "start": start, "edges": [[0, 12]]})
    plan = plan_run(puzzle)
    state = State(plan.partitions[0], plan.space.width, plan.chunk_rows)
    assert plan.min_bytes >= PROGRAM_BYTES + plan.table_bytes + BITS_STORED[3] * state.visited.nbytes


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
    monkeypatch.setattr("antipodes.tables.planning.fitting.JOIN_SECONDS", 0.3)
    begin, events = time.monotonic(), list[Event]()
    with pytest.raises(ResourceLimitError):
        plan_on(Growing([TOO_LITTLE, TOO_LITTLE]), events)
    assert time.monotonic() - begin >= 0.3
    assert [type(event) for event in events] == [WaitingForWorkers] * 2


def test_an_interruption_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.planning.fitting.JOIN_SECONDS", 2 * PATIENCE)
    begin = time.monotonic()
    with pytest.raises(InterruptedRunError):
        plan_on(Growing([TOO_LITTLE]), [], interrupted=True)
    assert time.monotonic() - begin < PATIENCE


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


TILES = {"name": "tiles", "family": "sliding", "rows": 2, "columns": 4, "start": "1 2 3 4 / 5 5 5 0"}


def other_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose other cuts and chunks than any version so far."""
    monkeypatch.setattr(move_tables, "ROW_COST", 0)
    monkeypatch.setattr(plan, "CHUNK_STATES", (1, 1000))


def test_another_version_resumes_with_the_cut_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, path = Config(TILES), tmp_path / "t.zarr"
    begun = run_puzzle(config, path, RunOptions(workers=2), interrupted=stop_after(5))
    assert not begun.complete
    other_choices(monkeypatch)
    assert plan_cut(config.puzzle) != begun.manifest.cut
    report = run_puzzle(config, path, RunOptions(workers=2))
    assert report.complete
    assert report.manifest.cut == begun.manifest.cut
    assert verify(path, Threads(2)).ok
    fresh = run_puzzle(config, tmp_path / "fresh.zarr", RunOptions(workers=2))
    assert fresh.manifest.cut != report.manifest.cut
    assert fresh.manifest.layers == report.manifest.layers


def test_a_table_is_queried_by_its_own_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_puzzle(Config(TILES), tmp_path / "t.zarr")
    with open_table(tmp_path / "t.zarr") as table:
        expected = table.distances_by_index(np.arange(table.index_size))
    other_choices(monkeypatch)
    with open_table(tmp_path / "t.zarr") as table:
        assert np.array_equal(table.distances_by_index(np.arange(table.index_size)), expected)


def test_a_wrong_cut_is_refused(eight: Path) -> None:
    manifest = TableStore(eight).read()
    assert manifest.cut[0].record == SpaceRecord(manifest.space, manifest.rows, manifest.width, manifest.details)
    change_manifest(eight, rows=manifest.rows - 1)
    with pytest.raises(StoreDamagedError, match="rows of"):
        TableStore(eight).read()


def test_three_colours_takes_300_megabytes() -> None:
    assert plan_run(load_config("three-colours").puzzle, 2).memory_bytes < 300e6


def test_depths_of_two_bytes_within_the_memory_limit(tmp_path: Path) -> None:
    config, path = Config(LINE), tmp_path
    run_puzzle(config, path / "whole.zarr", RunOptions(workers=1))
    limit = plan_run(config.puzzle, 1).min_bytes
    begun = run_puzzle(config, path / "t.zarr", RunOptions(workers=1), interrupted=stop_after(270))
    assert (begun.complete, begun.manifest.dtype) == (False, "uint16")
    assert run_puzzle(config, path / "t.zarr", RunOptions(workers=1, memory_limit=limit)).complete
    assert contents(path / "t.zarr") == contents(path / "whole.zarr")
