"""Rows that shards in other processes need: which rows are sent, and how many of them a process holds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from direct_channel import DirectAnswers, DirectChannel
from every_kind import FAST, NUMBERED, config_of, options_of, slow_unless_in
from stores import contents

from antipodes.executors.api import WORKER_SHARE, Capacity
from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config, load_config
from antipodes.system.machine import GIB
from antipodes.tables.layers import boundaries
from antipodes.tables.layers.boundaries import MAX_ANSWERS, MAX_BATCHES, TOGETHER_BYTES, batch_size, held_rows
from antipodes.tables.layers.division import Division, partitions
from antipodes.tables.planning.plan import plan_cut, plan_run
from antipodes.tables.run import run_puzzle
from antipodes.tables.strategies.bit_strategy import BitStrategy
from antipodes_tasks.bfs.partition import State, boundary
from antipodes_tasks.move_tables import ILLEGAL, MoveTables
from antipodes_tasks.spaces.space import Space

PROCESSES = 2
Pairs = set[tuple[int, int]]
"""Two rows or shards each, of which the first has moves into the second."""


@cache
def space_of(name: str) -> Space:
    return plan_cut(config_of(name).puzzle, options_of(name).symmetry)[0]


@cache
def tables_of(name: str) -> MoveTables:
    return space_of(name).filler.filled()


def test_memory_of_each_worker_falls_as_workers_are_added() -> None:
    puzzle = load_config("fifteen-puzzle").puzzle
    cut = plan_cut(puzzle)
    for workers, most in ((38, 200), (64, 130)):
        planned = plan_run(puzzle, workers, cut=cut, processes=workers)
        assert planned.strategy.bits == 3
        assert planned.min_bytes / workers / WORKER_SHARE <= most * GIB


@pytest.mark.parametrize("name", slow_unless_in(FAST, NUMBERED))
def test_only_rows_with_moves_into_the_readers_are_sent(name: str) -> None:
    space, rng = space_of(name), np.random.default_rng(0)
    found = space.successors(np.arange(space.size))
    moves: Pairs = set(zip((found.of // space.width).tolist(), (found.indices // space.width).tolist(), strict=True))
    for _ in range(5):
        state = State(partitions(space, space.rows)[0], space.width, space.rows)
        starts = rng.choice(space.size, size=min(9, space.size), replace=False)
        state.begin(starts, None)
        ranges = np.sort(rng.choice(space.rows + 1, size=4 if space.rows > 2 else 2, replace=False)).reshape(-1, 2)
        read = {row for first, end in ranges.tolist() for row in range(first, end)}
        expected = {row for row in (starts // space.width).tolist() if any((row, to) in moves for to in read)}
        frontier = state.frontier(0)
        assert frontier is not None
        sent = boundary(frontier, tables_of(name), ranges.astype(np.int32))
        assert (sent.rows.tolist() if sent else []) == sorted(expected)


@pytest.mark.parametrize("together", [0, TOGETHER_BYTES])
@pytest.mark.parametrize("name", slow_unless_in(FAST, NUMBERED))
def test_no_process_holds_more_rows_than_the_bound(name: str, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundaries, "TOGETHER_BYTES", together)
    space = space_of(name)
    for rows, size, processes, threads in ((7, 1, 2, 1), (3, 2, 3, 2), (2, 1, 4, 1), (1, 1, 24, 1), (1, 5, 5, 3)):
        division = Division(space, 1, rows, size)
        workers = Capacity(processes * threads, processes, None)
        batch = batch_size(division, workers)
        assert held_by_brute_force(name, division, processes, batch) <= held_rows(division, workers, batch)


def held_by_brute_force(name: str, division: Division, processes: int, batch: int) -> int:
    """The most rows that a process may hold, found by following all moves."""
    parts = np.array_split(np.arange(division.shard_count), processes)
    owner = {int(shard): process for process, part in enumerate(parts) for shard in part}
    batch_of = {int(shard): place // batch for part in parts for place, shard in enumerate(part)}
    size = division.partition_rows * division.shard_size
    pieces: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    """The rows that a process sends to a batch of another one."""
    for row, moves in enumerate(tables_of(name).target.tolist()):
        for to in moves:
            if to != ILLEGAL and owner[row // size] != owner[to // size]:
                pieces[owner[row // size], owner[to // size], batch_of[to // size]].add(row)
    held = []
    for process in range(processes):
        sent = [len(rows) for (by, _, _), rows in pieces.items() if by == process]
        received: dict[int, int] = defaultdict(int)
        for (_, to, of), rows in pieces.items():
            received[of] += len(rows) * (to == process)
        held.append(sum(sorted(received.values())[-MAX_BATCHES:]) + sum(sorted(sent)[-MAX_ANSWERS:]))
    return max(held)


class Apart(Threads):
    """Threads that count as processes, so that shards get copies of the rows that they need."""

    shares_memory = False
    processes = PROCESSES

    def __init__(self, channel: DirectChannel) -> None:
        super().__init__(PROCESSES)
        self.channel = channel

    def divide(self, items: Sequence[int], held: Mapping[str, int]) -> dict[str, Sequence[int]]:
        return {str(number): part.tolist() for number, part in enumerate(np.array_split(items, PROCESSES))}

    def threads_of(self, process: str) -> int:
        return 1


class Watched(DirectChannel):
    """A channel that notes how many shards get rows together."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        """The most shards with rows in one question."""

    def ask(self, name: str, questions: Mapping[str, Any]) -> DirectAnswers:
        asked = (len(question["rows"]) for question in questions.values() if question["kind"] == "rows")
        self.most = max(self.most, *asked, 0)
        return super().ask(name, questions)


TILES = Config({"name": "tiles", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 / 4 5 0"})


@pytest.mark.parametrize(("bits", "together"), [(3, 0), (3, TOGETHER_BYTES), (2, 0)])
@pytest.mark.parametrize("config", [TILES, config_of("reduced tiles")], ids=["tiles", "reduced tiles"])
def test_batches_advance_in_turn(
    config: Config, bits: int, together: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The tiles do if their rows take more memory than a limit; the others show that the same table results."""
    monkeypatch.setattr(boundaries, "TOGETHER_BYTES", together)
    monkeypatch.setattr("antipodes.tables.layers.division.CHUNK_STATES", (1, 8))
    monkeypatch.setattr("antipodes.tables.layers.division.PARTITION_STATES", 1)
    monkeypatch.setattr("antipodes.tables.layers.division.SHARD_STATES", (1, 1))
    monkeypatch.setattr("antipodes.tables.planning.plan.STRATEGIES", (BitStrategy(bits=bits),))
    run_puzzle(config, tmp_path / "alone.zarr", scheduler=Threads(1))
    watched = Watched()
    run_puzzle(config, tmp_path / "t.zarr", scheduler=Apart(watched))
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "alone.zarr")
    if config is TILES:
        assert (watched.most == 1) == (not together)
