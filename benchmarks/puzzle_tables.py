"""Move tables of two puzzles with many moves, made here by numpy alone, and their layers."""

from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.spaces.move_tables import MoveTables

TWISTS = 3
CUBE = (1, 18, 243, 2874, 28000, 205416, 1168516, 5402628, 20776176, 45391616, 15139616, 64736)
"""Positions of the 2x2x2 by the half turns and quarter turns that they need."""
PANCAKES = {
    9: (1, 8, 56, 391, 2278, 10666, 38015, 93585, 132697, 79379, 5804),
    11: (1, 10, 90, 809, 6429, 43891, 252737, 1174766, 4126515, 9981073, 14250471, 9123648, 956354, 6),
}
"""Stacks of different pancakes by the flips that they need."""


class Example(NamedTuple):
    """Move tables, the index of the start, and the layers."""

    name: str
    tables: MoveTables
    start: int
    layers: tuple[int, ...]


def cube() -> Example:
    """The 2x2x2 without a fixed corner: 40,320 arrangements of the corners times 3^7 twists, 18 moves.

    A twist belongs to a place: ``new[i] = (old[origin[i]] + added[i]) mod 3``. So the row, the arrangement, has one
    column map for each move.
    """
    moves = [turned for face in _quarter_turns() for turned in _powers(*face)]
    arrangements = np.array(list(permutations(range(8))), dtype=np.int64)
    radices = 8 ** np.arange(8)[::-1]
    keys = arrangements @ radices
    target = np.stack([np.searchsorted(keys, arrangements[:, origin] @ radices) for origin, _ in moves], axis=1)
    twists = np.array(list(product(range(TWISTS), repeat=7)), dtype=np.int64)
    twists = np.concatenate([twists, -twists.sum(axis=1, keepdims=True) % TWISTS], axis=1)
    powers = TWISTS ** np.arange(7)[::-1]
    maps = [np.arange(len(twists))]
    maps += [((twists[:, origin] + added) % TWISTS)[:, :7] @ powers for origin, added in moves]
    column_map = np.broadcast_to(1 + np.arange(len(moves)), target.shape)
    return Example("2x2x2, no fixed corner", _tables(target, column_map, np.array(maps)), 0, CUBE)


def pancakes(n: int, leading: int) -> Example:
    """A stack of ``n`` pancakes; a row is the places of ``leading`` of them, a column the order of the others."""
    places = np.array(list(permutations(range(n), leading)), dtype=np.int64)
    radices = n ** np.arange(leading)[::-1]
    keys = places @ radices
    target, column_map = [], []
    for flipped in range(2, n + 1):
        after = np.where(places < flipped, flipped - 1 - places, places)
        target.append(np.searchsorted(keys, after @ radices))
        column_map.append(np.maximum(flipped - (places < flipped).sum(axis=1) - 1, 0))
    orders = np.array(list(permutations(range(n - leading))), dtype=np.int64)
    digits = (n - leading) ** np.arange(n - leading)[::-1]
    order_keys = orders @ digits
    maps = [
        np.searchsorted(order_keys, np.concatenate([orders[:, :turned][:, ::-1], orders[:, turned:]], axis=1) @ digits)
        for turned in range(1, n - leading + 1)
    ]
    tables = _tables(np.array(target).T, np.array(column_map).T, np.array(maps))
    return Example(f"{n} pancakes", tables, 0, PANCAKES[n])


def _tables(target: NDArray[np.int64], column_map: NDArray[np.int64], maps: NDArray[np.int64]) -> MoveTables:
    return MoveTables(
        np.ascontiguousarray(target, dtype=np.int32),
        np.ascontiguousarray(column_map, dtype=np.int16),
        maps.astype(np.int32),
        undirected=True,
    )


def _quarter_turns() -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The origins and twists ``(8,)`` of a clockwise turn of each face; corners are points with coordinates 0 and 1."""
    corners = np.array(list(product((0, 1), repeat=3)))
    found = []
    for axis, side in product(range(3), (0, 1)):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        source = corners.copy()
        turned = corners[:, axis] == side
        source[turned, first], source[turned, second] = corners[turned, second], 1 - corners[turned, first]
        origin = source @ (4, 2, 1)
        odd = corners.sum(axis=1) % 2
        twist = np.where(odd == axis % 2, 1, 2) if axis else np.zeros(8, dtype=np.int64)
        found.append((origin, np.where(turned, twist, 0)))
    return found


def _powers(origin: NDArray[np.int64], added: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """A quarter turn, a half turn, and the quarter turn back."""
    powers = [(origin, added)]
    for _ in range(2):
        before, twists = powers[-1]
        powers.append((before[origin], (twists[origin] + added) % TWISTS))
    return powers
