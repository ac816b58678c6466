"""Digits: the numbers from which a search computes the index of a table entry, and the effect of moves on them.

If all moves are always legal, the parts of a puzzle change independently of each other. So each part is a digit with
its own small table, which stays in the processor's cache, and the index of an entry is a weighted sum of the digits.
Other numberings have two digits, row and column; the row and the move determine the column map.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.part_tables import filled, part_fill
from antipodes_tasks.spaces.selection import smallest_cut
from antipodes_tasks.spaces.space import Numbering

INDEPENDENT = -1
"""Value of `Digit.row` for a digit whose change depends only on the move."""
MAX_ENTRIES = 1 << 26
"""Maximum number of entries of a numbering's move tables, four bytes each."""
BATCH = 1 << 16
"""Number of positions that are moved and ranked at a time."""
Entries = NDArray[np.int64]


class Digit(NamedTuple):
    """A digit of an index, and its change by each move."""

    size: int
    weight: int
    """Weight of the digit in the index."""
    after: NDArray[np.int32]
    """``(size, moves + 1)``: the digit after each move; an additional last move changes nothing.

    For the column: ``(column maps, size)``, the new column for each column map and each old column.
    """
    row: int = INDEPENDENT
    """For the column: the index of the digit that is the row."""
    maps: NDArray[np.int32] | None = None
    """For the column, ``(rows, moves + 1)``: the number of the column map that applies for each row and move."""


def digits_of(numbering: Numbering, rules: Rules) -> tuple[Digit, ...]:
    """Return the digits of a numbering of a puzzle whose moves are always legal.

    Raises ResourceLimitError if the tables of the digits take too much memory.
    """
    if isinstance(numbering, Orbits):
        moves = len(rules.moves) + 1
        if sum(part.size for part in numbering.parts) * moves <= MAX_ENTRIES:
            return tuple(_digits_of_parts(numbering, rules))
    if isinstance(numbering, Keyed):
        return (_digit_of_list(numbering, rules),)
    return _row_and_column(numbering, rules)


def split(index: int, digits: Sequence[Digit]) -> list[int]:
    """Return the digits of an index."""
    return [index // digit.weight % digit.size for digit in digits]


def _digits_of_parts(numbering: Orbits, rules: Rules) -> list[Digit]:
    transforms = transforms_of(rules)
    every, sizes = np.arange(len(transforms)), [part.size for part in numbering.parts]
    return [
        Digit(
            part.size, prod(sizes[k + 1 :]), _with_no_move(filled(part, len(every), part_fill(part, transforms, every)))
        )
        for k, part in enumerate(numbering.parts)
        if part.size > 1
    ]


def _with_no_move(after: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.concatenate((after, np.arange(len(after), dtype=np.int32)[:, np.newaxis]), axis=1)


def _digit_of_list(numbering: Keyed, rules: Rules) -> Digit:
    _check_size(numbering.size * (len(rules.moves) + 1), rules)
    after = np.empty((numbering.size, len(rules.moves)), dtype=np.int32)
    for first in range(0, numbering.size, BATCH):
        labels = numbering.unrank(np.arange(first, min(first + BATCH, numbering.size)))
        for move in range(len(rules.moves)):
            after[first : first + BATCH, move] = numbering.rank(rules.moves.move(move, labels)[0])
    return Digit(numbering.size, 1, _with_no_move(after))


def _row_and_column(numbering: Numbering, rules: Rules) -> tuple[Digit, ...]:
    """Return the digits row and column, for the cut with the smallest move tables."""
    space = smallest_cut(rules, numbering)
    _check_size(space.filler.table_bytes // 4, rules)
    tables = space.filler.filled()
    row = Digit(space.rows, space.width, _with_no_move(tables.target))
    if space.width == 1:
        return (row,)
    identity = np.zeros((space.rows, 1), dtype=np.int32)  # column map 0
    maps = np.concatenate((tables.column_map.astype(np.int32), identity), axis=1)
    return row, Digit(space.width, 1, tables.column_maps.astype(np.int32), 0, maps)


def _check_size(entries: int, rules: Rules) -> None:
    if entries > MAX_ENTRIES:
        raise ResourceLimitError(
            f"{option('tables')}: the move tables of {rules.name} have {entries:,} entries; "
            f"at most {MAX_ENTRIES:,} are supported"
        )
