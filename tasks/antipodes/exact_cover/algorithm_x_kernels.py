"""The search at the tightest place: fill the cell, or lay the piece, that has the fewest possibilities.

Knuth's Algorithm X (*Dancing links*, 2000, arXiv:cs/0011047) on lists of the options that are left at each
depth. A placement is counted whenever a piece is laid.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes.exact_cover.options import FIRST_ROWS, Options, all_even, appended, linked
from antipodes.exact_cover.regions import ONE, ZERO, Regions, Words, areas_of, narrow_fillable, wide_fillable
from antipodes.jit.compile import kernel

LENGTH, CHOICES, TRIED = range(3)
"""A level: how many options are live, how many of them cover the column, how many of those were tried."""


@kernel
def tightest_column(
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
    """Put the live options that cover the column first, in their order; how many they are."""
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
    """Write to ``kept`` the live options that do not clash with the chosen one; how many."""
    low, high, piece = masks[chosen, 0], masks[chosen, 1], pieces[chosen]
    count = 0
    for i in range(length):
        option = live[i]
        kept[count] = option
        count += ((masks[option, 0] & low) | (masks[option, 1] & high) == ZERO) & (pieces[option] != piece)
    return count


@kernel
def mark(covered: NDArray[np.bool_], columns: NDArray[np.uint16], option: int, value: bool) -> None:
    """Mark the columns of an option as covered, or as not; the last, which only fills rows, always is."""
    for k in range(columns.shape[1]):
        covered[columns[option, k]] = value
    covered[-1] = True


@kernel
def covered_columns(laid: NDArray[np.int32], cells: int, filled: Words) -> NDArray[np.bool_]:
    """Which columns are covered at first: cells, pieces, and the one that fills rows."""
    covered = np.empty(cells + len(laid) + 1, dtype=np.bool_)
    for cell in range(cells):
        word = filled[0] if cell < 64 else filled[1]
        covered[cell] = (word >> np.uint64(cell & 63)) & ONE
    for piece in range(len(laid)):
        covered[cells + piece] = laid[piece] >= 0
    covered[-1] = True
    return covered


@kernel
def fill_tightest(
    laid: NDArray[np.int32], options: Options, regions: Regions, full: Words, start: Words, prune: bool
) -> tuple[NDArray[np.int32], int]:
    """All tilings of what is still empty; parameters and results are those of `fill_in_order`."""
    masks, columns, pieces = options.masks, options.columns, options.piece
    areas, even = areas_of(regions.sizes, linked(laid)), all_even(regions.sizes)
    found, count, placements = np.empty((FIRST_ROWS, len(laid)), dtype=np.int32), 0, 0
    covered = covered_columns(laid, len(options.starts), start)
    counts = np.empty(len(covered), dtype=np.int32)
    live = np.empty((len(laid) + 1, len(masks)), dtype=np.uint32)
    for option in range(len(masks)):
        live[0, option] = option
    levels = np.empty((len(laid) + 1, 3), dtype=np.int64)
    filled = np.empty((len(laid) + 1, 2), dtype=np.uint64)
    filled[0, 0], filled[0, 1] = start
    levels[0, LENGTH], levels[0, TRIED] = len(masks), 0
    column = tightest_column(live[0], len(masks), columns, covered, counts)
    levels[0, CHOICES] = put_candidates_first(live[0], len(masks), columns, column)
    depth, narrow = 0, full[1] == ZERO
    while depth >= 0:
        if levels[depth, TRIED] > 0:
            option = live[depth, levels[depth, TRIED] - 1]
            laid[pieces[option]] = -1
            mark(covered, columns, option, False)
        if levels[depth, TRIED] == levels[depth, CHOICES]:
            depth -= 1
            continue
        option = live[depth, levels[depth, TRIED]]
        levels[depth, TRIED] += 1
        placements += 1
        laid[pieces[option]] = options.number[option]
        mark(covered, columns, option, True)
        low, high = filled[depth, 0] | masks[option, 0], filled[depth, 1] | masks[option, 1]
        if low == full[0] and high == full[1]:
            found = appended(found, count, laid)
            count += 1
            continue
        if prune:
            if not even:
                areas = areas_of(regions.sizes, linked(laid))
            if narrow:
                alive = narrow_fillable(full[0] & ~low, areas[0], regions.distances, regions.sources)
            else:
                alive = wide_fillable(full[0] & ~low, full[1] & ~high, areas, regions.distances, regions.sources)
            if not alive:
                continue
        length = keep_compatible(live[depth], levels[depth, LENGTH], masks, pieces, option, live[depth + 1])
        depth += 1
        filled[depth, 0], filled[depth, 1] = low, high
        column = tightest_column(live[depth], length, columns, covered, counts)
        levels[depth, LENGTH], levels[depth, TRIED] = length, 0
        levels[depth, CHOICES] = put_candidates_first(live[depth], length, columns, column)
    return found[:count], placements
