"""What a run will do and what it takes, known before anything runs: rows, columns, chunks, partitions, memory, disk."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod
from typing import Any

from antipodes import arguments
from antipodes.bfs.rows import Partition
from antipodes.errors import ConfigError, ResourceLimitError
from antipodes.puzzles.puzzle import Puzzle
from antipodes.sizes import KIB, MIB, human
from antipodes.spaces.arrangements import Index, radices
from antipodes.spaces.move_tables import building_bytes, most_column_maps, most_moves, table_bytes
from antipodes.tables.config_size import config_size

MAX_ROWS = 2**31 - 1
"""The move tables number rows, and columns, in 32 bits."""
ROW_COST, COLUMN_COST = 5, 1
"""How long an entry of the row tables and of a column map take to build, relatively; measured with seven-tiles."""
CHUNK_STATES = (256 * KIB, 4 * MIB)
"""A chunk holds so many states: few enough to be read for one query, enough to be worth a file."""
DIVISORS_TRIED = 1000
"""So many numbers of chunks are tried for one that divides the rows evenly."""
PARTITION_STATES = 16 * MIB
"""A partition holds at most so many states, which take some 100 ms a layer at most."""
TASKS_A_WORKER = 8
"""So many partitions a worker keep all busy until a layer ends."""
PROGRAM_BYTES = 220 * MIB
"""What the program and its libraries take themselves, measured as peak memory with an empty puzzle, rounded up."""
GROUP_STATES = (16 * MIB, 256 * MIB)
"""On a cluster a group of partitions, the work of one task, holds so many states: a layer of it takes 10 ms or more on
the average, and the memory of a worker holds several."""
AT_ONCE = 4
"""Partitions of a group that are written, or read, at the same time: one is compressed while another is on its way.
Where depths do not stay in memory it is one, as each takes those of a partition."""
ROW_BYTES = 4
"""What the number of a row takes, which stands beside the row's bits."""
MANIFEST_BYTES = 64 * KIB
MOVE_BYTES = 16
"""What a move takes as part of a puzzle."""
CHUNK_BYTES = 4 * KIB + 2 * 16
"""Bytes of each chunk on disk besides its states: part of its last block, and 16 in the manifest, of which there are
two while it is replaced."""


Cut = tuple[Index, int]
"""How positions are numbered by row and column, and how many rows a chunk has: what a store is made for."""


@dataclass(frozen=True)
class Plan:
    """How a puzzle is cut, and upper bounds of what a run takes."""

    index: Index
    chunk_rows: int
    partition_rows: int
    """Rows of each partition, but for the last."""
    group_size: int
    """Partitions that a task takes together."""
    table_bytes: int
    """The move tables."""
    memory_bytes: int
    """All of the run, the program itself included; of a table whose depths take a byte each."""
    disk_bytes: int
    """Likewise; a table that is widened takes twice that, and three times while it is copied."""
    depth_bytes: int
    """The part of the memory that depths of a byte each take: all of them, or those of a partition for each worker."""
    hold_depths: bool
    """Whether depths stay in memory between checkpoints; else each layer is written when it is complete."""
    memory_limit: int | None = None
    """Bytes that the run may take; None: any number."""

    def widened(self) -> "Plan":
        """The plan once each depth takes a second byte: they stay in memory only if those fit, too."""
        memory_bytes = self.memory_bytes + self.depth_bytes
        if self.hold_depths and self.memory_limit is not None and memory_bytes > self.memory_limit:
            return replace(self, hold_depths=False)
        return replace(self, memory_bytes=memory_bytes)

    @property
    def partition_count(self) -> int:
        """How many partitions there are."""
        return ceil(self.index.rows / self.partition_rows)

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """Ranges of rows, each a whole number of chunks."""
        return partitions(self.index, self.partition_rows)

    @property
    def groups(self) -> list[tuple[Partition, ...]]:
        """The partitions of each task, side by side."""
        firsts = range(0, self.partition_count, self.group_size)
        return [self.partitions[first : first + self.group_size] for first in firsts]


