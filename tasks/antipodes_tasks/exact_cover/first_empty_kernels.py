"""First-empty-cell backtracking: fill the first empty cell, in scan order, with every piece that is left.

With pruning, a branch ends at a region that the pieces left cannot fill. Each placement that overlaps nothing is
counted. Boards have at most two words of cells, none of them optional.

Loops replace slices and functions of numpy, which numba takes seconds to compile.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.exact_cover.options import Options
from antipodes_tasks.exact_cover.regions import (
    WORD,
    ZERO,
    Regions,
    Words,
    all_even,
    areas_of,
    multiples,
    narrow_fillable,
    wide_fillable,
)
from antipodes_tasks.jit import kernel, trailing_zeros

CELL, BEFORE, PIECE, OPTION = range(4)
"""The columns of `Scan.steps`: the cell to fill, the piece before on the list, the piece, and the option tried last."""
DEPTH, PLACEMENTS = range(2)
"""The places of `Scan.counters`."""


class Scan(NamedTuple):
    """The state of a search, so that it can stop when enough tilings are found, and continue."""

    left: NDArray[np.int64]
    """How many copies of each piece are left, ``(pieces,)``."""
    after: NDArray[np.int64]
    """The pieces left as a linked list: ``after[piece]``, from ``after[-1]`` to ``pieces``; ``(pieces + 1,)``."""
    steps: NDArray[np.int64]
    """What is tried at each depth, ``(depths, 4)``."""
    filled: NDArray[np.uint64]
    """The filled cells at each depth, ``(depths, 2)``."""
    counters: NDArray[np.int64]
    """The depth, and the placements tried, ``(2,)``."""


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
    options: Options, regions: Regions, full: Words, scan: Scan, prune: bool, most: int, found: NDArray[np.int32]
) -> int:
    """Find tilings until there is no more room for them, no more of them, or the placements are made.

    Parameters
    ----------
    options
        The placements to choose from.
    regions
        Needed to prune.
    full
        All cells of the board.
    scan
        The state, which changes.
    prune
        Whether a branch ends at a region that the pieces left cannot fill.
    most
        The placements after which it returns, those of earlier calls included.
    found
        Filled with the options of each tiling, ``(room, depths)``, the depths as many as copies of pieces to place.

    Returns
    -------
    int
        The number of tilings found. Call it again to continue, unless the depth is -1.
    """
    masks, starts, left, after, steps, filled = (
        options.masks, options.starts, scan.left, scan.after, scan.steps, scan.filled,
    )  # fmt: skip
    distances, sources, sizes = regions.distances, regions.sources, regions.sizes
    areas, even, end = multiples(sizes[0]), all_even(sizes), len(left)
    depth, placements, count = scan.counters[DEPTH], scan.counters[PLACEMENTS], 0
    narrow = full[1] == ZERO
    # The loop works on local variables, which are saved only while the search is deeper.
    cell, before, piece, option = steps[depth, CELL], steps[depth, BEFORE], steps[depth, PIECE], steps[depth, OPTION]
    low, high = filled[depth, 0], filled[depth, 1]
    while count < len(found) and placements < most:
        if piece == end:
            depth -= 1
            if depth < 0:
                break
            cell, before, piece, option = (
                steps[depth, CELL],
                steps[depth, BEFORE],
                steps[depth, PIECE],
                steps[depth, OPTION] + 1,
            )
            low, high = filled[depth, 0], filled[depth, 1]
            after[before] = piece
            left[piece] += 1
        stop = np.int64(starts[cell, piece + 1])
        option = next_fit(masks, option, stop, low, high)
        if option == stop:
            before, piece = piece, after[piece]
            option = np.int64(starts[cell, piece])
            continue
        placements += 1
        next_low, next_high = low | masks[option, 0], high | masks[option, 1]
        left[piece] -= 1
        if left[piece] == 0:
            after[before] = after[piece]
        if next_low == full[0] and next_high == full[1]:
            for k in range(depth):
                found[count, k] = steps[k, OPTION]
            found[count, depth] = option
            count += 1
            dead = True
        elif prune:
            if not even:
                areas = areas_of(sizes, left, after)
            if narrow:
                dead = not narrow_fillable(full[0] & ~next_low, areas[0], distances, sources)
            else:
                dead = not wide_fillable(full[0] & ~next_low, full[1] & ~next_high, areas, distances, sources)
        else:
            dead = False
        if dead:
            after[before] = piece
            left[piece] += 1
            option += 1
            continue
        steps[depth, CELL], steps[depth, BEFORE], steps[depth, PIECE], steps[depth, OPTION] = (
            cell,
            before,
            piece,
            option,
        )
        filled[depth, 0], filled[depth, 1] = low, high
        depth += 1
        low, high = next_low, next_high
        before, piece, cell = end, after[end], np.int64(first_empty(low, high))
        option = np.int64(starts[cell, piece])
    scan.counters[DEPTH], scan.counters[PLACEMENTS] = depth, placements
    if depth >= 0:
        steps[depth, CELL], steps[depth, BEFORE], steps[depth, PIECE], steps[depth, OPTION] = (
            cell,
            before,
            piece,
            option,
        )
        filled[depth, 0], filled[depth, 1] = low, high
    return count
