"""Search positions with an index on disk: memory holds only the bits of the layer being computed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil

from antipodes.executors.api import Call, Capacity, Handle
from antipodes.system.machine import MIB, keep_freed
from antipodes.tables.layers.assembly import SerialDepthAssembly
from antipodes.tables.layers.boundaries import ROW_BYTES
from antipodes.tables.layers.disk_segments import PIECES_IN_MEMORY, READ_BYTES
from antipodes.tables.layers.disk_shard import LOG_BYTES, DiskShard
from antipodes.tables.layers.division import Division
from antipodes.tables.layers.shard import MakeState
from antipodes.tables.strategies.commitment import Commitment, LastLayersCommitment
from antipodes.tables.strategies.strategy import ASSEMBLED_BYTES, IndexStrategy, LayerTraffic
from antipodes_tasks.bfs import map_order
from antipodes_tasks.bfs.bitmaps import bitmap_bytes
from antipodes_tasks.bfs.layer_weights import LayerWeights
from antipodes_tasks.bfs.on_disk import DiskState, disk_links, most_chunks, warm_up, window_chunks
from antipodes_tasks.spaces.space import Space

LOGS_BYTES = 2 * MIB
"""Maximum size in bytes of the segments that are not in a file yet, of all shards together that are not finding a
layer. These segments are written to a single file when the layer is committed."""
LAYER_BYTES = 1.1
"""Typical size of all layers in bytes per entry, if there are dozens of layers; with fewer, denser layers it is less.
From 0.86 (3-colour cube) to 1.33 bytes per position of a layer were measured."""
MOVE_BYTES = 3 * 4
"""Memory in bytes of a move of a window: its row, its target and its column map."""
CHUNKS_IN_MEMORY = 4
"""Bitmaps of a chunk that a worker needs: a part of a frontier, the earlier positions, and an encoded segment."""
MAX_KEPT, TABLE_MAX_KEPT, GLIBC_MAX_KEPT = 2 * MIB, MIB, 1 << 25
"""Size in bytes of the largest freed array that the C library keeps: during a search on disk, so that the pieces of a
stream are read into the same memory, if it makes a table, and by default after it has freed large arrays. With 1 MiB,
counting seven-tiles had three times as many page faults; with 2 MiB, the table of eight tiles took 258.6 MiB instead of
249.8 MiB, because the assembly has many threads."""


@dataclass(frozen=True)
class DiskStrategy(IndexStrategy):
    """One bit per entry of the partitions being searched. The layers are in files, the journal of the run.

    A partition is as large as memory allows, since each partition reads the frontiers of the others once.
    """

    bits: int = 1

    shard = DiskShard
    assembly = SerialDepthAssembly
    on_disk = True

    def can_hold(self, space: Space, workers: Capacity) -> bool:
        """Return whether positions have indices, and all workers are threads, which can read the same files."""
        return super().can_hold(space, workers) and not workers.processes

    def commitment(self, space: Space, wanted: Commitment) -> Commitment:
        """Return the journal of a table, or of the last layers if they are only counted."""
        return wanted if wanted.makes_table else LastLayersCommitment(_one_way(space), unique=wanted.unique)

    def divide(self, space: Space, chunk_rows: int, workers: Capacity) -> Division:
        """Return the division into few partitions, as many for each worker, whose bits fit into memory."""
        active, chunks = workers.workers, ceil(space.rows / chunk_rows)
        left = (workers.memory or 0) - space.filler.table_bytes - LOGS_BYTES
        each = max(0, left) // active - _worker_bytes(space, chunk_rows)
        bits, window = bitmap_bytes(chunk_rows, space.width), _window_bytes(space, chunk_rows)
        chunks_that_fit = most_chunks(each, bits, window)
        rounds = ceil(chunks / (chunks_that_fit * active))
        return Division(space, chunk_rows, ceil(chunks / (rounds * active)) * chunk_rows, 1)

    def needs_together(self, division: Division, commitment: Commitment, workers: Capacity) -> int:
        """Return the memory of the active partitions with their windows, or of the assembly, whichever takes more.

        The move tables are freed before the assembly.
        """
        space, active = division.space, min(workers.workers, division.partition_count)
        rows = min(space.rows, division.partition_rows)
        window = window_chunks(ceil(rows / division.chunk_rows)) * division.chunk_rows
        bits = active * (bitmap_bytes(rows, space.width) + _window_bytes(space, window))
        search = bits + active * _worker_bytes(space, division.chunk_rows)
        chunk = ASSEMBLED_BYTES * division.chunk_rows * space.width
        assembly = active * chunk if commitment.makes_table else 0
        return max(search, assembly - space.filler.table_bytes)

    def buffer_bytes(self, division: Division, journal_bytes: int, workers: Capacity, left: int | None) -> int:
        """Return the memory of the segments that are not in a file after a layer, beyond the minimum."""
        return LOGS_BYTES

    def layer_traffic(self, division: Division) -> LayerTraffic:
        """Return the traffic if each partition reads all layers as frontiers, and its own layers four times more.

        A pull reads the partition's last two layers before and after it reads the frontiers, and a push only after.
        """
        written = ceil(LAYER_BYTES * division.space.size)
        return LayerTraffic(written, written * (division.partition_count + 4))

    def describe_misfit(self, space: Space, min_bytes: int) -> str:
        """Return the number of entries, and the bytes of the smallest partitions and of the move tables."""
        return f"even with its layers on disk, {super().describe_misfit(space, min_bytes)}"

    def make_state(self, division: Division, weights: LayerWeights) -> MakeState:
        """Return the function that creates the state of a partition, whose files `DiskShard` sets."""
        width, one_way = division.space.width, _one_way(division.space)
        return partial(DiskState, width=width, chunk_rows=division.chunk_rows, one_way=one_way, weights=weights)

    def warm_up(self, space: Space, shares_memory: bool) -> Call:
        """Return the call that loads the kernels, in this process."""
        return warm_up, space.filler.most_column_maps, space.width

    @contextmanager
    def freed_memory(self, makes_table: bool) -> Iterator[None]:
        """Return freed arrays to the system immediately in the block, since memory is scarce.

        By default, glibc keeps up to 64 MiB for each thread that allocates arrays. The assembly has many threads, which
        kept 25 MiB of a run with a limit of 256 MiB.
        """
        kept = TABLE_MAX_KEPT if makes_table else MAX_KEPT
        keep_freed(kept, kept)
        try:
            yield
        finally:
            keep_freed(2 * GLIBC_MAX_KEPT, GLIBC_MAX_KEPT)

    def links_of(self, division: Division, tables: Handle) -> Call:
        """Return the call that finds the partitions that the move tables connect, and the chunks to read for each."""
        return disk_links, tables, division.partition_rows, division.chunk_rows


def _one_way(space: Space) -> bool:
    return not space.rules.moves.reversible


def _worker_bytes(space: Space, chunk_rows: int) -> int:
    """Return the memory of a worker in addition to the bits of its partition."""
    chunk = bitmap_bytes(chunk_rows, space.width)
    return LOG_BYTES + PIECES_IN_MEMORY * max(READ_BYTES, chunk) + CHUNKS_IN_MEMORY * chunk


def _window_bytes(space: Space, rows: int) -> int:
    """Return the memory of a window of that many ``rows``: its bits, and a list of its rows or of its moves."""
    filler = space.filler
    by_map = map_order.is_worthwhile(filler.most_column_maps, space.width)
    listed = MOVE_BYTES * filler.max_moves if by_map else ROW_BYTES
    return bitmap_bytes(rows, space.width) + listed * rows
