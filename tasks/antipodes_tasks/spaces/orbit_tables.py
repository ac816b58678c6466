"""The filler of the move tables of transforms.

Transforms are moves that permute places and add numbers to values, possibly under conditions. First, the effect of each
move on each part is tabulated separately (see `antipodes_tasks.spaces.part_tables`). Entries of the move tables are
then sums of entries of these *part tables*. A column map combines a *rearrangement* of the pieces on the free places,
which depends on the row, with an *action* on the other parts (see `antipodes_tasks.spaces.orbit_steps`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb, factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.move_tables import (
    COLUMNS_AT_ONCE,
    ILLEGAL,
    STEPS,
    ColumnMap,
    ColumnMaps,
    Fill,
    Filler,
    MoveTables,
    blocks,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.permutations.multisets import numbering, numbering_bytes
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit_parts import OrbitCut, PiecesIndex
from antipodes_tasks.spaces.orbit_steps import OrbitSteps, most_legal, orbit_steps
from antipodes_tasks.spaces.part_tables import (
    PartFill,
    Rearrangements,
    can_be_counted,
    filled,
    free_places,
    joined,
    most_rearrangements,
    number_subsets,
    part_fill,
    rearranged_fill,
    rearrangements,
    weights,
)

FILL_BYTES, MIN_FILLS = 1 << 10, 1 << 6
"""Bytes of a call that fills a block, and the minimum number of such calls that is assumed for small tables."""


class Maps(NamedTuple):
    """Descriptions of the column maps, from which the maps are computed."""

    keys: NDArray[np.int64]
    """``(column maps, 2)``: the rearrangement of the free places, and the action on the other parts. The key of map 0,
    the identity, is not used."""
    numbers: NDArray[np.int64]
    """``(sets of free places, steps)``: the number of the column map."""
    origins: NDArray[np.uint8]
    """``(rearrangements, free places)``: the free place from which each free place gets its piece."""


class JoinedColumns(NamedTuple):
    """The part tables of a column, joined into one array. Column maps are weighted sums of their entries."""

    entries: NDArray[np.int32]
    at: NDArray[np.int64]
    """``(parts,)``: where the table of each part begins."""
    moves: NDArray[np.int64]
    """``(parts,)``: the length of a line of each table, which is the number of its moves."""
    weights: NDArray[np.int64]
    """``(parts,)``: the weight of each part's digit."""
    keys: NDArray[np.int64]
    """``(column maps, 2)``: the rearrangement of the free places, and the action on the other parts."""
    alternatives_at: NDArray[np.int64]
    """``(actions + 1,)``: where the effects of each action begin."""
    alternatives: NDArray[np.int64]
    """The effects of all actions. An effect is the index of a move in the tables of the other parts."""
    divides_pieces: bool
    """Whether the first part is the rest of an arrangement that the cut divides. Moves rearrange its pieces."""


