"""The move tables of a space that is reduced by symmetries.

A move leads from a kept row to a row, and a symmetry from there to the least row of its class. Together they rearrange
the contents of the column and rename them: that is the column map. Few different ones occur, so each is written down as
a *key* first, from which place each content comes and how it is renamed, and only different keys are computed.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.frames import Frame
from antipodes_tasks.spaces.move_tables import ILLEGAL, Closing, ColumnMap, Fill, Filler, MoveTables, blocks, map_type
from antipodes_tasks.spaces.orbit_parts import ValuesIndex
from antipodes_tasks.spaces.orbit_steps import OrbitSteps, orbit_steps
from antipodes_tasks.spaces.reduced_columns import columns_of, fill_maps
from antipodes_tasks.spaces.reduced_rows import (
    KeyLines,
    KeyNumbers,
    Renamings,
    Shape,
    Steps,
    find_stabilisers,
    put_numbers,
    reduce_rows,
    renamings_of,
)
from antipodes_tasks.spaces.row_classes import RowClasses

ROW_BYTES, STEP_BYTES = 32, 12
"""Bytes of a kept row, and of a move from it, besides the tables: key, weight, and tables before they are shortened."""
LINES = 1 << 16
"""Keys that are found before they are numbered."""


class Reduction(NamedTuple):
    """The row tables of a reduced space, and the keys of its column maps."""

    target: NDArray[np.int32]
    column_map: ColumnMap
    keys: KeyLines
    """``(column maps, key)``; number 0 is the identity."""
    closing: Closing


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
        return len(self.classes.keys)

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self.frame.width

    @cached_property
    def most_moves(self) -> int:
        """The moves of the row that allows most."""
        return int(self.reduction.target.shape[1])

    @property
    def most_column_maps(self) -> int:
        """The number of column maps."""
        return len(self.reduction.keys)

    @cached_property
    def steps(self) -> OrbitSteps:
        """The moves of the tables: transforms that do the same to the row, and exclude each other in the column."""
        return orbit_steps(self.transforms, self.frame)

    @cached_property
    def reduction(self) -> Reduction:
        """The row tables, found once for the planner and the tables."""
        return _reduction(self)

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

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        effects = 1 if self.folds else len(self.steps.alternatives)
        cases = self.width * (2 * effects * (self.frame.slots + 2) + 8 * len(self.frame.blocks))
        rows = self.rows * (ROW_BYTES + self.frame.places + STEP_BYTES * len(self.steps.transforms))
        return cases + rows + 2 * self.reduction.keys.nbytes

    @property
    def folds(self) -> bool:
        """Whether what a move does to the column is part of the keys: where it is legal whatever the column."""
        return _folds(self.frame, self.transforms)

    @property
    def variants(self) -> int:
        """In how many ways parity can tell labels apart."""
        return 1 << sum(block.merged is not None for block in self.frame.blocks)

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
        values[part.at] |= isinstance(part, ValuesIndex)
    return bool((row[transforms.origin] == row)[:, values].all())


def _folds(frame: Frame, transforms: Transforms) -> bool:
    return not transforms.conditional[:, frame.column_places].any()


def _reduction(tables: ReducedTables) -> Reduction:
    frame, classes = tables.frame, tables.classes
    rows = classes.rows()
    steps, shape = _steps(tables), _shape(classes)
    renamings = tables.renamings
    variants = _variants(frame, rows)
    length = 2 * frame.slots + 2
    numbers = KeyNumbers.empty(length)
    numbers.add(_identities(frame, tables.variants))
    count = len(steps.origin)
    target = np.empty((len(rows), count), dtype=np.int32)
    column_map = np.zeros((len(rows), count if frame.width > 1 else 0), dtype=np.int32)
    batch = max(1, LINES // max(1, count))
    for first in range(0, len(rows), batch):
        here = slice(first, first + batch)
        lines = np.zeros((len(rows[here]) * count, length), dtype=np.int16)
        found = int(reduce_rows(rows[here], variants[here], steps, shape, renamings[1:], target[here], lines))
        if frame.width > 1:
            put_numbers(target[here], numbers.add(lines[:found]), column_map[here])
    closing = _closing(tables, rows, variants, shape, renamings, numbers)
    identities = tables.variants
    most = int((target != ILLEGAL).sum(axis=1).max(initial=0))
    maps = numbers.count - identities + 1
    to = np.maximum(np.arange(numbers.count) - identities + 1, 0).astype(map_type(maps))
    renumbered = to[column_map[:, :most]] if frame.width > 1 else np.zeros((len(rows), 0), dtype=map_type(maps))
    keys = np.concatenate((numbers.keys[:1], numbers.keys[identities : numbers.count]))
    maps_of = to[closing.maps].astype(np.int32)
    return Reduction(np.ascontiguousarray(target[:, :most]), renumbered, keys, _without_identity(closing, maps_of))


def _without_identity(closing: Closing, maps: NDArray[np.int32]) -> Closing:
    """The closing with these numbers of maps, each once in a row, without the identity and rows that need no other."""
    rows = np.repeat(np.arange(len(closing.rows)), np.diff(closing.begins))
    pairs = np.unique(np.stack((rows, maps)), axis=1)
    rows, maps = pairs[:, pairs[1] != 0]
    kept, counts = np.unique(rows, return_counts=True)
    begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Closing(closing.rows[kept], begins, maps.astype(np.int32))


def _identities(frame: Frame, variants: int) -> KeyLines:
    """The keys that leave all columns, one for each way in which parity tells labels apart."""
    lines = np.zeros((variants, 2 * frame.slots + 2), dtype=np.int16)
    lines[:, 0:-2:2] = np.arange(frame.slots)
    lines[:, -1] = np.arange(variants)
    return lines


def _closing(
    tables: ReducedTables,
    rows: Labels,
    variants: NDArray[np.int64],
    shape: Shape,
    renamings: Renamings,
    numbers: KeyNumbers,
) -> Closing:
    """The rows that symmetries map to themselves, and the column maps of these."""
    chosen = np.flatnonzero(tables.classes.weights < len(tables.classes.images))
    begins = np.concatenate(([0], np.cumsum(len(tables.classes.images) // tables.classes.weights[chosen] - 1)))
    lines = np.zeros((int(begins[-1]), 2 * tables.frame.slots + 2), dtype=np.int16)
    if len(lines):
        find_stabilisers(rows[chosen], variants[chosen], shape, renamings[1:], lines)
    maps = numbers.add(lines) if tables.frame.width > 1 else np.zeros(len(lines), dtype=np.int32)
    return Closing(chosen.astype(np.int32), begins.astype(np.int64), maps)


def _variants(frame: Frame, rows: Labels) -> NDArray[np.int64]:
    """How parity tells labels apart in the first column of rows, given by their positions ``(n, places)``, ``(n,)``."""
    variants, bit = np.zeros(len(rows), dtype=np.int64), 0
    for block in frame.blocks:
        if block.merged is not None:
            here = rows[:, frame.parts[block.part].at]
            low, high = ((here == label).argmax(axis=1) for label in block.merged)
            variants += (low > high).astype(np.int64) << bit
            bit += 1
    return variants


def _steps(tables: ReducedTables) -> Steps:
    """The moves of the tables, and at last one that changes nothing."""
    transforms, steps, frame = tables.transforms, tables.steps, tables.frame
    conditions = transforms.conditions
    allowed = np.zeros((0, frame.places), dtype=np.uint64)
    if conditions is not None:
        allowed = np.where(frame.column_places, ~np.uint64(0), conditions[steps.transforms])
    effects = np.zeros(len(steps.transforms), dtype=np.int64) if tables.folds else steps.actions + 1
    return Steps(
        transforms.origin[steps.transforms].astype(np.int64),
        transforms.added[steps.transforms].astype(np.int64),
        allowed,
        effects,
    )


def _shape(classes: RowClasses) -> Shape:
    images, frame = classes.images, classes.frame
    return Shape(
        images.moduli,
        classes.lookup,
        images.origins,
        images.labels,
        images.turns,
        images.carriers,
        frame.block_of,
        np.array([block.first for block in frame.blocks], dtype=np.int64),
        classes.keys,
    )
