"""The row tables of a reduced space, and the keys of its column maps. Several threads fill row blocks in parallel.

The target of a row under a move is the representative of the row after the move, found by its key. While row blocks are
filled, each thread numbers the keys of column maps independently. Afterwards, common numbers replace these numbers.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.parallel import in_threads
from antipodes_tasks.move_tables import Closing, ColumnMap, index_bytes, index_type
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit_steps import OrbitSteps
from antipodes_tasks.spaces.reduced_rows import (
    STAY,
    UNKNOWN,
    CutArrays,
    KeyLines,
    KeyNumbers,
    Moved,
    Renamings,
    RowMoves,
    find_stabilisers,
    put_numbers,
    reduce_rows,
    write_keys,
)
from antipodes_tasks.spaces.row_classes import RowClasses, RowNumbers
from antipodes_tasks.spaces.row_images import RowImages
from antipodes_tasks.spaces.rows_and_columns import NO_BLOCK, Cut

LINES = 1 << 16
"""Number of keys that are computed before they are numbered."""
SAMPLED_LINES = 1 << 17
"""Number of keys that are computed for a sample."""
INDEX_BYTES, LISTING_BYTES = 12, 64
"""Bytes of each row while the tables are filled: of its key in the index of keys; and of the arrays from which the rows
are listed and this index is made, before there are any tables."""
LINE_BYTES, PLACE_BYTES = 48, 32
"""Bytes of a thread for each key: its move, symmetry and number; and for each place of a row, to compute its label."""
FILLING, NUMBERING = "filling the move tables", "numbering the column maps"
"""Names of the two steps in progress reports."""


class Reduction(NamedTuple):
    """The row tables of a reduced space, and the keys of its column maps."""

    target: NDArray[np.int32]
    column_map: ColumnMap
    keys: KeyLines
    """``(column maps, key)``; number 0 is the identity."""
    closing: Closing


class RowSample(NamedTuple):
    """Statistics about the tables, from a sample of rows."""

    rows: int
    """Number of rows in the sample."""
    maps: int
    """Number of different column maps of these rows."""
    maps_of_half: int
    """Number of different column maps of the first half of these rows."""
    max_moves: int
    """Maximum number of legal moves of a row."""
    row_seconds: float
    """Thread seconds for each row."""

    def expected_maps(self, rows: int) -> int:
        """Return a number of column maps that is likely to be enough for ``rows`` rows: twice an estimate of the total.

        The estimate assumes that each half of the sample contains the same fraction of the maps not seen before. If the
        first half contains ``n`` maps and the whole sample contains ``m``, there are about ``n^2 / (2n - m)`` maps.
        """
        most = rows * self.max_moves + 1
        unknown = 2 * self.maps_of_half - self.maps
        return most if unknown <= 0 else min(most, 2 * max(self.maps, self.maps_of_half**2 // unknown))


class _Block(NamedTuple):
    """The result of filling a row block."""

    rows: slice
    numbers: KeyNumbers
    """The numbers of column maps within the block."""
    max_moves: int
    """Maximum number of legal moves of a row."""


@dataclass(frozen=True, eq=False)
class RowTables:
    """The data from which the row tables are computed."""

    transforms: Transforms
    classes: RowClasses
    steps: OrbitSteps
    legal_moves: int
    """Upper bound on the number of legal moves of a row."""
    folds: bool
    """Whether the renamings include the effects of moves on the column."""
    renamings: Renamings
    _spare: list[KeyNumbers] = field(default_factory=list)
    """Hash tables of keys that no thread is using at the moment."""

    def fill(self) -> Reduction:
        """Return the filled row tables."""
        count = min(self.legal_moves, len(self._arrays[0].origin))
        rows, width = len(self.classes.keys), self._frame.width
        target = np.empty((rows, count), dtype=np.int32)
        column_map = np.zeros((rows, count if width > 1 else 0), dtype=np.int32)
        batch = max(1, LINES // max(1, count))
        calls = [
            partial(self._fill_block, slice(first, min(first + batch, rows)), target, column_map)
            for first in range(0, rows, batch)
        ]
        blocks = in_threads(FILLING, calls)
        calls.clear()  # frees the longer target in the next lines
        self._spare.clear()
        most = max(block.max_moves for block in blocks)
        target = np.ascontiguousarray(target[:, :most])
        if width == 1:
            nothing = Closing(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
            return Reduction(target, np.zeros((rows, 0), dtype=np.int16), _identities(self._frame, 1), nothing)
        return self._numbered(target, column_map, blocks, most)

    def sample(self) -> RowSample:
        """Return statistics about a sample of rows, including the time per row; the rows need not be listed."""
        count = max(2, SAMPLED_LINES // max(1, len(self._moves.origin)))
        halves = np.array_split(self.classes.sampled_rows(count), 2)
        numbers, maps, most, seconds = KeyNumbers.empty(self._key_length), list[int](), 0, 0.0
        identities = len(numbers.add(_identities(self._frame, self._variants)))
        self._moved(halves[0][:1])  # loads the kernels
        for rows in halves:
            begin = time.perf_counter()
            moved = self._moved(rows)
            if self._frame.width > 1:
                numbers.add(self._keys(rows, moved))
            seconds = time.perf_counter() - begin
            maps.append(numbers.count - identities + 1)
            most = max(most, int(np.bincount(moved.of, minlength=1).max()))
        return RowSample(count, maps[1], maps[0], most, seconds / len(halves[1]))

    def keys_of_images(self, rows: Labels, symmetries: NDArray[np.int64]) -> KeyLines:
        """Return the keys ``(n, key length)`` of the column maps of symmetries ``(n,)``, which follow no move.

        Each symmetry maps the row of one of the positions ``rows`` ``(n, places)``, which are in the first column of
        their rows.
        """
        every = np.arange(len(rows), dtype=np.int32)
        return self._keys(rows, Moved(every, symmetries.astype(np.int32), np.full(len(rows), STAY, dtype=np.int32)))

    def _moved(self, rows: Labels) -> Moved:
        """Return the images of some rows after moves, without the numbers of the target rows."""
        steps, shape, images = self._arrays_of_moves
        nowhere = RowNumbers.of(np.zeros(1, dtype=np.uint64))
        target = np.empty((len(rows), len(steps.origin)), dtype=np.int32)
        moved = Moved.room(target.size)
        return moved.first(int(reduce_rows(rows, steps, shape.moduli, images, nowhere, target, moved)))

    def _numbered(
        self, target: NDArray[np.int32], column_map: NDArray[np.int32], blocks: Sequence[_Block], max_moves: int
    ) -> Reduction:
        """Return the tables with common numbers. The keys of the identity, one for each variant, get number 0."""
        numbers = KeyNumbers.empty(self._key_length)
        identities = len(numbers.add(_identities(self._frame, self._variants)))
        known = {id(block.numbers): block.numbers for block in blocks}
        to = {name: numbers.add(own.known) for name, own in known.items()}
        closing = self._closing(numbers)
        maps = numbers.count - identities + 1
        place = np.maximum(np.arange(numbers.count) - identities + 1, 0).astype(index_type(maps))
        renumbered: ColumnMap = column_map
        if (max_moves, index_type(maps)) != (column_map.shape[1], column_map.dtype):
            renumbered = np.empty((len(target), max_moves), dtype=index_type(maps))

        def renumber(block: _Block) -> None:
            renumbered[block.rows] = place[to[id(block.numbers)]][column_map[block.rows, :max_moves]]

        in_threads(NUMBERING, [partial(renumber, block) for block in blocks])
        keys = np.concatenate((numbers.known[:1], numbers.known[identities:]))
        return Reduction(target, renumbered, keys, _without_identity(closing, place[closing.maps].astype(np.int32)))

    @property
    def _frame(self) -> Cut:
        return self.classes.frame

    @property
    def _key_length(self) -> int:
        return 2 * self._frame.slots + 2

    def building_bytes(self, threads: int, maps: int, max_moves: int) -> int:
        """Return an upper bound on the bytes in use while ``threads`` threads fill the tables, the tables included.

        ``maps`` is the number of column maps, and ``max_moves`` the maximum number of legal moves of a row.
        """
        rows, moves, key_bytes = self.classes.count, self.legal_moves, 2 * self._key_length
        numbers = 0 if self._frame.width == 1 else 4
        copies = 4 if max_moves < moves else 2 if numbers and index_bytes(maps) == 2 else 0
        tables = rows * max(LISTING_BYTES, INDEX_BYTES + (4 + numbers) * moves + copies * max_moves)
        lines = min(LINES + moves, rows * moves)
        block = lines * (2 * key_bytes + LINE_BYTES) + lines // max(1, moves) * PLACE_BYTES * self._frame.places
        numbered = (threads + 1) * (maps + lines) + self._stabilising
        return tables + threads * block + numbered * (3 * key_bytes + LINE_BYTES)

    @property
    def _stabilising(self) -> int:
        """Number of pairs of a row and another symmetry than the identity that maps it to itself; 0 for an outline."""
        if self.classes.is_outline:
            return 0
        order, weights = len(self.classes.images), self.classes.weights
        return int((order // weights[weights < order] - 1).sum())

    @property
    def _variants(self) -> int:
        """Number of variants of a key. Each block in which parity determines the order of two labels doubles it."""
        return 1 << sum(block.merged is not None for block in self._frame.blocks)

    def _fill_block(self, here: slice, target: NDArray[np.int32], column_map: NDArray[np.int32]) -> _Block:
        """Fill a row block, in which column maps have the numbers that this thread gives them."""
        rows = self.classes.rows(here.start, here.stop)
        steps, shape, images, kept = self._arrays
        moved = Moved.room(len(rows) * target.shape[1])
        found = int(reduce_rows(rows, steps, shape.moduli, images, kept, target[here], moved))
        numbers = self._spare.pop() if self._spare else KeyNumbers.empty(self._key_length)
        if column_map.shape[1]:
            put_numbers(target[here], numbers.add(self._keys(rows, moved.first(found))), column_map[here])
        self._spare.append(numbers)
        return _Block(here, numbers, int((target[here] >= 0).sum(axis=1).max(initial=0)))

    def _closing(self, numbers: KeyNumbers) -> Closing:
        """Return the rows with a nontrivial stabiliser and their column maps, which may include the identity."""
        order, weights = len(self.classes.images), self.classes.weights
        chosen = np.flatnonzero(weights < order)
        begins = np.concatenate(([0], np.cumsum(order // weights[chosen] - 1)))
        rows, moved = self.classes.rows_of(chosen), Moved.room(int(begins[-1]))
        if len(rows):
            find_stabilisers(rows, self._arrays[2], moved)
        lines = self._keys(rows, moved)
        return Closing(chosen.astype(np.int32), begins.astype(np.int64), numbers.add(lines))

    def _keys(self, rows: Labels, moved: Moved) -> KeyLines:
        """Return the keys of the column maps that belong to the images in ``moved``."""
        lines = np.zeros((len(moved.of), self._key_length), dtype=np.int16)
        if len(lines):
            steps, shape, _ = self._arrays_of_moves
            write_keys(rows, _variants(self._frame, rows), moved, steps, shape, self.renamings[1:], lines)
        return lines

    @cached_property
    def _arrays(self) -> tuple[RowMoves, CutArrays, RowImages, RowNumbers]:
        """The arrays for kernels, computed before threads use them."""
        return *self._arrays_of_moves, self.classes.row_numbers()

    @cached_property
    def _arrays_of_moves(self) -> tuple[RowMoves, CutArrays, RowImages]:
        """The same as `_arrays` without the representative rows."""
        return self._moves, self._shape, self.classes.row_images

    @property
    def _moves(self) -> RowMoves:
        """The moves of the tables, as they act on rows."""
        conditions, transforms = self.transforms.conditions, self.steps.transforms
        allowed = np.zeros((0, self._frame.places), dtype=np.uint64)
        if conditions is not None:
            allowed = np.where(self._frame.column_places, ~np.uint64(0), conditions[transforms])
        effects = np.zeros(len(transforms), dtype=np.int64) if self.folds else self.steps.actions + 1
        added = self.transforms.added[transforms].astype(np.int64)
        return RowMoves(self.transforms.origin[transforms].astype(np.int64), added, allowed, effects)

    @property
    def _shape(self) -> CutArrays:
        images, frame = self.classes.images, self._frame
        known = np.arange(frame.labels) < images.moduli[:, np.newaxis]
        least = np.where(known, frame.block_of, len(frame.blocks)).min(axis=1)
        most = np.where(known, frame.block_of, NO_BLOCK).max(axis=1)
        return CutArrays(
            images.moduli,
            images.origins,
            images.labels,
            images.turns,
            images.carriers,
            frame.block_of,
            firsts=np.array([block.first for block in frame.blocks], dtype=np.int64),
            held=np.flatnonzero(most != NO_BLOCK),
            always=np.where(least == most, most, UNKNOWN).astype(np.int64),
        )


def _without_identity(closing: Closing, maps: NDArray[np.int32]) -> Closing:
    """Return the closing with the final numbers ``maps``, without repetitions and without the identity.

    Rows for which no map is left are omitted.
    """
    rows = np.repeat(np.arange(len(closing.rows)), np.diff(closing.begins))
    pairs = np.unique(np.stack((rows, maps)), axis=1)
    rows, maps = pairs[:, pairs[1] != 0]
    kept, counts = np.unique(rows, return_counts=True)
    begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Closing(closing.rows[kept], begins, maps.astype(np.int32))


def _identities(frame: Cut, variants: int) -> KeyLines:
    """Return the keys of the identity, one for each variant."""
    lines = np.zeros((variants, 2 * frame.slots + 2), dtype=np.int16)
    lines[:, 0:-2:2] = np.arange(frame.slots)
    lines[:, -1] = np.arange(variants)
    return lines


def _variants(frame: Cut, rows: Labels) -> NDArray[np.int64]:
    """Return the variant ``(n,)`` of each row.

    It has a bit for each block with two merged labels, which is set if the first column has them in reverse order.
    """
    variants, bit = np.zeros(len(rows), dtype=np.int64), 0
    for block in frame.blocks:
        if block.merged is not None:
            here = rows[:, frame.parts[block.part].place_slice]
            low, high = ((here == label).argmax(axis=1) for label in block.merged)
            variants += (low > high).astype(np.int64) << bit
            bit += 1
    return variants
