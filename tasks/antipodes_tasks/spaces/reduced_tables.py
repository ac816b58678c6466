"""The move tables of a space that is reduced by symmetries.

A move takes a representative row to some row, and a fixed symmetry takes that row to its representative. Together they
rearrange the contents of the column and rename them; this is the column map. Only a few different maps occur. So the
maps are first written as *keys* (see `antipodes_tasks.spaces.reduced_rows`), and then one map is computed for each
distinct key.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.move_tables import ColumnMaps, Fill, Filler, MoveTables, blocks, index_bytes, unfilled_maps
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit_parts import PiecesIndex, ValuesIndex
from antipodes_tasks.spaces.orbit_steps import OrbitSteps, most_on_empty_places, orbit_steps
from antipodes_tasks.spaces.reduced_columns import columns_of, fill_maps
from antipodes_tasks.spaces.reduced_rows import KeyLines, Renamings, renamings_of
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.row_tables import Reduction, RowSample, RowTables
from antipodes_tasks.spaces.rows_and_columns import Cut

KEPT_BYTES = 16
"""Bytes of a representative row while its space is in use: its key and its weight."""
LISTED_SECONDS, MAP_SECONDS = 3e-8, 2e-9
"""Thread seconds to list the representatives, per row before the reduction; and seconds per entry of a column map."""
CONTENT_BYTES, KEY_BYTES = 128, 8
"""Bytes of each content of the column while column maps are filled: in each case (see `ColumnRanks`), and in
the key of each map."""


@dataclass(frozen=True, eq=False)
class ReducedTables(Filler):
    """The filler of a reduced space."""

    transforms: Transforms
    classes: RowClasses

    @property
    def frame(self) -> Cut:
        """The cut of the space."""
        return self.classes.frame

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.classes.count

    @property
    def width(self) -> int:
        """Number of columns of each row."""
        return self.frame.width

    @cached_property
    def max_moves(self) -> int:
        """Maximum number of legal moves of a row; for an outline, an upper bound."""
        return self.legal_moves if self.classes.is_outline else int(self.reduction.target.shape[1])

    @cached_property
    def legal_moves(self) -> int:
        """Upper bound on the number of legal moves of a row, known before rows are listed."""
        bounds = (
            most_on_empty_places(self.transforms, self.steps, part.place_slice, part.pieces[0])
            for part, classes in zip(self.frame.parts, self.frame.classes, strict=True)
            if isinstance(part, PiecesIndex) and isinstance(classes, tuple) and classes.count(classes[0]) == 1
        )
        return min(bounds, default=len(self.steps.transforms))

    @property
    def most_column_maps(self) -> int:
        """Number of column maps; for an outline, an estimate from a sample of rows that is likely to be too large."""
        if self.classes.is_outline:
            return self.sample.expected_maps(self.rows)
        return len(self.reduction.keys)

    @cached_property
    def sample(self) -> RowSample:
        """Statistics of the tables of an outline, from a sample of rows."""
        return self.row_tables.sample()

    @property
    def least_table_bytes(self) -> int:
        """Lower bound on the bytes of the move tables; for an outline, from the moves and maps of a sample of rows."""
        if not self.classes.is_outline:
            return self.table_bytes
        each = self.sample.max_moves * (4 if self.width == 1 else 6) + KEPT_BYTES
        rows = self.frame.all_rows // len(self.classes.images)
        return rows * each + self.sample.maps * self.width * index_bytes(self.width)

    def estimated_seconds(self, threads: int) -> float | None:
        """Return the seconds to list the rows and to fill the tables of an outline; None for a complete space."""
        if not self.classes.is_outline:
            return None
        maps = self.most_column_maps * self.width * (len(self.frame.blocks) + 1) * MAP_SECONDS
        return (LISTED_SECONDS * self.frame.all_rows + self.sample.row_seconds * self.rows + maps) / threads

    @cached_property
    def steps(self) -> OrbitSteps:
        """The steps of the transforms, each of which is one move of the tables."""
        return orbit_steps(self.transforms, self.frame)

    @cached_property
    def reduction(self) -> Reduction:
        """The row tables, computed once, for planning and for filling the move tables."""
        return self.row_tables.fill()

    @property
    def row_tables(self) -> RowTables:
        """The data from which the row tables and the keys of column maps are computed."""
        return RowTables(self.transforms, self.classes, self.steps, self.legal_moves, self.folds, self.renamings)

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return move tables whose column maps are unfilled, and the calls that fill the column maps."""
        target, column_map, keys, closing = self.reduction
        maps = unfilled_maps(len(keys), self.width)
        tables = MoveTables(
            target, column_map, maps, self.transforms.reversible, closing if len(closing.rows) else None
        )
        return tables, self._fills(maps, keys)

    def maps_of(self, keys: KeyLines) -> NDArray[np.int32]:
        """Return the column maps ``(n, width)`` with these keys ``(n, key length)``."""
        maps = np.zeros((len(keys), self.width), dtype=np.int32)
        for fill in self._fills(maps, keys):
            fill()
        return maps

    def _fills(self, maps: ColumnMaps, keys: KeyLines) -> list[Fill]:
        """Return the calls that fill the column maps ``(n, width)`` with these keys."""
        if self.width == 1:
            return []
        steps = None if self.folds else self.steps
        columns = columns_of(self.frame, self.renamings.tables, self.transforms, steps)
        return [
            partial(fill_maps, maps[first:end], keys[first:end], columns)
            for first, end in blocks(len(keys), self.width * (len(self.frame.blocks) + 1))
        ]

    @property
    def table_bytes(self) -> int:
        """Upper bound on the bytes of the move tables and of the keys and weights of rows."""
        return super().table_bytes + KEPT_BYTES * self.rows

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        effects, maps = 1 if self.folds else len(self.steps.alternatives), self.most_column_maps
        alone = self.folds and all(block.merged is None for block in self.frame.blocks)
        cases = max((block.size for block in self.frame.blocks), default=0) if alone else self.width
        columns = self.width * ((2 * effects + 8) * (self.frame.slots + 2) + 8 * len(self.frame.blocks))
        columns += CONTENT_BYTES * (self.frame.slots + 2) * cases
        rows = self.row_tables.building_bytes(threads, maps, self.max_moves) + KEPT_BYTES * self.rows
        return max(rows - self.table_bytes, columns + KEY_BYTES * (self.frame.slots + 1) * maps)

    @property
    def folds(self) -> bool:
        """Whether the renamings include the effects of moves on the column: no condition concerns its places."""
        return _folds(self.frame, self.transforms)

    @property
    def renamings(self) -> Renamings:
        """The renamings of contents of the column."""
        added = self.transforms.added[self.steps.transforms]
        return renamings_of(self.classes.images, added if self.folds else np.zeros_like(added), self.frame.carried)


