"""The plan of a run, made before anything runs: chunks, partitions and groups of rows, memory and disk."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

from antipodes import arguments
from antipodes.bfs.rows import Partition
from antipodes.errors import ResourceLimitError
from antipodes.puzzles.puzzle import Puzzle
from antipodes.sizes import KIB, MIB, human
from antipodes.spaces.selection import best_space
from antipodes.spaces.space import StateSpace
from antipodes.tables.planning.config_size import config_size

CHUNK_STATES = (128 * KIB, 4 * MIB)
"""States of a chunk: few enough to be read for one query, enough to be worth a file."""
DIVISORS_TRIED = 1000
"""Numbers of chunks tried for one that divides the rows evenly."""
PARTITION_STATES = 16 * MIB
"""States of a partition, at most: a layer of it takes some 100 ms at most."""
TASKS_A_WORKER = 8
"""Partitions per worker, which keep all workers busy until a layer ends."""
PROGRAM_BYTES = 220 * MIB
"""Memory of the program and its libraries: the peak with an empty puzzle, rounded up."""
GROUP_STATES = (16 * MIB, 256 * MIB)
"""States of a group of partitions, the work of one task on a cluster: a layer takes 10 ms or more on the average, and a
worker's memory holds several groups."""
AT_ONCE = 4
"""Partitions of a group that are written, or read, at the same time: one is compressed while another is sent. It is one
where depths do not stay in memory, since each takes memory for the depths of a partition."""
WIDE_DEPTH_BYTES = 2
"""Bytes of a depth beyond 254. A run that holds no depths has to fit even if it finds such depths."""
ROW_BYTES = 4
"""Memory of the number of a row, beside the row's bits."""
MANIFEST_BYTES = 64 * KIB
CHUNK_BYTES = 4 * KIB + 2 * 16
"""Disk of each chunk besides its states: part of its last block, and 16 bytes in the manifest, of which there are two
while it is replaced."""


Cut = tuple[StateSpace, int]
"""The space whose rows and columns a store has, and the number of rows of a chunk."""


@dataclass(frozen=True)
class Division:
    """The rows of a space, divided among chunks and tasks."""

    space: StateSpace
    chunk_rows: int
    partition_rows: int
    """Rows of each partition except the last."""
    group_size: int
    """Partitions that one task advances."""

    @property
    def partition_count(self) -> int:
        """The number of partitions."""
        return ceil(self.space.rows / self.partition_rows)

    @property
    def group_count(self) -> int:
        """The number of groups of partitions."""
        return ceil(self.space.rows / (self.partition_rows * self.group_size))

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """Ranges of rows, each a whole number of chunks."""
        return partitions(self.space, self.partition_rows)

    @property
    def groups(self) -> list[tuple[Partition, ...]]:
        """The partitions of each task, side by side."""
        firsts = range(0, self.partition_count, self.group_size)
        return [self.partitions[first : first + self.group_size] for first in firsts]


@dataclass(frozen=True)
class Plan(Division):
    """How the rows are divided, and upper bounds of the memory and disk of a run."""

    table_bytes: int
    """Memory of the move tables."""
    memory_bytes: int
    """Memory of the run with the program itself; depths that stay in memory take a byte each."""
    disk_bytes: int
    """Disk of the table while each depth takes a byte; a widened table takes twice that, thrice while it is copied."""
    depth_bytes: int
    """Memory of depths: all of them, of a byte each, or those of a partition for each worker, of two bytes each."""
    hold_depths: bool
    """Whether depths stay in memory between checkpoints; else each layer is written when it is complete."""
    memory_limit: int | None = None
    """Bytes that the run is allowed to take; None: no limit."""

    def widened(self) -> "Plan":
        """The plan once each depth takes two bytes: depths stay in memory only if these fit."""
        if not self.hold_depths:
            return self
        memory_bytes = self.memory_bytes + self.depth_bytes
        if self.memory_limit is not None and memory_bytes > self.memory_limit:
            return replace(self, hold_depths=False)
        return replace(self, memory_bytes=memory_bytes)


