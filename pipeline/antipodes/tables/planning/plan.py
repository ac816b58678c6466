"""The plan of a run, made before anything runs: chunks, partitions and shards of rows, memory and disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.machine import KIB, MIB, human
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks import arguments
from antipodes_tasks.bfs.key_partition import KeyLinks, KeyState
from antipodes_tasks.bfs.partition import Partition, State
from antipodes_tasks.bfs.two_bits import TwoBitState
from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.quoting import counted
from antipodes_tasks.spaces.keyed import SPAN, Keyed
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.space import Space

SETTING_BYTES, MANIFEST_SETTING_BYTES = 170, 2 * 24
"""Bytes of a number, or a character, of a config: in memory while it is read and written, and in the manifest, of which
there are two while it is replaced."""
ORDINARY_SETTINGS = 2000
"""Numbers and characters that are counted with the program and the manifest."""


def _values(setting: Any) -> int:
    """The number of numbers, lists and characters of texts in a part of a config."""
    if isinstance(setting, Mapping):
        return sum(map(_values, setting.values()))
    if isinstance(setting, list):
        return 1 + sum(map(_values, setting))
    return len(setting) if isinstance(setting, str) else 1


CHUNK_STATES = (128 * KIB, 4 * MIB)
"""States of a chunk: few enough to be read for one query, enough to be worth a file."""
DIVISORS_TRIED = 1000
"""Numbers of chunks tried for one that divides the rows evenly."""
PARTITION_STATES = 16 * MIB
"""States of a partition, at most: a layer of it takes some 100 ms at most."""
BLOCK_STATES = 256 * MIB
"""States of a partition that is a whole block of rows, at most: fewer partitions read it than would read its parts."""
SCATTERED_PARTITIONS = 32
"""Partitions of a reduced space at most, except smaller ones than those above: moves lead from each partition into all,
so each reads all rows of all others."""
TASKS_A_WORKER = 8
"""Partitions per worker, which keep all workers busy until a layer ends."""
PROGRAM_BYTES = 220 * MIB
"""Memory of the program and its libraries: the peak with an empty puzzle, rounded up."""
SHARD_STATES = (16 * MIB, 256 * MIB)
"""States of a shard of partitions, the work of one task on a cluster: a layer takes 10 ms or more on the average, and a
worker's memory holds several shards."""
WRITE_THREADS = 4
"""Chunks that a task writes at the same time: one is compressed while another is on its way to the disk."""
ASSEMBLED_BYTES = 4
"""Memory for each position of a chunk that is written: its depth, of up to two bytes, its segments, and the compressed
bytes."""
THREE_BITS, TWO_BITS = 3 + 1 / 32, 2 + 1 / 64
"""Bits that a search holds for each position: visited, one or two layers, and copies of layers that are few."""
ROW_BYTES = 4
"""Memory of the number of a row, beside the row's bits."""
JOURNAL_BYTES = 1.25
"""Bytes of the journal for each position, an upper bound in practice: 29 billion positions took 0.91."""
MANIFEST_BYTES = 64 * KIB
CHUNK_BYTES = 4 * KIB + 2 * 11
"""Disk of each chunk besides its states: part of its last block, and 11 bytes in the manifest, of which there are two
while it is replaced."""
CHECKPOINTS, CHECKPOINT_BITS = 2, 2
"""Checkpoints of a counts-only run at the same time, and bits of a position in each: before its depth, and at it."""
KEY_DISK_BYTES = 8.0
"""Bytes of journal and table for each position of a small puzzle of keys, an upper bound in practice."""
FILE_BYTES = 8 * KIB
"""Disk of a file of a checkpoint besides its bits: part of its last block, and its index."""

Cut = tuple[Space, int]
"""The space whose rows and columns a store has, and the number of rows of a chunk."""


