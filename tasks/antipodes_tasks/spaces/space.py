"""The interface between puzzles and the engine: what every state space offers, whatever its puzzle."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.move_tables import MAPS_OF_INT16, Fill, MoveTables

Indices = NDArray[np.int64]
ROW_COST, COLUMN_COST = 5, 1
"""Relative time to build an entry of the row tables, and of a column map; measured with seven-tiles."""
CACHED_WIDTH = 1 << 14
"""Columns of which a row and a column map stay in the cache of a processor."""
WIDE_COST = 1 << 18
"""Columns past these by which the search of a position takes as much longer as a unit of the costs above. Measured with
pancakes, TopSpin, Hanoi and the 2x2x2: about 20 ns."""
NOT_NUMBERED = -1
"""Instead of an index: the space does not number the position, since no moves lead to it from the start."""


@dataclass(frozen=True)
class SpaceRecord:
    """The part of a store's manifest from which, with the puzzle, `stored_space` builds the same space again."""

    kind: str
    """The `StateSpace.KIND` of its class."""
    rows: int
    width: int
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else the class needs to build it, as JSON."""


@dataclass(frozen=True, repr=False)
class StateSpace(ABC):
    """The positions of a puzzle, numbered as ``row * width + column``, and the moves between them.

    A move leads from each row to one row, and permutes the columns. Immutable, and cheap to send to other processes.
    """

    KIND: ClassVar[str]
    """The name of this kind of space in a store."""

    rules: Rules

    def __repr__(self) -> str:
        return f"<{self.KIND} of {self.rules.name}: {counted(self.rows, 'row')} of {counted(self.width, 'column')}>"

    @classmethod
    @abstractmethod
    def size_for(cls, rules: Rules) -> int:
        """The number of positions that a space of this kind numbers, even if 64 bits are too few."""

    @classmethod
    @abstractmethod
    def cuts(cls, rules: Rules) -> Sequence[Self]:
        """The spaces of this kind: all give a position the same index, and cut it into row and column differently."""

    @classmethod
    @abstractmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The space that has this record.

        Raises
        ------
        FieldError
            The puzzle has no such space.
        """

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
    def reachable(self) -> int | None:
        """The number of positions that can be reached, where that is known without a search."""
        return None

    @property
    def start_labels(self) -> Labels:
        """The starts of the puzzle that it numbers, ``(starts, places)``: the positions at depth 0."""
        return self.rules.start_labels

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
        """The index of each position ``(n, places)``, ``(n,)`` int64; NOT_NUMBERED for those that it does not number.

        The pieces are not checked.
        """

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers: one is faster in a loop than in arrays."""
        return int(self.rank(np.array([labels], dtype=np.uint8))[0])

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

    @property
    def cost(self) -> float:
        """The time to build the tables, and the time that wide rows add to the search, in units of `COLUMN_COST`.

        Many rows make large row tables, few rows make wide column maps, and the cut between is where both are small.
        The search takes the same time for all cuts, until a row and its column map are too wide for the cache.
        """
        return self._cost_of(self.most_column_maps)

    @property
    def least_cost(self) -> float:
        """A lower bound of the `cost`, found without counting column maps."""
        return self._cost_of(1)

    def _cost_of(self, column_maps: int) -> float:
        building = ROW_COST * self.rows * self.most_moves + COLUMN_COST * self.width * column_maps
        return building + self.size * max(0, self.width - CACHED_WIDTH) / WIDE_COST

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
