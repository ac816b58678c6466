"""The kernel that writes many positions as permutations of points; see `antipodes_tasks.spaces.group.puzzle_points`."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel

Column = NDArray[np.int64]


@kernel
def write_permutations(
    labels: NDArray[np.uint8],
    pieces: Column,
    values: Column,
    moduli: Column,
    firsts: Column,
    homes: NDArray[np.int64],
    start_values: Column,
    permutations: NDArray[np.int16],
) -> None:
    """Write positions ``(n, places)`` as permutations ``(n, points)``, zeros for one with an unknown label."""
    for row in range(labels.shape[0]):
        for seat in range(len(moduli)):
            home = np.int64(seat)
            if pieces[seat] >= 0:
                home = homes[seat, labels[row, pieces[seat]]]
            turn = np.int64(0)
            if values[seat] >= 0:
                turn = np.int64(labels[row, values[seat]])
            if home < 0 or turn >= moduli[seat]:
                permutations[row] = 0
                break
            if values[seat] >= 0:
                turn -= start_values[home]
            if turn < 0:
                turn += moduli[seat]
            for point in range(moduli[seat]):
                permutations[row, firsts[home] + point] = firsts[seat] + turn
                turn += 1
                if turn == moduli[seat]:
                    turn = np.int64(0)
