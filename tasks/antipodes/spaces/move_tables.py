"""The moves of a puzzle as three arrays: to which row, by which column map, and the column maps."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Puzzle, Swaps
from antipodes.spaces import permutation_tables, swap_tables
from antipodes.spaces.arrangements import BATCH, Index
from antipodes.spaces.permutation_tables import ILLEGAL
from antipodes.spaces.swap_tables import Fill

__all__ = ["ILLEGAL", "MoveTables", "begin_tables", "building_bytes", "move_tables", "table_bytes"]

MAPS_OF_INT16 = 1 << 15
ColumnMap = NDArray[np.int16] | NDArray[np.int32]


class MoveTables(NamedTuple):
    """The successor of ``(row, column)`` by move ``m`` is ``target[row, m], column_maps[column_map[row, m], column]``.

    The legal moves of a row come first; which of the puzzle's moves they are is not kept.
    """

    target: NDArray[np.int32]
    """``(rows, moves)``: the row that a move leads to; ILLEGAL behind the last legal move."""
    column_map: ColumnMap
    """``(rows, moves)``: which of the column maps applies, 0 is the identity; ``(rows, 0)`` where there is one column.

    The numbers have as many bytes as the count of column maps needs.
    """
    column_maps: NDArray[np.int32]
    """``(column maps, width)``: the column that each column goes to."""


def move_tables(puzzle: Puzzle, index: Index) -> MoveTables:
    """The move tables of a puzzle under an index whose rows hold at least the empty places.

    Rows and columns must be numbers of 31 bits, as `antipodes.tables.plan.plan_index` sees to.
    """
    tables, fills = begin_tables(puzzle, index)
    for fill in fills:
        fill()
    return tables


def begin_tables(puzzle: Puzzle, index: Index) -> tuple[MoveTables, list[Fill]]:
    """Move tables, and the calls that fill them: each takes a moment, in a thread of its own or not, in any order."""
    target = np.empty((index.rows, most_moves(puzzle)), dtype=np.int32)
    if not isinstance(puzzle.moves, Swaps):
        numbers, column_maps = permutation_tables.filled(puzzle.moves, index, target)
        return MoveTables(target, numbers.astype(map_type(len(column_maps))), column_maps), []
    count = most_column_maps(puzzle, index)
    column_map: ColumnMap = np.empty((index.rows, target.shape[1] if index.width > 1 else 0), dtype=map_type(count))
    tables = MoveTables(target, column_map, np.zeros((count, index.width), dtype=np.int32))
    return tables, swap_tables.fills(puzzle, puzzle.moves, index, *tables)


def map_type(count: int) -> Any:
    """The type of the numbers of so many column maps; OverflowError if they are too many."""
    if count - 1 > np.iinfo(np.int32).max:
        raise OverflowError(f"expected column maps that 32 bits number, found {count}")
    return np.int16 if count <= MAPS_OF_INT16 else np.int32


def most_moves(puzzle: Puzzle) -> int:
    """At least as many moves as any position allows: the moves of the tables."""
    if isinstance(puzzle.moves, Swaps):
        return swap_tables.most_moves(puzzle, puzzle.moves)
    return len(puzzle.moves)


def most_column_maps(puzzle: Puzzle, index: Index) -> int:
    """At least as many column maps as there are: for exchanges as many as are built."""
    if isinstance(puzzle.moves, Swaps):
        return swap_tables.map_numbers(puzzle, puzzle.moves, index)[1]
    return permutation_tables.most_maps(puzzle.moves, index)


def table_bytes(puzzle: Puzzle, index: Index) -> int:
    """At least as many bytes as the move tables take."""
    maps = most_column_maps(puzzle, index)
    number = np.dtype(np.int16 if maps <= MAPS_OF_INT16 else np.int32).itemsize if index.width > 1 else 0
    return index.rows * most_moves(puzzle) * (4 + number) + maps * index.width * 4


def building_bytes(puzzle: Puzzle, index: Index, threads: int) -> int:
    """At least as many bytes as lie in memory, besides the tables, while so many threads fill them."""
    if isinstance(puzzle.moves, Swaps):
        return swap_tables.filling_bytes(puzzle, puzzle.moves, index) * threads
    entries = index.rows * len(puzzle.moves)
    return entries * 4 + min(index.rows, BATCH) * puzzle.places * 40
