"""The list of keys in a store, read chunk by chunk, for looking up the index of a key and the key at an index."""

from functools import cached_property

import numpy as np

from antipodes.system.recently_used import RecentlyUsed
from antipodes.tables.store.chunks import CLOSED, by_chunk
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import KEY_CHUNK, TableManifest
from antipodes_tasks.keys.packing import Keys, rows_of
from antipodes_tasks.keys.sorted_keys import find
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.spaces.keyed import places_in
from antipodes_tasks.spaces.space import NOT_NUMBERED


class StoredKeys:
    """The keys of a table. Up to ``cache_bytes`` of chunks stay in memory. Threads can share this object."""

    def __init__(self, store: TableStore, manifest: TableManifest, cache_bytes: int) -> None:
        self._store = store
        self._manifest = manifest
        self._words = manifest.key_words
        capacity = max(1, cache_bytes // (8 * self._words * KEY_CHUNK))
        self._chunks: RecentlyUsed[int, Keys] = RecentlyUsed(capacity)

    def close(self) -> None:
        """Drop the chunks in memory. From now on, reading raises ClosedError."""
        self._chunks.close(CLOSED.format(self._store.address))

    def places_of(self, keys: Keys) -> Indices:
        """Return the index of each key, ``(n,)``, or NOT_NUMBERED; raise as `TableStore.read_keys` does."""
        self._chunks.check_open()
        indices = np.full(len(keys), NOT_NUMBERED, dtype=np.int64)
        chunks = self._chunks_of(keys)
        inside = np.flatnonzero(chunks >= 0)
        for number, group in by_chunk(chunks[inside], 1):
            here = inside[group]
            places = places_in(self._chunks.get(number, self._read), keys[here])
            indices[here] = np.where(places == NOT_NUMBERED, NOT_NUMBERED, places + number * self._manifest.chunk_rows)
        return indices

    def keys_at(self, indices: Indices) -> Keys:
        """Return the key at each index ``(n,)`` of the table."""
        keys = np.empty((len(indices), self._words), dtype=np.uint64)
        for number, group in by_chunk(indices, self._manifest.chunk_rows):
            keys[group] = rows_of(self._chunks.get(number, self._read)[indices[group] % self._manifest.chunk_rows])
        return keys[:, 0] if self._words == 1 else keys

    @cached_property
    def _first_keys_of_ranges(self) -> Keys:
        return self._store.first_keys(self._manifest)

    def _chunks_of(self, keys: Keys) -> Indices:
        """Return the index of the chunk in which each key ``(n,)`` would be; -1 if the key is less than all keys."""
        if self._words == 1:
            found: Indices = np.searchsorted(self._first_keys_of_ranges, keys, side="right") - 1
            return found
        below = np.array(find(self._first_keys_of_ranges, keys), dtype=np.int64)
        there = np.minimum(below, len(self._first_keys_of_ranges) - 1)
        at: Indices = below - 1 + (self._first_keys_of_ranges[there] == keys).all(axis=1)
        return at

    def _read(self, number: int) -> Keys:
        return self._store.read_keys(self._manifest, number)
