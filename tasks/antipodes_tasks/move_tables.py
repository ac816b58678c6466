"""The moves of a state space as three arrays, and the interface of the objects that fill these arrays.

A move takes a row to its *target*, which may be the same row. It takes each column to a new column by a *column map*,
which depends only on the row and the move. Equal column maps are stored once. The *row tables* contain the target and
the index of the column map for each row and move.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
ColumnMap = NDArray[np.int16] | NDArray[np.int32]
"""Numbers of column maps; see `index_type`."""
ColumnMaps = NDArray[np.int16] | NDArray[np.int32]
"""Column maps; see `index_type`."""
Fill = Callable[[], None]
"""Fills a block of the tables. It takes about 20 ms, and may run in any thread and in any order."""
ILLEGAL = -1
"""The target of a move that is illegal in a row, and the image of a column in which the move is illegal."""
INDICES_OF_INT16 = 1 << 15
"""Maximum number of columns or of column maps whose indices fit in 16 bits."""
COLUMNS_AT_ONCE = 64
"""Number of columns that are filled together, so that a cache line of each column map is written at once."""
STEPS = 1 << 22
"""Number of inner-loop steps of a block. Compiled code takes about 20 ms for them. An interruption takes effect after
the block."""


ROW_COST = 80
"""Time to read a row once for a move, divided by the time that a search takes to expand a position by one move. This
cost and the next ones were measured with skewb, dino, pyraminx and 2x2x2 at all cuts: a search with rows of 250 columns
takes twice as long as a search with rows of 2,500 columns."""
WIDE_COST = 0.5
"""Extra time for each position and move if a column map does not fit in the first-level cache, in the same unit."""
MAPS_COST, CACHED_BYTES = 0.3, 1 << 23
"""Extra time, in the same unit, if all column maps together do not fit in the last-level cache, which other data also
use; and the bytes of this cache that they may take. Measured with twelve puzzles: column maps of 5 MB took no extra
time, 10 MB up to a tenth, 40 to 55 MB nearly half, and 100 MB as long again as the search."""
COLUMN_BYTES = 4
"""Bytes of an entry of a column map for the comparison of cuts. Entries of narrow tables take half of this, but the
costs above were measured when all entries took 4 bytes."""


class Neighbours(NamedTuple):
    """The entries that are one move away from the entries of a sample."""

    of: Indices
    """``(n,)``: for each neighbour, the place of its entry in the sample, ascending."""
    indices: Indices
    """``(n,)``: the index of each neighbour."""

    def differing(self, other: "Neighbours") -> Indices:
        """Return the places in the sample of the entries whose neighbours, as sets, differ from those in ``other``."""
        one, two = (np.unique(np.stack(each), axis=1) for each in (self, other))
        both, counts = np.unique(np.concatenate((one, two), axis=1), axis=1, return_counts=True)
        found: Indices = np.unique(both[0, counts == 1])
        return found


class Closing(NamedTuple):
    """The rows with a nontrivial stabiliser, and the column maps that lead to equivalent entries of these rows.

    If symmetries other than the identity map a row to itself, some entries of the row are equivalent. Equivalent
    entries have equal depths, but the moves of the tables may reach only one of them. So after each layer the search
    adds the images of each new entry under these column maps. See `antipodes_tasks.spaces.reduced_numbering`.
    """

    rows: NDArray[np.int32]
    """``(n,)``: the rows, ascending."""
    begins: NDArray[np.int64]
    """``(n + 1,)``: where the column maps of each row begin in ``maps``."""
    maps: NDArray[np.int32]
    """The numbers of the column maps of each row. With the identity they form a group."""


class MoveTables(NamedTuple):
    """The successor of ``(row, column)`` by move ``m`` is ``target[row, m], column_maps[column_map[row, m], column]``.

    The legal moves of a row come first. The tables do not store which moves of the puzzle these are.
    """

    target: NDArray[np.int32]
    """``(rows, moves)``: the target of each move; ILLEGAL after the last legal move."""
    column_map: ColumnMap
    """``(rows, moves)``: the number of the column map; 0 is the identity. ``(rows, 0)`` if there is only one column.

    The dtype is the smallest that can hold these numbers.
    """
    column_maps: ColumnMaps
    """``(column maps, width)``: the new column of each column; ILLEGAL if the move is illegal in the column.

    The dtype is the smallest that can hold these columns.
    """
    undirected: bool = False
    """Whether every move is reversible, so that the successors of a position are its predecessors."""
    closing: Closing | None = None
    """The rows in which equivalent entries have to be added to new entries, if there are such rows."""

    def successors(self, sample: Indices) -> Neighbours:
        """Return all entries one move after each entry of the sample ``(samples,)``."""
        width = self.column_maps.shape[1]
        rows, columns = np.divmod(sample, width)
        of, move = np.nonzero(self.target[rows] != ILLEGAL)
        numbers = self.column_map[rows[of], move] if width > 1 else np.zeros(len(of), dtype=np.int64)
        after = self.column_maps[numbers, columns[of]]
        legal = after != ILLEGAL
        indices = self.target[rows[of], move].astype(np.int64) * width + after
        return Neighbours(of[legal], indices[legal])


class Filler(ABC):
    """An object that fills the move tables of a space with a certain cut.

    It can compute the size of the tables before they take memory.
    """

    ENTRY_COST: ClassVar = 1
    """Time to compute an entry of a column map, divided by the time to expand a position by one move."""
    CACHED_WIDTH: ClassVar = 1 << 13
    """Number of columns of a column map that fit in the first-level cache of a processor."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of columns of each row."""

    @property
    @abstractmethod
    def max_moves(self) -> int:
        """Upper bound on the number of legal moves of a position, and number of moves per row of the tables."""

    @property
    @abstractmethod
    def most_column_maps(self) -> int:
        """Upper bound on the number of column maps; the exact number if counting them is quick."""

    @abstractmethod
    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled move tables and the calls that fill them."""

    @abstractmethod
    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""

    @property
    def table_bytes(self) -> int:
        """Upper bound on the bytes of the move tables."""
        return self.bytes_with(self.most_column_maps)

    def bytes_with(self, column_maps: int) -> int:
        """Return the bytes of the move tables, given the number of column maps."""
        number = 0 if self.width == 1 else index_bytes(column_maps)
        return self.rows * self.max_moves * (4 + number) + column_maps * self.width * index_bytes(self.width)

    @property
    def least_table_bytes(self) -> int:
        """Lower bound on the bytes of the move tables."""
        return self.table_bytes

    def estimated_seconds(self, threads: int) -> float | None:
        """Return the estimated seconds to fill the tables of an outline; None if the space is complete."""
        return None

    def cost(self, column_maps: int) -> float:
        """Return the relative time to fill the tables and to search with them, given the number of column maps.

        The unit is the time that a search takes to expand a position by one move. Search time that is the same for all
        cuts is not included. Many rows make the row tables large, and few rows make the column maps wide. The best cut
        is in between.
        """
        entries, positions = column_maps * self.width, self.rows * self.width
        slower = WIDE_COST * (self.width > self.CACHED_WIDTH) + MAPS_COST * (COLUMN_BYTES * entries > CACHED_BYTES)
        return ROW_COST * self.rows * self.max_moves + self.ENTRY_COST * entries + slower * positions * self.max_moves

    def filled(self) -> MoveTables:
        """Return the move tables, filled in this thread."""
        tables, fills = self.begin()
        for fill in fills:
            fill()
        return tables


def index_bytes(count: float) -> int:
    """Return the bytes of an index of ``count`` columns or column maps, also for estimates that no array can hold."""
    return 2 if count <= INDICES_OF_INT16 else 4


def index_type(count: int) -> np.dtype[Any]:
    """Return the smallest dtype for the indices of ``count`` column maps or columns, and for ILLEGAL.

    Raises OverflowError if 32 bits are too few.
    """
    if count - 1 > np.iinfo(np.int32).max:
        raise OverflowError(f"{count} column maps are too many for 32-bit numbers")
    return np.dtype(np.int16 if count <= INDICES_OF_INT16 else np.int32)


def one_move(maps: int = 1, width: int = 1) -> MoveTables:
    """Return the tables of a single position, with the dtypes that ``maps`` column maps of ``width`` columns need.

    Kernels that are called with them are compiled for these dtypes.
    """
    numbers, columns = (np.zeros((1, 1), dtype=index_type(count)) for count in (maps, width))
    return MoveTables(np.zeros((1, 1), np.int32), numbers, columns, True)


def unfilled_maps(count: int, width: int) -> ColumnMaps:
    """Return ``count`` column maps of ``width`` columns, all 0, for a filler to fill."""
    return np.zeros((count, width), dtype=index_type(width))


def blocks(size: int, steps_each: int, *, steps: int = STEPS, min_size: int = 1) -> Iterator[tuple[int, int]]:
    """Divide ``size`` items into ranges of about ``steps`` steps each; an item takes ``steps_each`` steps."""
    step = max(min_size, steps // max(1, steps_each))
    return ((first, min(first + step, size)) for first in range(0, size, step))
