"""Test and make moves on arrays of labels, in machine code."""

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.searches.steps.move_arrays import MoveArrays

Position = NDArray[np.uint8]


@kernel
def next_legal(labels: Position, first: int, moves: MoveArrays) -> int:
    """The first legal move from ``first`` on, or the number of moves."""
    move = first
    while move < len(moves.guard):
        guard = moves.guard[move]
        if guard >= 0 and labels[guard] != 0:
            move = moves.next_group[move]
            continue
        condition, end = moves.condition_at[move], moves.condition_at[move + 1]
        while condition < end and allows(moves.mask[condition], labels[moves.tested[condition]]):
            condition += 1
        if condition == end:
            break
        move += 1
    return move


@kernel
def allows(mask: np.uint64, label: int) -> bool:
    """Whether a condition allows a label."""
    return bool((mask >> np.uint64(min(label, 63))) & np.uint64(1))


@kernel
def changed(labels: Position, change: int, moves: MoveArrays) -> np.uint8:
    """The label after a change, on the place that it concerns."""
    label = np.int64(labels[moves.origin[change]]) + moves.added[change]
    modulus = moves.moduli[moves.place[change]]
    if label >= modulus:
        label -= modulus
    return np.uint8(label)


@kernel
def make(labels: Position, move: int, moves: MoveArrays, after: Position) -> None:
    """Write the position after a move."""
    after[:] = labels
    for change in range(moves.change_at[move], moves.change_at[move + 1]):
        after[moves.place[change]] = changed(labels, change, moves)


@kernel
def successors(positions: NDArray[np.uint8], moves: MoveArrays) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All positions one move after each of ``(n, places)``, ``(m, places)``, and after which one each, ``(m,)``."""
    n, places = positions.shape
    count = 0
    after = np.empty((max(16, 4 * n), places), np.uint8)
    before = np.empty(len(after), np.int64)
    for i in range(n):
        move = next_legal(positions[i], 0, moves)
        while move < len(moves.guard):
            if count == len(after):
                after = np.concatenate((after, np.empty_like(after)))
                before = np.concatenate((before, np.empty_like(before)))
            make(positions[i], move, moves, after[count])
            before[count] = i
            count += 1
            move = next_legal(positions[i], move + 1, moves)
    return after[:count], before[:count]
