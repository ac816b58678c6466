"""The distances of a table as searches look them up: each position of a pattern has an entry of its own.

A store may have fewer: tables are reduced by symmetries by default.
The entries that are not in the store are made when it is loaded.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes.machine import available_workers
from antipodes.tables.store.keys import StoredKeys
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table_cache import LEAST_CACHED, distances_of, keep, kept, read_store, writer
from antipodes_tasks.searches.packed import pack, packed_size
from antipodes_tasks.searches.pattern_databases import UNREACHED
from antipodes_tasks.searches.progress import Pulse, no_pulse, on_threads
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering

LIST_BYTES = 1 << 27
"""Bytes of the chunks of a list of keys that stay in memory."""
MAX_EXPANDED = 1 << 28
"""Entries of the largest reduced table that is expanded: each takes half a microsecond of a processor."""
EXPANDED_TOGETHER = 1 << 16
"""Entries that a thread makes at once, an even number."""
Values = NDArray[np.uint8]


def numbering_of(store: TableStore, manifest: TableManifest) -> Numbering:
    """The numbering of the entries of `values_of`."""
    keys = StoredKeys(store, manifest, LIST_BYTES) if manifest.keyed else None
    stored = manifest.opened_space(manifest.config.puzzle, keys).numbering
    return stored.whole if isinstance(stored, Reduced) else stored


def values_of(store: TableStore, manifest: TableManifest, packed: bool, pulse: Pulse = no_pulse) -> Values:
    """The distance of each entry, 255 where no moves lead; raises as `distances_of`."""
    stored = manifest.cut[0].numbering
    if isinstance(stored, Reduced):
        return _expanded(store, manifest, stored, packed, pulse)
    return distances_of(store, manifest, packed, pulse)


def _expanded(store: TableStore, manifest: TableManifest, stored: Reduced, packed: bool, pulse: Pulse) -> Values:
    """The distances of all positions of a reduced table: from the cache if they are there, else made."""
    size = stored.whole.size
    form, large = f"expanded {packed}", size >= LEAST_CACHED
    cached = kept(manifest, form) if large else None
    if cached is not None and len(cached) == packed_size(size, packed):
        return cached
    distances = np.empty(manifest.index_size, dtype=np.uint8)
    read_store(store, manifest, False, writer(distances), pulse)
    values = np.empty(packed_size(size, packed), dtype=np.uint8)

    def expand(first: int) -> None:
        end = min(first + EXPANDED_TOGETHER, size)
        found = stored.rank(stored.whole.unrank(np.arange(first, end)))
        own = np.where(found == NOT_NUMBERED, np.uint8(UNREACHED), distances[found])
        if packed:
            pack(own, values[first // 2 : packed_size(end, packed)])
        else:
            values[first:end] = own

    _ = stored.classes  # found once, before threads ask for them
    for _ in on_threads(expand, range(0, size, EXPANDED_TOGETHER), available_workers(), pulse):
        pass
    if large:
        keep(manifest, form, values)
    return values
