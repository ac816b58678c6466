"""First-empty-cell backtracking: fill the first empty cell, in scan order, with every piece that is left.

With pruning, a branch ends at a region that the pieces left cannot fill. Each placement that overlaps nothing is
counted.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes.exact_cover.options import FIRST_ROWS, Options, all_even, appended, linked
from antipodes.exact_cover.regions import WORD, ZERO, Regions, Words, areas_of, narrow_fillable, wide_fillable
from antipodes.jit.bits import trailing_zeros
from antipodes.jit.compile import kernel


@kernel
def first_empty(low: np.uint64, high: np.uint64) -> np.uint64:
    """The number of the first empty cell; there must be one."""
    if ~low:
        return trailing_zeros(~low)
    return WORD + trailing_zeros(~high)


@kernel
def next_fit(masks: NDArray[np.uint64], option: np.int64, stop: np.int64, low: np.uint64, high: np.uint64) -> np.int64:
    """The first option from ``option`` on that overlaps no filled cell, or ``stop``."""
    while option < stop and (masks[option, 0] & low) | (masks[option, 1] & high):
        option += np.int64(1)
    return option


@kernel
def fill_first_empty(
    placed: NDArray[np.int32], options: Options, regions: Regions, full: Words, start: Words, prune: bool
) -> tuple[NDArray[np.int32], int]:
    """All tilings of the empty cells.

    Parameters
    ----------
    placed
        The placement of each piece, ``(pieces,)``, -1 for the pieces left, at least one. Overwritten.
    options
        The placements to choose from.
    regions
        Needed to prune.
    full, start
        All cells of the board, and the filled cells.
    prune
        Whether a branch ends at a region that the pieces left cannot fill.

    Returns
    -------
    tuple
        The tilings, ``(tilings, pieces)``, and the number of placements tried.
    """
    numbers, masks, starts, after = options.number, options.masks, options.starts, linked(placed)
    distances, sources, sizes = regions.distances, regions.sources, regions.sizes
    areas, even, end = areas_of(sizes, after), all_even(sizes), len(placed)
    found, count, placements = np.empty((FIRST_ROWS, end), dtype=np.int32), 0, 0
    # The loop works on local variables, which are saved here only while the search is deeper.
    steps, filled = np.empty((end, 4), dtype=np.int64), np.empty((end, 2), dtype=np.uint64)
    (low, high), depth, narrow = start, 0, full[1] == ZERO
    before, piece, cell = end, after[end], np.int64(first_empty(low, high))
    option = np.int64(starts[cell, piece])
    while True:
        if piece == end:
            depth -= 1
            if depth < 0:
                return found[:count], placements
            cell, before, piece, option = (
                steps[depth, 0],
                steps[depth, 1],
                steps[depth, 2],
                steps[depth, 3] + 1,
            )
            low, high = filled[depth, 0], filled[depth, 1]
            after[before] = piece
        stop = np.int64(starts[cell, piece + 1])
        option = next_fit(masks, option, stop, low, high)
        if option == stop:
            before, piece = piece, after[piece]
            option = np.int64(starts[cell, piece])
            continue
        placements += 1
        placed[piece] = numbers[option]
        next_low, next_high = low | masks[option, 0], high | masks[option, 1]
        after[before] = after[piece]
        if next_low == full[0] and next_high == full[1]:
            found, dead = appended(found, count, placed), True
            count += 1
        elif prune:
            if not even:
                areas = areas_of(sizes, after)
            if narrow:
                dead = not narrow_fillable(full[0] & ~next_low, areas[0], distances, sources)
            else:
                dead = not wide_fillable(full[0] & ~next_low, full[1] & ~next_high, areas, distances, sources)
        else:
            dead = False
        if dead:
            after[before] = piece
            option += 1
            continue
        steps[depth, 0], steps[depth, 1], steps[depth, 2], steps[depth, 3] = cell, before, piece, option
        filled[depth, 0], filled[depth, 1] = low, high
        depth += 1
        low, high = next_low, next_high
        before, piece, cell = end, after[end], np.int64(first_empty(low, high))
        option = np.int64(starts[cell, piece])
