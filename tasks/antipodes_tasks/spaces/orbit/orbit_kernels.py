"""The move tables of transforms, in machine code.

The parts of a row, and those of a column, are moved one by one: a table for each part has the number of its content
after each move. The tables of rows and columns are sums over the parts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.permutations.arrangements import Numbering, unrank_arrangement
from antipodes_tasks.spaces.move_tables import COLUMNS_AT_ONCE, ILLEGAL, ColumnMap

Labels = NDArray[np.uint8]
PartTable = NDArray[np.int32]
"""``(contents, moves)``: the number of each content after each move, ILLEGAL where the content does not allow it."""


class Changes(NamedTuple):
    """What moves do to the places of a part."""

    origin: NDArray[np.uint16]
    """``(moves, places)``: the place of the part from which each place gets its label."""
    added: NDArray[np.uint8]
    """``(moves, places)``: what is added to a value there."""
    allowed: NDArray[np.uint64]
    """``(moves, places)``: bit ``v`` is set where the place may hold ``v`` before; ``(0, places)``: all are legal."""


class Columns(NamedTuple):
    """The part tables of a column, in one array, and the column maps as sums of their entries."""

    entries: NDArray[np.int32]
    at: NDArray[np.int64]
    """``(parts,)``: where the table of each part begins."""
    moves: NDArray[np.int64]
    """``(parts,)``: the entries of a line of each table."""
    weights: NDArray[np.int64]
    """``(parts,)``: the weight of each part's digit."""
    keys: NDArray[np.int64]
    """``(column maps, 2)``: the rearrangement of the free places, and the action on the other parts."""
    alternatives_at: NDArray[np.int64]
    """``(actions + 1,)``: where the effects of each action begin."""
    alternatives: NDArray[np.int64]
    """The effects of the actions: the numbers of moves in the tables of the other parts."""
    divides_pieces: bool
    """Whether the first part is the rest of an arrangement of pieces, which is rearranged."""


@kernel
def _is_legal(labels: Labels, allowed: NDArray[np.uint64], move: int) -> bool:
    one = np.uint64(1)
    for place in range(allowed.shape[1]):  # noqa: SIM110  (numba has no all() over a generator)
        if (allowed[move, place] >> np.uint64(labels[place])) & one == 0:
            return False
    return True


@kernel
def fill_pieces(after: PartTable, first: int, numbering: Numbering, changes: Changes) -> None:
    """Fill the lines of a part table from the arrangement ``first`` on."""
    places = changes.origin.shape[1]
    labels, scratch = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    for line in range(after.shape[0]):
        unrank_arrangement(first + line, numbering, labels, scratch)
        for move in range(after.shape[1]):
            if changes.allowed.shape[0] and not _is_legal(labels, changes.allowed, move):
                after[line, move] = ILLEGAL
                continue
            state, rank = np.uint64(0), np.int64(0)
            for place in range(places):
                label = labels[changes.origin[move, place]]
                rank += numbering.added[state, label]
                state += np.uint64(numbering.units[label])
            after[line, move] = rank


@kernel
def fill_values(after: PartTable, first: int, radix: int, total: int, changes: Changes) -> None:
    """Fill the lines of a part table from the content ``first`` on; ``total`` is negative if no sum decides a value."""
    places = changes.origin.shape[1]
    digits = places if total < 0 else places - 1
    values = np.empty(places, dtype=np.uint8)
    for line in range(after.shape[0]):
        rest = first + line
        value_sum = np.int64(0)
        for place in range(digits - 1, -1, -1):
            values[place] = rest % radix
            value_sum += np.int64(values[place])
            rest //= radix
        if digits < places:
            values[digits] = (total - value_sum) % radix
        for move in range(after.shape[1]):
            if changes.allowed.shape[0] and not _is_legal(values, changes.allowed, move):
                after[line, move] = ILLEGAL
                continue
            rank = np.int64(0)
            for place in range(digits):
                value = np.int64(values[changes.origin[move, place]]) + np.int64(changes.added[move, place])
                rank = rank * radix + (value - radix if value >= radix else value)
            after[line, move] = rank


@kernel
def number_subsets(subsets: NDArray[np.int32], first: int, row: Numbering, numbering: Numbering) -> None:
    """Fill in the number of the set of free places of each arrangement from ``first`` on, ``(lines,)``.

    Free places have the last label of ``row``. In ``numbering`` they have label 1, all others 0.
    """
    places, free_label = int(row.counts.sum()), len(row.counts) - 1
    labels, scratch = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    for line in range(len(subsets)):
        unrank_arrangement(first + line, row, labels, scratch)
        state, rank = np.int64(0), np.int64(0)
        for place in range(places):
            label = np.int64(labels[place] == free_label)
            rank += numbering.added[state, label]
            state += numbering.units[label]
        subsets[line] = rank


@kernel
def fill_map_numbers(column_map: ColumnMap, subsets: NDArray[np.int32], numbers: ColumnMap) -> None:
    """Fill the lines of ``column_map`` with the line of ``numbers`` for each set of free places."""
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
    """Fill the lines of the row tables from row ``first`` on, legal moves first.

    ``entries`` are the part tables, which begin ``at`` these places, and ``weights`` the weights of their digits;
    ``numbers`` ``(sets of free places, moves)`` the column maps, by the set of the last part; ``subsets`` is empty if
    they do not depend on the row.
    """
    parts, moves = len(at), numbers.shape[1]
    lines = np.empty(parts, dtype=np.int64)
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
def combine_columns(column_maps: NDArray[np.int32], first: int, end: int, columns: Columns) -> None:
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
    after: NDArray[np.int32],
    entries: NDArray[np.int32],
    lines: NDArray[np.int64],
    weights: NDArray[np.int64],
    rearranged: int,
    effects: NDArray[np.int64],
    divides_pieces: bool,
) -> None:
    """Fill in where columns go, from the line of each part's table, ``(columns, parts)``.

    At most one of the effects is legal in a column.
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
