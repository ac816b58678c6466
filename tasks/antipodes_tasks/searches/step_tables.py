"""Step tables: the effect of every move on the distance, for each entry of a folded pattern table.

A move changes a distance by at most one, so two bits per move are enough to store the change. If the distance of a
position is known, one lookup instead of one per move gives the distances of all successors. An entry of a step table is
a *word*: a bit mask of the moves that raise the distance, and another of the moves that leave it unchanged. Step tables
are large. They are computed from folded tables, within seconds, when a search takes long.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import Numbers
from antipodes_tasks.searches.digits import Digit
from antipodes_tasks.searches.folding import Folding, row_moves
from antipodes_tasks.searches.progress import Heartbeat, on_threads

MAX_MOVES = 32
"""Maximum number of moves. The lower half of a word marks the moves that raise the distance, the upper half the moves
that leave it unchanged."""
CLASSES_AT_ONCE = 1 << 8
Steps = NDArray[np.uint64]


def steps_of(
    folding: Folding, digits: Sequence[Digit], values: NDArray[np.uint8], packed: bool, threads: int, pulse: Heartbeat
) -> Steps | None:
    """Return the word of each entry of a folded table, ``(entries,)``.

    Returns None if there are too many moves, or if a move changes a distance by more than one. ``pulse`` may interrupt
    the work.
    """
    rows, column = row_moves(digits, folding.column), digits[folding.column].after[:, :-1]
    moves = rows.shape[1]
    if moves > MAX_MOVES:
        return None
    own = np.flatnonzero((folding.class_of & np.uint32((1 << folding.bits) - 1)) == 0)
    kept = np.empty(folding.classes, dtype=np.int64)
    kept[folding.class_of[own] >> np.uint32(folding.bits)] = own
    after = folding.class_of[rows[kept]].astype(np.int64)
    columns = np.ascontiguousarray(folding.maps[:, column.T])
    if packed:
        values = np.stack((values & 15, values >> 4), axis=1).ravel()[: folding.classes * folding.width]
    steps = np.zeros(folding.classes * folding.width, dtype=np.uint64)
    ranges = [(first, min(first + CLASSES_AT_ONCE, len(kept))) for first in range(0, len(kept), CLASSES_AT_ONCE)]
    here = (after, columns, folding.bits, values, steps)
    known = all(on_threads(lambda of: write_steps(of[0], of[1], *here), ranges, threads, pulse))
    return steps if known else None


@kernel
def write_steps(
    first: int,
    end: int,
    after: Numbers,
    columns: NDArray[np.int32],
    bits: int,
    values: NDArray[np.uint8],
    steps: Steps,
) -> bool:
    """Write the words of classes ``first`` to ``end - 1``; return whether each move changes distances by at most one.

    ``after`` ``(classes, moves)`` contains `Folding.class_of` of the row after each move, and ``columns``
    ``(column maps, moves, width)`` the column of the representative row after each move.
    """
    width = columns.shape[2]
    largest = np.uint64(0)
    for row in range(first, end):
        for move in range(after.shape[1]):
            begin, number = (after[row, move] >> bits) * width, after[row, move] & ((1 << bits) - 1)
            for column in range(width):
                place = np.uint64(row * width + column)
                then = values[np.uint64(begin + columns[number, move, column])]
                step = np.uint64(then) + np.uint64(1) - np.uint64(values[place])
                largest = max(largest, step)
                steps[place] |= (step >> np.uint64(1)) << np.uint64(move)
                steps[place] |= (step & np.uint64(1)) << np.uint64(MAX_MOVES + move)
    return bool(largest <= np.uint64(2))
