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
MAKING_BYTES = 32
"""Bytes per bundle while bundles are computed."""
HEADER = 3
"""Number of integers at the beginning of the cached rows."""


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
    """Return the bundles of a reduced table from the cache, or None if they are not there.

    ``pulse`` may end the reading by raising an error.
    """
    of_rows, of_words = _forms(manifest, rows)
    head = kept(manifest, of_rows, pulse)
    words = None if head is None else kept(manifest, of_words, pulse)
    return None if head is None or words is None else _parsed(rows, clipped_encoding(manifest).base, head, words)


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
        keep(manifest, of_rows, _written(bundles), pulse)
        keep(manifest, of_words, bundles.words.view(np.uint8), pulse)
    return bundles


def _forms(manifest: TableManifest, rows: BundleRows) -> tuple[str, str]:
    """Return the forms in which the list of bundles and the words are cached."""
    form = f"{len(rows.turns)} turns {rows.leading} {clipped_encoding(manifest).base}"
    return f"bundles {form}", f"words {form}"


def _written(bundles: Bundles) -> NDArray[np.uint8]:
    """Return everything but the words as bytes."""
    sizes = np.array([len(bundles.class_of), *bundles.maps.shape], dtype="<i8")
    arrays = bundles.class_of.astype("<u4"), bundles.maps.astype("<i4"), bundles.symmetries.astype("<u2")
    return np.concatenate([part.ravel().view(np.uint8) for part in (sizes, *arrays)])


def _parsed(rows: BundleRows, base: int, head: NDArray[np.uint8], words: NDArray[np.uint8]) -> Bundles | None:
    """Parse the bytes from `_written`, whose digests the cache has already checked; None if they belong to others."""
    count, maps, width = head[: 8 * HEADER].view("<i8").tolist()
    if (count, width) != (rows.count, rows.width) or len(words) % (4 * width):
        return None
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