@dataclass(frozen=True)
class OrbitTables(Filler):
    """The filler for transforms."""

    transforms: Transforms
    cut: OrbitCut

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.cut.rows

    @property
    def width(self) -> int:
        """Number of columns of each row."""
        return self.cut.width

    @cached_property
    def steps(self) -> OrbitSteps:
        """The moves of the tables."""
        return orbit_steps(self.transforms, self.cut)

    @cached_property
    def max_moves(self) -> int:
        """Upper bound on the number of legal moves of a position."""
        return most_legal(self.transforms, self.cut, self.steps)

    @cached_property
    def most_column_maps(self) -> int:
        """Upper bound on the number of column maps; the exact number if counting them is quick."""
        if self.cut.width == 1:
            return 1
        if not self.cut.divides_pieces:
            return 1 + len(self.steps.alternatives) - (self.steps.identity is not None)
        if can_be_counted(self._row_origins, self._free):
            return len(self._maps().keys)
        bounds = most_rearrangements(self._row_origins, self._free)
        return 1 + min(int(bounds.sum()), factorial(self._free) * len(self.steps.alternatives))

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them."""
        maps = self._maps()
        rows, width, count = self.cut.rows, self.cut.width, len(maps.keys)
        target = np.empty((rows, self.max_moves), dtype=np.int32)
        column_map: ColumnMap = np.empty((rows, self.max_moves if width > 1 else 0), dtype=index_type(count))
        tables = MoveTables(target, column_map, unfilled_maps(count, width), undirected=self.transforms.reversible)
        return tables, [*self._row_fills(tables, maps), *self._column_fills(tables, maps)]

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        steps, places = len(self.steps.transforms), self.transforms.places
        sets = comb(sum(self._cut_counts), self._free) if self.cut.divides_pieces else 1
        counting = sets * (steps * (2 * self._free + 64) + 2 * places)
        changes = 16 * places * (steps + len(self.steps.effects))
        block = 4 * min(self.cut.rows * max(1, steps), STEPS // 2) + COLUMNS_AT_ONCE * 8 * (len(self.cut.parts) + 2)
        pieces = [part for part in (*self.cut.row, *self.cut.column) if isinstance(part, PiecesIndex)]
        numberings = sum(numbering_bytes(part.counts) for part in pieces)
        work = self.cut.rows * steps * places + self.cut.width * self.most_column_maps * (len(self.cut.parts) + 1)
        calls = FILL_BYTES * (MIN_FILLS + work // STEPS)
        return counting + changes + numberings + self._part_table_bytes + calls + block * threads

    @property
    def _part_table_bytes(self) -> int:
        """Upper bound on the bytes of the part tables while they are joined into one array."""
        row = 0 if self._is_direct else sum(part.size for part in self.cut.row) * len(self.steps.transforms)
        sets = 0 if self._is_direct or not self.cut.divides_pieces else self.cut.row[-1].size
        column = sum(part.size for part in self.cut.column_parts) * len(self.steps.effects)
        if self.cut.divides_pieces:
            column += self.cut.column[0].size * self.most_column_maps
        return 4 * (row * min(2, len(self.cut.row)) + sets + column * min(2, len(self.cut.column)))

    @property
    def _cut_counts(self) -> tuple[int, ...]:
        """If the cut divides pieces, the number of pieces with each label of the row, then that of free places."""
        last = self.cut.row[-1]
        assert isinstance(last, PiecesIndex)
        return last.counts

    @property
    def _free(self) -> int:
        """Number of places that the row leaves free if the cut divides pieces, otherwise 0."""
        return self._cut_counts[-1] if self.cut.divides_pieces else 0

    @property
    def _row_origins(self) -> NDArray[np.int64]:
        """``(steps, places)``: the place from which each step brings a piece to each place of the divided part."""
        at = self.cut.row[-1].place_slice
        origins: NDArray[np.int64] = self.transforms.origin[self.steps.transforms, at].astype(np.int64) - at.start
        return origins

    @property
    def _is_direct(self) -> bool:
        """Whether the row is a single part, so that its part table can be written directly into the row tables."""
        return len(self.cut.row) == 1

    @cached_property
    def _rows_have_conditions(self) -> bool:
        """Whether a move is illegal in some rows."""
        return bool(self.transforms.conditional[:, ~self.cut.column_places].any())

    def _maps(self) -> Maps:
        """Return the column maps, and the number of the column map for each step and set of free places."""
        steps = self.steps
        if self.cut.divides_pieces:
            found = rearrangements(self._row_origins, self._free)
        else:
            every = np.zeros((1, len(steps.transforms)), dtype=np.int64)
            found = Rearrangements(every, np.zeros((1, 0), dtype=np.uint8))
        actions = len(steps.alternatives)
        keys = found.numbers * actions + steps.actions
        is_used = np.zeros(len(found.origins) * actions, dtype=np.bool_)
        is_used[self._legal_somewhere(keys)] = True
        if steps.identity is not None:
            is_used[steps.identity] = False
        used = np.flatnonzero(is_used) if self.cut.width > 1 else np.zeros(0, dtype=np.int64)
        number = np.zeros(len(is_used), dtype=np.int64)
        number[used] = 1 + np.arange(len(used))
        every_key = np.stack(np.divmod(np.concatenate(([0], used)), max(1, actions)), axis=1)
        return Maps(every_key, number[keys], found.origins)

    def _legal_somewhere(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those keys ``(sets of free places, steps)`` whose step is legal in some row with these free places."""
        conditions = self.transforms.conditions
        if conditions is None or not self.cut.divides_pieces:
            return keys.ravel()
        masks = conditions[self.steps.transforms, self.cut.row[-1].place_slice]
        on_free_places = ~np.uint64(0) << np.uint64(len(self._cut_counts) - 1)
        must_be_free, must_be_taken = (masks & ~on_free_places) == 0, (masks & on_free_places) == 0
        is_free = free_places(masks.shape[1], self._free)
        wrong = ~is_free @ must_be_free.T.astype(np.int64) + is_free @ must_be_taken.T.astype(np.int64)
        legal: NDArray[np.int64] = keys[wrong == 0]
        return legal

    def _row_fills(self, tables: MoveTables, maps: Maps) -> Iterator[Fill]:
        numbers: ColumnMap = maps.numbers.astype(index_type(len(maps.keys)))
        parts = self.cut.row
        if self._is_direct:
            yield from self._direct_fills(tables, numbers)
            return
        steps = self.steps.transforms
        entries, at = joined([filled(part, len(steps), part_fill(part, self.transforms, steps)) for part in parts])
        subsets = np.zeros(0, dtype=np.int32)
        if self.cut.divides_pieces:
            subsets = np.empty(parts[-1].size, dtype=np.int32)
            for first, end in blocks(parts[-1].size, 4 * parts[-1].places):
                self._number_subsets(subsets[first:end], first)
        for first, end in blocks(self.cut.rows, numbers.shape[1] * (len(parts) + 1)):
            target, column_map = tables.target[first:end], tables.column_map[first:end]
            yield partial(combine_rows, target, column_map, first, entries, at, weights(parts), subsets, numbers)

    def _direct_fills(self, tables: MoveTables, numbers: ColumnMap) -> Iterator[Fill]:
        fill_part = part_fill(self.cut.row[0], self.transforms, self.steps.transforms)
        for first, end in blocks(self.cut.rows, (numbers.shape[1] + 4) * self.cut.row[0].places):
            yield partial(self._fill_directly, fill_part, tables, numbers, first, end)

    def _fill_directly(self, fill_part: PartFill, tables: MoveTables, numbers: ColumnMap, first: int, end: int) -> None:
        target, column_map = tables.target[first:end], tables.column_map[first:end]
        subsets = np.zeros(end - first, dtype=np.int32)
        if self.cut.divides_pieces:
            self._number_subsets(subsets, first)
        if self._rows_have_conditions:
            lines = np.empty((end - first, numbers.shape[1]), dtype=np.int32)
            fill_part(lines, first)
            begin, weight = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
            combine_rows(target, column_map, 0, lines.ravel(), begin, weight, subsets, numbers)
        else:
            fill_part(target, first)
            fill_map_numbers(column_map, subsets, numbers)

    def _number_subsets(self, subsets: NDArray[np.int32], first: int) -> None:
        others = sum(self._cut_counts) - self._free
        number_subsets(subsets, first, numbering(self._cut_counts), numbering((others, self._free)))

    def _column_fills(self, tables: MoveTables, maps: Maps) -> Iterator[Fill]:
        if tables.column_maps.shape[1] == 1:
            return
        columns = self._columns(maps)
        entries = len(maps.keys) * (len(self.cut.column) + 1)
        for first, end in blocks(self.cut.width, entries, min_size=COLUMNS_AT_ONCE):
            yield partial(combine_columns, tables.column_maps, first, end, columns)

    def _columns(self, maps: Maps) -> JoinedColumns:
        effects = self.steps.effects
        tables = [
            filled(part, len(effects), part_fill(part, self.transforms, effects)) for part in self.cut.column_parts
        ]
        if self.cut.divides_pieces:
            rest = self.cut.column[0]
            tables.insert(0, filled(rest, len(maps.origins), rearranged_fill(rest, maps.origins)))
        entries, at = joined(tables)
        return JoinedColumns(
            entries=entries,
            at=at,
            moves=np.array([table.shape[1] for table in tables], dtype=np.int64),
            weights=weights(self.cut.column),
            keys=maps.keys,
            alternatives_at=self.steps.alternatives_at,
            alternatives=np.array([effect for every in self.steps.alternatives for effect in every], dtype=np.int64),
            divides_pieces=self.cut.divides_pieces,
        )


