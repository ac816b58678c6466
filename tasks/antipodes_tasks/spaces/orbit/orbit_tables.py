"""The move tables of transforms: their size, and how they are filled."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb, factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.move_tables import COLUMNS_AT_ONCE, ColumnMap, Fill, MoveTables, map_type
from antipodes_tasks.spaces.orbit.orbit_cut import OrbitCut
from antipodes_tasks.spaces.orbit.orbit_steps import OrbitSteps, most_legal, orbit_steps
from antipodes_tasks.spaces.orbit.part_index import PiecesIndex
from antipodes_tasks.spaces.orbit.part_tables import (
    BLOCK,
    PartFill,
    blocks,
    filled,
    joined,
    numbering_bytes,
    part_fill,
    rearranged_fill,
    weights,
)
from antipodes_tasks.spaces.orbit.rearrangements import (
    Rearrangements,
    can_be_counted,
    most_rearrangements,
    rearrangements,
)

if TYPE_CHECKING:
    from antipodes_tasks.spaces.orbit.orbit_kernels import Columns
FILL_BYTES, FEW_FILLS = 1 << 10, 1 << 6
"""Bytes of a call that fills a block, and such calls that even small tables are taken to need."""


class Maps(NamedTuple):
    """The column maps."""

    keys: NDArray[np.int64]
    """``(column maps, 2)``: the rearrangement of the free places, and the action on the other parts; map 0, the
    identity, has no key that counts."""
    numbers: NDArray[np.int64]
    """``(sets of free places, steps)``: the number of the column map."""
    origins: NDArray[np.uint8]
    """``(rearrangements, free places)``: from which free place each free place gets its piece."""


@dataclass(frozen=True)
class OrbitTables:
    """How large the move tables are, and how they are filled."""

    transforms: Transforms
    cut: OrbitCut

    @cached_property
    def steps(self) -> OrbitSteps:
        """The moves of the tables."""
        return orbit_steps(self.transforms, self.cut)

    @cached_property
    def most_moves(self) -> int:
        """An upper bound of the moves that a position allows."""
        return most_legal(self.transforms, self.cut, self.steps)

    @cached_property
    def most_column_maps(self) -> int:
        """An upper bound of the column maps; their number if counting them takes a moment only."""
        if self.cut.width == 1:
            return 1
        if not self.cut.divides_pieces:
            return 1 + len(self.steps.alternatives) - (self.steps.identity is not None)
        if can_be_counted(self._row_origins, self._free):
            return len(self._maps().keys)
        bounds = most_rearrangements(self._row_origins, self._free)
        return 1 + min(int(bounds.sum()), factorial(self._free) * len(self.steps.alternatives))

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        maps = self._maps()
        rows, width, count = self.cut.rows, self.cut.width, len(maps.keys)
        target = np.empty((rows, self.most_moves), dtype=np.int32)
        column_map: ColumnMap = np.empty((rows, self.most_moves if width > 1 else 0), dtype=map_type(count))
        column_maps = np.zeros((count, width), dtype=np.int32)
        tables = MoveTables(target, column_map, column_maps, undirected=self.transforms.reversible)
        return tables, [*self._row_fills(tables, maps), *self._column_fills(tables, maps)]

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        steps, places = len(self.steps.transforms), self.transforms.places
        sets = comb(sum(self._cut_counts), self._free) if self.cut.divides_pieces else 1
        counting = sets * (steps * (2 * self._free + 64) + 2 * places)
        changes = 16 * places * (steps + len(self.steps.effects))
        block = 4 * min(self.cut.rows * max(1, steps), BLOCK // 2) + COLUMNS_AT_ONCE * 8 * (len(self.cut.parts) + 2)
        numberings = numbering_bytes((*self.cut.row, *self.cut.column))
        work = self.cut.rows * steps * places + self.cut.width * self.most_column_maps * (len(self.cut.parts) + 1)
        calls = FILL_BYTES * (FEW_FILLS + work // BLOCK)
        return counting + changes + numberings + self._part_table_bytes + calls + block * threads

    @property
    def _part_table_bytes(self) -> int:
        """An upper bound of the bytes of the part tables while several are joined to one array."""
        row = 0 if self._is_direct else sum(part.size for part in self.cut.row) * len(self.steps.transforms)
        sets = 0 if self._is_direct or not self.cut.divides_pieces else self.cut.row[-1].size
        column = sum(part.size for part in self.cut.column_parts) * len(self.steps.effects)
        if self.cut.divides_pieces:
            column += self.cut.column[0].size * self.most_column_maps
        return 4 * (row * min(2, len(self.cut.row)) + sets + column * min(2, len(self.cut.column)))

    @property
    def _cut_counts(self) -> tuple[int, ...]:
        """The pieces of the row where the cut divides pieces: the free places are the last count."""
        last = self.cut.row[-1]
        assert isinstance(last, PiecesIndex)
        return last.counts

    @property
    def _free(self) -> int:
        """The free places where the cut divides pieces."""
        return self._cut_counts[-1] if self.cut.divides_pieces else 0

    @property
    def _row_origins(self) -> NDArray[np.int64]:
        """What each step does to the places of the part that the cut divides, ``(steps, places)``."""
        at = self.cut.row[-1].at
        origins: NDArray[np.int64] = self.transforms.origin[self.steps.transforms, at].astype(np.int64) - at.start
        return origins

    @property
    def _is_direct(self) -> bool:
        """Whether the row is one part, so that a block of its part table makes a block of the row tables."""
        return len(self.cut.row) == 1

    @cached_property
    def _rows_have_conditions(self) -> bool:
        """Whether a move is illegal in some rows."""
        return bool(self.transforms.conditional[:, ~self.cut.column_places].any())

    def _maps(self) -> Maps:
        """The column maps, and which belongs to each step and set of free places."""
        steps = self.steps
        if self.cut.divides_pieces:
            found = rearrangements(self._row_origins, self._free)
        else:
            every = np.zeros((1, len(steps.transforms)), dtype=np.int64)
            found = Rearrangements(every, np.zeros((1, 0), dtype=np.uint8))
        actions = len(steps.alternatives)
        keys = found.numbers * actions + steps.actions
        is_used = np.zeros(len(found.origins) * actions, dtype=np.bool_)
        is_used[keys] = True
        if steps.identity is not None:
            is_used[steps.identity] = False
        used = np.flatnonzero(is_used) if self.cut.width > 1 else np.zeros(0, dtype=np.int64)
        number = np.zeros(len(is_used), dtype=np.int64)
        number[used] = 1 + np.arange(len(used))
        every_key = np.stack(np.divmod(np.concatenate(([0], used)), max(1, actions)), axis=1)
        return Maps(every_key, number[keys], found.origins)

    def _row_fills(self, tables: MoveTables, maps: Maps) -> Iterator[Fill]:
        from antipodes_tasks.spaces.orbit.orbit_kernels import combine_rows

        numbers: ColumnMap = maps.numbers.astype(map_type(len(maps.keys)))
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
        from antipodes_tasks.spaces.orbit.orbit_kernels import combine_rows, fill_map_numbers

        target, column_map = tables.target[first:end], tables.column_map[first:end]
        subsets = np.zeros(end - first, dtype=np.int32)
        if not self._rows_have_conditions:
            fill_part(target, first)
            if self.cut.divides_pieces:
                self._number_subsets(subsets, first)
            fill_map_numbers(column_map, subsets, numbers)
            return
        lines = np.empty((end - first, numbers.shape[1]), dtype=np.int32)
        fill_part(lines, first)
        at, weight = np.array([-first * lines.shape[1]]), np.ones(1, dtype=np.int64)
        combine_rows(target, column_map, first, lines.ravel(), at, weight, subsets[:0], numbers)

    def _number_subsets(self, subsets: NDArray[np.int32], first: int) -> None:
        from antipodes_tasks.permutations.arrangements import numbering
        from antipodes_tasks.spaces.orbit.orbit_kernels import number_subsets

        others = sum(self._cut_counts) - self._free
        number_subsets(subsets, first, numbering(self._cut_counts), numbering((others, self._free)))

    def _column_fills(self, tables: MoveTables, maps: Maps) -> Iterator[Fill]:
        if tables.column_maps.shape[1] == 1:
            return
        from antipodes_tasks.spaces.orbit.orbit_kernels import combine_columns

        columns = self._columns(maps)
        entries = len(maps.keys) * (len(self.cut.column) + 1)
        for first, end in blocks(self.cut.width, entries, COLUMNS_AT_ONCE):
            yield partial(combine_columns, tables.column_maps, first, end, columns)

    def _columns(self, maps: Maps) -> "Columns":
        from antipodes_tasks.spaces.orbit.orbit_kernels import Columns

        effects = self.steps.effects
        tables = [
            filled(part, len(effects), part_fill(part, self.transforms, effects)) for part in self.cut.column_parts
        ]
        if self.cut.divides_pieces:
            rest = self.cut.column[0]
            tables.insert(0, filled(rest, len(maps.origins), rearranged_fill(rest, maps.origins)))
        entries, at = joined(tables)
        return Columns(
            entries=entries,
            at=at,
            moves=np.array([table.shape[1] for table in tables], dtype=np.int64),
            weights=weights(self.cut.column),
            keys=maps.keys,
            alternatives_at=self.steps.alternatives_at,
            alternatives=np.array([effect for every in self.steps.alternatives for effect in every], dtype=np.int64),
            divides_pieces=self.cut.divides_pieces,
        )
