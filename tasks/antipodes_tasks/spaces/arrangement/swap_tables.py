"""The move tables of swaps, in which one piece moves to an empty place: their size, and how they are filled."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.permutations.arrangements import Index
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.spaces.move_tables import COLUMNS_AT_ONCE, ColumnMap, Fill, MoveTables, map_type

if TYPE_CHECKING:
    from antipodes_tasks.spaces.arrangement.swap_kernels import Graph

BLOCK = 1 << 23
"""Entries of a block. It is filled in some 20 ms, after which an interruption is answered."""


@dataclass(frozen=True)
class SwapTables:
    """How large the move tables are, and how they are filled."""

    moves: Swaps
    index: Index

    @property
    def places(self) -> int:
        """The number of places of the puzzle."""
        return sum(self.index.counts)

    @cached_property
    def most_moves(self) -> int:
        """An upper bound of the moves that a position allows.

        Moves onto an empty place are at most those that lead to the most popular places, as many as are empty, and at
        most those that leave the most popular places, as many as are occupied.
        """
        origins, destinations = (np.sort(np.bincount(ends, minlength=self.places))[::-1] for ends in self.moves.pairs.T)
        empty = self.index.counts[0]
        return int(min(destinations[:empty].sum(), origins[: self.places - empty].sum()))

    @property
    def most_column_maps(self) -> int:
        """The number of column maps."""
        return self.map_numbers[1]

    @cached_property
    def map_numbers(self) -> tuple[NDArray[np.int64], int]:
        """The first number of the column maps of pieces that pass each number of free places, and the number of maps.

        The numbers ``(2, free places)``, for pieces that go up or down, count from 1, since map 0 is the identity; -1
        where no piece does that. A piece passes at most the free places between its ends, and at least those that the
        row's own pieces cannot fill.
        """
        free = sum(self.index.column_counts)
        firsts = np.full((2, max(1, free)), -1, dtype=np.int64)
        count = 1
        if self.index.width == 1:
            return firsts, count
        others = self.places - 1 - free
        origins, destinations = self.moves.pairs.T.astype(np.int64)
        for shifted in np.flatnonzero(np.bincount(destinations - origins + self.places)).tolist():
            step = shifted - self.places
            between = abs(step) - 1
            for passed in range(max(1, between - others), min(between, free - 1) + 1):
                direction = int(step < 0) if passed > 1 else 0  # two neighbours swap either way
                if firsts[direction, passed] < 0:
                    firsts[direction, passed] = count
                    count += free - passed
        firsts[1, 1:2] = firsts[0, 1:2]
        return firsts, count

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        rows, width, count = self.index.rows, self.index.width, self.most_column_maps
        target = np.empty((rows, self.most_moves), dtype=np.int32)
        column_map: ColumnMap = np.empty((rows, self.most_moves if width > 1 else 0), dtype=map_type(count))
        column_maps = np.zeros((count, width), dtype=np.int32)
        tables = MoveTables(target, column_map, column_maps, undirected=self.moves.reversible)
        return tables, self.fills(tables)

    def fills(self, tables: MoveTables) -> list[Fill]:
        """The calls that fill the tables."""
        from antipodes_tasks.permutations.arrangements import numbering
        from antipodes_tasks.spaces.arrangement.swap_kernels import (  # compiled, so not loaded to plan
            fill_columns,
            fill_rows,
        )

        target, column_map, column_maps = tables.target, tables.column_map, tables.column_maps
        (firsts, _), index = self.map_numbers, self.index
        rows, graph = numbering(index.row_counts), self._graph()
        a_row = target.shape[1] + 2 * self.places * len(index.row_counts)
        calls: list[Fill] = [
            partial(fill_rows, target[first:end], column_map[first:end], first, rows, graph, firsts)
            for first, end in _blocks(index.rows, a_row)
        ]
        if index.width > 1:
            columns = numbering(index.column_counts)
            a_column = len(column_maps) + 2 * firsts.shape[1] * len(index.column_counts)
            blocks = _blocks(index.width, a_column, COLUMNS_AT_ONCE)
            calls += [partial(fill_columns, column_maps, first, end, columns, firsts) for first, end in blocks]
        return calls

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        index = self.index
        free, kinds = sum(index.column_counts), len(index.column_counts)
        a_column = COLUMNS_AT_ONCE * (free + 1) * 8 * (2 * kinds + 3)
        a_row = (self.places + 1) * 8 * (2 * len(index.row_counts) + 5)
        shared = _numbering_bytes(index.row_counts) + _numbering_bytes(index.column_counts) + 32 * len(self.moves)
        return (a_column + a_row + shared) * threads

    def _graph(self) -> "Graph":
        """The moves by the empty or the occupied place, whichever kind there are fewer of."""
        from antipodes_tasks.spaces.arrangement.swap_kernels import Graph

        by_destination = 2 * self.index.counts[0] <= self.places
        ends = self.moves.pairs[:, 0 if by_destination else 1]
        grouped = self.moves.pairs[:, 1 if by_destination else 0]
        order = np.argsort(grouped, kind="stable")
        at = np.searchsorted(grouped[order], np.arange(self.places + 1)).astype(np.int64)
        return Graph(at, ends[order].astype(np.uint16), by_destination)


def _numbering_bytes(counts: Sequence[int]) -> int:
    """An upper bound of the bytes of an `antipodes_tasks.permutations.arrangements.Numbering` while it is made."""
    states, places, kinds = prod(count + 1 for count in counts), sum(counts), len(counts)
    return 8 * (states * (3 * kinds + 8) + 3 * (places + 1) * (max(counts) + 2))


def _blocks(size: int, entries: int, least: int = 1) -> list[tuple[int, int]]:
    """Ranges of rows or columns, of ``entries`` entries each, that one call fills."""
    step = max(least, BLOCK // entries)
    return [(first, min(first + step, size)) for first in range(0, size, step)]
