"""The state space of a puzzle whose pieces all differ: exactly the positions that moves and their inverses reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError, InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.permutations.chain import Permutations, StabiliserChain, checked_chain, sifted, stabiliser_chain
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.group.group_automaton import Automaton
from antipodes_tasks.spaces.group.group_numbering import MOST_BYTES, GroupNumbering
from antipodes_tasks.spaces.group.group_tables import GroupTables
from antipodes_tasks.spaces.group.puzzle_points import PuzzlePoints, points_of
from antipodes_tasks.spaces.move_tables import Fill, MoveTables
from antipodes_tasks.spaces.space import Indices, SpaceRecord, StateSpace

LARGEST = 1 << 128
"""The order up to which groups are searched, to say how large they are; they take some three seconds at most."""
BATCH = 1 << 20
"""Positions that are ranked together."""


@dataclass(frozen=True, repr=False)
class GroupSpace(StateSpace):
    """The group that the moves generate, one position an element.

    A row is the digits of the leading levels of a stabiliser chain, a column those of the other levels.
    """

    KIND: ClassVar[str] = "group"

    chain: StabiliserChain
    leading: int
    """The number of levels whose digits make the row."""

    @classmethod
    def suits(cls, rules: Rules) -> bool:
        """Whether positions are permutations of points, all starts are connected by moves, and the order is known.

        It is not known of groups of more than LARGEST elements.
        """
        points = points_of(rules)
        chain = None if points is None else _chain_of(points)
        if points is None or chain is None:
            return False
        starts = rules.start_labels
        return len(starts) == 1 or bool(_members(chain, points.permutations(starts)).all())

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """The order of the group.

        Raises
        ------
        InputError
            The puzzle has no group, see `suits`.
        SizeLimitError
            The group has more than LARGEST elements.
        """
        return _chain(rules).order

    @classmethod
    def cuts(cls, rules: Rules) -> Sequence[Self]:
        """The spaces of all cuts between two levels; InputError where the puzzle has no group."""
        chain = _chain(rules)
        return [cls(rules, chain, leading) for leading in range(min(1, len(chain.base)), len(chain.base) + 1)]

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The space with this chain, rows and columns.

        Raises
        ------
        FieldError
            The record has no chain, one of another group, or one that cannot be cut in this way.
        """
        points = points_of(rules)
        if points is None:
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        chain = checked_chain(points.count, record.details.get("base"), record.details.get("generators"))
        starts = points.permutations(rules.start_labels)
        if not _members(chain, np.concatenate([points.elements, starts])).all():
            raise FieldError("generators: expected those of a group that has all moves and starts, found another")
        for leading in range(len(chain.base) + 1):
            space = cls(rules, chain, leading)
            if (space.rows, space.width) == (record.rows, record.width):
                return space
        raise FieldError(
            f"rows: {record.rows} rows of {record.width} columns match no row/column split of {chain.radices}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the generators alone to other processes, not the tables made from them."""
        return type(self), (self.rules, self.chain, self.leading)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._tables.rows

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self._tables.width

    @property
    def reachable(self) -> int:
        """The number of positions, since the space numbers no others."""
        return self.size

    @property
    def block_rows(self) -> int:
        """Rows that share the first digit."""
        return self.rows // self.chain.radices[0] if self.leading else self.rows

    @property
    def record(self) -> SpaceRecord:
        """The chain, from which the numbering follows, and the cut into rows and columns."""
        chain = self.chain
        details = {"base": list(chain.base), "generators": [list(each) for each in chain.generators]}
        return SpaceRecord(self.KIND, self.rows, self.width, details)

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64; NOT_NUMBERED where no moves connect it."""
        ranks = np.empty(len(labels), dtype=np.int64)
        for first in range(0, len(labels), BATCH):
            permutations = _points(self.rules).permutations(labels[first : first + BATCH])
            ranks[first : first + BATCH] = self._numbering.rank(permutations)
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        if self.chain.points > MOST_BYTES:
            return super().rank_one(labels)
        return self._numbering.rank_one(self._points.permutation_of(labels))

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        labels = np.empty((len(indices), self.rules.places), dtype=np.uint8)
        for first in range(0, len(indices), BATCH):
            permutations = self._numbering.unrank(indices[first : first + BATCH])
            labels[first : first + BATCH] = _points(self.rules).labels(permutations)
        return labels

    @property
    def most_moves(self) -> int:
        """The number of moves, all of them legal everywhere."""
        return self._tables.most_moves

    @property
    def most_column_maps(self) -> int:
        """The number of column maps; an upper bound where counting takes too long."""
        return self._tables.most_column_maps

    @property
    def cost(self) -> float:
        """Relative time of a search with this cut."""
        return self._tables.cost

    @property
    def least_cost(self) -> float:
        """A lower bound of the `cost`."""
        return self._tables.least_cost

    def begin_tables(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them; ResourceLimitError where counting column maps takes too long."""
        return self._tables.begin()

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while they are filled."""
        return self._tables.building_bytes(threads)

    @cached_property
    def _points(self) -> PuzzlePoints:
        return _points(self.rules)

    @cached_property
    def _numbering(self) -> GroupNumbering:
        return GroupNumbering(self.chain)

    @cached_property
    def _tables(self) -> GroupTables:
        return GroupTables(_automaton(_points(self.rules), self.chain), self.leading)


def _chain(rules: Rules) -> StabiliserChain:
    chain = _chain_of(_points(rules))
    if chain is None:
        raise SizeLimitError("expected at most 2^63 - 1 positions, found more than 10^38")
    return chain


@lru_cache(maxsize=4)
def _chain_of(points: PuzzlePoints) -> StabiliserChain | None:
    """The chain of the group of a puzzle's moves; None where it has more than LARGEST elements."""
    try:
        return stabiliser_chain(points.elements, most=LARGEST)
    except ResourceLimitError:
        return None


@lru_cache(maxsize=4)
def _automaton(points: PuzzlePoints, chain: StabiliserChain) -> Automaton:
    return Automaton(chain.levels, points.elements)


def _points(rules: Rules) -> PuzzlePoints:
    points = points_of(rules)
    if points is None:
        raise InputError(f"expected a puzzle whose pieces all differ and move as a group does, found {rules.name}")
    return points


def _members(chain: StabiliserChain, elements: Permutations) -> NDArray[np.bool_]:
    """Which of the permutations ``(n, points)`` are elements of the group, ``(n,)``."""
    members: NDArray[np.bool_] = (sifted(chain.levels, elements) == np.arange(chain.points)).all(axis=1)
    return members
