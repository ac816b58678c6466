"""Random move tables, directed or not, with moves that are illegal in some columns, and distances by brute force."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.move_tables import ILLEGAL, MoveTables

UNREACHED = 65535
Edge = tuple[int, int, int]
"""The row of a move, the number of its column map, and its target row."""


def random_tables(rng: np.random.Generator, rows: int, width: int, undirected: bool) -> MoveTables:
    """Return tables with a few moves per row and several column maps, which may be illegal in some columns."""
    maps = [np.arange(width)]
    while len(maps) < 5:
        maps += _with_inverse(rng.permutation(width), rng.random(width) < rng.choice([0, 0.2]))
    edges = set()
    for _ in range(int(rng.integers(1, 4 * rows + 1))):
        row, to_row, number = int(rng.integers(rows)), int(rng.integers(rows)), int(rng.integers(len(maps)))
        edges.add((row, number, to_row))
        if undirected:
            edges.add((to_row, _inverse(number), row))
    return _tables(rng, edges, rows, np.array(maps, dtype=np.int32), undirected)


def _with_inverse(permutation: NDArray[np.int64], illegal: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    inverse = np.argsort(permutation)
    return [np.where(illegal, ILLEGAL, permutation), np.where(illegal[inverse], ILLEGAL, inverse)]


def _inverse(number: int) -> int:
    """Return the number of the inverse column map: 1 and 2 are inverse to each other, 3 and 4, and so on."""
    return number and (number - 1 ^ 1) + 1


def _tables(
    rng: np.random.Generator, edges: set[Edge], rows: int, maps: NDArray[np.int32], undirected: bool
) -> MoveTables:
    moves: list[list[tuple[int, int]]] = [[] for _ in range(rows)]
    for row, number, to_row in sorted(edges):
        moves[row].append((to_row, number))
    most = max(map(len, moves))
    target = np.full((rows, most), ILLEGAL, dtype=np.int32)
    column_map = np.zeros((rows, most if maps.shape[1] > 1 else 0), dtype=np.int16)
    for row, legal in enumerate(moves):
        for slot, place in enumerate(rng.permutation(len(legal))):
            target[row, slot] = legal[place][0]
            if maps.shape[1] > 1:
                column_map[row, slot] = legal[place][1]
    return MoveTables(target, column_map, maps[: len(maps) if maps.shape[1] > 1 else 1], undirected)


def successors(tables: MoveTables, row: int, column: int) -> list[tuple[int, int]]:
    """Return the successors of a position; each position is a row and a column."""
    found = []
    for slot, to_row in enumerate(tables.target[row].tolist()):
        number = tables.column_map[row, slot] if tables.column_map.shape[1] else 0
        to_column = int(tables.column_maps[number, column])
        if to_row != ILLEGAL and to_column != ILLEGAL:
            found.append((to_row, to_column))
    return found


def distances(tables: MoveTables, starts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return the depth of each position ``(rows, width)``, or UNREACHED, found layer by layer."""
    depths = np.full((len(tables.target), tables.column_maps.shape[1]), UNREACHED, dtype=np.uint16)
    layer = [(int(row), int(column)) for row, column in zip(*np.divmod(starts, depths.shape[1]), strict=True)]
    depth = 0
    while layer:
        for position in layer:
            depths[position] = depth
        after = {there for position in layer for there in successors(tables, *position)}
        layer = [position for position in sorted(after) if depths[position] == UNREACHED]
        depth += 1
    return depths
