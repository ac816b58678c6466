"""The moves of a state space as three arrays, rows, column maps and their numbers, and how they are filled."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
ColumnMap = NDArray[np.int16] | NDArray[np.int32]
Fill = Callable[[], None]
"""Fills a block of the tables. It takes some 20 ms, and may run in any thread and in any order."""
ILLEGAL = -1
MAPS_OF_INT16 = 1 << 15
COLUMNS_AT_ONCE = 64
"""Columns that are filled together, so that a cache line of each column map is written at once."""
STEPS = 1 << 22
"""Steps of the inner loops of a block: compiled code takes some 20 ms for them, after which an interruption is
answered."""


ROW_COST = 80
"""Time to read a row once for a move, in positions that a search expands by it. This and the following are measured
with skewb, dino, pyraminx and 2x2x2 at all cuts: rows of 250 columns take twice as long as rows of 2,500."""
WIDE_COST = 0.5
"""More time for a position and move where a column map is wider than the first cache, in the same unit."""
MAPS_COST, CACHED_BYTES = 0.3, 1 << 22
"""More time where all column maps have more bytes than the second cache, in the same unit."""
COLUMN_BYTES = 4


class Neighbours(NamedTuple):
    """Entries one move away from each of some entries."""

    of: Indices
    """``(n,)``: for each neighbour the place in the sample of its entry, ascending."""
    indices: Indices
    """``(n,)``: the index of each neighbour."""

    def differing(self, other: "Neighbours", samples: int) -> Indices:
        """The places in the sample, of ``samples`` entries, that have other neighbours here than there, as sets."""
        one, two = (np.unique(np.stack(each), axis=1) for each in (self, other))
        both, counts = np.unique(np.concatenate((one, two), axis=1), axis=1, return_counts=True)
        found: Indices = np.unique(both[0, counts == 1])
        return found


class Closing(NamedTuple):
    """The rows that symmetries map to themselves, where an entry is equivalent to others of its own row.

    Such entries have equal depths, though moves may lead to one of them alone: what is new in a row is closed under
    its column maps. See `antipodes_tasks.spaces.reduced_numbering`.
    """

    rows: NDArray[np.int32]
    """``(n,)``: these rows, ascending."""
    begins: NDArray[np.int64]
    """``(n + 1,)``: where the column maps of each row begin in ``maps``."""
    maps: NDArray[np.int32]
    """The numbers of the column maps of a row: all elements of a group but the identity."""


class MoveTables(NamedTuple):
    """The successor of ``(row, column)`` by move ``m`` is ``target[row, m], column_maps[column_map[row, m], column]``.

    The legal moves of a row come first; their numbers among the puzzle's moves are not kept.
    """

    target: NDArray[np.int32]
    """``(rows, moves)``: the row that a move leads to; ILLEGAL past the last legal move."""
    column_map: ColumnMap
    """``(rows, moves)``: which of the column maps applies, 0 is the identity; ``(rows, 0)`` where there is one column.

    The numbers have as many bytes as the count of column maps needs.
    """
    column_maps: NDArray[np.int32]
    """``(column maps, width)``: the column that each column goes to; ILLEGAL where the move is not legal in it."""
    undirected: bool = False
    """Whether every move can be undone by a move: then the successors of a position are its predecessors."""
    closing: Closing | None = None
    """What else is new with an entry; None: nothing."""

    def successors(self, sample: Indices) -> Neighbours:
        """All entries one move after each of the sample, ``(samples,)``."""
        width = self.column_maps.shape[1]
        rows, columns = np.divmod(sample, width)
        of, move = np.nonzero(self.target[rows] != ILLEGAL)
        numbers = self.column_map[rows[of], move] if width > 1 else np.zeros(len(of), dtype=np.int64)
        after = self.column_maps[numbers, columns[of]]
        legal = after != ILLEGAL
        indices = self.target[rows[of], move].astype(np.int64) * width + after
        return Neighbours(of[legal], indices[legal])


class Filler(ABC):
    """The move tables of a space with one cut: their size, known before they take memory, and how they are filled."""

    ENTRY_COST: ClassVar = 1
    """Time to compute an entry of a column map, in positions that a search expands by a move."""
    CACHED_WIDTH: ClassVar = 1 << 13
    """Columns of a column map that stay in the first cache of a processor, as moves read it."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of columns of each row."""

    @property
    @abstractmethod
    def most_moves(self) -> int:
        """An upper bound of the moves that a position allows: the moves of the move tables."""

    @property
    @abstractmethod
    def most_column_maps(self) -> int:
        """An upper bound of the column maps; their number where counting takes a moment only."""

    @abstractmethod
    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""

    @abstractmethod
    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""

    @property
    def table_bytes(self) -> int:
        """An upper bound of the bytes of the move tables."""
        maps = self.most_column_maps
        number = 0 if self.width == 1 else 2 if maps <= MAPS_OF_INT16 else 4
        return self.rows * self.most_moves * (4 + number) + maps * self.width * COLUMN_BYTES

    @property
    def least_table_bytes(self) -> int:
        """A lower bound of the bytes of the move tables, which is known at once."""
        return self.table_bytes

    def estimated_seconds(self, threads: int) -> float | None:
        """The seconds to fill the tables, if only an outline of them is known; None if they can be begun."""
        return None

    def cost(self, column_maps: int) -> float:
        """The relative time to fill the tables and to search with them, if there are so many column maps.

        Many rows make large row tables, few rows make wide column maps, and the best cut is between.
        """
        entries, positions = column_maps * self.width, self.rows * self.width
        slower = WIDE_COST * (self.width > self.CACHED_WIDTH) + MAPS_COST * (COLUMN_BYTES * entries > CACHED_BYTES)
        return ROW_COST * self.rows * self.most_moves + self.ENTRY_COST * entries + slower * positions * self.most_moves

    def filled(self) -> MoveTables:
        """The move tables, filled in this thread."""
        tables, fills = self.begin()
        for fill in fills:
            fill()
        return tables


def map_type(count: int) -> Any:
    """The dtype of the numbers of ``count`` column maps; OverflowError if 32 bits are too few."""
    if count - 1 > np.iinfo(np.int32).max:
        raise OverflowError(f"expected column maps that 32 bits number, found {count}")
    return np.int16 if count <= MAPS_OF_INT16 else np.int32


def blocks(size: int, steps_each: int, *, steps: int = STEPS, least: int = 1) -> Iterator[tuple[int, int]]:
    """Ranges of rows, columns or contents, of ``steps_each`` steps each, that one call fills: ``steps`` in all."""
    step = max(least, steps // max(1, steps_each))
    return ((first, min(first + step, size)) for first in range(0, size, step))
