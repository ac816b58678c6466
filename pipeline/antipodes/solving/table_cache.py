"""The distances of tables in the form that searches need: read from a store the first time, and then from a cache."""

import hashlib
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.solving.byte_cache import Write, keep_cached, limit_of_cache, open_cached
from antipodes.system.machine import available_workers
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.searches.packed import HALVES, Encoding
from antipodes_tasks.searches.progress import Heartbeat, no_pulse

FORMAT = 6
"""The version of the format of the cached files."""
READ_TOGETHER = 1 << 24
"""Number of entries that a thread reads from a store at once."""
LEAST_CACHED = 1 << 24
"""Minimum number of entries of a table for which the cache is faster than the store."""
SHAPE_BYTES = 24
"""Size of the header of each cached array, in bytes: the number of dimensions and two sizes."""
Values = NDArray[np.uint8]


def fits_halves(manifest: TableManifest) -> bool:
    """Return whether each distance of a table fits into half a byte."""
    return len(manifest.layers) <= HALVES.mask


def values_of(
    store: TableStore,
    manifest: TableManifest,
    encoding: Encoding,
    pulse: Heartbeat = no_pulse,
    into: Values | None = None,
) -> Values:
    """Return the encoded distances of all entries from the cache; if missing, read the store and cache them.

    They are written to ``into`` if given, which must have the right size. An error of ``pulse`` ends the reading.

    Raises
    ------
    StoreDamagedError
        The store is corrupt.
    InputError
        The environment variable with the limit of the cache is not valid, or other users can replace cached files.
    """
    limit_of_cache()  # raises before anything is read
    size = encoding.size(manifest.index_size)
    if manifest.index_size >= LEAST_CACHED:
        name = _name(manifest, f"{encoding.shift} {encoding.base}")
        found = open_cached(name, pulse, into)
        if found is None or len(found) != size:
            fill = partial(read_store, store, manifest, encoding, pulse=pulse)
            found = keep_cached(name, size, fill, pulse, into)
        if found is not None:
            return found
    values = np.empty(size, dtype=np.uint8) if into is None else into
    read_store(store, manifest, encoding, writer(values), pulse)
    return values


def kept(manifest: TableManifest, form: str, pulse: Heartbeat = no_pulse) -> Values | None:
    """Return the cached bytes for a table in some form, or None if they are missing or corrupt."""
    return open_cached(_name(manifest, form), pulse)


def keep(manifest: TableManifest, form: str, values: Values, pulse: Heartbeat = no_pulse) -> None:
    """Cache bytes for a table in some form; raise InputError if the limit of the cache is not valid.

    The bytes are read again from the file. An error of ``pulse`` ends the call.
    """
    keep_cached(_name(manifest, form), len(values), lambda write: write(0, values), pulse, values)


def kept_arrays(
    manifest: TableManifest, form: str, dtypes: Sequence[type[np.generic]], pulse: Heartbeat = no_pulse
) -> list[NDArray[Any]] | None:
    """Return the cached arrays of these types for a table in some form, or None if they are missing or corrupt."""
    content = kept(manifest, form, pulse)
    if content is None:
        return None
    begin, arrays = SHAPE_BYTES * len(dtypes), list[NDArray[Any]]()
    shapes = content[:begin].view("<i8").reshape(len(dtypes), -1).tolist()
    for scalar, (dimensions, *shape) in zip(dtypes, shapes, strict=True):
        dtype = np.dtype(scalar)
        end = begin + math.prod(shape) * dtype.itemsize
        array = content[begin:end].view(dtype.newbyteorder("<")).astype(dtype, copy=False)
        arrays.append(array.reshape(shape[:dimensions]))
        begin = end
    return arrays


def keep_arrays(
    manifest: TableManifest, form: str, arrays: Sequence[NDArray[Any]], pulse: Heartbeat = no_pulse
) -> None:
    """Cache arrays of one or two dimensions for a table in some form. Raises as `keep` does.

    Arrays of larger items must come first: then all arrays are aligned in the file, and reading does not copy them.
    """
    shapes = np.array([(array.ndim, *array.shape, 1)[:3] for array in arrays], dtype=np.int64)
    parts = [part.astype(part.dtype.newbyteorder("<"), copy=False).ravel() for part in (shapes, *arrays)]
    keep(manifest, form, np.concatenate([part.view(np.uint8) for part in parts]), pulse)


def writer(values: Values) -> Write:
    """Return a function that writes to the array ``values``."""

    def write(begin: int, block: Values) -> None:
        values[begin : begin + len(block)] = block

    return write


def read_store(
    store: TableStore, manifest: TableManifest, encoding: Encoding, write: Write, pulse: Heartbeat = no_pulse
) -> None:
    """Write the encoded distances of all entries of a store; raise StoreDamagedError if it is corrupt."""
    size = manifest.chunk_rows * manifest.width
    each = 1 << encoding.shift
    step = max(each, READ_TOGETHER // size // each * each)  # the entries of this many chunks fill whole bytes

    def read(chunk: int) -> None:
        distances = store.read_chunks(manifest, chunk, min(chunk + step, manifest.chunk_count)).ravel()
        assert distances.dtype == np.uint8
        write(encoding.size(chunk * size), encoding.encode(distances.view(np.uint8)))

    for _ in on_threads(read, range(0, manifest.chunk_count, step), available_workers(), pulse):
        pass


def _name(manifest: TableManifest, form: str) -> str:
    """Return the name of the cached file, which contains a digest of the table."""
    name = hashlib.sha256(f"{manifest.fingerprint} {manifest.rows} {manifest.width} {form} {FORMAT} ".encode())
    name.update(manifest.chunks.digests.tobytes())
    return name.hexdigest()
