"""The distances of tables in the form that searches need: read from a store the first time, and then from a cache."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from antipodes.solving.byte_cache import Write, keep_cached, limit_of_cache, open_cached
from antipodes.system.machine import available_workers
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.searches.packed import MAX_PACKED, pack, packed_size
from antipodes_tasks.searches.progress import Heartbeat, no_pulse, on_threads

FORMAT = 3
"""The version of the format of the cached files."""
READ_TOGETHER = 1 << 24
"""Number of entries that a thread reads from a store at once."""
LEAST_CACHED = 1 << 24
"""Minimum number of entries of a table for which the cache is faster than the store."""
Values = NDArray[np.uint8]


def can_be_packed(manifest: TableManifest) -> bool:
    """Return whether each distance of a table fits into half a byte."""
    return len(manifest.layers) - 1 <= MAX_PACKED


def distances_of(store: TableStore, manifest: TableManifest, packed: bool, pulse: Heartbeat = no_pulse) -> Values:
    """Return the distances of all entries from the cache; if they are missing, read the store and cache them.

    An error raised by ``pulse`` ends the reading.

    Raises
    ------
    StoreDamagedError
        The store is corrupt.
    InputError
        The environment variable with the limit of the cache is not valid.
    """
    limit_of_cache()  # raises before anything is read
    size = packed_size(manifest.index_size, packed)
    if manifest.index_size >= LEAST_CACHED:
        name = _name(manifest, f"packed {packed}")
        found = open_cached(name, pulse)
        if found is None or len(found) != size:
            found = keep_cached(name, size, lambda write: read_store(store, manifest, packed, write, pulse), pulse)
        if found is not None:
            return found
    values = np.empty(size, dtype=np.uint8)
    read_store(store, manifest, packed, writer(values), pulse)
    return values


def kept(manifest: TableManifest, form: str) -> Values | None:
    """Return the cached bytes for a table in some form, or None if they are missing or corrupt."""
    return open_cached(_name(manifest, form))


def keep(manifest: TableManifest, form: str, values: Values) -> None:
    """Cache bytes for a table in some form; raise InputError if the limit of the cache is not valid."""
    keep_cached(_name(manifest, form), len(values), lambda write: write(0, values))


def writer(values: Values) -> Write:
    """Return a function that writes to the array ``values``."""

    def write(begin: int, block: Values) -> None:
        values[begin : begin + len(block)] = block

    return write


def read_store(
    store: TableStore, manifest: TableManifest, packed: bool, write: Write, pulse: Heartbeat = no_pulse
) -> None:
    """Write the distances of all entries of a store; raise StoreDamagedError if it is corrupt."""
    size = manifest.chunk_rows * manifest.width
    step = max(2, READ_TOGETHER // size // 2 * 2)  # two chunks have an even number of entries, which fill whole bytes

    def read(chunk: int) -> None:
        distances = store.read_chunks(manifest, chunk, min(chunk + step, manifest.chunk_count)).ravel()
        assert distances.dtype == np.uint8
        own = distances.view(np.uint8)
        write(packed_size(chunk * size, packed), _packed(own) if packed else own)

    for _ in on_threads(read, range(0, manifest.chunk_count, step), available_workers(), pulse):
        pass


def _packed(distances: Values) -> Values:
    """Pack two distances into each byte."""
    halves = np.empty(packed_size(len(distances), packed=True), dtype=np.uint8)
    pack(distances, halves)
    return halves


def _name(manifest: TableManifest, form: str) -> str:
    """Return the name of the cached file, which contains a digest of the table."""
    name = hashlib.sha256(f"{manifest.fingerprint} {manifest.rows} {manifest.width} {form} {FORMAT} ".encode())
    name.update(manifest.chunks.digests.tobytes())
    return name.hexdigest()
