"""Regions: connected sets of empty cells, and whether the pieces left can fill each of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel, ones

Words = tuple[np.uint64, np.uint64]
"""A set of cells, or of areas, as low and high word: member ``k`` is bit ``k % 64`` of word ``k // 64``."""

ZERO, ONE, LAST_BIT, WORD = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(64)


class Regions(NamedTuple):
    """The neighbourhood of cells, by which kernels find regions, and the sizes of pieces that fill them."""

    distances: NDArray[np.uint64]
    """The differences between the numbers of neighbouring cells, ascending, ``(distances,)``."""
    sources: NDArray[np.uint64]
    """For each difference the cells that have a neighbour so much higher, as masks, ``(distances, 2)``."""
    sizes: NDArray[np.uint64]
    """The size of each piece, ``(pieces,)``."""


@kernel
def up(low: np.uint64, high: np.uint64, distance: np.uint64) -> Words:
    """The set with ``distance``, 0 < distance < 128, added to each member."""
    if distance < WORD:
        return low << distance, (high << distance) | (low >> (WORD - distance))
    return ZERO, low << (distance - WORD)


@kernel
def down(low: np.uint64, high: np.uint64, distance: np.uint64) -> Words:
    """The set with ``distance``, 0 < distance < 128, taken from each member."""
    if distance < WORD:
        return (low >> distance) | (high << (WORD - distance)), high >> distance
    return high >> (distance - WORD), ZERO


@kernel
def narrow_fillable(
    empty: np.uint64, areas: np.uint64, distances: NDArray[np.uint64], sources: NDArray[np.uint64]
) -> bool:
    """Whether every region of these empty cells has one of the areas, on a board of at most 64 cells."""
    while empty:
        region, before = empty & (~empty + ONE), ZERO
        while region != before:
            before = region
            for k in range(len(distances)):
                distance, source = distances[k], sources[k, 0]
                region |= (((region & source) << distance) | ((region >> distance) & source)) & empty
        if not (areas >> (ones(region) & LAST_BIT)) & ONE:
            return False
        empty ^= region
    return True


@kernel
def wide_region(low: np.uint64, high: np.uint64, distances: NDArray[np.uint64], sources: NDArray[np.uint64]) -> Words:
    """The region of the first empty cell, on any board."""
    region_low = low & (~low + ONE)
    region_high = ZERO if low else high & (~high + ONE)
    before_low, before_high = ZERO, ZERO
    while region_low != before_low or region_high != before_high:
        before_low, before_high = region_low, region_high
        for k in range(len(distances)):
            source_low, source_high = sources[k, 0], sources[k, 1]
            up_low, up_high = up(region_low & source_low, region_high & source_high, distances[k])
            down_low, down_high = down(region_low, region_high, distances[k])
            region_low |= (up_low | (down_low & source_low)) & low
            region_high |= (up_high | (down_high & source_high)) & high
    return region_low, region_high


@kernel
def multiples(size: np.uint64) -> Words:
    """The areas below 128 that pieces of one size can fill, if there are enough of them."""
    low, high = ONE, ZERO
    for _ in range(WORD + WORD):
        more_low, more_high = up(low, high, size)
        low |= more_low
        high |= more_high
    return low, high


@kernel
def all_even(sizes: NDArray[np.uint64]) -> bool:
    """Whether all pieces have one size, so that the areas they fill do not depend on which are left."""
    even = True
    for size in sizes:
        even &= size == sizes[0]
    return even


@kernel
def areas_of(sizes: NDArray[np.uint64], left: NDArray[np.int64], after: NDArray[np.int64]) -> Words:
    """The areas below 128 that some of the pieces on the list can fill together.

    ``left[piece]`` is how many copies of a piece there are, ``after[piece]`` the next piece on the list, ``after[-1]``
    the first; its end is ``len(sizes)``.
    """
    low, high = ONE, ZERO
    piece = after[-1]
    while piece < len(sizes):
        for _ in range(left[piece]):
            more_low, more_high = up(low, high, sizes[piece])
            low |= more_low
            high |= more_high
        piece = after[piece]
    return low, high


@kernel
def wide_fillable(
    low: np.uint64, high: np.uint64, areas: Words, distances: NDArray[np.uint64], sources: NDArray[np.uint64]
) -> bool:
    """Whether every region of these empty cells has one of the areas, on any board."""
    while low | high:
        region_low, region_high = wide_region(low, high, distances, sources)
        area = ones(region_low) + ones(region_high)
        if not ((areas[0] if area < WORD else areas[1]) >> (area & LAST_BIT)) & ONE:
            return False
        low ^= region_low
        high ^= region_high
    return True
