"""How shards in other processes get the rows that they need, and how many of these rows a process holds.

The shards of a process form *batches*. The shards of a batch get the rows that they need together, and no other rows. A
process asks for the rows of a batch while it advances the batch before it, so it has rows for at most two batches. It
sends at most MAX_ANSWERS pieces at the same time, each of which contains its rows for one batch.

If moves lead from a block of rows to few other blocks, as in sliding puzzles, small batches save memory: a batch has
one shard for each thread, unless the rows for all batches together take little memory anyway. Otherwise most rows would
be sent several times, so all shards of a process are one batch.
"""

from math import ceil

import numpy as np

from antipodes.executors.api import Capacity
from antipodes.system.machine import MIB
from antipodes.tables.layers.division import Division
from antipodes_tasks.bfs.bitmaps import bitmap_bytes
from antipodes_tasks.bfs.segments import MAX_SPARSE
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.spaces.space import BlockNeighbours, Space

MAX_BATCHES = 2
"""Maximum number of batches of a process for which it has rows at the same time."""
MAX_ANSWERS = 2
"""Maximum number of pieces that a process extracts or sends at the same time."""
SENT_COPIES = 1 + MAX_SPARSE
"""Memory of a piece while it is sent, as a multiple of its rows' memory, since sparse rows are also encoded."""
TOGETHER_BYTES = 32 * MIB
"""Memory for rows of other processes up to which all shards of a process are one batch: fewer requests, and each row is
sent once."""
ROW_BYTES = 4
"""Memory in bytes for the number of a row, in addition to the row's bits."""


def row_bytes(space: Space) -> int:
    """Return the memory of a row of a frontier that is sent."""
    return bitmap_bytes(1, space.width) + ROW_BYTES


def batch_size(division: Division, workers: Capacity) -> int:
    """Return the number of shards of a batch."""
    space, processes = division.space, workers.processes
    each = ceil(division.shard_count / max(1, processes))
    if processes == 0 or space.block_neighbours is None:
        return each
    if held_rows(division, workers, each) * row_bytes(space) <= TOGETHER_BYTES:
        return each
    return min(each, ceil(workers.workers / processes))


def held_rows(division: Division, workers: Capacity, batch: int) -> int:
    """Return an upper bound on the rows that a process holds at the same time, both received rows and rows to be sent.

    ``batch`` is the `batch_size`. Each process is assumed to hold adjacent shards, and as many as the others; after the
    loss of a worker, others hold its shards, and may need more rows.
    """
    space, processes = division.space, min(workers.processes, division.shard_count)
    if processes <= 1:
        return 0
    if space.block_neighbours is not None:
        return _connected_rows(division, processes, batch, space.block_neighbours)
    own = ceil(division.shard_count / processes) * division.shard_size * division.partition_rows
    others = space.rows - (division.shard_count // processes - 1) * division.shard_size * division.partition_rows
    needed = space.filler.max_moves * own if space.rules.moves.reversible else space.rows
    return min(needed, others) + ceil(min(MAX_ANSWERS, processes - 1) * SENT_COPIES * min(own, needed))


def _connected_rows(division: Division, processes: int, batch: int, blocks: BlockNeighbours) -> int:
    """Return `held_rows`, given the blocks of rows that moves connect.

    A batch needs at most as many rows from a block as it has in each target of the block's moves.
    """
    shards = np.array([len(part) for part in np.array_split(np.arange(division.shard_count), processes)])
    batches = -(-shards // batch)
    owners = np.repeat(np.arange(processes), batches)
    shard_rows = division.shard_size * division.partition_rows
    first_rows = shard_rows * (np.cumsum(shards) - shards)
    numbers = np.arange(len(owners)) - np.repeat(np.cumsum(batches) - batches, batches)
    sources, into, rows = _needed(blocks, first_rows[owners] + shard_rows * batch * numbers, division.space.rows)
    low, high = (
        np.searchsorted(first_rows, edge, "right") - 1
        for edge in (sources * blocks.rows, (sources + 1) * blocks.rows - 1)
    )
    pairs = [np.stack((low + step, into, rows))[:, low + step <= high] for step in range(int((high - low).max()) + 1)]
    senders, into, rows = np.concatenate(pairs, axis=1)
    senders, into, rows = (
        one[senders != owners[into]] for one in (senders, into, rows)
    )  # the others are read in place
    keys, places = np.unique(senders * len(owners) + into, return_inverse=True)
    senders, into = np.divmod(keys, len(owners))
    rows = np.minimum(np.bincount(places, rows, minlength=len(keys)), shard_rows * shards[senders])
    received, sent = np.zeros(len(owners)), np.zeros(processes)
    np.add.at(received, into, rows)
    most = np.zeros(processes)
    """The maximum number of rows that a process receives for a batch."""
    np.maximum.at(most, owners, received)
    np.maximum.at(sent, senders, rows)
    return int((np.minimum(MAX_BATCHES, batches) * most + MAX_ANSWERS * SENT_COPIES * sent).max())


def _needed(blocks: BlockNeighbours, first_rows: Indices, end_row: int) -> tuple[Indices, Indices, Indices]:
    """Return blocks, the batches that need rows from them, and the number of these rows, all ``(n,)``.

    ``first_rows`` contains the first row of each batch.
    """
    firsts = np.sort(np.concatenate((first_rows, np.arange(0, end_row, blocks.rows))))
    begins, ends = (np.searchsorted(blocks.of, firsts // blocks.rows, side) for side in ("left", "right"))
    moves = ends - begins
    sources = blocks.to[np.arange(moves.sum()) + np.repeat(ends - np.cumsum(moves), moves)]
    into = np.searchsorted(first_rows, firsts, "right") - 1
    return sources, np.repeat(into, moves), np.repeat(np.diff(firsts, append=end_row), moves)
