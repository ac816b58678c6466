"""Test, apply and undo a move on an array of labels, in machine code."""

# ruff: noqa: SIM110 (numba compiles loops, not generators)

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.searches.steps import Steps

Position = NDArray[np.uint8]


@kernel
def allowed(labels: Position, move: int, steps: Steps) -> bool:
    """Whether a move is legal, given that the place by which it is grouped is empty."""
    for i in range(steps.occupied_at[move], steps.occupied_at[move + 1]):
        if labels[steps.occupied[i]] == 0:
            return False
    for i in range(steps.empty_at[move], steps.empty_at[move + 1]):
        if labels[steps.empty[i]] != 0:
            return False
    return True


@kernel
def apply(labels: Position, move: int, steps: Steps) -> None:
    """Apply a move to the labels."""
    for i in range(steps.swap_at[move], steps.swap_at[move + 1]):
        a, b = steps.swaps[i, 0], steps.swaps[i, 1]
        labels[a], labels[b] = labels[b], labels[a]


@kernel
def undo(labels: Position, move: int, steps: Steps) -> None:
    """Undo a move."""
    for i in range(steps.swap_at[move + 1] - 1, steps.swap_at[move] - 1, -1):
        a, b = steps.swaps[i, 0], steps.swaps[i, 1]
        labels[a], labels[b] = labels[b], labels[a]


@kernel
def successors(positions: NDArray[np.uint8], steps: Steps) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All positions one move after each of ``(n, places)``, ``(m, places)``, and after which one each, ``(m,)``."""
    n, places = positions.shape
    count = 0
    after = np.empty((max(16, 4 * n), places), np.uint8)
    before = np.empty(len(after), np.int64)
    for i in range(n):
        labels = positions[i].copy()
        for place in range(places + 1):
            if place < places and labels[place] != 0:
                continue
            for move in range(steps.group[place], steps.group[place + 1]):
                if allowed(labels, move, steps):
                    if count == len(after):
                        after = np.concatenate((after, np.empty_like(after)))
                        before = np.concatenate((before, np.empty_like(before)))
                    apply(labels, move, steps)
                    after[count] = labels
                    before[count] = i
                    undo(labels, move, steps)
                    count += 1
    return after[:count], before[:count]
