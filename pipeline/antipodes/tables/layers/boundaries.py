"""How shards in other processes get the rows that they need, and how many of these rows a process holds.

The shards of a process form *batches*. The shards of a batch are sent the rows that they need together, and no other
rows. Batches that advance in turn take less memory, but if moves lead from every row to rows of many batches, most rows
are sent several times. So there are three cases:

* If moves lead from a block of rows to few other blocks, as in sliding puzzles, a batch has one shard for each thread,
  and a process receives rows for at most MAX_BATCHES batches at the same time.
* Otherwise, all shards of a process are one batch. A row has at most as many successors as there are moves, so with
  many processes, most of them do not need the row.
* With few processes, each of them needs most rows. Then all shards of all processes are one batch, which gets the rows
  with moves out of their shard. So the process that sends these rows holds only one copy.
"""

from math import ceil

import numpy as np

from antipodes.executors.api import Capacity
from antipodes.tables.layers.division import Division
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.spaces.space import BlockNeighbours

MAX_BATCHES = 2
"""Maximum number of batches of a process for which it receives rows at the same time, if they advance in turn."""


def batch_size(division: Division, workers: Capacity, in_turn: bool) -> int | None:
    """Return the number of shards of a batch, or None if all shards of all processes are one batch.

    ``in_turn`` is whether batches can advance in turn.
    """
    space, processes = division.space, workers.processes
    if processes == 0:
        return None
    each = ceil(division.shard_count / processes)
    if space.block_neighbours is not None:
        return min(each, ceil(workers.workers / processes)) if in_turn else each
    return each if space.rules.moves.reversible and 2 * space.filler.max_moves < processes else None


def held_rows(division: Division, workers: Capacity, batch: int | None) -> int:
    """Return an upper bound on the rows that a process holds at the same time, both received rows and rows to be sent.

    ``batch`` is the `batch_size`. Each process is assumed to hold adjacent shards, and as many as the others; after the
    loss of a worker, others hold its shards, and may need more rows. If batches do not advance in turn, a process can
    also hold rows of two or three layers that are submitted together; these are small.
    """
    space, processes = division.space, workers.processes
    if processes == 0 or division.shard_count == 1:
        return 0
    if batch is None:
        return space.rows  # each process holds at most one frontier
    if space.block_neighbours is not None:
        return _connected_rows(division, processes, batch, space.block_neighbours)
    rows = ceil(division.shard_count / processes) * division.shard_size * division.partition_rows
    return min(2 * space.filler.max_moves * rows, 2 * space.rows)


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
    if division.shard_count <= processes:  # a shard reads its own frontier in place
        senders, into, rows = (one[senders != owners[into]] for one in (senders, into, rows))
    keys, places = np.unique(senders * len(owners) + into, return_inverse=True)
    senders, into = np.divmod(keys, len(owners))
    rows = np.minimum(np.bincount(places, rows, minlength=len(keys)), shard_rows * shards[senders])
    rows *= np.minimum(MAX_BATCHES, batches)[owners[into]]
    received = np.bincount(into, rows, minlength=len(owners))
    held = np.zeros((processes, processes))
    """The maximum number of rows of each process (first index) that another one needs at the same time."""
    np.maximum.at(held, (senders, owners[into]), rows)
    np.fill_diagonal(held, 0)  # what shards of a process send each other is counted as received
    np.maximum.at(held, (owners, owners), received)
    return int(held.sum(axis=1).max())


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
