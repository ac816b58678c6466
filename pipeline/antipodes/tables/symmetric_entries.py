"""The entries with symmetric positions, by which a search without a table counts symmetry classes.

They are listed before the search. In each layer it only has to look up which of them the layer contains.
"""

from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.up_to_symmetry import join_indices, symmetry_classes
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.parallel import in_threads
from antipodes_tasks.bfs.layer_weights import SymmetricEntries
from antipodes_tasks.properties.fixed import fixed_positions
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.spaces.space import Space

ENTRY_BYTES = 64
"""Memory in bytes of a listed entry while lists are merged."""
MERGED = 1 << 22
"""Number of waiting entries below which lists are not merged."""
Numbers = NDArray[np.int64]


def symmetric_entries(space: Space, memory: int | None = None) -> SymmetricEntries:
    """Return the entries of a space with a position that some symmetry other than the identity leaves unchanged.

    Raises
    ------
    InputError
        The moves are functions, or what a symmetry makes of a label depends on other labels.
    ResourceLimitError
        There are too many symmetries to list, or the entries take more than ``memory`` bytes.
    """
    classes = symmetry_classes(space)
    found = _Entries(space, memory)
    others = [(one, size) for one, size in classes if not one.is_identity]
    if not all(one.is_local for one, _ in others):
        raise InputError(f"{option('unique')}: the symmetric positions cannot be listed; compute the table")
    in_threads("listing symmetric positions", [partial(found.add_fixed, *each) for each in others])
    indices, unchanged = found.merged()
    rows, columns = np.divmod(indices, space.width)
    order = sum(size for _, size in classes)
    return SymmetricEntries(order, rows.astype(np.int32), columns.astype(np.int32), unchanged)


class _Entries:
    """Entries and how often each of them was found, collected by several threads."""

    def __init__(self, space: Space, memory: int | None) -> None:
        self._space = space
        self._memory = memory
        self._lock = Lock()
        self._indices, self._counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._waiting: list[tuple[Numbers, Numbers]] = []

    def add_fixed(self, symmetry: Symmetry, weight: int) -> None:
        """Add the entries of all positions that a symmetry leaves unchanged, each position ``weight`` times."""
        for ranked in join_indices(map(self._space.rank, fixed_positions(symmetry))):
            indices, counts = np.unique(ranked, return_counts=True)
            with self._lock:
                self._waiting.append((indices, weight * counts))
                if sum(len(one) for one, _ in self._waiting) >= max(MERGED, len(self._indices) // 2):
                    self._merge()

    def merged(self) -> tuple[Numbers, Numbers]:
        """Return all entries found, ascending, and how often each of them was found."""
        self._merge()
        return self._indices, self._counts

    def _merge(self) -> None:
        indices, counts = map(np.concatenate, zip((self._indices, self._counts), *self._waiting, strict=True))
        if self._memory is not None and len(indices) * ENTRY_BYTES > self._memory:
            raise ResourceLimitError(
                f"the list of symmetric positions for {option('unique')} has more than "
                f"{self._memory // ENTRY_BYTES:,} entries, too many for the memory limit"
            )
        self._indices, places = np.unique(indices, return_inverse=True)
        self._counts = np.bincount(places, counts, len(self._indices)).astype(np.int64)
        self._waiting.clear()
