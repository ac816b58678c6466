"""Quotients: how a search finds the entries of a table that is reduced by symmetries.

A reduced table contains one row of each symmetry class of rows (see `antipodes_tasks.spaces.reduced_numbering`). A
search follows the row and the column of a position in the numbering of *all* positions, which takes only look-ups in
small tables. For each of these rows, the quotient contains the representative row, and the column map of a symmetry
that maps the row to its representative.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.searches.digits import Digit, digits_of
from antipodes_tasks.searches.progress import Heartbeat, no_pulse
from antipodes_tasks.searches.random_positions import solvable_sample
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.reduced_rows import KeyLines, KeyNumbers
from antipodes_tasks.spaces.reduced_tables import ReducedTables
from antipodes_tasks.spaces.row_classes import RowClasses, RowNumbers, find_row_numbers
from antipodes_tasks.spaces.row_tables import RowTables
from antipodes_tasks.spaces.rows_and_columns import Cut
from antipodes_tasks.spaces.space import Numbering, Space

MAX_ROWS = 1 << 27
"""Maximum number of rows before the reduction, since memory holds a number for each of them."""
MAX_MAP_ENTRIES = 1 << 26
"""Maximum number of entries of all column maps of a quotient, four bytes each."""
MAX_PAIRS = 1 << 26
"""Maximum number of pairs of a column map's key and a symmetry, which are counted."""
ROWS_AT_ONCE = 1 << 18
"""Number of rows that a thread maps to their representatives at once."""


@dataclass(frozen=True, eq=False)
class Quotient:
    """The representative of each row of all positions, and the map of the row's columns."""

    space: Space
    """The reduced space."""
    numbering: Numbering
    """The numbering of all positions, as ``row * width + column``. Only the last of its digits is the column."""
    class_of: NDArray[np.uint32]
    """``(rows,)``: the number of the representative row, shifted left by ``bits``, plus the number of the column map.
    """
    maps: NDArray[np.int32]
    """``(column maps, width)``: for each column of a row, the column of the representative row with the same entry."""
    symmetries: NDArray[np.uint16]
    """``(column maps,)``: the number of the symmetry that each column map belongs to."""
    moves: Numbers
    """``(symmetries, moves)``: the image of each move under each symmetry."""

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.maps.shape[1])

    @property
    def bits(self) -> int:
        """Number of bits of a column map's number in ``class_of``."""
        return (len(self.maps) - 1).bit_length()

    def located(self, indices: Numbers) -> tuple[Numbers, Numbers]:
        """Return the entries of the reduced table for indices ``(n,)`` in the numbering of all positions.

        Also return, for each of them, the number of the symmetry that maps its row to the representative row.
        """
        row, column = np.divmod(indices, self.width)
        chosen = self.class_of[row].astype(np.int64)
        of_map = chosen & ((1 << self.bits) - 1)
        entries: Numbers = (chosen >> self.bits) * self.width + self.maps[of_map, column]
        return entries, self.symmetries[of_map].astype(np.int64)


class MappedRows(NamedTuple):
    """Some rows of all positions, after symmetries have mapped them to other rows."""

    classes: NDArray[np.integer]
    """``(n,)``: the numbers of the other rows."""
    symmetries: NDArray[np.integer]
    """``(n,)``: the numbers of the symmetries."""
    keys: KeyLines
    """``(n, key length)``: the keys of the column maps."""


@dataclass(frozen=True, eq=False)
class Representatives:
    """Finds the representative rows of a reduced space, for several threads."""

    classes: RowClasses
    tables: RowTables
    numbers: RowNumbers

    @classmethod
    def of(cls, space: Space) -> Self:
        """Return what finds the representative rows of a reduced space."""
        stored, filler = space.numbering, space.filler
        assert isinstance(stored, Reduced)
        assert isinstance(filler, ReducedTables)
        found = cls(stored.classes, filler.row_tables, stored.classes.row_numbers())
        found.mapped(np.zeros(1, dtype=np.int64), stored)  # computes what all threads share
        return found

    def mapped(self, rows: Numbers, numbering: Numbering) -> MappedRows:
        """Return rows ``(n,)`` of a numbering of all positions, mapped to their representatives."""
        labels = numbering.unrank(rows * self.classes.frame.width)
        least = self.classes.minimum_images(labels)
        found = np.empty(len(rows), dtype=np.int64)
        find_row_numbers(least.keys, self.numbers, found)
        assert found.min() >= 0  # both numberings number the same positions
        return MappedRows(found, least.symmetries, self.tables.keys_of_images(labels, least.symmetries))

    def mapped_by(self, rows: Numbers, numbering: Numbering, symmetries: NDArray[np.integer]) -> KeyLines:
        """Return the keys of the column maps of symmetries ``(n,)`` that map rows ``(n,)``."""
        labels = numbering.unrank(rows * self.classes.frame.width)
        return self.tables.keys_of_images(labels, symmetries.astype(np.int64))


class RowMaps(NamedTuple):
    """Rows of all positions, and the column maps of the symmetries that have mapped them to other rows."""

    classes: NDArray[np.uint32]
    """``(rows,)``: the numbers of the other rows."""
    numbers: NDArray[np.uint32]
    """``(rows,)``: the number of the column map."""
    maps: NDArray[np.int32]
    """``(column maps, width)``: for each column in the numbering of all positions, the column of the other row."""
    symmetries: NDArray[np.uint16]
    """``(column maps,)``: the number of the symmetry that each column map belongs to."""


