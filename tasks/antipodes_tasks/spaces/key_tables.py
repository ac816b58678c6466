"""The move tables of positions that are listed in memory: one row for each position, and only one column."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.keys.steps import Steps, steps_of
from antipodes_tasks.move_tables import (
    ILLEGAL,
    Fill,
    Filler,
    Indices,
    MoveTables,
    blocks,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.space import Numbering

POSITIONS = 1 << 16
"""Number of successors that one call computes, in about 20 ms."""


@dataclass(frozen=True)
class SuccessorLists(Filler):
    """The filler for the positions of a list. The list must be closed: it must contain all successors."""

    rules: Rules
    numbering: Numbering

    @property
    def rows(self) -> int:
        """Number of positions."""
        return self.numbering.size

    @property
    def width(self) -> int:
        """One column."""
        return 1

    @cached_property
    def max_moves(self) -> int:
        """Maximum number of legal moves of a position, found by trying all moves in all positions."""
        counts = (np.bincount(self._successors(first, end)[1]) for first, end in self._blocks(len(self.rules.moves)))
        return max((int(count.max()) for count in counts if len(count)), default=0)

    @property
    def most_column_maps(self) -> int:
        """The identity is the only column map."""
        return 1

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them."""
        target = np.full((self.rows, self.max_moves), ILLEGAL, dtype=np.int32)
        no_maps = np.zeros((self.rows, 0), dtype=index_type(1)), unfilled_maps(1, 1)
        tables = MoveTables(target, *no_maps, self.rules.moves.reversible)
        return tables, [partial(self._fill, target[first:end], first) for first, end in self._blocks(self.max_moves)]

    def _blocks(self, moves: int) -> Iterator[tuple[int, int]]:
        return blocks(self.rows, moves, steps=POSITIONS)

    @cached_property
    def _steps(self) -> Steps:
        return steps_of(self.rules.moves, self.rules.parts)

    def _successors(self, first: int, end: int) -> tuple[Labels, Indices]:
        """Return the successors ``(m, places)`` of a range of positions, and ``(m,)``: the predecessor of each."""
        return self._steps.successors(self.numbering.unrank(np.arange(first, end)))

    def _fill(self, target: NDArray[np.int32], first: int) -> None:
        """Write the successors of the positions from ``first`` on."""
        self._check_inverses(first, first + len(target))
        labels, before = self._successors(first, first + len(target))
        after = self.numbering.rank(labels)
        if (after < 0).any():
            raise InputError(
                f"the list of {self.rules.name} is incomplete: some moves lead to positions that are not in it"
            )
        row, leads_to = np.divmod(np.sort(before * self.rows + after), self.rows)
        target[row, np.arange(len(row)) - np.searchsorted(row, row)] = leads_to

    def _check_inverses(self, first: int, end: int) -> None:
        """Raise InputError if a function that is declared as an inverse is not; other moves have known inverses."""
        moves = self.rules.moves
        if moves.are_functions and moves.reversible:
            labels = self.numbering.unrank(np.arange(first, end))
            for number in range(len(moves)):
                moves.check_undone(number, labels, *moves.move(number, labels))

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        return threads * 2 * max(POSITIONS, len(self.rules.moves)) * (4 * self.rules.places + 128)
