"""The move tables of functions: every move is applied to every position, block by block, and the results are ranked.

That is exact: a row whose target depends on the column is found, and so is a move that its inverse does not undo. A
sample of rows tells beforehand whether a cut is good, and bounds the number of column maps that memory is kept for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels, Mask
from antipodes_tasks.rules.parts import random_numbers
from antipodes_tasks.spaces.field.field_index import FieldIndex
from antipodes_tasks.spaces.move_tables import ILLEGAL, ColumnMap, Fill, MoveTables, map_type

BLOCK = 1 << 17
"""Positions of a block, times moves: filled in some 20 ms, after which an interruption is answered."""
SAMPLE = 1 << 18
"""Positions of the rows of a sample, times moves: seen in a tenth of a second."""
LEAST_ROWS = 8
"""Rows of a sample, at least."""
SPARE_BYTES = 1 << 24
"""Memory for column maps that a sample of rows did not show."""
NUMBER_BYTES = 160
"""Memory of the number of a column map while tables are filled."""
PLAIN = "give the puzzle plain=True"


class Rows(NamedTuple):
    """Where a move leads from some rows."""

    rows: NDArray[np.int64]
    """``(n,)``: those of the rows, by their place in the block, from which the move is legal in some column."""
    target: NDArray[np.int64]
    """``(n,)``: the row that it leads to, of one of the columns."""
    maps: NDArray[np.int32]
    """``(n, width)``: the column that each column goes to, ILLEGAL where it is not legal."""
    decided: bool
    """Whether the target is that of all columns."""


@dataclass(frozen=True)
class FieldTables:
    """How the move tables of functions are filled."""

    moves: Functions
    index: FieldIndex

    def rows_after(self, number: int, labels: Labels) -> Rows:
        """Where a move leads from whole rows, given by the labels of all their positions ``(rows * width, places)``.

        InputError if the move is said to be undone by another, and is not.
        """
        after, legal = self.moves.after(number, labels)
        if self.moves.reversible:
            check_undone(self.moves, number, labels, after, legal)
        row = np.full(len(labels), ILLEGAL, dtype=np.int64)
        column = row.copy()
        row[legal], column[legal] = np.divmod(self.index.rank(after[legal]), self.index.width)
        by_row = row.reshape(-1, self.index.width)
        target = by_row.max(axis=1)
        decided = bool(((by_row == target[:, np.newaxis]) | (by_row == ILLEGAL)).all())
        rows = np.flatnonzero(target != ILLEGAL)
        return Rows(rows, target[rows], column.reshape(by_row.shape)[rows].astype(np.int32), decided)

    def estimated_maps(self) -> int | None:
        """The number of column maps to keep memory for, from a sample of rows; None if a row does not decide.

        A sample that still showed new maps in its second half counts as if that went on.
        """
        rows = self._sampled_rows()
        numbers = MapNumbers(self.index.width)
        counts = []
        for half in np.array_split(rows, 2):
            for number in range(len(self.moves)):
                found = self.rows_after(number, self._labels(half))
                if not found.decided:
                    return None
                numbers.of(found.maps)
            counts.append(len(numbers))
        expected = counts[1] + (counts[1] - counts[0]) * 2 * max(0, self.index.rows - len(rows)) // len(rows)
        most = self.index.rows * len(self.moves) + 1
        return min(most, max(2 * expected, counts[1] + SPARE_BYTES // (4 * self.index.width)))

    def _sampled_rows(self) -> NDArray[np.int64]:
        count = max(LEAST_ROWS, SAMPLE // (len(self.moves) * self.index.width))
        if count >= self.index.rows:
            return np.arange(self.index.rows)
        return (random_numbers(count, "rows") % np.uint64(self.index.rows)).astype(np.int64)

    def _labels(self, rows: NDArray[np.int64]) -> Labels:
        columns = np.arange(self.index.width)
        return self.index.unrank((rows[:, np.newaxis] * self.index.width + columns).ravel())

    def begin(self, most_maps: int) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them; InputError in these if there are more column maps."""
        rows, width, moves = self.index.rows, self.index.width, len(self.moves)
        target = np.full((rows, moves), ILLEGAL, dtype=np.int32)
        column_map: ColumnMap = np.zeros((rows, moves if width > 1 else 0), dtype=map_type(most_maps))
        maps = np.zeros((most_maps, width), dtype=np.int32)
        tables = MoveTables(target, column_map, maps, self.moves.reversible)
        numbers = MapNumbers(width, tables.column_maps)
        return tables, [partial(self._fill, tables, numbers, first, end) for first, end in self._blocks()]

    def _fill(self, tables: MoveTables, numbers: "MapNumbers", first: int, end: int) -> None:
        labels = self._labels(np.arange(first, end))
        count = np.zeros(end - first, dtype=np.int64)
        for number in range(len(self.moves)):
            found = self.rows_after(number, labels)
            if not found.decided:
                raise InputError(
                    f"move {self.moves.names[number]!r}: expected that fields {self._leading} decide where they go, "
                    f"as in a sample of positions; found that they do not: {PLAIN}"
                )
            at = first + found.rows, count[found.rows]
            tables.target[at] = found.target
            if tables.column_map.shape[1]:
                tables.column_map[at] = numbers.of(found.maps)
            count[found.rows] += 1

    @property
    def _leading(self) -> str:
        return ", ".join(str(field.first) for field in self.index.fields[: self.index.leading])

    @cached_property
    def block_rows(self) -> int:
        """Rows of a block."""
        return max(1, BLOCK // (len(self.moves) * self.index.width))

    def _blocks(self) -> Iterator[tuple[int, int]]:
        for first in range(0, self.index.rows, self.block_rows):
            yield first, min(first + self.block_rows, self.index.rows)

    def building_bytes(self, threads: int, most_maps: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them.

        A function may hold four arrays of the size of its argument.
        """
        position = self.index.places * (8 * (1 + 4) + 4) + 8 * 10
        blocks = -(-self.index.rows // self.block_rows)
        return threads * self.block_rows * self.index.width * position + NUMBER_BYTES * (most_maps + blocks)


def check_undone(moves: Functions, number: int, labels: Labels, after: Labels, legal: Mask) -> None:
    """Raise InputError unless the inverse of a move leads back from where it led, wherever it is legal."""
    before, found = moves.undone(number, after[legal])
    wrong = np.flatnonzero(~found | (before != labels[legal]).any(axis=1))
    if len(wrong):
        position = shorten(" ".join(map(str, labels[legal][wrong[0]].tolist())))
        raise InputError(
            f"move {moves.names[number]!r}: expected an inverse that undoes it, "
            f"found one that does not lead back to {position}"
        )


class MapNumbers:
    """The numbers of different column maps, 0 for the identity; threads can share it."""

    def __init__(self, width: int, maps: NDArray[np.int32] | None = None) -> None:
        """Write the maps into an array ``(most, width)``, if there is one."""
        self._maps = maps
        self._lock = Lock()
        self._numbers: dict[bytes, int] = {}
        self._identity = np.arange(width, dtype=np.int32)
        self.of(self._identity[np.newaxis])

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, maps: NDArray[np.int32]) -> NDArray[np.int64]:
        """The number ``(n,)`` of each map ``(n, width)``; InputError if there are more than the array takes."""
        changing = np.flatnonzero((maps != self._identity).any(axis=1)) if self._numbers else np.arange(len(maps))
        numbers = np.zeros(len(maps), dtype=np.int64)
        for at in changing.tolist():
            key = blake2b(maps[at].tobytes(), digest_size=16).digest()
            number = self._numbers.get(key)
            numbers[at] = self._add(key, maps[at]) if number is None else number
        return numbers

    def _add(self, key: bytes, column_map: NDArray[np.int32]) -> int:
        with self._lock:
            number = self._numbers.setdefault(key, len(self._numbers))
            if self._maps is not None:
                if number >= len(self._maps):
                    raise InputError(f"expected at most {number:,} column maps after a sample, found more: {PLAIN}")
                self._maps[number] = column_map
        return number
