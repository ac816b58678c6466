"""Search positions with an index in memory, in three or two bits per entry."""

from dataclasses import dataclass
from functools import partial
from math import ceil

from antipodes.executors.api import Call, Capacity, Handle
from antipodes.tables.layers.assembly import WRITE_THREADS, DepthAssembly
from antipodes.tables.layers.bit_shard import BitShard
from antipodes.tables.layers.boundaries import ROW_BYTES, batch_size, held_rows, row_bytes
from antipodes.tables.layers.division import Division, plan_partition, plan_shard
from antipodes.tables.layers.shard import MakeState
from antipodes.tables.strategies.commitment import Commitment
from antipodes.tables.strategies.strategy import ASSEMBLED_BYTES, IndexStrategy
from antipodes_tasks.bfs.bitmaps import bitmap_bytes
from antipodes_tasks.bfs.layer_weights import LayerWeights
from antipodes_tasks.bfs.partition import State, links, warm_up
from antipodes_tasks.bfs.two_bits import TwoBitState
from antipodes_tasks.spaces.space import Space

BITS_STORED = {3: 3 + 1 / 32, 2: 2 + 1 / 64}
"""Bits per position during a search: visited, one or two layers, and copies of small layers."""


@dataclass(frozen=True)
class BitStrategy(IndexStrategy):
    """Two or three bits per entry, in memory. With two, all shards have to wait for each other after each layer."""

    bits: int = 3
    """Three or two."""

    shard = BitShard
    assembly = DepthAssembly

    def divide(self, space: Space, chunk_rows: int, workers: Capacity) -> Division:
        """Return the division into partitions that keep all workers busy. In threads, a shard is one partition."""
        rows = plan_partition(space, chunk_rows, workers.workers)
        size = plan_shard(space, ceil(space.rows / rows), workers.workers) if workers.processes else 1
        return Division(space, chunk_rows, rows, size)

    def batch_size(self, division: Division, workers: Capacity) -> int:
        return batch_size(division, workers)

    def needs_together(self, division: Division, commitment: Commitment, workers: Capacity) -> int:
        """Return the memory of the search or the assembly, without the move tables, whichever takes more."""
        assembly = _assembly_bytes(division, workers) if commitment.makes_table else 0
        return max(self._search_bytes(division, workers), assembly)

    def _search_bytes(self, division: Division, workers: Capacity) -> int:
        """Return the memory of the search: bits, rows for other shards, and segments of active partitions.

        With two bits per position, each active partition has a third bit.
        """
        space, processes = division.space, workers.processes
        active = min(workers.workers, division.partition_count)
        bitmap = bitmap_bytes(space.rows, space.width)
        held = held_rows(division, workers, self.batch_size(division, workers)) * row_bytes(space)
        bits = division.spread(ceil(BITS_STORED[self.bits] * bitmap) + ROW_BYTES * space.rows, processes)
        return bits + processes * held + (3 + (self.bits == 2)) * active * bitmap // division.partition_count

    def buffer_bytes(self, division: Division, journal_bytes: int, workers: Capacity, left: int | None) -> int:
        """Return the memory for the part of the journal that is not written yet."""
        unwritten = division.spread(journal_bytes, workers.processes)
        return unwritten if left is None else min(unwritten, left)

    def warm_up(self, space: Space, shares_memory: bool) -> Call:
        """Return the call that loads the kernels, in this process, too."""
        return warm_up, self.bits == 2, space.filler.most_column_maps, space.width

    def links_of(self, division: Division, tables: Handle) -> Call:
        """Return the call that finds the partitions that the move tables connect."""
        bounds = (*(part.first_row for part in division.partitions), division.space.rows)
        return links, tables, bounds

    def make_state(self, division: Division, weights: LayerWeights) -> MakeState:
        """Return the function that creates the bits of a partition."""
        kind = TwoBitState if self.bits == 2 else State
        return partial(kind, width=division.space.width, chunk_rows=division.chunk_rows)


def _assembly_bytes(division: Division, workers: Capacity) -> int:
    """Return the memory of the chunks that are written at the same time, after the bits are released."""
    active = min(workers.workers, division.partition_count)
    at_once = active * min(WRITE_THREADS, ceil(division.partition_rows / division.chunk_rows))
    return at_once * ASSEMBLED_BYTES * division.chunk_rows * division.space.width
