"""The division of the rows of a space among chunks, partitions and shards."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from antipodes.system.machine import KIB, MIB
from antipodes.tables.store.manifest import ChunkedSpace
from antipodes_tasks.bfs.partition import Partition
from antipodes_tasks.spaces.space import Space

CHUNK_STATES = (128 * KIB, 4 * MIB)
"""Minimum and maximum positions per chunk: enough to be worth a file, and few enough to be read for one query."""
DIVISORS_TRIED = 1000
"""Maximum number of chunk counts that are tried to find one that divides the rows evenly."""
PARTITION_STATES = 16 * MIB
"""Maximum number of positions of a partition: one layer of it takes at most about 100 ms."""
BLOCK_STATES = 256 * MIB
"""Maximum number of positions of a partition that is a whole block of rows. Few partitions read such a partition."""
SCATTERED_PARTITIONS = 32
"""Maximum number of partitions of a reduced space, unless more are needed to keep the workers busy: each partition has
successors in all partitions, so each partition reads all rows of all others."""
TASKS_A_WORKER = 8
"""Number of partitions per worker, enough to keep all workers busy until a layer ends."""
SHARD_STATES = (16 * MIB, 256 * MIB)
"""Minimum and maximum number of positions of a shard. On a cluster, each worker holds whole shards. If they were
smaller, a small puzzle would be divided among more workers than its layers keep busy. If they were larger, workers
could not get nearly equal shares, and would hold more rows of other workers (see `boundaries`)."""


@dataclass(frozen=True)
class Division:
    """The division of the rows of a space among chunks and tasks."""

    space: Space
    chunk_rows: int
    partition_rows: int
    """Number of rows of each partition except the last."""
    shard_size: int
    """Number of partitions of each shard except the last."""

    @property
    def cut(self) -> ChunkedSpace:
        """The cut of a store with this division."""
        return self.space, self.chunk_rows

    @property
    def partition_count(self) -> int:
        """The number of partitions."""
        return ceil(self.space.rows / self.partition_rows)

    @property
    def shard_count(self) -> int:
        """The number of shards."""
        return ceil(self.space.rows / (self.partition_rows * self.shard_size))

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """The partitions: ranges of rows, each with a whole number of chunks."""
        return partitions(self.space, self.partition_rows)

    @property
    def shards(self) -> list[tuple[Partition, ...]]:
        """The adjacent partitions of each shard."""
        firsts = range(0, self.partition_count, self.shard_size)
        return [self.partitions[first : first + self.shard_size] for first in firsts]

    @property
    def shard_chunks(self) -> list[range]:
        """The numbers of the chunks of each shard."""
        size = self.chunk_rows
        return [range(parts[0].first_row // size, -(-parts[-1].end_row // size)) for parts in self.shards]

    @property
    def shard_rows(self) -> list[range]:
        """The rows of each shard."""
        size = self.partition_rows * self.shard_size
        return [range(first, min(first + size, self.space.rows)) for first in range(0, self.space.rows, size)]

    def spread(self, size: int, processes: int) -> int:
        """Return the memory of all processes if ``size`` bytes are divided among the shards.

        Every process is assumed to take as much as the process with the most shards.
        """
        shards = self.shard_count
        return size if processes <= 1 else ceil(size * ceil(shards / processes) * processes / shards)


def plan_chunk(space: Space) -> int:
    """Return the number of rows of a chunk: a part of a block of rows, or several blocks."""
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
    """Return the number of rows of a block.

    These are rows that moves keep together. If these fit into a chunk, a block is all rows with the same first digit.
    """
    block = space.rows // prod(space.numbering.radices[: space.numbering.block_digits])
    return block if block * space.width > CHUNK_STATES[1] else max(1, space.rows // prod(space.numbering.radices[:1]))


def plan_partition(space: Space, chunk_rows: int, workers: int) -> int:
    """Return the number of rows of a partition, which is small enough to keep all workers busy until a layer ends.

    A partition consists of whole blocks of rows if these are not too large: a move maps a block to a block, so only few
    partitions read it.
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
    """Return the number of partitions of a shard: one shard per worker, within the bounds `SHARD_STATES`."""
    least, most = SHARD_STATES
    shards = max(1, min(workers, space.size // least), ceil(space.size / most))
    return ceil(partitions / shards)


def partitions(space: Space, rows: int) -> tuple[Partition, ...]:
    """Return the partitions of a space: ranges of ``rows`` rows. The last range may be shorter."""
    firsts = range(0, space.rows, rows)
    return tuple(Partition(number, row, min(row + rows, space.rows)) for number, row in enumerate(firsts))
