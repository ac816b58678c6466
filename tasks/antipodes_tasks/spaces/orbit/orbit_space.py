"""The state space of a puzzle of several parts, whose moves permute the places and add to what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial, prod
from typing import Any, ClassVar, Self

from antipodes_tasks.errors import FieldError, InputError
from antipodes_tasks.permutations.parity import generate_even
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.group.group_space import GroupSpace
from antipodes_tasks.spaces.move_tables import Fill, MoveTables
from antipodes_tasks.spaces.orbit.orbit_cut import OrbitCut, cuts_of, parts_of, transforms_of
from antipodes_tasks.spaces.orbit.orbit_tables import OrbitTables
from antipodes_tasks.spaces.orbit.part_index import combined, combined_one, separated
from antipodes_tasks.spaces.search_cost import search_cost
from antipodes_tasks.spaces.space import Indices, SpaceRecord, StateSpace


def has_every_arrangement(rules: Rules) -> bool:
    """Whether it is certain that moves lead to all positions that an `OrbitSpace` numbers, found in a moment.

    So it is if the puzzle is one arrangement of pieces, and its moves generate all even permutations: these lead to
    every arrangement of different pieces with the same parity, and to every arrangement if two pieces are equal.
    """
    moves = rules.moves
    if len(rules.parts) > 1 or not rules.parts[0].holds_pieces or not isinstance(moves, Transforms):
        return False
    return moves.allowed is None and generate_even(moves.origin.tolist())


def least_group_order(rules: Rules) -> int:
    """A lower bound of the order of the group of a puzzle's moves, found in a moment."""
    moves = transforms_of(rules)
    orders = [1]
    for part, at in zip(rules.parts, rules.ranges, strict=True):
        if part.holds_pieces and part.all_different and generate_even((moves.origin[:, at] - at.start).tolist()):
            orders.append(factorial(part.places) // 2)
    return max(orders)


@dataclass(frozen=True, repr=False)
class OrbitSpace(StateSpace):
    """The product of the contents of all parts: arrangements of pieces, and values such as orientations.

    If all moves are even permutations of pieces that all differ, only arrangements of one parity have a number. If all
    moves keep the sum of some values, only values of that sum have one. Other positions may be numbered although no
    moves lead to them.
    """

    KIND: ClassVar[str] = "orbits"

    cut: OrbitCut

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """The product of the numbers of contents."""
        return prod(part.size for part in parts_of(rules))

    @classmethod
    def cuts(cls, rules: Rules) -> Sequence[Self]:
        """The spaces of all cuts between two digits."""
        return [cls(rules, cut) for cut in cuts_of(rules, parts_of(rules))]

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The space with these rows, columns and parts; FieldError if no cut has them."""
        for space in cls.cuts(rules) if isinstance(rules.moves, Transforms) else ():
            if space.record == record:
                return space
        raise FieldError(
            f"rows: {record.rows} rows of {record.width} columns match no row/column split of the puzzle {rules.name}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the cut alone to other processes, not what was found out about it."""
        return type(self), (self.rules, self.cut)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.cut.rows

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self.cut.width

    @property
    def reachable(self) -> int | None:
        """The number of positions that can be reached, where the moves form a group whose order is known."""
        if has_every_arrangement(self.rules):
            return self.size
        return GroupSpace.size_for(self.rules) if GroupSpace.suits(self.rules) else None

    @property
    def block_rows(self) -> int:
        """Rows with the same first digit."""
        return self.rows // self.cut.first_radix

    @property
    def record(self) -> SpaceRecord:
        """The cut into rows and columns, and how each part is numbered."""
        return SpaceRecord(self.KIND, self.rows, self.width, {"parts": [part.details for part in self.cut.parts]})

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64; NOT_NUMBERED for those of another parity or sum.

        The pieces are not checked.
        """
        return combined(self.cut.parts, labels)

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        return combined_one(self.cut.parts, labels)

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        outside = (indices < 0) | (indices >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {indices[outside][0]}")
        return separated(self.cut.parts, indices, self.rules.places)

    @property
    def most_moves(self) -> int:
        """An upper bound of the moves that a position allows: the moves of the move tables."""
        return self._tables.most_moves

    @property
    def most_column_maps(self) -> int:
        """An upper bound of the column maps."""
        return self._tables.most_column_maps

    def _cost_of(self, column_maps: int) -> float:
        return search_cost(self.rows, self.width, self.most_moves, column_maps)

    def begin_tables(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        return self._tables.begin()

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        return self._tables.building_bytes(threads)

    @cached_property
    def _tables(self) -> OrbitTables:
        return OrbitTables(transforms_of(self.rules), self.cut)