def plan_run(
    puzzle: Puzzle,
    workers: int = 1,
    memory_limit: int | None = None,
    cut: Cut | None = None,
    processes: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Plan:
    """The plan of a puzzle for ``workers`` tasks at a time, in threads of this process or in ``processes`` others.

    With ``memory_limit``, in bytes, depths stay in memory only if they fit. A store that is resumed brings its ``cut``,
    which another version may have chosen otherwise. The ``settings`` are those of the puzzle's config: they take memory
    and disk, too, if they list half a million edges.
    """
    arguments.instance(puzzle, Puzzle, "a Puzzle, such as the puzzle of a Config")
    division = _divide(*(cut or plan_cut(puzzle)), workers, processes)
    space, config = division.space, config_size(settings or {})
    described = puzzle.moves.memory_bytes + config.memory_bytes
    fixed = max(1, processes) * (PROGRAM_BYTES + described + space.table_bytes) + max(
        _search_bytes(division, workers, processes), space.building_bytes(workers)
    )
    all_depths = _spread(space.size, division, processes)
    hold_depths = memory_limit is None or fixed + all_depths <= memory_limit
    in_tasks = WIDE_DEPTH_BYTES * workers * division.partition_rows * space.width
    depths = all_depths if hold_depths else min(all_depths, in_tasks)
    chunks = ceil(space.rows / division.chunk_rows)
    return Plan(
        space=space,
        chunk_rows=division.chunk_rows,
        partition_rows=division.partition_rows,
        group_size=division.group_size,
        table_bytes=space.table_bytes,
        memory_bytes=fixed + depths,
        disk_bytes=space.size + CHUNK_BYTES * chunks + MANIFEST_BYTES + config.disk_bytes,
        depth_bytes=depths,
        hold_depths=hold_depths,
        memory_limit=memory_limit,
    )


def plan_cut(puzzle: Puzzle) -> Cut:
    """The cut of a new store; it depends on the puzzle alone, so that every run writes the same chunks."""
    space = best_space(puzzle)
    return space, plan_chunk(space)


def plan_chunk(space: StateSpace) -> int:
    """The number of rows of a chunk, which is a part of a block of rows, or several blocks."""
    least, most = CHUNK_STATES
    block = space.block_rows
    states = block * space.width
    if states < least:
        return min(space.rows, block * ceil(least / states))
    parts = ceil(states / most)
    candidates = range(parts, min(2 * parts, parts + DIVISORS_TRIED))
    parts = next((number for number in candidates if block % number == 0), parts)
    return max(1, -(-block // parts))


def plan_partition(space: StateSpace, chunk_rows: int, workers: int) -> int:
    """The number of rows of a partition: few enough to keep all workers busy until a layer ends."""
    wanted = min(PARTITION_STATES, ceil(space.size / (TASKS_A_WORKER * workers)))
    return chunk_rows * max(1, wanted // (chunk_rows * space.width))


def plan_group(space: StateSpace, partitions: int, workers: int) -> int:
    """The number of partitions of a group: each worker gets a group if its work is worth a task."""
    least, most = GROUP_STATES
    groups = max(1, min(workers, space.size // least), ceil(space.size / most))
    return ceil(partitions / groups)


def partitions(space: StateSpace, rows: int) -> tuple[Partition, ...]:
    """The rows of a space in ranges of ``rows`` rows, the last one maybe shorter."""
    firsts = range(0, space.rows, rows)
    return tuple(Partition(number, row, min(row + rows, space.rows)) for number, row in enumerate(firsts))


def check_memory(plan: Plan, memory_limit: int) -> None:
    """Raise ResourceLimitError if the run takes more than the limit even without depths in memory."""
    if plan.memory_bytes > memory_limit:
        raise ResourceLimitError(
            f"expected a puzzle that fits into {human(memory_limit)} of memory; "
            f"{plan.space.size:,} positions take up to {human(plan.memory_bytes)}, "
            f"{human(plan.table_bytes)} of it for the move tables"
        )


def _divide(space: StateSpace, chunk_rows: int, workers: int, processes: int) -> Division:
    partition_rows = plan_partition(space, chunk_rows, workers)
    group_size = plan_group(space, ceil(space.rows / partition_rows), workers) if processes else 1
    return Division(space, chunk_rows, partition_rows, group_size)


def _search_bytes(division: Division, workers: int, processes: int) -> int:
    """Memory of the search without depths: bits, frontiers received from others, and chunks that are written."""
    space = division.space
    bits = _spread(_bitmap_bytes(space) + ROW_BYTES * space.rows, division, processes)
    received = 0 if processes <= 1 else processes * _bitmap_bytes(space) // 4  # each process holds at most a frontier
    at_once = min(workers * min(AT_ONCE, division.group_size), division.partition_count)
    return bits + received + at_once * 2 * division.chunk_rows * space.width


def _bitmap_bytes(space: StateSpace) -> int:
    """Memory of the frontier and visited bits, before and after a layer."""
    return 4 * space.rows * 8 * ceil(space.width / 64)


def _spread(size: int, division: Division, processes: int) -> int:
    """Memory of ``size`` bytes over all processes, if each takes as much as the process with the most groups."""
    groups = division.group_count
    return size if processes <= 1 else ceil(size * ceil(groups / processes) * processes / groups)
