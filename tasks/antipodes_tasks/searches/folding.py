"""Folding: reducing a pattern table by its own symmetries to one representative row per class of symmetric rows.

A symmetry of a pattern preserves distances. One digit of an entry is chosen as its column; the other digits are its
row. If a symmetry maps rows to rows and columns to columns independently, the entries of a row are the entries of its
image, permuted by a column map. A folded table is much smaller, so it may fit in the processor's caches. Before the
folded table is used, it is compared with every entry of the original table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import Numbers
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.digits import Digit
from antipodes_tasks.searches.progress import Heartbeat, no_pulse, on_threads
from antipodes_tasks.spaces.space import Numbering

MAX_ROWS, MAX_SYMMETRIES = 1 << 22, 1 << 8
"""Maximum number of rows of a table that is folded (memory holds a number per row), and of its symmetries."""
LEAST_ENTRIES = 1 << 22
"""Minimum number of entries of a table that is folded; smaller tables stay in the caches anyway."""
ROWS_AT_ONCE = 1 << 12
UNKNOWN = -1
Entries = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Folding:
    """The representative of each row of a table, and the map of the row's columns."""

    column: int
    """Number of the digit that is the column; all other digits, in order, form the row."""
    class_of: NDArray[np.uint32]
    """``(rows,)``: the number of the row's class, shifted left by ``bits``, plus the number of the row's column map."""
    maps: NDArray[np.int32]
    """``(column maps, width)``: for each column of a row, the column of the representative row with the same entry."""
    moves: Numbers
    """``(column maps, moves)``: the image of each move under the symmetry of the column map."""
    bits: int
    """Number of bits of a column map's number in ``class_of``."""
    classes: int
    """Number of representative rows."""

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.maps.shape[1])

    def rows_and_columns(self, indices: Numbers, digits: Sequence[Digit]) -> tuple[Numbers, Numbers]:
        """Return the rows and the columns of entries ``(n,)`` of the table."""
        split = [indices // digit.weight % digit.size for digit in digits]
        column, row = split.pop(self.column), np.zeros_like(indices)
        for own, digit in zip(split, (digit for k, digit in enumerate(digits) if k != self.column), strict=True):
            row = row * digit.size + own
        return row, column

    def entries(self, indices: Numbers, digits: Sequence[Digit]) -> Numbers:
        """Return the entries of the folded table that correspond to entries ``(n,)`` of the original table."""
        row, column = self.rows_and_columns(indices, digits)
        chosen = self.class_of[row].astype(np.int64)
        places: Numbers = (chosen >> self.bits) * self.width + self.maps[chosen & ((1 << self.bits) - 1), column]
        return places


def folding_of(
    rules: Rules, numbering: Numbering, digits: Sequence[Digit], pulse: Heartbeat = no_pulse
) -> Folding | None:
    """Return the folding of a pattern's table that leaves the fewest entries; None if the table cannot be folded.

    ``pulse`` may interrupt the search.
    """
    if any(digit.maps is not None for digit in digits) or len(digits) < 2:
        return None
    found = symmetries_of(rules)
    if found.order == 1 or found.order > MAX_SYMMETRIES:
        return None
    moves = np.array([one.moves for one in found.elements()], dtype=np.int64)
    start = int(numbering.rank(rules.start_labels[:1])[0])
    foldings = (_folded_by(column, digits, moves, start, pulse) for column in range(len(digits)))
    return min((one for one in foldings if one is not None), key=lambda one: one.classes * one.width, default=None)


def _folded_by(column: int, digits: Sequence[Digit], moves: Numbers, start: int, pulse: Heartbeat) -> Folding | None:
    """Return the folding in which digit ``column`` is the column.

    Returns None if there are too many rows, or if only the identity maps rows and columns independently.
    """
    rest = [digit for k, digit in enumerate(digits) if k != column]
    if prod(digit.size for digit in rest) > MAX_ROWS:
        return None
    after, of_start = row_moves(digits, column), 0
    for digit in rest:
        of_start = of_start * digit.size + start // digit.weight % digit.size
    columns = np.ascontiguousarray(digits[column].after[:, :-1])
    own = start // digits[column].weight % digits[column].size
    least, chosen, maps = (
        np.arange(len(after), dtype=np.int32),
        np.zeros(len(after), dtype=np.uint32),
        list[NDArray[np.int32]](),
    )
    images = list[Numbers]()
    for image in moves:
        pulse()
        of_columns, of_rows = (np.full(len(table), UNKNOWN, dtype=np.int32) for table in (columns, after))
        fits = follow(columns, own, image, of_columns, np.empty(len(columns), dtype=np.int32))
        if fits and follow(after, of_start, image, of_rows, np.empty(len(after), dtype=np.int32)):
            if not maps and not np.array_equal(of_rows, least):
                return None  # the first symmetry is the identity
            less = of_rows < least
            least[less], chosen[less] = of_rows[less], len(maps)
            maps.append(of_columns)
            images.append(image)
    if len(maps) < 2:
        return None
    kept, number = np.unique(least, return_inverse=True)
    bits = (len(maps) - 1).bit_length()
    class_of = (number.astype(np.uint32) << np.uint32(bits)) | chosen
    return Folding(column, class_of, np.array(maps), np.array(images), bits, len(kept))


def row_moves(digits: Sequence[Digit], column: int) -> NDArray[np.int32]:
    """Return the row after each move, ``(rows, moves)``; all digits except ``column`` form the row."""
    rest = [digit for k, digit in enumerate(digits) if k != column]
    after = np.zeros((1, rest[0].after.shape[1] - 1), dtype=np.int32)
    for digit in rest:
        both = after[:, np.newaxis] * np.int32(digit.size) + digit.after[np.newaxis, :, :-1]
        after = both.reshape(-1, after.shape[1])
    return after


@kernel
def follow(
    after: NDArray[np.int32], start: int, image: Numbers, found: NDArray[np.int32], waiting: NDArray[np.int32]
) -> bool:
    """Compute the map of values that fixes the start and maps each move to its image; return whether it exists.

    ``after`` ``(values, moves)`` contains the value after each move. Every value must be reachable from the start. The
    map is written to ``found``, which must be filled with UNKNOWN; ``waiting`` is scratch memory.
    """
    found[start], waiting[0], size = start, start, 1
    for i in range(len(after)):
        if i == size:
            return False
        value = waiting[i]
        for move in range(after.shape[1]):
            to, expected = after[value, move], after[found[value], image[move]]
            if found[to] == UNKNOWN:
                found[to], waiting[size] = expected, to
                size += 1
            elif found[to] != expected:
                return False
    return True


def folded(
    folding: Folding, digits: Sequence[Digit], values: Entries, packed: bool, threads: int, pulse: Heartbeat = no_pulse
) -> Entries | None:
    """Return the folded table, one byte per value; None if an entry of the original table differs from it.

    ``pulse`` may interrupt the work.
    """
    found = np.empty(folding.classes * folding.width, dtype=np.uint8)
    weight = digits[folding.column].weight
    both = _Both(values, packed, _bases(folding, digits), weight, folding.class_of, folding.bits, folding.maps, found)
    ranges = [(first, min(first + ROWS_AT_ONCE, len(both.bases))) for first in range(0, len(both.bases), ROWS_AT_ONCE)]
    for _ in on_threads(lambda rows: fold(rows[0], rows[1], both), ranges, threads, pulse):
        pass
    same = all(on_threads(lambda rows: compare(rows[0], rows[1], both), ranges, threads, pulse))
    return found if same else None


def _bases(folding: Folding, digits: Sequence[Digit]) -> Numbers:
    """Return the index of the entry in the first column of each row, ``(rows,)``."""
    bases = np.zeros(1, dtype=np.int64)
    for k, digit in enumerate(digits):
        if k != folding.column:
            bases = (bases[:, np.newaxis] + np.arange(digit.size) * digit.weight).ravel()
    return bases


class _Both(NamedTuple):
    """A table, and the folded table made from it."""

    values: Entries
    packed: bool
    bases: Numbers
    """Index of the entry in the first column of each row."""
    weight: int
    """Difference between the indices of entries in consecutive columns."""
    class_of: NDArray[np.uint32]
    bits: int
    maps: NDArray[np.int32]
    found: Entries
    """The entries of the representative rows."""


@kernel
def fold(first: int, end: int, both: _Both) -> None:
    """Write the entries of the representative rows among the rows ``first`` to ``end - 1``."""
    width = both.maps.shape[1]
    for row in range(first, end):
        chosen = np.int64(both.class_of[row])
        if chosen & ((1 << both.bits) - 1) == 0:
            for column in range(width):
                value = value_at(both.values, both.packed, both.bases[row] + column * both.weight)
                both.found[(chosen >> both.bits) * width + column] = value


@kernel
def compare(first: int, end: int, both: _Both) -> bool:
    """Return whether the folded table has the same entries as the table in the rows ``first`` to ``end - 1``."""
    width = both.maps.shape[1]
    for row in range(first, end):
        chosen = np.int64(both.class_of[row])
        begin, number = (chosen >> both.bits) * width, chosen & ((1 << both.bits) - 1)
        for column in range(width):
            value = value_at(both.values, both.packed, both.bases[row] + column * both.weight)
            if both.found[begin + both.maps[number, column]] != value:
                return False
    return True


@kernel
def value_at(values: Entries, packed: bool, index: int) -> np.uint8:
    """Return an entry of a table."""
    if not packed:
        return np.uint8(values[index])
    return np.uint8((values[index >> 1] >> ((index & 1) << 2)) & 15)
