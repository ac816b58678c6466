"""Kernels of the move tables of groups, and of ranking and unranking elements of groups."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.permutations.chain import Permutations
from antipodes_tasks.spaces.move_tables import ColumnMap

Numbers = NDArray[np.int32]
Ranks = NDArray[np.int64]


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

    ``before`` and ``states``, ``(moves, rows of the levels above)``, say where moves lead above that level, and the
    states in which they reach it; ``written`` and ``following``, ``(states, digits)``, are its transitions.
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


@kernel
def rank_elements(
    elements: Permutations,
    base: Ranks,
    numbers: NDArray[np.int16],
    firsts: Ranks,
    inverses: Permutations,
    weights: Ranks,
) -> Ranks:
    """The number of each element ``(n, points)``, ``(n,)``, or -1; see `group_numbering`."""
    points = elements.shape[1]
    ranks = np.zeros(len(elements), dtype=np.int64)
    rest = np.empty(points, dtype=np.int16)
    for n in range(len(elements)):
        rest[:] = elements[n]
        for level in range(len(base)):
            digit = np.int64(numbers[level, rest[base[level]]])
            if digit < 0:
                break
            ranks[n] += digit * weights[level]
            if digit > 0:
                inverse = inverses[firsts[level] + digit]
                for point in range(points):
                    rest[point] = inverse[rest[point]]
        for point in range(points):
            if rest[point] != point:
                ranks[n] = -1
                break
    return ranks


@kernel
def unrank_elements(
    ranks: Ranks,
    base: Ranks,
    numbers: NDArray[np.int16],
    firsts: Ranks,
    representatives: Permutations,
    weights: Ranks,
) -> Permutations:
    """The element ``(n, points)`` of each number ``(n,)``."""
    points = representatives.shape[1]
    elements = np.empty((len(ranks), points), dtype=np.int16)
    for n in range(len(ranks)):
        element = elements[n]
        for point in range(points):
            element[point] = point
        for level in range(len(base) - 1, -1, -1):
            rest = ranks[n] if level == 0 else ranks[n] % weights[level - 1]
            digit = rest // weights[level]
            if digit > 0:
                representative = representatives[firsts[level] + digit]
                for point in range(points):
                    element[point] = representative[element[point]]
    return elements
