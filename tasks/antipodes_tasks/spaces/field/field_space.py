"""The state space of a puzzle whose moves are functions: all contents of its fields."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log2, prod
from typing import ClassVar, Self

from antipodes_tasks.errors import FieldError
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.field.field_index import FieldIndex, fields_of
from antipodes_tasks.spaces.field.field_order import deciding_order
from antipodes_tasks.spaces.field.field_tables import SPARE_BYTES, FieldTables
from antipodes_tasks.spaces.move_tables import Fill, MoveTables
from antipodes_tasks.spaces.space import Indices, SpaceRecord, StateSpace

WIDTHS = (1 << 4, 1 << 15)
"""Columns of a row that are worth column maps."""
IDEAL_WIDTH = 1 << 10
CUTS_TRIED = 6
FEW_MAPS = 2 * SPARE_BYTES
"""Bytes of column maps with which a cut is good enough to try no other."""
WORD_BYTES = 4 * 8
"""Bytes of 64 columns of a row in the bitmaps of a search."""


@dataclass(frozen=True, repr=False)
class FieldSpace(StateSpace):
    """All contents of a puzzle's fields, reachable or not; see `FieldIndex`."""

    KIND: ClassVar[str] = "fields"

    index: FieldIndex
    most_maps: int
    """The column maps that memory is kept for."""
    order: tuple[int, ...] = field(compare=False)
    """The number of each field of the index among the puzzle's."""

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """The product of the numbers of contents."""
        return prod(part.size for part in rules.parts)

    @classmethod
    def cuts(cls, rules: Rules) -> Sequence[Self]:
        """The cut alone with which a search takes the least memory, of those that are tried.

        To know how many column maps a cut has takes a sample of its rows.
        """
        order, ends = deciding_order(rules.parts, rules.moves)
        best = cls.divided(rules, order, len(order), most_maps=1)
        assert best is not None
        for leading in [] if _functions(rules).plain else _promising(rules, order, ends):
            space = cls.divided(rules, order, leading)
            if space and _memory(space) < _memory(best):
                best = space
                if space.most_maps * space.width * 4 <= FEW_MAPS:
                    break
        return [best]

    @classmethod
    def divided(cls, rules: Rules, order: Sequence[int], leading: int, most_maps: int | None = None) -> Self | None:
        """The space with these fields in the row; None if they do not decide where they go.

        Without ``most_maps`` a sample of rows tells how many column maps there are.
        """
        fields = fields_of(rules.parts)
        index = FieldIndex(tuple(fields[number] for number in order), leading)
        most = FieldTables(_functions(rules), index).estimated_maps() if most_maps is None else most_maps
        return None if most is None else cls(rules, index, most, tuple(order))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The space with these rows and columns; FieldError if the puzzle has no fields in such an order."""
        if not isinstance(rules.moves, Functions):
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        order, most = record.details.get("order"), record.details.get("column_maps")
        fields = fields_of(rules.parts)
        if not isinstance(order, list) or not all(type(one) is int for one in order):
            raise FieldError(f"details.order: expected a list of integers, found {order!r}")
        if sorted(order) != list(range(len(fields))):
            raise FieldError(f"details.order: expected each of 0 to {len(fields) - 1} once, found {order!r}")
        if type(most) is not int or not 1 <= most <= record.rows * len(rules.moves) + 1:
            raise FieldError(f"details.column_maps: expected a number of column maps, found {most!r}")
        for leading in range(1, len(fields) + 1):
            space = cls.divided(rules, order, leading, most)
            if space and (space.rows, space.width) == (record.rows, record.width):
                return space
        raise FieldError(f"rows: {record.rows} rows of {record.width} columns match no row/column split of the fields")

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.index.rows

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self.index.width

    @property
    def block_rows(self) -> int:
        """Rows with the same content of the first field."""
        return self.rows // self.index.fields[0].radix

    @property
    def record(self) -> SpaceRecord:
        """The cut into rows and columns, the order of the fields, and the bound of the column maps."""
        details = {"order": list(self.order), "column_maps": self.most_maps}
        return SpaceRecord(self.KIND, self.rows, self.width, details)

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64. The pieces are not checked."""
        return self.index.rank(labels)

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        return self.index.rank_one(labels)

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        return self.index.unrank(indices)

    @property
    def most_moves(self) -> int:
        """The number of moves."""
        return len(self.rules.moves)

    @property
    def most_column_maps(self) -> int:
        """The column maps that memory is kept for: more than a sample of rows showed."""
        return self.most_maps

    def begin_tables(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them.

        InputError in these if a row does not decide, there are more column maps, or a move is not undone as said.
        """
        return self._tables.begin(self.most_maps)

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        return self._tables.building_bytes(threads, self.most_maps)

    @cached_property
    def _tables(self) -> FieldTables:
        return FieldTables(_functions(self.rules), self.index)


def _functions(rules: Rules) -> Functions:
    assert isinstance(rules.moves, Functions)
    return rules.moves


def _promising(rules: Rules, order: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Numbers of leading fields whose rows have columns that are worth maps, the best number of columns first."""
    fields = fields_of(rules.parts)
    least, most = WIDTHS
    widths = {leading: prod(fields[number].radix for number in order[leading:]) for leading in ends}
    worth = [leading for leading, width in widths.items() if least <= width <= most]
    return sorted(worth, key=lambda leading: abs(log2(widths[leading] / IDEAL_WIDTH)))[:CUTS_TRIED]


def _memory(space: FieldSpace) -> int:
    """Bytes of the move tables, and of the bitmaps of a search."""
    words = -(-space.width // 64)
    return space.table_bytes + WORD_BYTES * space.rows * words
