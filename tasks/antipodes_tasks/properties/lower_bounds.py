"""Lower bounds of the distance to the nearest goal, which searches use as admissible heuristics.

The lower bounds in this module are sums of tables, and after a move a search looks up only the tables that the move
affects. Other lower bounds are computed for many positions at once.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers, Words

UNREACHABLE_COST = 1 << 20
"""Cost of a place from which a piece cannot reach a goal: more than the moves of any search."""


class LowerBound(ABC):
    """A lower bound of the distance to the nearest goal."""

    @abstractmethod
    def bounds(self, labels: Labels) -> Numbers:
        """Return the lower bounds ``(n,)``, at least 0, of positions ``(n, places)``."""

    def estimate(self, position: Labels) -> int:
        """Return the lower bound of one position ``(places,)``."""
        return int(self.bounds(position[np.newaxis])[0])

    @property
    def tables(self) -> "TableSum | None":
        """The lower bound as a sum of tables, which the kernel for swaps needs; None if it has another form."""
        return None


class BoundTable(NamedTuple):
    """Lower bounds on the number of moves of some pieces. The index, called the *number* of a position in the table, is
    computed from the labels on some places.
    """

    places: Numbers
    """``(k,)``: the places that determine the number."""
    weights: Numbers
    """``(labels, k)``: the contribution of each label on each of these places to the number."""
    values: NDArray[np.uint8]
    """``(numbers,)``: the lower bounds."""

    def of(self, labels: Labels) -> Numbers:
        """Return the numbers ``(n,)`` of positions ``(n, places)``."""
        numbers: Numbers = self.weights[labels[:, self.places], np.arange(len(self.places))].sum(axis=1)
        return numbers


class Lookups(NamedTuple):
    """The tables of several pieces as arrays for kernels, which look up only the tables that a move affects."""

    table_of: Words
    """``(places, k)``: the tables that depend on each place; ``k`` is 0 if there are none."""
    weights: Words
    """``(labels, places, k)``: the contribution of each label on each place to the numbers of these tables."""
    values: NDArray[np.uint8]
    """The values of all tables, concatenated; a table's numbers start at the offset of its values."""


@dataclass(frozen=True, eq=False)
class TableSum(LowerBound):
    """The sum of tables that count different moves."""

    costs: Numbers
    """``(labels, places)``: the tables of single pieces, indexed by place; the lower bound 0 has no rows."""
    shared: tuple[BoundTable, ...] = ()
    """Tables of several pieces; all places are in the same number of tables."""

    @property
    def is_zero(self) -> bool:
        """Whether the sum is 0 for all positions, so that it prunes nothing."""
        return len(self.costs) == 0

    @property
    def tables(self) -> "TableSum":
        """The sum itself."""
        return self

    def bounds(self, labels: Labels) -> Numbers:
        """Return the sums ``(n,)`` for positions ``(n, places)``."""
        totals = np.zeros(len(labels), dtype=np.int64)
        if not self.is_zero:
            totals += self.costs[labels, np.arange(labels.shape[1])].sum(axis=1)
        for table in self.shared:
            totals += table.values[table.of(labels)]
        return totals

    def numbers(self, position: Labels) -> Words:
        """Return the index of a position in each table, as offsets for `Lookups`, ``(tables,)``."""
        own = [int(table.of(position[np.newaxis])[0]) for table in self.shared]
        return (np.array(own, dtype=np.int64) + self._begins).astype(np.uint64)

    @cached_property
    def lookups(self) -> Lookups:
        """The tables of several pieces as arrays for kernels."""
        labels, places = self.costs.shape
        reading = [[t for t, table in enumerate(self.shared) if place in table.places] for place in range(places)]
        table_of = np.array(reading, dtype=np.int64).reshape(places, len(reading[0]) if reading else 0)
        weights = np.zeros((labels, *table_of.shape), dtype=np.int64)
        for place, i in np.ndindex(table_of.shape):
            table = self.shared[table_of[place, i]]
            weights[:, place, i] = table.weights[:, np.flatnonzero(table.places == place)[0]]
        values = [table.values for table in self.shared]
        return Lookups(
            table_of.astype(np.uint64),
            weights.astype(np.uint64),
            np.concatenate([np.empty(0, dtype=np.uint8), *values]),
        )

    @property
    def _begins(self) -> Numbers:
        """Offset of each table's values among the values of all tables."""
        return np.cumsum([0, *(len(table.values) for table in self.shared)], dtype=np.int64)[:-1]


def zero_bound() -> TableSum:
    """Return the lower bound 0, which prunes nothing."""
    return TableSum(np.empty((0, 0), dtype=np.int64))
