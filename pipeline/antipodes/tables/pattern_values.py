"""The distances of a table as searches look them up: each position of a pattern has an entry of its own.

A store may have fewer: tables are reduced by symmetries by default, and some have the least distances over regions.
The entries that are not in the store are made when it is loaded.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes.machine import available_workers
from antipodes.tables.store.keys import StoredKeys
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.stores import TableStore
from antipodes.tables.table_cache import LEAST_CACHED, keep, kept, read_distances, read_store
from antipodes_tasks.searches.packed import pack, packed_size
from antipodes_tasks.searches.patterns import UNREACHED
from antipodes_tasks.searches.progress import Pulse, no_pulse, on_threads
from antipodes_tasks.spaces.placements import Placements
from antipodes_tasks.spaces.reduced import Reduced
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering

LIST_BYTES = 1 << 27
"""Bytes of the chunks of a list of keys that stay in memory."""
MOST_EXPANDED = 1 << 28
"""Entries of the largest reduced table that is expanded: each takes half a microsecond of a processor."""
EXPANDED_TOGETHER = 1 << 16
"""Entries that a thread makes at once, an even number."""
Values = NDArray[np.uint8]


def numbering_of(store: TableStore, manifest: TableManifest) -> Numbering:
    """The numbering of the entries that `read_values` writes."""
    keys = StoredKeys(store, manifest, LIST_BYTES) if manifest.keyed else None
    stored = manifest.opened_space(manifest.config.puzzle, keys).numbering
    return stored.whole if isinstance(stored, Placements | Reduced) else stored


def read_values(
    store: TableStore, manifest: TableManifest, packed: bool, values: Values, pulse: Pulse = no_pulse
) -> None:
    """Write the distance of each entry to the values, 255 where no moves lead; raises as `read_distances`."""
    stored = manifest.cut[0].numbering
    if isinstance(stored, Placements):
        least = np.empty(stored.size, dtype=np.uint8)
        read_distances(store, manifest, packed, least, pulse)
        values[:] = stored.unfolded(least.reshape(-1, manifest.width)).ravel()
    elif isinstance(stored, Reduced):
        _read_reduced(store, manifest, stored, packed, values, pulse)
    else:
        read_distances(store, manifest, packed, values, pulse)


def _read_reduced(
    store: TableStore, manifest: TableManifest, stored: Reduced, packed: bool, values: Values, pulse: Pulse
) -> None:
    """Write the distances of all positions of a reduced table: from the cache if they are there, else made."""
    form, large = f"expanded {packed}", stored.whole.size >= LEAST_CACHED
    cached = kept(manifest, form) if large else None
    if cached is not None and len(cached) == len(values):
        values[:] = cached
        return
    distances = np.empty(manifest.index_size, dtype=np.uint8)
    read_store(store, manifest, False, distances, pulse)
    size = stored.whole.size

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
