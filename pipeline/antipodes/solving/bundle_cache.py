"""Bundles of large tables: computed once from the store, and then read from the cache."""

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from antipodes.solving.table_cache import keep, kept, read_store, writer
from antipodes.system.machine import available_workers
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.searches.bundles import BundleRows, Bundles, bundles_of
from antipodes_tasks.searches.packed import Encoding
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.spaces.space import Space

SHIFT = 2
"""Binary logarithm of the number of values per byte."""
HEADER = 3
"""Number of integers at the beginning of the cached rows."""


def clipped_encoding(manifest: TableManifest) -> Encoding:
    """Return the encoding with two bits per entry that distinguishes the most frequent distances.

    The first clipped value is one less than the distance of most positions, so that only few positions are nearer.
    """
    return Encoding(SHIFT, max(int(np.argmax(manifest.layers)) - 2, 1))


def bytes_of_bundles(rows: BundleRows, symmetry: int) -> int:
    """Return about how many bytes the words and the list of bundles take."""
    return 4 * rows.count * (rows.width // symmetry + 1)


def cached_bundles(
    store: TableStore, manifest: TableManifest, space: Space, rows: BundleRows, pulse: Heartbeat
) -> Bundles | None:
    """Return the bundles of a reduced table from the cache; if missing, compute and cache them.

    Returns None if they cannot be numbered, see `bundles_of`. ``pulse`` may end the computation by raising an error.

    Raises
    ------
    StoreDamagedError
        The store is corrupt.
    InputError
        The limit of the cache is not valid.
    """
    encoding = clipped_encoding(manifest)
    of_rows, of_words = f"bundles {encoding.base}", f"words {encoding.base}"
    head = kept(manifest, of_rows, pulse)
    words = None if head is None else kept(manifest, of_words, pulse)
    if head is not None and words is not None:
        return _parsed(rows, encoding.base, head, words)

    def values() -> NDArray[np.uint8]:
        found = np.empty(encoding.size(manifest.index_size), dtype=np.uint8)
        read_store(store, manifest, encoding, writer(found), pulse)
        return found

    bundles = bundles_of(space, rows, encoding.base, values, available_workers(), pulse)
    if bundles is not None:
        keep(manifest, of_rows, _written(bundles))
        keep(manifest, of_words, bundles.words.view(np.uint8))
    return bundles


def _written(bundles: Bundles) -> NDArray[np.uint8]:
    """Return everything but the words as bytes."""
    sizes = np.array([len(bundles.class_of), *bundles.maps.shape], dtype="<i8")
    arrays = bundles.class_of.astype("<u4"), bundles.maps.astype("<i4"), bundles.symmetries.astype("<u2")
    return np.concatenate([part.ravel().view(np.uint8) for part in (sizes, *arrays)])


def _parsed(rows: BundleRows, base: int, head: NDArray[np.uint8], words: NDArray[np.uint8]) -> Bundles:
    """Parse the bytes from `_written`, whose digests the cache has already checked."""
    count, maps, width = head[: 8 * HEADER].view("<i8").tolist()
    ends = accumulate((4 * count, 4 * maps * width, 2 * maps), initial=8 * HEADER)
    class_of, columns, symmetries = (head[first:end] for first, end in pairwise(ends))
    return Bundles(
        rows,
        base,
        class_of.view("<u4").astype(np.uint32),
        columns.view("<i4").astype(np.int32).reshape(maps, width),
        symmetries.view("<u2").astype(np.uint16),
        words.view("<u4"),
    )
