"""The entries with symmetric positions, by which a search without a table counts symmetry classes.

They are listed before the search. In each layer it only has to look up which of them the layer contains.
"""

from collections.abc import Iterator
from functools import partial
from threading import Lock

import numpy as np

from antipodes.tables.up_to_symmetry import LISTED_SHARE, symmetry_classes
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.parallel import check_wanted, in_threads
from antipodes_tasks.bfs.layer_weights import SymmetricEntries
from antipodes_tasks.properties.fixed import fixed_positions
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space

ENTRY_BYTES = 64
"""Memory in bytes of a listed entry while lists are merged."""
MAX_WAITING = 1 << 22
"""Maximum number of entries that wait until they are merged with the others."""
MAX_TESTED, BATCH = 1 << 20, 1 << 16
"""Maximum number of positions of a space that are tested one by one, and number of positions tested together."""


def symmetric_entries(space: Space, memory: int | None = None) -> SymmetricEntries:
    """Return the entries of a space with a position that some symmetry other than the identity leaves unchanged.

    In a small space, all positions are tested. In a larger one, the arrangements that a symmetry leaves unchanged are
    generated, whether they are positions of the space or not.

    Raises
    ------
    InputError
        The moves are functions, whose symmetries are unknown.
    ResourceLimitError
        There are too many symmetries or symmetric arrangements to list, or the entries take more than ``memory`` bytes.
    """
    classes = symmetry_classes(space)
    found = _Entries(space, memory)
    calls = [partial(found.add_fixed, *each) for each in classes if not each[0].is_identity]
    in_threads("listing symmetric positions", calls)
    indices, unchanged = found.merged()
    rows, columns = np.divmod(indices, space.width)
    order = sum(size for _, size in classes)
    return SymmetricEntries(order, rows.astype(np.int32), columns.astype(np.int32), unchanged)


class _Entries:
    """Entries and how often each of them was found, collected by several threads."""

    def __init__(self, space: Space, memory: int | None) -> None:
        self._space = space
        self._most = None if memory is None else memory // ENTRY_BYTES
        self._lock = Lock()
        self._indices, self._counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._waiting: list[tuple[Numbers, Numbers]] = []
        self._room = MAX_WAITING if self._most is None else min(MAX_WAITING, self._most // 4)

    def add_fixed(self, symmetry: Symmetry, weight: int) -> None:
        """Add the entries of all positions that a symmetry leaves unchanged, each position ``weight`` times."""
        for labels in _unchanged_by(symmetry, self._space.full_space):
            check_wanted()
            ranked = self._space.rank(labels)
            indices, counts = np.unique(ranked[ranked != NOT_NUMBERED], return_counts=True)
            with self._lock:
                self._waiting.append((indices, weight * counts))
                if sum(len(one) for one, _ in self._waiting) >= max(self._room, len(self._indices) // 2):
                    self._merge()

    def merged(self) -> tuple[Numbers, Numbers]:
        """Return all entries found, ascending, and how often each of them was found."""
        self._merge()
        return self._indices, self._counts

    def _merge(self) -> None:
        indices, counts = map(np.concatenate, zip((self._indices, self._counts), *self._waiting, strict=True))
        self._indices, places = np.unique(indices, return_inverse=True)
        if self._most is not None and len(self._indices) > self._most:
            raise ResourceLimitError(
                f"{option('unique')}: there are more than {self._most:,} symmetric positions, too many for the memory "
                "limit; raise it, or compute the table"
            )
        self._counts = np.bincount(places, counts, len(self._indices)).astype(np.int64)
        self._waiting.clear()


def _unchanged_by(symmetry: Symmetry, space: Space) -> Iterator[Labels]:
    """Yield all positions of a space that a symmetry leaves unchanged, and possibly other arrangements, in batches.

    Raises ResourceLimitError if it would take too long, because few of the arrangements are positions.
    """
    if space.size > MAX_TESTED and symmetry.is_local:
        try:
            yield from fixed_positions(symmetry, int(space.size * LISTED_SHARE))
        except ResourceLimitError as error:
            raise ResourceLimitError(f"{option('unique')}: {error}; compute the table") from None
    elif space.size > MAX_TESTED:
        raise ResourceLimitError(f"{option('unique')}: there are too many positions to test; compute the table")
    else:
        for first in range(0, space.size, BATCH):
            labels = space.unrank(np.arange(first, min(first + BATCH, space.size)))
            yield labels[symmetry.leaves(labels)]
