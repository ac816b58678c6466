"""Symmetry classes of positions: their number at each depth, and a representative of each class.

The number of classes is the mean number of positions that a symmetry leaves unchanged (Burnside's lemma).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock

import numpy as np

from antipodes.tables.reached_positions import ReachedPositions
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.base.errors import ResourceLimitError, StoreDamagedError
from antipodes_tasks.base.parallel import check_wanted, in_threads
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.properties.fixed import fixed_positions
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space

Counts = Numbers
LOOKED_UP = 1 << 22
"""Number of positions whose depths are looked up together, so that each chunk is read once for all of them."""
LISTED_SHARE = 0.25
"""Maximum ratio of listed arrangements to positions. Beyond it, the table is read instead."""


def acting(space: Space) -> tuple[Symmetry, ...]:
    """Return the symmetries that permute the numbered positions, beginning with the identity.

    These are all symmetries of the puzzle, unless only the positions reachable from ``Rules.origin``, which is not a
    start, are numbered.
    """
    elements = symmetries_of(space.rules).elements()
    if not space.rules.depends_on_origin:  # otherwise a position may be numbered although its image is not
        return elements
    origin = np.array([space.rules.origin], dtype=np.uint8)
    return tuple(one for one in elements if space.rank(one.image(origin))[0] != NOT_NUMBERED)


def symmetry_classes(space: Space) -> list[tuple[Symmetry, int]]:
    """Return one symmetry of each class of acting symmetries, and the size of the class.

    The symmetries of a class leave the same number of positions unchanged at each depth.
    """
    if space.rules.depends_on_origin:
        return [(one, 1) for one in acting(space)]
    return list(symmetries_of(space.rules).classes())


@dataclass(frozen=True)
class SymmetricPositions:
    """The positions of a table that symmetries leave unchanged, counted by depth.

    The arrangements that a symmetry leaves unchanged are usually few, so they are listed and looked up. If few
    arrangements are positions of the table, listing would take too long, and the table is read instead.
    """

    space: Space
    chunks: TableChunks
    reached: ReachedPositions
    layers: Sequence[int]
    """The number of positions at each depth."""

    def unique_layers(self) -> list[int]:
        """Return the number of symmetry classes at each depth.

        Raises
        ------
        InputError
            The moves are functions.
        ResourceLimitError
            There are too many symmetries to list.
        StoreDamagedError
            The depths are less symmetric than the puzzle.
        """
        return self._unique(None)

    def unique_at(self, depth: int) -> int:
        """Return the number of symmetry classes at one depth; raise as `unique_layers` does."""
        return self._unique(depth)[depth]

    def _unique(self, depth: int | None) -> list[int]:
        """Return the number of symmetry classes at each depth; with ``depth``, count only those at this depth."""
        symmetries, sizes = zip(*symmetry_classes(self.space), strict=True)
        order, total = sum(sizes), np.zeros(len(self.layers), dtype=object)  # products of counts can exceed 64 bits
        for size, counts in zip(sizes, self.unchanged_by(symmetries, depth), strict=True):
            total += size * counts.astype(object)
        if any(count % order for count in total):
            raise StoreDamagedError(f"{self.chunks.address} is corrupt: symmetric positions have different depths")
        return [int(count) // order for count in total]

    def unchanged_by(self, symmetries: Sequence[Symmetry], depth: int | None = None) -> list[Counts]:
        """Return for each symmetry the number of positions at each depth that it leaves unchanged, ``(depths,)``.

        If a ``depth`` is given, only positions at this depth are counted.
        """
        positions = sum(self.layers) if depth is None else self.layers[depth]
        found = self._listed(symmetries, int(positions * LISTED_SHARE))
        if missing := [number for number, counts in enumerate(found) if counts is None]:
            read = self._read([symmetries[number] for number in missing], depth)
            found = [one if one is not None else read[missing.index(number)] for number, one in enumerate(found)]
        counted_there = np.arange(len(self.layers)) == depth if depth is not None else True
        return [np.where(counted_there, counts, 0) for counts in found if counts is not None]

    def _listed(self, symmetries: Sequence[Symmetry], max_arrangements: int) -> list[Counts | None]:
        """Return counts by listing arrangements; None once a symmetry leaves more than the maximum unchanged."""
        exceeded = Event()

        def count(symmetry: Symmetry) -> Counts | None:
            if symmetry.is_identity:
                return np.array(self.layers, dtype=np.int64)
            if exceeded.is_set() or not symmetry.is_local:
                return None
            try:
                return self._looked_up(symmetry, max_arrangements)
            except ResourceLimitError:
                exceeded.set()
                return None

        return in_threads("listing symmetric positions", [partial(count, one) for one in symmetries])

    def _looked_up(self, symmetry: Symmetry, max_arrangements: int) -> Counts:
        counts = np.zeros(len(self.layers), dtype=np.int64)
        for ranked in _join_indices(map(self.space.rank, fixed_positions(symmetry, max_arrangements))):
            check_wanted()
            depths = self.chunks.distances(ranked)
            counts += np.bincount(depths[depths >= 0], minlength=len(counts))
        return counts

    def _read(self, symmetries: Sequence[Symmetry], depth: int | None) -> Counts:
        """Return counts ``(symmetries, depths)`` from all positions of the table, or from those at a depth."""
        total = np.zeros((len(symmetries), len(self.layers)), dtype=np.int64)
        lock = Lock()

        def count(number: int) -> None:
            here = np.zeros_like(total)
            for labels, depths in self.reached.in_chunk(number, depth):
                check_wanted()
                for counts, symmetry in zip(here, symmetries, strict=True):
                    counts += np.bincount(depths[symmetry.leaves(labels)], minlength=len(counts))
            with lock:
                np.add(total, here, out=total)

        in_threads("looking for symmetric positions", [partial(count, one) for one in self.chunks.numbers_at(depth)])
        return total


def _join_indices(parts: Iterable[Numbers]) -> Iterator[Numbers]:
    """Yield the same indices in larger arrays, without NOT_NUMBERED."""
    waiting: list[Numbers] = []
    for part in parts:
        check_wanted()
        waiting.append(part[part != NOT_NUMBERED])
        if sum(map(len, waiting)) >= LOOKED_UP:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def representatives(space: Space, batches: Iterable[Labels]) -> Iterator[Labels]:
    """Yield the positions of batches ``(n, places)`` that are lexicographically first in their symmetry class."""
    elements = acting(space)[1:]
    for positions in batches:
        first = positions
        for symmetry in elements:
            first = first[~_precedes(symmetry.image(first), first)]
        yield first


def _precedes(one: Labels, other: Labels) -> Mask:
    """Return whether each position ``(n, places)`` lexicographically precedes the other, ``(n,)``."""
    differs = one != other
    place = differs.argmax(axis=1)
    every = np.arange(len(one))
    before: Mask = differs[every, place] & (one[every, place] < other[every, place])
    return before


def classes_of(space: Space, positions: Labels) -> tuple[Labels, Numbers]:
    """Return the lexicographically first position of the symmetry class of each position ``(n, places)``, and its size.

    The size ``(n,)`` is the number of positions in the class.
    """
    elements, first = acting(space), positions.copy()
    unchanged = np.ones(len(positions), dtype=np.int64)
    for symmetry in elements[1:]:
        images = symmetry.image(positions)
        unchanged += (images == positions).all(axis=1)
        earlier = _precedes(images, first)
        first[earlier] = images[earlier]
    return first, len(elements) // unchanged


def first_of_classes(space: Space, positions: Labels) -> Labels:
    """Return the lexicographically first position of each symmetry class of positions ``(n, places)``."""
    return np.unique(classes_of(space, positions)[0], axis=0)


def stabilisers(space: Space, positions: Labels) -> list[int]:
    """Return how many symmetries leave each position ``(n, places)`` unchanged, including the identity."""
    counts = np.zeros(len(positions), dtype=np.int64)
    for symmetry in acting(space):
        counts += symmetry.leaves(positions)
    return list(map(int, counts))