@kernel
def fill_map_numbers(column_map: ColumnMap, subsets: NDArray[np.int32], numbers: ColumnMap) -> None:
    """Fill each line of ``column_map`` with the line of ``numbers`` that belongs to its set of free places."""
    for line in range(column_map.shape[0]):
        for move in range(column_map.shape[1]):
            column_map[line, move] = numbers[subsets[line], move]


@kernel
def combine_rows(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    first: int,
    entries: NDArray[np.int32],
    at: NDArray[np.int64],
    weights: NDArray[np.int64],
    subsets: NDArray[np.int32],
    numbers: ColumnMap,
) -> None:
    """Fill lines of the row tables, beginning with row ``first``. In each line, the legal moves come first.

    ``entries`` contains the part tables one after another; they begin at the indices ``at``. ``weights`` contains the
    weights of their digits. ``numbers`` ``(sets of free places, moves)`` contains the numbers of column maps.
    ``subsets`` contains the set of free places for each content of the last part. It is empty if column maps do not
    depend on the row.
    """
    parts, moves = len(at), numbers.shape[1]
    lines = np.empty(parts, dtype=np.int64)
    # A row is a number with one digit per part. A move is legal if it is legal for every part, and the digits that it
    # leads to add up to the target row.
    for line in range(target.shape[0]):
        rest, subset = np.int64(first + line), np.int64(0)
        for part in range(parts):
            content = rest // weights[part]
            rest -= content * weights[part]
            lines[part] = at[part] + content * moves
            if part == parts - 1 and len(subsets):
                subset = np.int64(subsets[content])
        slot = np.uint64(0)
        for move in range(moves):
            row = np.int64(0)
            for part in range(parts):
                after = entries[lines[part] + move]
                if after < 0:
                    row = np.int64(ILLEGAL)
                    break
                row += np.int64(after) * weights[part]
            if row >= 0:
                target[line, slot] = row
                if column_map.shape[1]:
                    column_map[line, slot] = numbers[subset, move]
                slot += np.uint64(1)
        target[line, slot:] = ILLEGAL
        column_map[line, slot:] = 0


