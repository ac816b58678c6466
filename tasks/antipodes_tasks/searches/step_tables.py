"""Step tables: the effect of every move on the distance, for each entry of a reduced pattern table.

A move changes a distance by at most one, so two bits per move are enough to store the change. If the distance of a
position is known, one lookup instead of one per move gives the distances of all successors. An entry of a step table is
a *word*: a bit mask of the moves that raise the distance, and another of the moves that leave it unchanged. Step tables
are large. They are computed from reduced tables, within seconds, when a search takes long.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.move_tables import ColumnMap, ColumnMaps
from antipodes_tasks.searches.packed import HALVES, Encoding
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.spaces.space import Space

MAX_MOVES = 32
"""Maximum number of moves. The lower half of a word marks the moves that raise the distance, the upper half the moves
that leave it unchanged."""
ROWS_AT_ONCE = 1 << 8


def step_table_of(
    space: Space, values: NDArray[np.uint8], encoding: Encoding, threads: int, pulse: Heartbeat
) -> Words | None:
    """Return the word of each entry of a table, ``(entries,)``, if all moves are legal everywhere.

    The bits of a word belong to the moves of the entry's position in the table. ``values`` are the encoded distances of
    the entries of ``space``, which must not be clipped. Returns None if there are too many moves, or if a move changes
    a distance by more than one. ``pulse`` may interrupt the work.
    """
    if len(space.rules.moves) > MAX_MOVES:
        return None
    tables, fills = space.filler.begin()
    for _ in on_threads(lambda fill: fill(), fills, threads, pulse):
        pass
    if encoding == HALVES:
        values = np.stack((values & 15, values >> 4), axis=1).ravel()[: space.size]
    numbers = tables.column_map if space.width > 1 else np.zeros(tables.target.shape, dtype=np.int16)
    steps = np.zeros(space.size, dtype=np.uint64)
    ranges = [(first, min(first + ROWS_AT_ONCE, space.rows)) for first in range(0, space.rows, ROWS_AT_ONCE)]
    here = (tables.target, numbers, tables.column_maps, values, steps)
    known = all(on_threads(lambda of: write_steps(of[0], of[1], *here), ranges, threads, pulse))
    return steps if known else None


@kernel
def write_steps(
    first: int,
    end: int,
    target: NDArray[np.int32],
    numbers: ColumnMap,
    column_maps: ColumnMaps,
    values: NDArray[np.uint8],
    steps: Words,
) -> bool:
    """Write the words of the rows ``first`` to ``end - 1``; return whether each move changes distances by at most one.

    ``target``, ``numbers`` and ``column_maps`` are those of `MoveTables`.
    """
    width = column_maps.shape[1]
    largest = np.uint64(0)
    for row in range(first, end):
        for move in range(target.shape[1]):
            begin, number = np.int64(target[row, move]) * width, np.int64(numbers[row, move])
            for column in range(width):
                place = np.uint64(row * width + column)
                then = values[np.uint64(begin + column_maps[number, column])]
                step = np.uint64(then) + np.uint64(1) - np.uint64(values[place])
                largest = max(largest, step)
                steps[place] |= (step >> np.uint64(1)) << np.uint64(move)
                steps[place] |= (step & np.uint64(1)) << np.uint64(MAX_MOVES + move)
    return bool(largest <= np.uint64(2))
