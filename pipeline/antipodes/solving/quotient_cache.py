"""Quotients of tables that are reduced by symmetries: computed once, and then read from the cache."""

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from antipodes.solving.table_cache import keep, kept
from antipodes.system.machine import available_workers
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.searches.quotient import Quotient, followed_numbering, quotient_of
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.space import Space

FORM = "quotient"
HEADER = 5
"""Number of integers at the beginning of a cached quotient."""
LEAST_CACHED_ROWS = 1 << 14
"""Minimum number of rows, before the reduction, for which the cache is faster than computing the quotient."""


def cached_quotient(space: Space, manifest: TableManifest, pulse: Heartbeat) -> Quotient | None:
    """Return the quotient of a reduced table whose moves are always legal, from the cache if possible.

    ``space`` is the space of the table. Returns None if there is no quotient, see `quotient_of`. ``pulse`` may end the
    computation by raising an error. Raises InputError if the limit of the cache is not valid.
    """
    reduced = space.numbering
    assert isinstance(reduced, Reduced)
    large = reduced.frame.all_rows >= LEAST_CACHED_ROWS
    if large and (found := kept(manifest, FORM)) is not None:
        return _parsed(space, reduced, found)
    quotient = quotient_of(space, available_workers(), pulse)
    if large and quotient is not None:
        keep(manifest, FORM, _written(quotient))
    return quotient


def _written(quotient: Quotient) -> NDArray[np.uint8]:
    """Return a quotient as bytes."""
    sizes = np.array([len(quotient.class_of), *quotient.maps.shape, *quotient.moves.shape], dtype="<i8")
    arrays = quotient.moves.astype("<i8"), quotient.class_of.astype("<u4"), quotient.maps.astype("<i4")
    parts = (sizes, *arrays, quotient.symmetries.astype("<u2"))
    return np.concatenate([part.ravel().view(np.uint8) for part in parts])


def _parsed(space: Space, reduced: Reduced, content: NDArray[np.uint8]) -> Quotient:
    """Parse the bytes from `_written`, whose digests the cache has already checked."""
    rows, maps, width, symmetries, moves = content[: 8 * HEADER].view("<i8").tolist()
    ends = accumulate((8 * symmetries * moves, 4 * rows, 4 * maps * width, 2 * maps), initial=8 * HEADER)
    images, class_of, of_columns, of_maps = (content[first:end] for first, end in pairwise(ends))
    return Quotient(
        space,
        followed_numbering(space.rules, reduced),
        class_of.view("<u4").astype(np.uint32),
        of_columns.view("<i4").astype(np.int32).reshape(maps, width),
        of_maps.view("<u2").astype(np.uint16),
        images.view("<i8").astype(np.int64).reshape(symmetries, moves),
    )
