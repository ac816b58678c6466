"""The move tables of a space that is reduced by symmetries.

A move leads from a kept row to a row, and a symmetry from there to the least row of its class. Together they rearrange
the contents of the column and rename them: that is the column map. Few different ones occur, so each is written down as
a *key* first, from which place each content comes and how it is renamed, and only different keys are computed.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.move_tables import COLUMN_BYTES, Fill, Filler, MoveTables, blocks
from antipodes_tasks.spaces.orbit_parts import ValuesIndex
from antipodes_tasks.spaces.orbit_steps import OrbitSteps, orbit_steps
from antipodes_tasks.spaces.reduced_columns import columns_of, fill_maps
from antipodes_tasks.spaces.reduced_rows import Renamings, renamings_of
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.row_tables import Reduction, RowSample, RowTables
from antipodes_tasks.spaces.rows_and_columns import Frame

KEPT_BYTES = 16
"""Bytes of a kept row as long as its space is in use: key and weight."""
LISTED_SECONDS, MAP_SECONDS = 3e-8, 2e-9
"""Seconds of a thread for each row, reduced or not, that is listed, and for each entry of a column map."""
ROW_BYTES, STEP_BYTES = 32, 12
"""Bytes of a kept row, and of a move from it, besides the tables: key, weight, and tables before they are shortened."""


@dataclass(frozen=True, eq=False)
class ReducedTables(Filler):
    """How large the move tables are, and how they are filled."""

    transforms: Transforms
    classes: RowClasses

    @property
    def frame(self) -> Frame:
        """What rows and columns say."""
        return self.classes.frame

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.classes.count

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self.frame.width

    @cached_property
    def most_moves(self) -> int:
        """The moves of the row that allows most; of an outline the moves that a row can allow."""
        if self.classes.is_outline:
            return len(self.steps.transforms)
        return int(self.reduction.target.shape[1])

    @property
    def most_column_maps(self) -> int:
        """The number of column maps; of an outline more than a sample of rows showed."""
        if self.classes.is_outline:
            return self.sample.expected_maps(self.rows)
        return len(self.reduction.keys)

    @cached_property
    def sample(self) -> RowSample:
        """What some rows show of the tables of an outline."""
        return self._row_tables.sample()

    @property
    def least_table_bytes(self) -> int:
        """A lower bound of the bytes of the move tables: an outline knows only the moves and maps of some rows."""
        if not self.classes.is_outline:
            return self.table_bytes
        each = self.sample.most_moves * (4 if self.width == 1 else 6) + KEPT_BYTES
        rows = self.frame.all_rows // len(self.classes.images)
        return rows * each + self.sample.maps * self.width * COLUMN_BYTES

    def estimated_seconds(self, threads: int) -> float | None:
        """The seconds to list the rows and to fill the tables, of an outline; None where the tables tell."""
        if not self.classes.is_outline:
            return None
        maps = self.most_column_maps * self.width * (len(self.frame.blocks) + 1) * MAP_SECONDS
        return (LISTED_SECONDS * self.frame.all_rows + self.sample.row_seconds * self.rows + maps) / threads

    @cached_property
    def steps(self) -> OrbitSteps:
        """The moves of the tables: transforms that do the same to the row, and exclude each other in the column."""
        return orbit_steps(self.transforms, self.frame)

    @cached_property
    def reduction(self) -> Reduction:
        """The row tables, found once for the planner and the tables."""
        return self._row_tables.fill()

    @property
    def _row_tables(self) -> RowTables:
        return RowTables(self.transforms, self.classes, self.steps, self.folds, self.renamings)

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill the column maps."""
        target, column_map, keys, closing = self.reduction
        maps = np.zeros((len(keys), self.width), dtype=np.int32)
        tables = MoveTables(
            target, column_map, maps, self.transforms.reversible, closing if len(closing.rows) else None
        )
        if self.width == 1:
            return tables, []
        steps = None if self.folds else self.steps
        columns = columns_of(self.frame, self.renamings.tables, self.transforms, steps)
        calls: list[Fill] = [
            partial(fill_maps, maps[first:end], keys[first:end], columns)
            for first, end in blocks(len(keys), self.width * (len(self.frame.blocks) + 1))
        ]
        return tables, calls

    @property
    def table_bytes(self) -> int:
        """An upper bound of the bytes of the move tables, and of what is known of rows."""
        return super().table_bytes + KEPT_BYTES * self.rows

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        effects = 1 if self.folds else len(self.steps.alternatives)
        cases = self.width * (2 * effects * (self.frame.slots + 2) + 8 * len(self.frame.blocks))
        rows = self.rows * (ROW_BYTES + self.frame.places + STEP_BYTES * len(self.steps.transforms))
        if self.classes.is_outline:
            return cases + rows + 2 * self.most_column_maps * self.sample.key_bytes
        return cases + rows + 2 * self.reduction.keys.nbytes

    @property
    def folds(self) -> bool:
        """Whether what a move does to the column is part of the keys: where it is legal whatever the column."""
        return _folds(self.frame, self.transforms)

    @property
    def renamings(self) -> Renamings:
        """How contents of the column are renamed."""
        added = self.transforms.added[self.steps.transforms]
        return renamings_of(self.classes.images, added if self.folds else np.zeros_like(added))


def decides(frame: Frame, transforms: Transforms) -> bool:
    """Whether rows decide rows after moves, and row, or the column without the row, where moves are legal."""
    conditions = transforms.conditions
    if not _moves_whole_parts(frame, transforms):
        return False
    if conditions is None:
        return True
    for place in np.flatnonzero(~frame.column_places).tolist():
        known = np.arange(int(transforms.moduli[place]), dtype=np.uint64)
        legal = (conditions[:, place, np.newaxis] >> known) & np.uint64(1)
        shown = frame.shown[place, : len(known)]
        if any((legal[:, shown == one] != legal[:, shown == one][:, :1]).any() for one in set(shown.tolist())):
            return False
    inside = (frame.block_of >= 0).any(axis=1)
    apart = bool((frame.column_places | ~inside).all()) and all(block.merged is None for block in frame.blocks)
    return (apart and frame.width > 1) or _folds(frame, transforms)  # one column has no maps to say what is illegal


def _moves_whole_parts(frame: Frame, transforms: Transforms) -> bool:
    """Whether no move takes values between row and column."""
    row = frame.radices > 1
    values = np.zeros(frame.places, dtype=np.bool_)
    for part in frame.parts:
        values[part.place_slice] |= isinstance(part, ValuesIndex)
    return bool((row[transforms.origin] == row)[:, values].all())


def _folds(frame: Frame, transforms: Transforms) -> bool:
    return not transforms.conditional[:, frame.column_places].any()
