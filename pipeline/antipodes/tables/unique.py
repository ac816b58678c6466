"""Positions up to symmetry: how many classes there are at each depth, and one position of each class.

The number of classes is the mean number of positions that a symmetry leaves as they are (Burnside's lemma). Those
positions are few, and listed without looking at the others, so a large table takes no longer than a small one.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.errors import StoreDamagedError
from antipodes_tasks.rules.counted_swaps import CountedSwaps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space
from antipodes_tasks.symmetries.finding import symmetries_of
from antipodes_tasks.symmetries.fixed import fixed_positions
from antipodes_tasks.symmetries.symmetry import Symmetry

Counts = NDArray[np.int64]
LOOKED_UP = 1 << 22
"""Positions whose depths are looked up together, so that each chunk is read once for them."""
SCANNED = 1 << 14
"""Positions of a table whose images are made together."""


def acting(space: Space) -> tuple[Symmetry, ...]:
    """The symmetries that permute the numbered positions, the identity first.

    They are all symmetries of the puzzle, except where only positions that can be reached from one that is no start
    are numbered.
    """
    elements = symmetries_of(space.rules).elements()
    if not _is_cut_off(space):
        return elements
    origin = np.array([space.rules.origin], dtype=np.uint8)
    return tuple(one for one in elements if space.rank(one.image(origin))[0] != NOT_NUMBERED)


def _is_cut_off(space: Space) -> bool:
    """Whether a position may be numbered and its image not."""
    return space.rules.enumerated and space.rules.origin is not None


def _classes(space: Space) -> list[tuple[Symmetry, int]]:
    """Acting symmetries that leave as many positions as all others do together, each with the number of its like."""
    if _is_cut_off(space):
        return [(one, 1) for one in acting(space)]
    return list(symmetries_of(space.rules).classes())


def unique_layers(space: Space, chunks: TableChunks, layers: Sequence[int]) -> list[int]:
    """The number of positions at each depth up to symmetry; ``layers`` are those of all positions.

    Raises
    ------
    InputError
        The moves are functions.
    ResourceLimitError
        There are too many symmetries to list.
    StoreDamagedError
        The depths are not as symmetric as the puzzle.
    """
    group = _classes(space)
    order = sum(size for _, size in group)
    total = np.zeros(len(layers), dtype=object)  # products of counts can exceed 64 bits
    for symmetry, size in group:
        total += size * np.array(symmetric_layers(symmetry, space, chunks, layers), dtype=object)
    if any(count % order for count in total):
        raise StoreDamagedError(f"{chunks.address} is damaged: symmetric positions have different depths")
    return [int(count) // order for count in total]


def symmetric_layers(symmetry: Symmetry, space: Space, chunks: TableChunks, layers: Sequence[int]) -> list[int]:
    """The number of positions at each depth that a symmetry leaves as they are."""
    if symmetry.is_identity:
        return list(layers)
    counts = np.zeros(len(layers), dtype=np.int64)
    for depths in _depths_of_fixed(symmetry, space, chunks):
        counts += np.bincount(depths[depths >= 0], minlength=len(layers))
    return list(map(int, counts))


def _depths_of_fixed(symmetry: Symmetry, space: Space, chunks: TableChunks) -> Iterator[NDArray[np.int32]]:
    """The depths of the positions that a symmetry leaves, reachable or not."""
    if symmetry.firsts is not None or isinstance(space.rules.moves, CountedSwaps):  # labels depend on other places
        for indices, depths in chunks.reached():
            for first in range(0, len(indices), SCANNED):
                labels = space.unrank(indices[first : first + SCANNED])
                yield depths[first : first + SCANNED][(symmetry.image(labels) == labels).all(axis=1)]
        return
    for ranked in _together(map(space.rank, fixed_positions(symmetry))):
        yield chunks.distances(ranked)


def _together(parts: Iterable[Counts]) -> Iterator[Counts]:
    """The same numbers in larger arrays."""
    waiting: list[Counts] = []
    for part in parts:
        waiting.append(part[part != NOT_NUMBERED])
        if sum(map(len, waiting)) >= LOOKED_UP:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def representatives(space: Space, batches: Iterable[Labels]) -> Iterator[Labels]:
    """The positions of batches ``(n, places)`` that are the first of their class, in the order of labels."""
    elements = acting(space)[1:]
    for positions in batches:
        first = positions
        for symmetry in elements:
            first = first[~_before(symmetry.image(first), first)]
        yield first


def _before(one: Labels, other: Labels) -> NDArray[np.bool_]:
    """Which positions ``(n, places)`` come before others in the order of labels, ``(n,)``."""
    differs = one != other
    place = differs.argmax(axis=1)
    every = np.arange(len(one))
    before: NDArray[np.bool_] = differs[every, place] & (one[every, place] < other[every, place])
    return before


def first_of_classes(space: Space, positions: Labels) -> Labels:
    """The first position of the class of each of ``(n, places)``, in the order of labels, each once."""
    first = positions.copy()
    for symmetry in acting(space)[1:]:
        images = symmetry.image(positions)
        earlier = _before(images, first)
        first[earlier] = images[earlier]
    return np.unique(first, axis=0)


def stabilisers(space: Space, positions: Labels) -> list[int]:
    """How many symmetries leave each position ``(n, places)`` as it is, the identity among them."""
    counts = np.zeros(len(positions), dtype=np.int64)
    for symmetry in acting(space):
        counts += (symmetry.image(positions) == positions).all(axis=1)
    return list(map(int, counts))
