"""Test and make moves on arrays of labels, in machine code."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.reachability.steps.move_arrays import MoveArrays

Positions = NDArray[np.uint8]
Numbers = NDArray[np.int64]
ONE = np.uint64(1)


@kernel
def legal(
    labels: Positions, row: int, move: int, condition_at: Numbers, tested: Numbers, mask: NDArray[np.uint64]
) -> bool:
    """Whether the position in a row of ``labels`` ``(n, places)`` meets the conditions of a move, but for its guard."""
    for condition in range(condition_at[move], condition_at[move + 1]):
        if not (mask[condition] >> np.uint64(min(63, labels[row, tested[condition]]))) & np.uint64(1):
            return False
    return True


@kernel
def successors(positions: Positions, moves: MoveArrays) -> tuple[Positions, Numbers]:
    """All positions one move after each of ``(n, places)``, ``(m, places)``, and after which one each, ``(m,)``."""
    # A call counts the arrays of a tuple in and out, which takes longer than a move: hence the variables.
    guard, next_group = moves.guard, moves.next_group
    condition_at, tested, mask = moves.condition_at, moves.tested, moves.mask
    change_at, place, origin, added, moduli = moves.change_at, moves.place, moves.origin, moves.added, moves.moduli
    n, places = positions.shape
    count = 0
    after = np.empty((max(16, 4 * n), places), np.uint8)
    before = np.empty(len(after), np.int64)
    for i in range(n):
        move = 0
        while move < len(guard):
            if guard[move] >= 0 and positions[i, guard[move]] != 0:
                move = next_group[move]
                continue
            condition, stop = condition_at[move], condition_at[move + 1]
            while condition < stop and (mask[condition] >> np.uint64(min(63, positions[i, tested[condition]]))) & ONE:
                condition += 1
            if condition == stop:
                if count == len(after):
                    after = np.concatenate((after, np.empty_like(after)))
                    before = np.concatenate((before, np.empty_like(before)))
                for p in range(places):
                    after[count, p] = positions[i, p]
                for change in range(change_at[move], change_at[move + 1]):
                    label, p = np.int64(positions[i, origin[change]]) + added[change], place[change]
                    after[count, p] = label - moduli[p] if label >= moduli[p] else label
                before[count] = i
                count += 1
            move += 1
    return after[:count], before[:count]
