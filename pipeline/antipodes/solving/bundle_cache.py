"""Bundles of large tables: computed once from the store, and then read from the cache."""

import numpy as np
from numpy.typing import NDArray

from antipodes.solving.table_cache import keep, keep_arrays, kept, kept_arrays, read_store, writer
from antipodes.system.machine import available_workers
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.searches.bundles import BundleRows, Bundles, bundles_of
from antipodes_tasks.searches.packed import Encoding
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.spaces.space import Space

SHIFT = 2
"""Binary logarithm of the number of values per byte."""
MAKING_BYTES = 32
"""Bytes per bundle while bundles are computed."""
ARRAYS = np.uint32, np.int32, np.uint16
"""The types of the arrays of cached bundles, without the words."""


def clipped_encoding(manifest: TableManifest) -> Encoding:
    """Return the encoding with two bits per entry that distinguishes the most frequent distances.

    0 stands for all distances up to two less than the most frequent one, so that only few positions are nearer.
    """
    return Encoding(SHIFT, max(int(np.argmax(manifest.layers)) - 2, 1))


def bytes_of_bundles(rows: BundleRows, manifest: TableManifest) -> int:
    """Return about how many bytes the bundles of a table take."""
    return 4 * rows.count * (rows.width // manifest.symmetry + 1)


def bytes_to_make(rows: BundleRows, manifest: TableManifest) -> int:
    """Return about how many more bytes are needed to compute the bundles of a table."""
    return clipped_encoding(manifest).size(manifest.index_size) + MAKING_BYTES * rows.count


def cached_bundles(manifest: TableManifest, rows: BundleRows, pulse: Heartbeat) -> Bundles | None:
    """Return the bundles of a reduced table from the cache, or None if they are missing or belong to other rows.

    ``pulse`` may end the reading by raising an error.
    """
    of_rows, of_words = _forms(manifest, rows)
    arrays = kept_arrays(manifest, of_rows, ARRAYS, pulse)
    words = None if arrays is None else kept(manifest, of_words, pulse)
    if arrays is None or words is None:
        return None
    class_of, maps, symmetries = arrays
    if (len(class_of), maps.shape[1]) != (rows.count, rows.width) or len(words) % (4 * rows.width):
        return None
    return Bundles(rows, clipped_encoding(manifest).base, class_of, maps, symmetries, words.view("<u4"))


def made_bundles(
    store: TableStore, manifest: TableManifest, space: Space, rows: BundleRows, pulse: Heartbeat
) -> Bundles | None:
    """Compute the bundles of a reduced table, and cache them; return None if they cannot be numbered.

    ``pulse`` may end the computation by raising an error.

    Raises
    ------
    StoreDamagedError
        The store is corrupt.
    InputError
        The limit of the cache is not valid.
    """
    encoding = clipped_encoding(manifest)

    def values() -> NDArray[np.uint8]:
        found = np.empty(encoding.size(manifest.index_size), dtype=np.uint8)
        read_store(store, manifest, encoding, writer(found), pulse)
        return found

    bundles = bundles_of(space, rows, encoding.base, values, available_workers(), pulse)
    if bundles is not None:
        of_rows, of_words = _forms(manifest, rows)
        keep_arrays(manifest, of_rows, (bundles.class_of, bundles.maps, bundles.symmetries), pulse)
        keep(manifest, of_words, bundles.words.view(np.uint8), pulse)
    return bundles


def _forms(manifest: TableManifest, rows: BundleRows) -> tuple[str, str]:
    """Return the forms in which the list of bundles and the words are cached."""
    form = f"{len(rows.turns)} turns {rows.leading} {clipped_encoding(manifest).base}"
    return f"bundles {form}", f"words {form}"