@dataclass(frozen=True)
class Division:
    """The rows of a space, divided among chunks and tasks."""

    space: Space
    chunk_rows: int
    partition_rows: int
    """Rows of each partition except the last."""
    shard_size: int
    """Partitions that one task advances."""
    two_bits: bool
    """Whether partitions of bits take two a position, and not three: then partitions wait for each other in a layer."""

    @property
    def cut(self) -> Cut:
        """How a store of this division is cut."""
        return self.space, self.chunk_rows

    def divides_like(self, other: "Division") -> bool:
        """Whether the shards of both have the same rows and states."""
        return (self.partition_rows, self.shard_size, self.two_bits) == (
            other.partition_rows,
            other.shard_size,
            other.two_bits,
        )

    @property
    def partition_count(self) -> int:
        """The number of partitions."""
        return ceil(self.space.rows / self.partition_rows)

    @property
    def shard_count(self) -> int:
        """The number of shards of partitions."""
        return ceil(self.space.rows / (self.partition_rows * self.shard_size))

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """Ranges of rows, each a whole number of chunks."""
        return partitions(self.space, self.partition_rows)

    @property
    def keyed(self) -> bool:
        """Whether partitions are of keys, and not of bits."""
        return isinstance(self.space.numbering, Keyed)

    @property
    def state_type(self) -> Callable[[Partition], State | KeyState]:
        """What makes the state of a partition."""
        numbering = self.space.numbering
        if isinstance(numbering, Keyed):
            return partial(KeyState, ranges=numbering.ranges, range_rows=self.chunk_rows)
        return partial(TwoBitState if self.two_bits else State, width=self.space.width, chunk_rows=self.chunk_rows)

    @property
    def key_links(self) -> tuple[Any, ...]:
        """The call that makes the moves between partitions of keys."""
        numbering = self.space.numbering
        assert isinstance(numbering, Keyed)
        return KeyLinks, numbering.rules, numbering.packing, numbering.ranges, self.partition_count

    @property
    def key_words(self) -> int:
        """Words of a key; 0 where partitions are of bits."""
        numbering = self.space.numbering
        return numbering.ranges.words if isinstance(numbering, Keyed) else 0

    @property
    def starts(self) -> NDArray[Any]:
        """The indices of the positions at depth 0, or their keys."""
        numbering = self.space.numbering
        if isinstance(numbering, Keyed):
            return numbering.start_keys
        return self.space.rank(self.space.starts)

    @property
    def shards(self) -> list[tuple[Partition, ...]]:
        """The partitions of each task, side by side."""
        firsts = range(0, self.partition_count, self.shard_size)
        return [self.partitions[first : first + self.shard_size] for first in firsts]


@dataclass(frozen=True)
class Plan(Division):
    """How the rows are divided, and upper bounds of the memory and disk of a run."""

    table_bytes: int
    """Memory of the move tables."""
    least_bytes: int
    """Memory of the run with the program itself, if it writes its journal as soon as anything is found."""
    buffer_bytes: int
    """Memory for the part of the journal that is not written yet."""
    journal_bytes: int
    """Disk of the journal; a counts-only run has none."""
    disk_bytes: int
    """Disk of journal and table, both of which are there at the end, while each depth takes a byte; of a counts-only
    run that of two checkpoints, since the new one is written before the old one goes."""

    @property
    def unsure_bytes(self) -> int:
        """Memory of the move tables of a process that may turn out not to be needed: their bound is an estimate."""
        return 0 if self.keyed else self.table_bytes - self.space.filler.least_table_bytes

    @cached_property
    def weights(self) -> NDArray[np.int64] | None:
        """How many positions an entry of each row stands for, ``(rows,)``; None: each stands for one."""
        return self.space.weights

    @property
    def reachable(self) -> int | None:
        """The number of positions that can be reached, where that is known without a search."""
        return self.space.numbering.reachable(self.space.rules)

    @property
    def index_size(self) -> int | None:
        """How many positions have a number, reachable or not; None if only a search finds them."""
        return self.reachable if self.keyed else self.space.full_space.size

    @property
    def looked(self) -> int:
        """How many positions a look before the search found, where positions are keys; there are as many, or more."""
        numbering = self.space.numbering
        return numbering.looked if isinstance(numbering, Keyed) else 0

    @property
    def memory_bytes(self) -> int:
        """Memory of the run."""
        return self.least_bytes + self.buffer_bytes

    @property
    def disk_parts(self) -> Mapping[str, int]:
        """The bytes of disk, by what they are for."""
        if not self.journal_bytes:
            return {"two checkpoints": self.disk_bytes}
        return {"journal": self.journal_bytes, "table": self.disk_bytes - self.journal_bytes}


