"""The positions at one depth of a table, of which there may be more than fit into memory."""

from collections.abc import Iterator

from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.rules.moves import Labels

BATCH = 1 << 14
"""Positions that are unranked together."""


def batches_at(space: CheckedSpace, chunks: TableChunks, depth: int, count: int) -> Iterator[Labels]:
    """The first ``count`` positions at a depth, in the order of their indices: batches of ``(n, places)``.

    Each chunk is read when its first position is needed.
    """
    missing = count
    for indices in chunks.all_at(depth) if missing else ():
        for first in range(0, min(missing, len(indices)), BATCH):
            yield space.unchecked.unrank(indices[first : min(first + BATCH, missing)])
        missing -= len(indices)
        if missing <= 0:
            return
