"""The move tables of a group: where the chain is cut into rows and columns, and how the tables are filled."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.permutations.chain import inverted
from antipodes_tasks.spaces.group.group_automaton import Automaton, Transitions
from antipodes_tasks.spaces.move_tables import ColumnMap, Fill, MoveTables, map_type
from antipodes_tasks.spaces.search_cost import search_cost

BLOCK = 1 << 22
"""Entries of a block. It is filled in some 20 ms, after which an interruption is answered."""


@dataclass(frozen=True, eq=False)
class GroupTables:
    """How large the move tables are where the chain is cut below its first ``leading`` levels, and how they are filled.

    A row is the digits of the leading levels, a column those of the others: an element of the group that fixes the
    leading base points. A move multiplies the column by an element of that group, which is the column map.
    """

    automaton: Automaton
    leading: int

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The number of digits of each level."""
        return tuple(len(level.transversal) for level in self.automaton.levels)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return prod(self.radices[: self.leading])

    @property
    def width(self) -> int:
        """The number of columns."""
        return prod(self.radices[self.leading :])

    @property
    def most_moves(self) -> int:
        """The number of moves."""
        return len(self.automaton.elements)

    @property
    def most_column_maps(self) -> int:
        """The number of column maps; an upper bound where counting takes too long."""
        return self.automaton.state_counts[self.leading]

    @property
    def cost(self) -> float:
        """Relative time of a search: it reads a row for each move, and column maps from one cache or another."""
        return search_cost(self.rows, self.width, self.most_moves, self.most_column_maps)

    @property
    def least_cost(self) -> float:
        """A lower bound of the cost that needs no count of column maps."""
        return search_cost(self.rows, self.width, self.most_moves, 1)

    @cached_property
    def undirected(self) -> bool:
        """Whether each move can be undone by a move."""
        elements = self.automaton.elements
        return {each.tobytes() for each in elements} == {each.tobytes() for each in inverted(elements)}

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while they are filled."""
        above = 8 * self.most_moves * self.rows // (self.radices[self.leading - 1] if self.leading else 1)
        before = 8 * self.most_column_maps * self.width // (self.radices[-1] if self.width > 1 else 1)
        return self.automaton.most_bytes + 3 * (above + before)  # the arrays of a level, and those they are made from

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them; ResourceLimitError where counting column maps takes too long."""
        transitions = self.automaton.transitions
        rows, width, count = self.rows, self.width, self.most_column_maps
        target = np.zeros((rows, self.most_moves), dtype=np.int32)
        column_map: ColumnMap = np.zeros((rows, self.most_moves if width > 1 else 0), dtype=map_type(count))
        tables = MoveTables(target, column_map, np.zeros((count, width), dtype=np.int32), self.undirected)
        upper, lower = transitions[: self.leading], transitions[self.leading :]
        return tables, [*_row_fills(tables, upper), *_column_fills(tables.column_maps, lower)]


def _row_fills(tables: MoveTables, levels: Sequence[Transitions]) -> list[Fill]:
    from antipodes_tasks.spaces.group.group_kernels import fill_rows  # compiled, so not loaded to plan

    rows, moves = tables.target.shape
    first_states = 1 + np.arange(moves, dtype=np.int32)
    if not levels or not moves:
        tables.column_map[:] = first_states[: tables.column_map.shape[1]]
        return []
    before, states = _passed(levels[:-1], first_states)
    return [
        partial(
            fill_rows,
            tables.target[first:end],
            tables.column_map[first:end],
            first,
            before,
            states,
            levels[-1].written,
            levels[-1].next,
        )
        for first, end in _blocks(rows, moves)
    ]


def _column_fills(maps: NDArray[np.int32], levels: Sequence[Transitions]) -> list[Fill]:
    from antipodes_tasks.spaces.group.group_kernels import fill_columns  # compiled, so not loaded to plan

    if not levels:
        return []
    before, states = _passed(levels[:-1], np.arange(len(maps), dtype=np.int32))
    return [
        partial(fill_columns, maps[first:end], before[first:end], states[first:end], levels[-1].written)
        for first, end in _blocks(*maps.shape)
    ]


def _passed(
    transitions: Sequence[Transitions], states: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What states ``(n,)`` write for all digits of some levels, as one number, and where they end: ``(n, numbers)``."""
    written, states = np.zeros((len(states), 1), dtype=np.int32), states[:, np.newaxis]
    for one in transitions:
        digits = one.written.shape[1]
        written = (written[:, :, np.newaxis] * np.int32(digits) + one.written[states]).reshape(len(states), -1)
        states = one.next[states].reshape(len(states), -1)
    return written, states


def _blocks(size: int, entries: int) -> list[tuple[int, int]]:
    """Ranges of rows or column maps, of ``entries`` entries each, that one call fills."""
    step = max(1, BLOCK // entries)
    return [(first, min(first + step, size)) for first in range(0, size, step)]