def decides(frame: Cut, transforms: Transforms) -> bool:
    """Return whether a row determines the row after each move, and each condition concerns only row or only column."""
    conditions = transforms.conditions
    if not _moves_whole_parts(frame, transforms):
        return False
    if conditions is None:
        return True
    for place in np.flatnonzero(~frame.column_places).tolist():
        known = np.arange(int(transforms.moduli[place]), dtype=np.uint64)
        legal = (conditions[:, place, np.newaxis] >> known) & np.uint64(1)
        shown = frame.row_label_of[place, : len(known)]
        if any((legal[:, shown == one] != legal[:, shown == one][:, :1]).any() for one in set(shown.tolist())):
            return False
    inside = (frame.block_of >= 0).any(axis=1)
    apart = bool((frame.column_places | ~inside).all()) and all(block.merged is None for block in frame.blocks)
    return (apart and frame.width > 1) or _folds(frame, transforms)  # a single column has no map to mark illegal moves


def _moves_whole_parts(frame: Cut, transforms: Transforms) -> bool:
    """Return whether no move takes values from the row to the column or back."""
    row = frame.radices > 1
    values = np.zeros(frame.places, dtype=np.bool_)
    for part in frame.parts:
        values[part.place_slice] |= isinstance(part, ValuesIndex)
    return bool((row[transforms.origin] == row)[:, values].all())


def _folds(frame: Cut, transforms: Transforms) -> bool:
    return not transforms.conditional[:, frame.column_places].any()
