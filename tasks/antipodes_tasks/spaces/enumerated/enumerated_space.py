"""The state space of exactly the positions that can be reached, where few of many can be.

The pieces of block puzzles get in each other's way: of billions of arrangements some thousands can be reached, and no
formula numbers those. So a search finds them first, and their place in ascending order is their index. A row is a
position, and the move tables are a plain list of successors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Self

import numpy as np

from antipodes_tasks.errors import FieldError, InputError
from antipodes_tasks.quoting import shorten
from antipodes_tasks.reachability.enumeration import Enumeration, enumeration
from antipodes_tasks.reachability.steps import Steps, steps_of
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.field.field_tables import check_undone
from antipodes_tasks.spaces.move_tables import ILLEGAL, Fill, MoveTables, map_type
from antipodes_tasks.spaces.space import NOT_NUMBERED, Indices, SpaceRecord, StateSpace

BLOCK = 1 << 17
"""Positions of a block, times moves: filled in some 20 ms, after which an interruption is answered."""
DIGEST = "digest"
"""The key of the details that has the digest of all positions."""


@dataclass(frozen=True, repr=False)
class EnumeratedSpace(StateSpace):
    """The positions that can be reached, in ascending order; see `Enumeration`.

    What is sent to other processes is the puzzle alone: each of them finds the positions again.
    """

    KIND: ClassVar[str] = "enumerated"

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """The number of positions that can be reached; ResourceLimitError if there are too many to list."""
        return len(enumeration(rules))

    @classmethod
    def cuts(cls, rules: Rules) -> Sequence[Self]:
        """The one space there is."""
        return [cls(rules)]

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The space with these positions; FieldError if the puzzle has others."""
        space = cls(rules)
        if not rules.enumerated:
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        if (record.rows, record.width) != (space.rows, space.width):
            raise FieldError(f"rows: expected {space.rows} rows of one column, found {record.rows} of {record.width}")
        if record.details != space.record.details:
            expected, found = (shorten(repr(dict(one))) for one in (space.record.details, record.details))
            raise FieldError(f"details: expected {expected} of the positions that can be reached, found {found}")
        return space

    def __getstate__(self) -> dict[str, Rules]:
        return {"rules": self.rules}

    @cached_property
    def _enumeration(self) -> Enumeration:
        return enumeration(self.rules)

    @cached_property
    def _steps(self) -> Steps:
        return steps_of(self.rules.moves, self.rules.parts)

    @property
    def rows(self) -> int:
        """The number of positions."""
        return len(self._enumeration)

    @property
    def width(self) -> int:
        """One column: a move leads from neighbours anywhere."""
        return 1

    @property
    def reachable(self) -> int:
        """All positions."""
        return self.rows

    @cached_property
    def start_labels(self) -> Labels:
        """The starts, or those of the goals that can be reached from the origin."""
        starts = self.rules.start_labels
        reached: Labels = starts[self.rank(starts) != NOT_NUMBERED]
        return reached

    @property
    def block_rows(self) -> int:
        """All rows: the order has no digits."""
        return self.rows

    @property
    def record(self) -> SpaceRecord:
        """The number of positions, and their digest, so that no other list is taken for this one."""
        return SpaceRecord(self.KIND, self.rows, self.width, {DIGEST: self._enumeration.digest})

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64, or NOT_NUMBERED. The pieces are not checked."""
        positions = self._enumeration.positions
        return positions.numbers(positions.packing.pack(labels))

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        outside = (indices < 0) | (indices >= self.rows)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.rows - 1}, found {indices[outside][0]}")
        return self._enumeration.positions.packing.unpack(self._enumeration.words[indices])

    @property
    def most_moves(self) -> int:
        """The most legal moves of a position."""
        return self._enumeration.most_moves

    @property
    def most_column_maps(self) -> int:
        """The identity alone."""
        return 1

    @property
    def table_bytes(self) -> int:
        """An upper bound of the bytes of the move tables, and those of the list of positions."""
        return super().table_bytes + self._enumeration.memory_bytes

    def begin_tables(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        target = np.full((self.rows, self.most_moves), ILLEGAL, dtype=np.int32)
        tables = MoveTables(
            target,
            np.zeros((self.rows, 0), dtype=map_type(1)),
            np.zeros((1, 1), dtype=np.int32),
            self.rules.moves.reversible,
        )
        firsts = range(0, self.rows, self._rows_at_once)
        return tables, [partial(self._fill, target[first : first + self._rows_at_once], first) for first in firsts]

    @property
    def _rows_at_once(self) -> int:
        return max(1, BLOCK // max(1, self.most_moves))

    def _fill(self, target: np.ndarray[tuple[int, int], np.dtype[np.int32]], first: int) -> None:
        """Write the successors of positions from ``first`` on."""
        labels = self.unrank(np.arange(first, first + len(target)))
        self._check_inverses(labels)
        after, before = self._steps.successors(labels)
        moves = np.sort(before * self.rows + self.rank(after))
        row, leads_to = np.divmod(moves, self.rows)
        column = np.arange(len(row)) - np.searchsorted(row, row)
        target[row, column] = leads_to

    def _check_inverses(self, labels: Labels) -> None:
        """Raise InputError unless functions that are said to undo moves do so; other moves know their inverses."""
        moves = self.rules.moves
        if isinstance(moves, Functions) and moves.reversible:
            for number in range(len(moves)):
                check_undone(moves, number, labels, *moves.after(number, labels))

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        words = self._enumeration.positions.packing.words
        a_move = 4 * self.rules.places + 8 * (4 * words + 12)
        return threads * 2 * self._rows_at_once * max(1, self.most_moves) * a_move
