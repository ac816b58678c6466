"""First-empty-cell backtracking: cover the first empty cell, in scan order, by each remaining piece in turn.

With pruning, a branch ends if some region (a connected set of empty cells) has an area that no subset of the remaining
pieces has. Every placement without overlap is counted. Boards have at most two words of cells, and no optional cells.

The kernels use loops, because numba takes seconds to compile slices and numpy functions.
"""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel, popcount, trailing_zeros
from antipodes_tasks.exact_cover.placements import DEPTH, PLACEMENTS, Fill, OptionTable, Placements, copies_left
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

Words = tuple[np.uint64, np.uint64]
"""A set of cells or areas as a low and a high word: member ``k`` is bit ``k % 64`` of word ``k // 64``."""

ZERO, ONE, LAST_BIT, WORD = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(64)
CELL, BEFORE, PIECE, OPTION = range(4)
"""Columns of `Scan.steps`: the cell to cover, the piece before the current one in the list `Scan.after`, the current
piece, and its last option tried."""


class CellRegions(NamedTuple):
    """The neighbours of the cells, from which kernels find regions, and the areas that pieces can fill."""

    distances: NDArray[np.uint64]
    """``(distances,)``: the distinct differences between the numbers of neighbouring cells, ascending."""
    sources: NDArray[np.uint64]
    """``(distances, 2)``: for each difference ``d``, a mask of the cells ``c`` that are neighbours of ``c + d``."""
    sizes: NDArray[np.uint64]
    """``(pieces,)``: the size of each piece."""
    areas: NDArray[np.uint64]
    """``(2,)``: if all pieces have the same size, the set of its multiples below 128; otherwise 0."""


class Scan(NamedTuple):
    """The state of a search, so that the search can stop after some tilings and continue later."""

    left: NDArray[np.int64]
    """``(pieces,)``: the number of unused copies of each piece."""
    after: NDArray[np.int64]
    """``(pieces + 1,)``: the remaining pieces as a linked list: ``after[-1]`` is the first piece, ``after[piece]`` the
    next one, and the number of pieces marks the end.
    """
    steps: NDArray[np.int64]
    """``(depths, 4)``: the step at each depth; see `CELL`."""
    filled: NDArray[np.uint64]
    """``(depths, 2)``: the filled cells at each depth."""
    counters: NDArray[np.int64]
    """``(2,)``: see `DEPTH` and `PLACEMENTS`."""


def start(
    problem: TilingProblem, options: OptionTable, placements: Placements, fixed: NDArray[np.int32], prune: bool
) -> tuple[Fill, NDArray[np.int64]]:
    """Return a search for all completions of the fixed placements, and its counters."""
    left = copies_left(problem, placements, fixed)
    depths, end = problem.copies - len(fixed), len(left)
    steps, filled = np.zeros((depths, 4), dtype=np.int64), np.zeros((depths, 2), dtype=np.uint64)
    listed = [end, *np.flatnonzero(left).tolist(), end]
    after = np.full(end + 1, end, dtype=np.int64)
    after[listed[:-1]] = listed[1:]
    filled[0] = np.bitwise_or.reduce(placements.masks[fixed], axis=0)
    cell = int(np.isin(np.arange(problem.board.size), placements.cells[fixed]).argmin())
    steps[0] = cell, end, after[-1], options.starts[cell, after[-1]]
    scan = Scan(left, after, steps, filled, np.zeros(2, dtype=np.int64))
    full, regions = _words((1 << problem.board.size) - 1), regions_of(problem)
    wide = problem.board.size > WORD
    narrow_regions, wide_regions = regions if prune and not wide else None, regions if prune and wide else None
    return partial(fill_first_empty, options, narrow_regions, wide_regions, full, scan), scan.counters


@lru_cache(maxsize=8)
def regions_of(problem: TilingProblem) -> CellRegions:
    """Return the neighbours and areas for a board of at most two words of cells."""
    sources = {1: 0}
    for low, high in problem.board.neighbours:
        sources[high - low] = sources.get(high - low, 0) | 1 << low
    distances, masks = zip(*sorted(sources.items()), strict=True)
    sizes = [piece.size for piece in problem.pieces]
    areas = sum(1 << area for area in range(0, 128, sizes[0])) if len(set(sizes)) == 1 else 0
    values = distances, [_words(mask) for mask in masks], sizes, _words(areas)
    return CellRegions(*(np.array(one, dtype=np.uint64) for one in values))


def _words(members: int) -> Words:
    return np.uint64(members & (2**64 - 1)), np.uint64(members >> 64)


@kernel
def shift_up(low: np.uint64, high: np.uint64, distance: np.uint64) -> Words:
    """Return the set with ``distance`` added to each member, 0 < distance < 128."""
    if distance < WORD:
        return low << distance, (high << distance) | (low >> (WORD - distance))
    return ZERO, low << (distance - WORD)


@kernel
def shift_down(low: np.uint64, high: np.uint64, distance: np.uint64) -> Words:
    """Return the set with ``distance`` subtracted from each member, 0 < distance < 128."""
    if distance < WORD:
        return (low >> distance) | (high << (WORD - distance)), high >> distance
    return high >> (distance - WORD), ZERO


@kernel
def areas_left(regions: CellRegions, left: NDArray[np.int64], after: NDArray[np.int64]) -> Words:
    """Return the areas below 128 of all subsets of the remaining pieces; for ``left`` and ``after``, see `Scan`."""
    if regions.areas[0]:
        return regions.areas[0], regions.areas[1]
    low, high = ONE, ZERO
    piece = after[-1]
    while piece < len(left):
        for _ in range(left[piece]):
            more_low, more_high = shift_up(low, high, regions.sizes[piece])
            low |= more_low
            high |= more_high
        piece = after[piece]
    return low, high


