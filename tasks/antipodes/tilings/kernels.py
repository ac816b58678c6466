"""The searches: exact cover by depth-first search, in scan order or at the tightest place first.

Both fill what a partition leaves empty with the pieces it leaves over, and return every tiling they find and how
many placements they tried: one for each time that a piece is laid where it overlaps nothing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.compile import kernel
from antipodes.kernels import trailing_zeros
from antipodes.tilings.regions import WORD, ZERO, Regions, Words, areas_of, fillable

FIRST_ROWS = 64
"""For how many tilings there is room at first; it doubles as needed."""


class Options(NamedTuple):
    """The placements that a partition has left, sorted by their first cell, and then by their number."""

    number: NDArray[np.int32]
    """Their numbers, ``(options,)``."""
    piece: NDArray[np.int32]
    """Their pieces, ``(options,)``."""
    masks: NDArray[np.uint64]
    """The cells they cover, ``(options, 2)``."""
    columns: NDArray[np.int32]
    """What they cover as columns of an exact cover, ``(options, largest piece + 1)``.

    Cells come first, then pieces; one column more, which is never to be covered, fills the rows of smaller pieces.
    """
    starts: NDArray[np.int32]
    """``starts[cell, piece]`` to ``starts[cell, piece + 1]`` are those of a piece by their first cell."""


@kernel
def linked(laid: NDArray[np.int32]) -> NDArray[np.int64]:
    """The pieces that are not laid yet as a linked list: ``after[piece]``, from ``after[-1]`` to ``len(laid)``."""
    after = np.full(len(laid) + 1, len(laid))
    last = len(laid)
    for piece in range(len(laid)):
        if laid[piece] < 0:
            after[last] = piece
            last = piece
    return after


@kernel
def appended(found: NDArray[np.int32], count: int, laid: NDArray[np.int32]) -> NDArray[np.int32]:
    """The list with ``laid`` as row ``count``, in twice the room where it is full."""
    if count == len(found):
        longer = np.empty((2 * count, found.shape[1]), dtype=np.int32)
        longer[:count] = found
        found = longer
    found[count] = laid
    return found


@kernel
def first_empty(low: np.uint64, high: np.uint64) -> np.uint64:
    """The number of the first cell that is not filled; not all are."""
    if ~low:
        return trailing_zeros(~low)
    return WORD + trailing_zeros(~high)


@kernel
def next_fit(
    options: Options, after: NDArray[np.int64], low: np.uint64, high: np.uint64, place: tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    """The first option from ``place`` on that overlaps nothing: cell, piece before, piece, option.

    The piece is the end of the list where there is none.
    """
    cell, before, piece, option = place
    while piece < len(after) - 1:
        stop = options.starts[cell, piece + 1]
        while option < stop:
            if not (options.masks[option, 0] & low) | (options.masks[option, 1] & high):
                return cell, before, piece, option
            option += 1
        before, piece = piece, after[piece]
        if piece < len(after) - 1:
            option = options.starts[cell, piece]
    return cell, before, piece, option


@kernel
def first_place(options: Options, after: NDArray[np.int64], low: np.uint64, high: np.uint64) -> tuple[int, int, int, int]:
    """Where `next_fit` begins: the first empty cell, and the first option of the first piece left."""
    cell = np.int64(first_empty(low, high))
    piece = after[-1]
    return cell, len(after) - 1, piece, np.int64(options.starts[cell, piece])


@kernel
def fill_in_order(
    laid: NDArray[np.int32], options: Options, regions: Regions, full: Words, filled: Words, prune: bool
) -> tuple[NDArray[np.int32], int]:
    """All tilings, by filling the first empty cell in scan order with every piece that is left.

    Parameters
    ----------
    laid
        The placement of each piece, ``(pieces,)``, -1 where it is still to be found. Scratch.
    options
        The placements to choose from.
    regions
        Used where ``prune``: a branch ends where a region is left that the pieces left cannot fill.
    full, filled
        All cells of the board, and those that are filled.
    prune
        Whether to look at regions.

    Returns
    -------
    tuple
        The tilings, ``(tilings, pieces)``, and the number of placements tried.
    """
    pieces = len(laid)
    after = linked(laid)
    narrow = full[1] == ZERO
    uniform = (regions.sizes == regions.sizes[0]).all()
    areas = areas_of(regions.sizes, after)
    found = np.empty((FIRST_ROWS, pieces), dtype=np.int32)
    count, placements, depth = 0, 0, 0
    places = np.empty((pieces + 1, 4), dtype=np.int64)
    low, high = np.empty(pieces + 1, dtype=np.uint64), np.empty(pieces + 1, dtype=np.uint64)
    low[0], high[0] = filled
    place = first_place(options, after, low[0], high[0])
    while True:
        cell, before, piece, option = next_fit(options, after, low[depth], high[depth], place)
        if piece == pieces:
            depth -= 1
            if depth < 0:
                return found[:count], placements
            cell, before, piece, option = places[depth]
            after[before] = piece
            place = (cell, before, piece, option + 1)
            continue
        placements += 1
        place = (cell, before, piece, option + 1)
        laid[piece] = options.number[option]
        next_low, next_high = low[depth] | options.masks[option, 0], high[depth] | options.masks[option, 1]
        if next_low == full[0] and next_high == full[1]:
            found = appended(found, count, laid)
            count += 1
            continue
        after[before] = after[piece]
        if prune:
            if not uniform:
                areas = areas_of(regions.sizes, after)
            if not fillable(full[0] & ~next_low, full[1] & ~next_high, areas, regions, narrow):
                after[before] = piece
                continue
        places[depth] = place[0], before, piece, option
        depth += 1
        low[depth], high[depth] = next_low, next_high
        place = first_place(options, after, next_low, next_high)


@kernel
def tightest_column(
    live: NDArray[np.int32], columns: NDArray[np.int32], covered: NDArray[np.bool_], counts: NDArray[np.int32]
) -> tuple[int, int]:
    """The cell or piece that is still to be covered and has the fewest live options, and how many those are."""
    counts[:] = 0
    width = columns.shape[1]
    for i in range(len(live)):
        option = live[i]
        for k in range(width):
            counts[columns[option, k]] += 1
    best, fewest = -1, len(columns) + 1
    for column in range(len(covered)):
        if not covered[column] and counts[column] < fewest:
            best, fewest = column, counts[column]
    return best, fewest


@kernel
def keep_compatible(live: NDArray[np.int32], options: Options, chosen: int, kept: NDArray[np.int32]) -> int:
    """Write to ``kept`` the live options that neither overlap the chosen one nor are of its piece; how many."""
    low, high = options.masks[chosen, 0], options.masks[chosen, 1]
    piece = options.piece[chosen]
    count = 0
    for i in range(len(live)):
        option = live[i]
        shared = (options.masks[option, 0] & low) | (options.masks[option, 1] & high)
        kept[count] = option
        count += (shared == ZERO) & (options.piece[option] != piece)
    return count


@kernel
def put_candidates_first(live: NDArray[np.int32], columns: NDArray[np.int32], column: int) -> None:
    """Reorder the live options so that those which cover the column lead; the leaders keep their order."""
    lead = 0
    for i in range(len(live)):
        option = live[i]
        covers = False
        for k in range(columns.shape[1]):
            covers |= columns[option, k] == column
        if covers:
            live[i] = live[lead]
            live[lead] = option
            lead += 1


@kernel
def fill_tightest(
    laid: NDArray[np.int32], options: Options, regions: Regions, full: Words, filled: Words, prune: bool
) -> tuple[NDArray[np.int32], int]:
    """All tilings, by filling at each step the cell, or laying the piece, with the fewest possibilities.

    That is Knuth's Algorithm X (*Dancing Links*, 2000) on lists of the options that are left at each depth.
    Parameters and results are those of `fill_in_order`.
    """
    pieces = len(laid)
    narrow = full[1] == ZERO
    uniform = (regions.sizes == regions.sizes[0]).all()
    areas = areas_of(regions.sizes, linked(laid))
    cells = options.starts.shape[0]
    covered = np.ones(cells + pieces, dtype=np.bool_)
    covered[cells:] = laid >= 0
    for cell in range(cells):
        word = filled[0] if cell < 64 else filled[1]
        covered[cell] = (word >> np.uint64(cell & 63)) & np.uint64(1)
    counts = np.empty(cells + pieces + 1, dtype=np.int32)
    found = np.empty((FIRST_ROWS, pieces), dtype=np.int32)
    count, placements, depth = 0, 0, 0
    live = np.empty((pieces + 1, len(options.number)), dtype=np.int32)
    lengths, tried, choices = (
        np.zeros(pieces + 1, dtype=np.int64),
        np.zeros(pieces + 1, dtype=np.int64),
        np.zeros(pieces + 1, dtype=np.int64),
    )
    low, high = np.empty(pieces + 1, dtype=np.uint64), np.empty(pieces + 1, dtype=np.uint64)
    low[0], high[0] = filled
    lengths[0] = len(options.number)
    live[0] = np.arange(lengths[0])
    column, choices[0] = tightest_column(live[0], options.columns, covered, counts)
    put_candidates_first(live[0], options.columns, column)
    while True:
        if tried[depth] == choices[depth]:
            depth -= 1
            if depth < 0:
                return found[:count], placements
            uncover(covered, options.columns[live[depth, tried[depth] - 1]], False)
            laid[options.piece[live[depth, tried[depth] - 1]]] = -1
            continue
        option = live[depth, tried[depth]]
        tried[depth] += 1
        placements += 1
        laid[options.piece[option]] = options.number[option]
        next_low, next_high = low[depth] | options.masks[option, 0], high[depth] | options.masks[option, 1]
        if next_low == full[0] and next_high == full[1]:
            found = appended(found, count, laid)
            count += 1
            laid[options.piece[option]] = -1
            continue
        if prune:
            if not uniform:
                areas = areas_of(regions.sizes, linked(laid))
            if not fillable(full[0] & ~next_low, full[1] & ~next_high, areas, regions, narrow):
                laid[options.piece[option]] = -1
                continue
        uncover(covered, options.columns[option], True)
        length = keep_compatible(live[depth, : lengths[depth]], options, option, live[depth + 1])
        depth += 1
        low[depth], high[depth], lengths[depth], tried[depth] = next_low, next_high, length, 0
        column, choices[depth] = tightest_column(live[depth, :length], options.columns, covered, counts)
        put_candidates_first(live[depth, :length], options.columns, column)


@kernel
def uncover(covered: NDArray[np.bool_], columns: NDArray[np.int32], value: bool) -> None:
    """Mark the columns of an option as covered, or as not; the column that only fills rows is left alone."""
    for k in range(len(columns)):
        if columns[k] < len(covered):
            covered[columns[k]] = value