def plan_run(
    puzzle: Puzzle,
    workers: int = 1,
    memory_limit: int | None = None,
    cut: Cut | None = None,
    processes: int = 0,
    settings: Mapping[str, Any] | None = None,
    division: Division | None = None,
    *,
    counts_only: bool = False,
    symmetry: str | None = None,
    outline: bool = False,
) -> Plan:
    """The plan of a puzzle for ``workers`` tasks at a time, in threads of this process or in ``processes`` others.

    What the ``memory_limit``, in bytes, leaves is for the journal; a run for ``counts_only`` has none. Where three bits
    a position do not fit, two are planned. A store that is resumed brings its ``cut``, which another version may have
    chosen otherwise, and a new one is reduced if ``symmetry`` says so, see `antipodes.runs.options.RunOptions`; a
    search that goes on with other workers brings its ``division``. The ``settings`` are those of the puzzle's config:
    they take memory and disk, too, if they list half a million edges. An ``outline`` estimates what takes more than a
    second or two to be known: the rows and the move tables of large reduced spaces. It cannot be run.
    """
    arguments.instance(puzzle, Puzzle, "a Puzzle, such as the puzzle of a Config")
    division = division or _divide(*(cut or plan_cut(puzzle, symmetry, outline=outline)), workers, processes)
    space, further = division.space, max(0, _values(settings or {}) - ORDINARY_SETTINGS)
    described = puzzle.moves.memory_bytes + SETTING_BYTES * further
    if division.keyed:
        return _plan_of_keys(division, workers, memory_limit, max(1, processes) * (PROGRAM_BYTES + described))
    resident = max(1, processes) * (PROGRAM_BYTES + described + space.filler.table_bytes)
    others = max(0 if counts_only else _assembly_bytes(division, workers), space.filler.building_bytes(workers))
    least = {bits: resident + max(_search_bytes(division, workers, processes, bits), others) for bits in (False, True)}
    two_bits = _needs_two_bits(least[False], least[True], memory_limit)
    journal = 0 if counts_only else ceil(JOURNAL_BYTES * space.size)
    unwritten = _spread(journal, division, processes)
    stored = space.size + CHUNK_BYTES * ceil(space.rows / division.chunk_rows)
    if counts_only:
        stored = CHECKPOINTS * (CHECKPOINT_BITS * _bitmap_bytes(space) + FILE_BYTES * division.partition_count)
    return Plan(
        space=space,
        chunk_rows=division.chunk_rows,
        partition_rows=division.partition_rows,
        shard_size=division.shard_size,
        two_bits=two_bits,
        table_bytes=space.filler.table_bytes,
        least_bytes=least[two_bits],
        buffer_bytes=unwritten if memory_limit is None else min(unwritten, max(0, memory_limit - least[two_bits])),
        journal_bytes=journal,
        disk_bytes=journal + stored + MANIFEST_BYTES + MANIFEST_SETTING_BYTES * further,
    )


def _needs_two_bits(three: int, two: int, memory_limit: int | None) -> bool:
    """Whether a run with three bits a position takes more memory than it may, and one with two takes less."""
    return memory_limit is not None and two < three and three > memory_limit


def plan_cut(puzzle: Puzzle, symmetry: str | None = None, *, outline: bool = False) -> Cut:
    """The cut of a new store; it depends on puzzle and ``symmetry`` alone, so that every run writes the same chunks.

    An ``outline`` is that of a plan that does not run, see `plan_run`.
    """
    space = best_space(puzzle.rules, symmetry or "auto", outline=outline)
    if isinstance(space.numbering, Keyed):
        return Space(space.rules, space.numbering.searched, space.leading), SPAN
    return space, plan_chunk(space)


