"""The distances, symmetry classes and bundles of a table in the form in which searches look them up.

Tables are reduced by symmetries by default. A search of a puzzle whose moves are always legal reads the entries of a
reduced table directly (see `antipodes_tasks.searches.quotient`). Other searches need one entry for each position of the
pattern, so the missing entries are computed when the store is loaded. Bundles of large tables are computed once, and
then read from the cache.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes.solving.table_cache import LEAST_CACHED, keep, keep_arrays, kept, kept_arrays, read_store, writer
from antipodes.system.machine import available_workers
from antipodes.tables.store.keys import StoredKeys
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.searches.bundles import BundleRows, Bundles, bundles_of
from antipodes_tasks.searches.packed import BYTES, Encoding
from antipodes_tasks.searches.pattern_databases import UNREACHED
from antipodes_tasks.searches.progress import Heartbeat, no_pulse
from antipodes_tasks.searches.quotient import Quotient, followed_numbering, quotient_of
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space

LIST_BYTES = 1 << 27
"""Maximum size in bytes of the chunks of a list of keys that stay in memory."""
MAX_EXPANDED = 1 << 28
"""Maximum number of entries to which a reduced table is expanded. Each entry takes one thread half a microsecond."""
EXPANDED_TOGETHER = 1 << 16
"""Number of entries that a thread computes at once; their values fill whole bytes."""
LEAST_CACHED_ROWS = 1 << 14
"""Minimum number of rows, before the reduction, for which the cache is faster than computing the quotient."""
QUOTIENT_ARRAYS = np.int64, np.uint32, np.int32, np.uint16
"""The types of the arrays of a cached quotient."""
CLIPPED_SHIFT = 2
"""Binary logarithm of the number of clipped values per byte."""
MAKING_BYTES = 32
"""Bytes per bundle while bundles are computed."""
BUNDLE_ARRAYS = np.uint32, np.int32, np.uint16
"""The types of the arrays of cached bundles, without the words."""
Values = NDArray[np.uint8]


def space_of(store: TableStore, manifest: TableManifest) -> Space:
    """Return the space of a table."""
    keys = StoredKeys(store, manifest, LIST_BYTES) if manifest.keyed else None
    return manifest.opened_space(manifest.config.puzzle, keys)


def expanded(
    store: TableStore, manifest: TableManifest, stored: Reduced, encoding: Encoding, pulse: Heartbeat = no_pulse
) -> Values:
    """Return the encoded distances of all positions of a reduced table, 255 for unreachable ones, from the cache if
    possible.

    Raises as `values_of` does.
    """
    size = stored.whole.size
    form, large = f"expanded {encoding.shift} {encoding.base}", size >= LEAST_CACHED
    cached = kept(manifest, form, pulse) if large else None
    if cached is not None and len(cached) == encoding.size(size):
        return cached
    distances = np.empty(manifest.index_size, dtype=np.uint8)
    read_store(store, manifest, BYTES, writer(distances), pulse)
    values = np.empty(encoding.size(size), dtype=np.uint8)

    def expand(first: int) -> None:
        end = min(first + EXPANDED_TOGETHER, size)
        found = stored.rank(stored.whole.unrank(np.arange(first, end)))
        own = np.where(found == NOT_NUMBERED, np.uint8(UNREACHED), distances[found])
        values[encoding.size(first) : encoding.size(end)] = encoding.encode(own)

    for _ in on_threads(expand, range(0, size, EXPANDED_TOGETHER), available_workers(), pulse):
        pass
    if large:
        keep(manifest, form, values, pulse)
    return values


def cached_quotient(space: Space, manifest: TableManifest, pulse: Heartbeat) -> Quotient | None:
    """Return the quotient of a reduced table whose moves are always legal, from the cache if possible.

    ``space`` is the space of the table. Returns None if there is no quotient, see `quotient_of`. ``pulse`` may end the
    computation by raising an error. Raises InputError if the limit of the cache is not valid.
    """
    reduced = space.numbering
    assert isinstance(reduced, Reduced)
    large = reduced.frame.all_rows >= LEAST_CACHED_ROWS
    if large and (found := kept_arrays(manifest, "quotient", QUOTIENT_ARRAYS, pulse)) is not None:
        moves, class_of, maps, symmetries = found
        return Quotient(space, followed_numbering(space.rules, reduced), class_of, maps, symmetries, moves)
    quotient = quotient_of(space, available_workers(), pulse)
    if large and quotient is not None:
        arrays = quotient.moves, quotient.class_of, quotient.maps, quotient.symmetries
        keep_arrays(manifest, "quotient", arrays, pulse)
    return quotient


def clipped_encoding(manifest: TableManifest) -> Encoding:
    """Return the encoding with two bits per entry that distinguishes the most frequent distances.

    0 stands for all distances up to two less than the most frequent one, so that only few positions are nearer.
    """
    return Encoding(CLIPPED_SHIFT, max(int(np.argmax(manifest.layers)) - 2, 1))


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
    arrays = kept_arrays(manifest, of_rows, BUNDLE_ARRAYS, pulse)
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

    def values() -> Values:
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
