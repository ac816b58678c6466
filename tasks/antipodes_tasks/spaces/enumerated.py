"""The numbering of exactly the positions that can be reached, where few of many can be.

The pieces of block puzzles get in each other's way: of billions of arrangements some thousands can be reached, and no
formula numbers those. So a search finds them first, and their place in ascending order is their index. A row is a
position, and the move tables are a plain list of successors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError
from antipodes_tasks.quoting import shorten
from antipodes_tasks.reachability.enumeration import Enumeration, enumeration
from antipodes_tasks.reachability.steps import Steps, steps_of
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.fields import POSITIONS
from antipodes_tasks.spaces.move_tables import ILLEGAL, Fill, Filler, Indices, MoveTables, blocks, map_type
from antipodes_tasks.spaces.space import Numbering, SpaceRecord

DIGEST = "digest"
"""The key of the details that has the digest of all positions."""


@dataclass(frozen=True)
class Enumerated(Numbering):
    """The positions that can be reached, in ascending order; see `Enumeration`.

    Only the rules are sent to other processes: each of them finds the positions again.
    """

    KIND: ClassVar[str] = "enumerated"

    rules: Rules

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """The list; ResourceLimitError if there are too many positions to list."""
        return cls(rules)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The list with these positions; FieldError if the puzzle has others."""
        if not rules.enumerated:
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        numbering = cls(rules)
        if (record.rows, record.width) != (numbering.size, 1):
            raise FieldError(
                f"rows: expected {numbering.size} rows of one column, found {record.rows} of {record.width}"
            )
        if record.details != numbering.details:
            expected, found = (shorten(repr(dict(one))) for one in (numbering.details, record.details))
            raise FieldError(f"details: expected {expected} of the positions that can be reached, found {found}")
        return numbering

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rules,)

    @cached_property
    def listed(self) -> Enumeration:
        """The positions."""
        return enumeration(self.rules)

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of positions, after a digit of one value: the order has no digits, so all rows are one block."""
        return 1, len(self.listed)

    @property
    def cuts(self) -> tuple[int, ...]:
        """One column: a move leads from neighbours anywhere."""
        return (2,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The digest of the positions, so that no other list is taken for this one."""
        return {DIGEST: self.listed.digest}

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64, or NOT_NUMBERED. The pieces are not checked."""
        positions = self.listed.positions
        return positions.numbers(positions.packing.pack(labels))

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``, which is not checked."""
        return self.listed.positions.packing.unpack(self.listed.words[indices])

    def filler(self, rules: Rules, leading: int) -> "SuccessorLists":
        """The successors of each position."""
        return SuccessorLists(rules, self)

    def reachable(self, rules: Rules) -> int:
        """All positions."""
        return self.size


@dataclass(frozen=True)
class SuccessorLists(Filler):
    """The move tables of listed positions: a row each, and one column."""

    rules: Rules
    numbering: Enumerated

    @property
    def rows(self) -> int:
        """The number of positions."""
        return len(self.numbering.listed)

    @property
    def width(self) -> int:
        """One column."""
        return 1

    @property
    def most_moves(self) -> int:
        """The most legal moves of a position."""
        return self.numbering.listed.most_moves

    @property
    def most_column_maps(self) -> int:
        """The identity alone."""
        return 1

    @property
    def table_bytes(self) -> int:
        """An upper bound of the bytes of the move tables, and those of the list of positions."""
        return super().table_bytes + self.numbering.listed.memory_bytes

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        target = np.full((self.rows, self.most_moves), ILLEGAL, dtype=np.int32)
        no_maps = np.zeros((self.rows, 0), dtype=map_type(1)), np.zeros((1, 1), dtype=np.int32)
        tables = MoveTables(target, *no_maps, self.rules.moves.reversible)
        ranges = blocks(self.rows, self.most_moves, steps=POSITIONS)
        return tables, [partial(self._fill, target[first:end], first) for first, end in ranges]

    @cached_property
    def _steps(self) -> Steps:
        return steps_of(self.rules.moves, self.rules.parts)

    def _fill(self, target: NDArray[np.int32], first: int) -> None:
        """Write the successors of positions from ``first`` on."""
        labels = self.numbering.unrank(np.arange(first, first + len(target)))
        self._check_inverses(labels)
        after, before = self._steps.successors(labels)
        moves = np.sort(before * self.rows + self.numbering.rank(after))
        row, leads_to = np.divmod(moves, self.rows)
        column = np.arange(len(row)) - np.searchsorted(row, row)
        target[row, column] = leads_to

    def _check_inverses(self, labels: Labels) -> None:
        """Raise InputError unless functions that are said to undo moves do so; other moves know their inverses."""
        moves = self.rules.moves
        if isinstance(moves, Functions) and moves.reversible:
            for number in range(len(moves)):
                moves.check_undone(number, labels, *moves.after(number, labels))

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        words = self.numbering.listed.positions.packing.words
        a_move = 4 * self.rules.places + 8 * (4 * words + 12)
        return threads * 2 * max(POSITIONS, self.most_moves) * a_move
