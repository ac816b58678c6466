"""Search with the fewest options first (MRV): cover the cell, or the piece, that has the fewest options left.

This is Knuth's Algorithm X (*Dancing links*, 2000, arXiv:cs/0011047) on lists of the options left at each depth. Each
placement of a piece is counted.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes.exact_cover.options import FIRST_ROWS, Options, all_even, appended, linked
from antipodes.exact_cover.regions import ONE, ZERO, Regions, Words, areas_of, narrow_fillable, wide_fillable
from antipodes.jit.compile import kernel

LENGTH, CHOICES, TRIED = range(3)
"""The numbers of a level: live options, those of them that cover the column, and those of these that were tried."""


@kernel
def column_with_fewest_options(
    live: NDArray[np.uint32],
    length: int,
    columns: NDArray[np.uint16],
    covered: NDArray[np.bool_],
    counts: NDArray[np.int32],
) -> int:
    """The cell or piece, not yet covered, with the fewest live options; ``counts`` is scratch."""
    for column in range(len(counts)):
        counts[column] = 0
    for i in range(length):
        option = live[i]
        for k in range(columns.shape[1]):
            counts[columns[option, k]] += 1
    best, fewest = 0, length + 1
    for column in range(len(covered)):
        if not covered[column] and counts[column] < fewest:
            best, fewest = column, int(counts[column])
    return best


@kernel
def put_candidates_first(live: NDArray[np.uint32], length: int, columns: NDArray[np.uint16], column: int) -> int:
    """Put the live options that cover the column first, in their order; return their number."""
    leaders = 0
    for i in range(length):
        option = live[i]
        covers = False
        for k in range(columns.shape[1]):
            covers |= columns[option, k] == column
        if covers:
            live[i], live[leaders] = live[leaders], option
            leaders += 1
    return leaders


@kernel
def keep_compatible(
    live: NDArray[np.uint32],
    length: int,
    masks: NDArray[np.uint64],
    pieces: NDArray[np.int32],
    chosen: int,
    kept: NDArray[np.uint32],
) -> int:
    """Write to ``kept`` the live options compatible with the chosen one; return their number."""
    low, high, piece = masks[chosen, 0], masks[chosen, 1], pieces[chosen]
    count = 0
    for i in range(length):
        option = live[i]
        kept[count] = option
        count += ((masks[option, 0] & low) | (masks[option, 1] & high) == ZERO) & (pieces[option] != piece)
    return count


@kernel
def mark(covered: NDArray[np.bool_], columns: NDArray[np.uint16], option: int, value: bool) -> None:
    """Mark the columns of an option as covered, or not; the last column, which only fills rows, is always covered."""
    for k in range(columns.shape[1]):
        covered[columns[option, k]] = value
    covered[-1] = True


@kernel
def covered_columns(placed: NDArray[np.int32], cells: int, filled: Words) -> NDArray[np.bool_]:
    """The columns covered at the start: cells, pieces, and the column that fills rows."""
    covered = np.empty(cells + len(placed) + 1, dtype=np.bool_)
    for cell in range(cells):
        word = filled[0] if cell < 64 else filled[1]
        covered[cell] = (word >> np.uint64(cell & 63)) & ONE
    for piece in range(len(placed)):
        covered[cells + piece] = placed[piece] >= 0
    covered[-1] = True
    return covered


@kernel
def fill_fewest_first(
    placed: NDArray[np.int32], options: Options, regions: Regions, full: Words, start: Words, prune: bool
) -> tuple[NDArray[np.int32], int]:
    """All tilings of the empty cells; parameters and results are those of `fill_first_empty`."""
    masks, columns, pieces = options.masks, options.columns, options.piece
    areas, even = areas_of(regions.sizes, linked(placed)), all_even(regions.sizes)
    found, count, placements = np.empty((FIRST_ROWS, len(placed)), dtype=np.int32), 0, 0
    covered = covered_columns(placed, len(options.starts), start)
    counts = np.empty(len(covered), dtype=np.int32)
    live = np.empty((len(placed) + 1, len(masks)), dtype=np.uint32)
    for option in range(len(masks)):
        live[0, option] = option
    levels = np.empty((len(placed) + 1, 3), dtype=np.int64)
    filled = np.empty((len(placed) + 1, 2), dtype=np.uint64)
    filled[0, 0], filled[0, 1] = start
    levels[0, LENGTH], levels[0, TRIED] = len(masks), 0
    column = column_with_fewest_options(live[0], len(masks), columns, covered, counts)
    levels[0, CHOICES] = put_candidates_first(live[0], len(masks), columns, column)
    depth, narrow = 0, full[1] == ZERO
    while depth >= 0:
        if levels[depth, TRIED] > 0:
            option = live[depth, levels[depth, TRIED] - 1]
            placed[pieces[option]] = -1
            mark(covered, columns, option, False)
        if levels[depth, TRIED] == levels[depth, CHOICES]:
            depth -= 1
            continue
        option = live[depth, levels[depth, TRIED]]
        levels[depth, TRIED] += 1
        placements += 1
        placed[pieces[option]] = options.number[option]
        mark(covered, columns, option, True)
        low, high = filled[depth, 0] | masks[option, 0], filled[depth, 1] | masks[option, 1]
        if low == full[0] and high == full[1]:
            found = appended(found, count, placed)
            count += 1
            continue
        if prune:
            if not even:
                areas = areas_of(regions.sizes, linked(placed))
            if narrow:
                alive = narrow_fillable(full[0] & ~low, areas[0], regions.distances, regions.sources)
            else:
                alive = wide_fillable(full[0] & ~low, full[1] & ~high, areas, regions.distances, regions.sources)
            if not alive:
                continue
        length = keep_compatible(live[depth], levels[depth, LENGTH], masks, pieces, option, live[depth + 1])
        depth += 1
        filled[depth, 0], filled[depth, 1] = low, high
        column = column_with_fewest_options(live[depth], length, columns, covered, counts)
        levels[depth, LENGTH], levels[depth, TRIED] = length, 0
        levels[depth, CHOICES] = put_candidates_first(live[depth], length, columns, column)
    return found[:count], placements