@kernel
def combine_columns(column_maps: ColumnMaps, first: int, end: int, columns: JoinedColumns) -> None:
    """Fill the column maps for the columns from ``first`` to ``end``."""
    parts = len(columns.at)
    lines = np.empty((COLUMNS_AT_ONCE, parts), dtype=np.int64)
    for begin in range(first, end, COLUMNS_AT_ONCE):
        count = min(COLUMNS_AT_ONCE, end - begin)
        for i in range(count):
            rest = np.int64(begin + i)
            for part in range(parts):
                content = rest // columns.weights[part]
                rest -= content * columns.weights[part]
                lines[i, part] = columns.at[part] + content * columns.moves[part]
            column_maps[0, begin + i] = begin + i
        for number in range(1, column_maps.shape[0]):
            rearranged, action = columns.keys[number]
            effects = columns.alternatives[columns.alternatives_at[action] : columns.alternatives_at[action + 1]]
            here = column_maps[number, begin : begin + count]
            _map_columns(here, columns.entries, lines, columns.weights, rearranged, effects, columns.divides_pieces)


@kernel
def _map_columns(
    after: ColumnMaps,
    entries: NDArray[np.int32],
    lines: NDArray[np.int64],
    weights: NDArray[np.int64],
    rearranged: int,
    effects: NDArray[np.int64],
    divides_pieces: bool,
) -> None:
    """Fill in the new column of each column; at most one of the effects is legal in a column.

    ``lines`` ``(columns, parts)`` contains the indices at which the lines of each column begin in the part tables.
    """
    after[:] = ILLEGAL
    for effect in effects:
        for column in range(len(after)):
            to_column = np.int64(0)
            for part in range(len(weights)):
                move = rearranged if divides_pieces and part == 0 else effect
                content = np.int64(entries[lines[column, part] + move])
                if content < 0:
                    break
                to_column += content * weights[part]
            else:
                after[column] = to_column
