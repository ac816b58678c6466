"""Kernels of the move tables of groups, and of ranking and unranking elements of groups."""

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.spaces.move_tables import ColumnMap

Numbers = NDArray[np.int32]


@kernel
def fill_rows(
    target: Numbers,
    column_map: ColumnMap,
    first_row: int,
    before: Numbers,
    states: Numbers,
    written: Numbers,
    following: Numbers,
) -> None:
    """Fill rows of the move tables from the digit of the last level of the rows.

    ``before`` and ``states``, ``(moves, rows of the levels above)``, say where moves lead above that level, and in which
    states they reach it; ``written`` and ``following``, ``(states, digits)``, are its transitions.
    """
    digits = written.shape[1]
    for line in range(target.shape[0]):
        above, digit = divmod(first_row + line, digits)
        for move in range(target.shape[1]):
            state = states[move, above]
            target[line, move] = before[move, above] * digits + written[state, digit]
            if column_map.shape[1]:
                column_map[line, move] = following[state, digit]


@kernel
def fill_columns(maps: Numbers, before: Numbers, states: Numbers, written: Numbers) -> None:
    """Fill column maps ``(maps, width)`` from the digit of the last level, as in `fill_rows`."""
    digits = written.shape[1]
    for number in range(maps.shape[0]):
        for above in range(before.shape[1]):
            state, base = states[number, above], before[number, above] * digits
            for digit in range(digits):
                maps[number, above * digits + digit] = base + written[state, digit]
