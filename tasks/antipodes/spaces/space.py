"""The interface between puzzles and the engine: what every state space offers, whatever its puzzle."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.spaces.move_tables import MAPS_OF_INT16, Fill, MoveTables

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class SpaceRecord:
    """The part of a store's manifest from which, with the puzzle, `stored_space` builds the same space again."""

    counts: tuple[int, ...]
    """The number of pieces with each label."""
    rows: int
    width: int


@dataclass(frozen=True)
class StateSpace(ABC):
    """The positions of a puzzle, numbered as ``row * width + column``, and the moves between them.

    A move leads from each row to one row, and permutes the columns. Immutable, and cheap to send to other processes.
    """

    puzzle: Puzzle

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of columns of each row."""

    @property
    def size(self) -> int:
        """The number of positions, reachable or not."""
        return self.rows * self.width

    @property
    @abstractmethod
    def block_rows(self) -> int:
        """Rows that share the first digit of their number. Chunks are best parts of such a block, or whole blocks."""

    @property
    @abstractmethod
    def record(self) -> SpaceRecord:
        """The part of a manifest from which the space can be built again."""

    @abstractmethod
    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64. The pieces are not checked."""

    @abstractmethod
    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""

    @property
    @abstractmethod
    def most_moves(self) -> int:
        """An upper bound of the moves that a position allows: the moves of the move tables."""

    @property
    @abstractmethod
    def most_column_maps(self) -> int:
        """An upper bound of the column maps."""

    @abstractmethod
    def begin_tables(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""

    @abstractmethod
    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""

    @property
    def table_bytes(self) -> int:
        """An upper bound of the bytes of the move tables."""
        maps = self.most_column_maps
        number = 0 if self.width == 1 else 2 if maps <= MAPS_OF_INT16 else 4
        return self.rows * self.most_moves * (4 + number) + maps * self.width * 4

    def move_tables(self) -> MoveTables:
        """The move tables, filled in this thread."""
        tables, fills = self.begin_tables()
        for fill in fills:
            fill()
        return tables
