"""What every move does to the distance, for each entry of a folded table: one look-up instead of one for each move.

A move changes a distance by one at most. So two bits for each move say what the table says after it, and a search that
knows the distance of a position knows those of all its successors: the bits of all moves that raise it are one number,
the bits of those that keep it another. The tables are large, and made from folded ones in seconds, when a search takes
long.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.reachability.position_set import Numbers
from antipodes_tasks.searches.digits import Digit
from antipodes_tasks.searches.folding import Folding, row_moves
from antipodes_tasks.searches.progress import Pulse, on_threads

MAX_MOVES = 32
"""Moves of which a word has bits: one each where they raise the distance, and above these one where they keep it."""
CLASSES_AT_ONCE = 1 << 8
Steps = NDArray[np.uint64]


def steps_of(
    folding: Folding, digits: Sequence[Digit], values: NDArray[np.uint8], packed: bool, threads: int, pulse: Pulse
) -> Steps | None:
    """For each entry of a folded table the moves that raise the distance, and those that keep it, ``(entries,)``.

    None where there are too many moves, or one changes a distance by more. The pulse may end it.
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
    """Write the words of the classes ``first`` to ``end``; whether each move changes distances by one at most.

    ``after`` ``(classes, moves)`` has the class of the row that a move leads to, above the bits of the column map, and
    ``columns`` ``(column maps, moves, width)`` the column there.
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