def plan_run(
    puzzle: Puzzle,
    workers: int = 1,
    memory_limit: int | None = None,
    cut: Cut | None = None,
    processes: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Plan:
    """The plan of a puzzle for so many workers: threads of this process, or of so many others.

    With ``memory_limit``, in bytes, depths are held in memory only if that fits. A store that is continued brings its
    ``cut`` along, which an earlier version of this program may have chosen otherwise. The ``settings`` are those of
    the puzzle's config: where they list half a million edges, they take memory and disk, too.
    """
    arguments.instance(puzzle, Puzzle, "a Puzzle, such as the puzzle of a Config")
    index, chunk_rows = cut or plan_cut(puzzle)
    partition_rows = plan_partition(index, chunk_rows, workers)
    tables = table_bytes(puzzle, index)
    config = config_size(settings or {})
    described = MOVE_BYTES * len(puzzle.moves) + config.memory_bytes
    partition_count = ceil(index.rows / partition_rows)
    group_size = plan_group(index, partition_count, workers) if processes else 1
    groups = ceil(index.rows / (partition_rows * group_size))
    chunks = min(workers * min(AT_ONCE, group_size), partition_count) * 2 * chunk_rows * index.width
    bits = _bitmap_bytes(index) + ROW_BYTES * index.rows
    fixed = max(1, processes) * (PROGRAM_BYTES + described + tables) + max(
        _spread(bits, groups, processes) + _passed_bytes(index, processes) + chunks,
        building_bytes(puzzle, index, workers),
    )
    all_depths = _spread(index.size, groups, processes)
    hold_depths = memory_limit is None or fixed + all_depths <= memory_limit
    a_worker = partition_rows * index.width
    depths = all_depths if hold_depths else min(all_depths, workers * a_worker)
    return Plan(
        index=index,
        chunk_rows=chunk_rows,
        partition_rows=partition_rows,
        group_size=group_size,
        table_bytes=tables,
        memory_bytes=fixed + depths,
        disk_bytes=index.size + CHUNK_BYTES * ceil(index.rows / chunk_rows) + MANIFEST_BYTES + config.disk_bytes,
        depth_bytes=depths,
        hold_depths=hold_depths,
        memory_limit=memory_limit,
    )


def plan_cut(puzzle: Puzzle) -> Cut:
    """The cut of a new store; it depends on the puzzle alone, so that every run writes the same chunks."""
    index = plan_index(puzzle)
    return index, plan_chunk(index)


def numbered(puzzle: Puzzle) -> Index:
    """The numbers of a puzzle's positions, whether a table of them fits or not.

    Raises
    ------
    ConfigError
        The puzzle has more positions than 64 bits can number.
    """
    size = prod(radices(puzzle.counts))
    if size > arguments.GREATEST:
        raise ConfigError(f"expected at most 2^63 - 1 positions, found some 10^{len(str(size)) - 1}")
    return Index(puzzle.counts, 1)


def plan_index(puzzle: Puzzle) -> Index:
    """The cut into rows and columns whose move tables are built fastest.

    Raises
    ------
    ConfigError
        The puzzle has more positions than 64 bits can number.
    ResourceLimitError
        No cut gives rows and columns that the move tables can number.
    """
    counts = numbered(puzzle).counts
    cuts = [Index(counts, leading) for leading in range(1, max(2, len(counts)))]
    fitting = [cut for cut in cuts if max(cut.rows, cut.width) <= MAX_ROWS]
    if not fitting:
        best = min(cuts, key=lambda cut: max(cut.rows, cut.width))
        raise ResourceLimitError(
            f"expected positions that a cut divides into at most {MAX_ROWS:,} rows and columns; "
            f"the best of {best.size:,} positions has {best.rows:,} rows of {best.width:,} columns"
        )
    return min(fitting, key=lambda index: _table_cost(puzzle, index))


def plan_chunk(index: Index) -> int:
    """How many rows a chunk has.

    A chunk is a part of the rows that share their first digit, or several such groups of rows.
    """
    least, most = CHUNK_STATES
    group = index.rows // radices(index.counts)[0]
    states = group * index.width
    if states < least:
        return min(index.rows, group * ceil(least / states))
    parts = ceil(states / most)
    candidates = range(parts, min(2 * parts, parts + DIVISORS_TRIED))
    parts = next((number for number in candidates if group % number == 0), parts)
    return max(1, -(-group // parts))


def plan_partition(index: Index, chunk_rows: int, workers: int) -> int:
    """How many rows a partition has: few enough to keep all workers busy, and no layer waiting for one of them."""
    wanted = min(PARTITION_STATES, ceil(index.size / (TASKS_A_WORKER * workers)))
    return chunk_rows * max(1, wanted // (chunk_rows * index.width))


def plan_group(index: Index, partitions: int, workers: int) -> int:
    """How many partitions a task of a cluster takes: as many as give each worker one, if its work is worth a task."""
    least, most = GROUP_STATES
    groups = max(1, min(workers, index.size // least), ceil(index.size / most))
    return ceil(partitions / groups)


def partitions(index: Index, rows: int) -> tuple[Partition, ...]:
    """The rows of an index in ranges of so many."""
    firsts = range(0, index.rows, rows)
    return tuple(Partition(number, row, min(row + rows, index.rows)) for number, row in enumerate(firsts))


def check_memory(plan: Plan, memory_limit: int) -> None:
    """Raise ResourceLimitError if even the leaner way of running takes more than the limit."""
    if plan.memory_bytes > memory_limit:
        raise ResourceLimitError(
            f"expected a puzzle that fits into {human(memory_limit)} of memory; "
            f"{plan.index.size:,} positions take up to {human(plan.memory_bytes)}, "
            f"{human(plan.table_bytes)} of it for the move tables"
        )


def _table_cost(puzzle: Puzzle, index: Index) -> int:
    entries = index.rows * most_moves(puzzle), index.width * most_column_maps(puzzle, index)
    return ROW_COST * entries[0] + COLUMN_COST * entries[1]


def _bitmap_bytes(index: Index) -> int:
    """Frontier and visited bits, before and after a layer."""
    return 4 * index.rows * 8 * ceil(index.width / 64)


def _spread(size: int, groups: int, processes: int) -> int:
    """What processes take that have the groups of a table between them, if each takes as much as that with the most."""
    return size if processes <= 1 else ceil(size * ceil(groups / processes) * processes / groups)


def _passed_bytes(index: Index, processes: int) -> int:
    """The frontiers that processes hold for each other: each at most all of them."""
    return 0 if processes <= 1 else processes * _bitmap_bytes(index) // 4
