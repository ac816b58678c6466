"""The move tables of moves of any kind: permutations of places, one move after another."""

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.move import Move
from antipodes.spaces.arrangements import BATCH, Index, rank_arrangements, rank_rearranged, unrank_arrangements
from antipodes.spaces.move_tables import ILLEGAL, Fill, MoveTables, map_type

Permutations = NDArray[np.int16]
"""``(n, free)``: from which of the free places, counted in their order, each free place gets its piece."""


class Distinct:
    """The different permutations of the free places, in the order of discovery; the identity is number 0."""

    def __init__(self, free: int) -> None:
        self._found = [np.arange(free, dtype=np.int16)]
        self._numbers = {self._found[0].tobytes(): 0}

    def __len__(self) -> int:
        return len(self._found)

    def number(self, permutations: Permutations) -> NDArray[np.int64]:
        """The number of each, ``(n,)``."""
        different, inverse = np.unique(permutations, axis=0, return_inverse=True)
        for one in different:
            if self._numbers.setdefault(one.tobytes(), len(self._found)) == len(self._found):
                self._found.append(one)
        return np.array([self._numbers[one.tobytes()] for one in different], dtype=np.int64)[inverse.reshape(-1)]

    def column_maps(self, index: Index) -> NDArray[np.int32]:
        """``(permutations, width)``: the column that each column goes to."""
        maps = np.empty((len(self), index.width), dtype=np.int32)
        for first in range(0, index.width, BATCH):
            end = min(first + BATCH, index.width)
            columns = unrank_arrangements(np.arange(first, end), index.column_counts)
            maps[:, first:end] = rank_rearranged(columns, np.array(self._found), index.column_counts)
        return maps


@dataclass(frozen=True)
class PermutationTables:
    """How large the move tables are, and how they are filled."""

    moves: tuple[Move, ...]
    index: Index

    @property
    def most_moves(self) -> int:
        """The number of moves."""
        return len(self.moves)

    @property
    def most_column_maps(self) -> int:
        """An upper bound of the column maps: each move of each row may have its own."""
        if self.index.width == 1:
            return 1
        return 1 + min(self.index.rows * len(self.moves), factorial(sum(self.index.column_counts)))

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while they are filled."""
        entries = self.index.rows * len(self.moves)
        return entries * 4 + min(self.index.rows, BATCH) * sum(self.index.counts) * 40

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, filled already: the number of column maps is known only then."""
        index = self.index
        target = np.full((index.rows, len(self.moves)), ILLEGAL, dtype=np.int32)
        column_map = np.zeros((index.rows, len(self.moves) if index.width > 1 else 0), dtype=np.int32)
        distinct = Distinct(sum(index.column_counts))
        for first in range(0, index.rows, BATCH):
            block = slice(first, min(first + BATCH, index.rows))
            self._fill_block(block, target[block], column_map[block], distinct)
        maps = distinct.column_maps(index) if index.width > 1 else np.zeros((1, 1), dtype=np.int32)
        return MoveTables(target, column_map.astype(map_type(len(maps))), maps), []

    def _fill_block(
        self, block: slice, target: NDArray[np.int32], column_map: NDArray[np.int32], distinct: Distinct
    ) -> None:
        index = self.index
        patterns = unrank_arrangements(np.arange(block.start, block.stop), index.row_counts)
        order = np.cumsum(patterns == index.leading, axis=1, dtype=np.int16) - np.int16(1)
        used = np.zeros(len(patterns), dtype=np.intp)
        for move in self.moves:
            rows = np.flatnonzero(move.legal(patterns))
            origin = move.origin(patterns.shape[1])
            after = patterns[rows][:, origin]
            target[rows, used[rows]] = rank_arrangements(after, index.row_counts)
            if column_map.shape[1]:
                free_origin = order[rows][:, origin][after == index.leading].reshape(len(rows), -1)
                column_map[rows, used[rows]] = distinct.number(free_origin)
            used[rows] += 1