@kernel
def narrow_fillable(empty: np.uint64, areas: np.uint64, regions: CellRegions) -> bool:
    """Return whether the area of every region of empty cells is in ``areas``, on a board of at most 64 cells."""
    distances, sources = regions.distances, regions.sources
    while empty:
        region, before = empty & (~empty + ONE), ZERO
        while region != before:
            before = region
            for k in range(len(distances)):
                distance, source = distances[k], sources[k, 0]
                region |= (((region & source) << distance) | ((region >> distance) & source)) & empty
        if not (areas >> (popcount(region) & LAST_BIT)) & ONE:
            return False
        empty ^= region
    return True


@kernel
def wide_fillable(low: np.uint64, high: np.uint64, areas: Words, regions: CellRegions) -> bool:
    """Return whether the area of every region of empty cells is in ``areas``, on a board of at most 128 cells."""
    distances, sources = regions.distances, regions.sources
    while low | high:
        region_low = low & (~low + ONE)
        region_high = ZERO if low else high & (~high + ONE)
        before_low, before_high = ZERO, ZERO
        while region_low != before_low or region_high != before_high:
            before_low, before_high = region_low, region_high
            for k in range(len(distances)):
                source_low, source_high = sources[k, 0], sources[k, 1]
                up_low, up_high = shift_up(region_low & source_low, region_high & source_high, distances[k])
                down_low, down_high = shift_down(region_low, region_high, distances[k])
                region_low |= (up_low | (down_low & source_low)) & low
                region_high |= (up_high | (down_high & source_high)) & high
        area = popcount(region_low) + popcount(region_high)
        if not ((areas[0] if area < WORD else areas[1]) >> (area & LAST_BIT)) & ONE:
            return False
        low ^= region_low
        high ^= region_high
    return True


@kernel
def save(
    scan: Scan,
    depth: np.int64,
    step: tuple[np.int64, np.int64, np.int64, np.int64],
    low: np.uint64,
    high: np.uint64,
) -> None:
    """Save the step and the filled cells of a depth."""
    for k in range(4):
        scan.steps[depth, k] = step[k]
    scan.filled[depth, 0], scan.filled[depth, 1] = low, high


@kernel
def fill_first_empty(
    options: OptionTable,
    narrow: CellRegions | None,
    wide: CellRegions | None,
    full: Words,
    scan: Scan,
    max_placements: int,
    found: NDArray[np.int32],
) -> int:
    """Continue the search as `Fill` describes.

    Parameters
    ----------
    options
        The placements to choose from.
    narrow, wide
        The regions for pruning: ``narrow`` on a board of at most 64 cells, ``wide`` on a larger board; without pruning,
        both are None. Code for an argument that is None is not compiled.
    full
        All cells of the board.
    scan
        The state of the search, which is updated.
    """
    masks, starts, left, after, steps, filled = (
        options.masks, options.starts, scan.left, scan.after, scan.steps, scan.filled,
    )  # fmt: skip
    end, depth, placements, count = len(left), scan.counters[DEPTH], scan.counters[PLACEMENTS], 0
    # The state of the current depth is in local variables; it is saved when the search goes deeper.
    cell, before, piece, option = steps[depth, CELL], steps[depth, BEFORE], steps[depth, PIECE], steps[depth, OPTION]
    low, high = filled[depth, 0], filled[depth, 1]
    while count < len(found) and placements < max_placements:
        if piece == end:
            depth -= 1
            if depth < 0:
                break
            cell, before, piece = steps[depth, CELL], steps[depth, BEFORE], steps[depth, PIECE]
            option = steps[depth, OPTION] + 1
            low, high = filled[depth, 0], filled[depth, 1]
            after[before] = piece
            left[piece] += 1
        stop = np.int64(starts[cell, piece + 1])
        while option < stop and (masks[option, 0] & low) | (masks[option, 1] & high):
            option += np.int64(1)
        if option == stop:
            before, piece = piece, after[piece]
            option = np.int64(starts[cell, piece])
            continue
        placements += 1
        next_low, next_high = low | masks[option, 0], high | masks[option, 1]
        left[piece] -= 1
        if left[piece] == 0:
            after[before] = after[piece]
        dead = next_low == full[0] and next_high == full[1]
        if dead:
            for k in range(depth):
                found[count, k] = steps[k, OPTION]
            found[count, depth] = option
            count += 1
        elif narrow is not None:
            dead = not narrow_fillable(full[0] & ~next_low, areas_left(narrow, left, after)[0], narrow)
        elif wide is not None:
            dead = not wide_fillable(full[0] & ~next_low, full[1] & ~next_high, areas_left(wide, left, after), wide)
        if dead:
            after[before] = piece
            left[piece] += 1
            option += 1
            continue
        save(scan, depth, (cell, before, piece, option), low, high)
        depth += 1
        low, high = next_low, next_high
        cell = np.int64(trailing_zeros(~low) if ~low else WORD + trailing_zeros(~high))
        before, piece = end, after[end]
        option = np.int64(starts[cell, piece])
    scan.counters[DEPTH], scan.counters[PLACEMENTS] = depth, placements
    if depth >= 0:
        save(scan, depth, (cell, before, piece, option), low, high)
    return count