def number_maps(space: Space, numbering: Numbering, found: Iterator[MappedRows], rows: int) -> RowMaps | None:
    """Number the column maps of ``rows`` rows of a numbering of all positions, found in order.

    Returns None if the column maps would take too much memory.
    """
    stored, filler = space.numbering, space.filler
    assert isinstance(stored, Reduced)
    assert isinstance(filler, ReducedTables)
    classes, pairs, keys = np.empty(rows, dtype=np.uint32), np.empty(rows, dtype=np.int64), None
    first, symmetries, width = 0, len(stored.images), stored.width
    for some in found:
        keys = keys or KeyNumbers.empty(some.keys.shape[1])
        end = first + len(some.classes)
        classes[first:end] = some.classes
        pairs[first:end] = keys.add(some.keys).astype(np.int64) * symmetries + some.symmetries
        first = end
    assert keys is not None
    if keys.count * symmetries > MAX_PAIRS:
        return None
    counts = np.bincount(pairs)
    known, numbers = np.flatnonzero(counts), (np.cumsum(counts > 0) - 1).astype(np.uint32)
    if len(known) * width > MAX_MAP_ENTRIES:
        return None
    of_key, of_symmetry = np.divmod(known, symmetries)
    columns = stored.frame.columns(numbering.unrank(np.arange(width)))
    assert columns.min() >= 0  # both numberings number the same positions
    maps = filler.maps_of(keys.known[of_key])[:, columns]
    return RowMaps(classes, numbers[pairs], maps, of_symmetry.astype(np.uint16))


def quotient_of(space: Space, threads: int, pulse: Heartbeat = no_pulse) -> Quotient | None:
    """Return the quotient of a reduced space in which all moves are legal everywhere.

    Returns None if the quotient would take too much memory, or if `moves_of` returns None. ``pulse``
    may interrupt the work.
    """
    stored = space.numbering
    assert isinstance(stored, Reduced)
    moves = moves_of(space.rules, stored.images)
    if stored.frame.all_rows > MAX_ROWS or moves is None:
        return None
    numbering = followed_numbering(space.rules, stored)
    rows, representatives = numbering.size // stored.width, Representatives.of(space)

    def mapped(first: int) -> MappedRows:
        return representatives.mapped(np.arange(first, min(first + ROWS_AT_ONCE, rows)), numbering)

    each = on_threads(mapped, range(0, rows, ROWS_AT_ONCE), threads, pulse)
    found = number_maps(space, numbering, each, rows)
    if found is None:
        return None
    bits = (len(found.maps) - 1).bit_length()
    if stored.rows << bits > 1 << 32:
        return None
    class_of = found.classes << np.uint32(bits)
    class_of |= found.numbers
    return Quotient(space, numbering, class_of, found.maps, found.symmetries, moves)


def followed_digits(numbering: Numbering, rules: Rules, width: int) -> tuple[Digit, ...]:
    """Return the digits of an index in a `followed_numbering`; the last is the column and the others form the row."""
    digits = digits_of(numbering, rules)
    if width > 1:
        return digits
    return *digits, Digit(1, 1, np.zeros((1, len(rules.moves) + 1), dtype=np.int32))


def followed_numbering(rules: Rules, stored: Reduced) -> Numbering:
    """Return a numbering of all positions with the rows and columns of a reduced numbering.

    If the cut leaves each part whole and the column is a single part, the digits of the index are the parts, so that
    each move changes them independently.
    """
    whole = Orbits.of(rules)
    columns = [number for number, inside in enumerate(_in_column(stored.frame)) if inside]
    if None in _in_column(stored.frame) or len(columns) > 1:
        return Reduced(stored.whole, stored.frame, Images.trivial(moduli_of(rules.parts)))
    order = [*(number for number in range(len(whole.parts)) if number not in columns), *columns]
    return replace(
        whole,
        parts=tuple(whole.parts[number] for number in order),
        divisible_from=tuple(whole.divisible_from[number] for number in order),
    )


def _in_column(frame: Cut) -> list[bool | None]:
    """Return for each part whether it is in the column; None if it is divided between row and column."""
    found = list[bool | None]()
    for number, part in enumerate(frame.parts):
        sizes = [block.end - block.first for block in frame.blocks if block.part == number]
        whole = part.place_slice.stop - part.place_slice.start
        found.append(False if not sizes else True if sizes == [whole] else None)
    return found


def moves_of(rules: Rules, images: Images) -> Numbers | None:
    """Return the image of each move under each symmetry, ``(symmetries, moves)``.

    The symmetries must map moves to moves. Returns None if different moves have equal effects on random positions.
    """
    transforms = transforms_of(rules)
    different = len(np.unique(np.concatenate((transforms.origin, transforms.added), axis=1), axis=0))
    labels = solvable_sample(rules, rules.start_labels[0])

    def after(positions: Labels) -> Labels:
        return transforms.successors_many(positions).positions.swapaxes(0, 1)

    own, found = after(labels), list[list[int]]()
    for number in range(len(images)):
        chosen = np.full(len(labels), number)
        moved = {one.tobytes(): move for move, one in enumerate(after(images.image(labels, chosen)))}
        if len(moved) < different:
            return None
        found.append([moved[images.image(one, chosen).tobytes()] for one in own])
    return np.array(found, dtype=np.int64)