def plan_chunk(space: Space) -> int:
    """The number of rows of a chunk, which is a part of the rows with the same first digits, or several such blocks."""
    least, most = CHUNK_STATES
    block = _block(space)
    states = block * space.width
    if states < least:
        return min(space.rows, block * ceil(least / states))
    parts = ceil(states / most)
    candidates = range(parts, min(2 * parts, parts + DIVISORS_TRIED))
    parts = next((number for number in candidates if block % number == 0), parts)
    return max(1, -(-block // parts))


def _block(space: Space) -> int:
    """Rows that moves take together to others, if these are more than a chunk: else those with one first digit."""
    block = space.rows // prod(space.numbering.radices[: space.numbering.block_digits])
    return block if block * space.width > CHUNK_STATES[1] else max(1, space.rows // prod(space.numbering.radices[:1]))


def plan_partition(space: Space, chunk_rows: int, workers: int) -> int:
    """The number of rows of a partition: few enough to keep all workers busy until a layer ends.

    Where a block of rows is not too large, whole ones: a move leads from a block to a block, so few partitions need it.
    """
    least = space.size // SCATTERED_PARTITIONS if space.numbering.symmetries > 1 else 0
    most = ceil(space.size / (TASKS_A_WORKER * workers))
    wanted = min(max(PARTITION_STATES, least), most)
    block = _block(space)
    fits = (
        space.numbering.block_digits > 1 and block % chunk_rows == 0 and block * space.width <= min(BLOCK_STATES, most)
    )
    unit = block if fits else chunk_rows
    return unit * max(1, wanted // (unit * space.width))


def plan_shard(space: Space, partitions: int, workers: int) -> int:
    """The number of partitions of a shard: each worker gets a shard if its work is worth a task."""
    least, most = SHARD_STATES
    shards = max(1, min(workers, space.size // least), ceil(space.size / most))
    return ceil(partitions / shards)


def partitions(space: Space, rows: int) -> tuple[Partition, ...]:
    """The rows of a space in ranges of ``rows`` rows, the last one maybe shorter."""
    firsts = range(0, space.rows, rows)
    return tuple(Partition(number, row, min(row + rows, space.rows)) for number, row in enumerate(firsts))


def check_memory(plan: Plan, memory_limit: int) -> None:
    """Raise ResourceLimitError if the run takes more than the limit even if it keeps none of its journal in memory."""
    if plan.keyed and plan.least_bytes > memory_limit:
        found = f"{counted(plan.looked, 'position')} or more take" if plan.looked else "positions that are keys take"
        raise ResourceLimitError(
            f"expected a puzzle that fits into {human(memory_limit)} of memory; {found} at least "
            f"{human(plan.least_bytes)}"
        )
    if plan.least_bytes > memory_limit:
        raise ResourceLimitError(
            f"expected a puzzle that fits into {human(memory_limit)} of memory; "
            f"{plan.space.size:,} positions take at least {human(plan.least_bytes)}, "
            f"{human(plan.table_bytes)} of it for the move tables"
        )


KEYS_A_WORKER, JOURNAL_A_WORKER = 40 * MIB, 128 * MIB
"""Memory of a worker for the keys of partitions in work, at least, and for the part of the journal that is not written
if there is no limit."""
KEY_BYTES = 3 * 8
"""Memory for each position of a small puzzle while it is searched: keys of layers, and what moves lead to."""


def _plan_of_keys(division: Division, workers: int, memory_limit: int | None, described: int) -> Plan:
    """The plan of a puzzle whose positions are keys: without a search nothing is known of its size, unless it is small.

    Half of the memory that is left is for the journal.
    """
    reached = division.space.numbering.reachable(division.space.rules)
    least = described + (workers * KEYS_A_WORKER if reached is None else KEY_BYTES * reached)
    left = JOURNAL_A_WORKER * workers if memory_limit is None else max(0, memory_limit - least)
    disk = 0 if reached is None else CHUNK_BYTES + MANIFEST_BYTES + ceil(KEY_DISK_BYTES * reached)
    return Plan(
        space=division.space,
        chunk_rows=division.chunk_rows,
        partition_rows=division.partition_rows,
        shard_size=division.shard_size,
        two_bits=False,
        table_bytes=0,
        least_bytes=least,
        buffer_bytes=left // 2,
        journal_bytes=disk // 2,
        disk_bytes=disk,
    )


def _divide_keys(ranges: int, workers: int) -> tuple[int, int]:
    """How many ranges a partition has, and how many partitions a shard on a cluster: several workers share them out."""
    size = ceil(ranges / (TASKS_A_WORKER * workers))
    return size, 1 if workers > 1 else ceil(ranges / size)


def _divide(space: Space, chunk_rows: int, workers: int, processes: int) -> Division:
    if isinstance(space.numbering, Keyed):
        ranges, parts = _divide_keys(len(space.numbering.ranges), workers)
        return Division(space, chunk_rows, ranges * SPAN, parts if processes else 1, two_bits=False)
    partition_rows = plan_partition(space, chunk_rows, workers)
    shard_size = plan_shard(space, ceil(space.rows / partition_rows), workers) if processes else 1
    return Division(space, chunk_rows, partition_rows, shard_size, two_bits=False)


def _search_bytes(division: Division, workers: int, processes: int, two_bits: bool) -> int:
    """Memory of the search: bits, frontiers received from others, and segments of the partitions in work.

    Of two bits each partition in work has a third.
    """
    space, workers = division.space, min(workers, division.partition_count)
    each = TWO_BITS if two_bits else THREE_BITS
    bits = _spread(ceil(each * _bitmap_bytes(space)) + ROW_BYTES * space.rows, division, processes)
    received = 0 if processes <= 1 else processes * _bitmap_bytes(space)  # each process holds at most a frontier
    return bits + received + (3 + two_bits) * workers * _bitmap_bytes(space) // division.partition_count


def _assembly_bytes(division: Division, workers: int) -> int:
    """Memory of the chunks that are written at the same time, when there are no bits any more."""
    workers = min(workers, division.partition_count)
    at_once = workers * min(WRITE_THREADS, ceil(division.partition_rows / division.chunk_rows))
    return at_once * ASSEMBLED_BYTES * division.chunk_rows * division.space.width


def _bitmap_bytes(space: Space) -> int:
    """Memory of a bit for each position."""
    return space.rows * 8 * ceil(space.width / 64)


def _spread(size: int, division: Division, processes: int) -> int:
    """Memory of ``size`` bytes over all processes, if each takes as much as the process with the most shards."""
    shards = division.shard_count
    return size if processes <= 1 else ceil(size * ceil(shards / processes) * processes / shards)
