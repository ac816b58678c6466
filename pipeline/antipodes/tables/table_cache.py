"""The distances of tables as searches have them in memory, kept in the user's cache folder from one time to the next.

A file has the bytes, and after them a digest of each block. Together the files take at most a limit; those that have
not been used for the longest time make room.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import platformdirs
from numpy.typing import NDArray

from antipodes.machine import GIB, available_workers
from antipodes.runs.options import memory_size
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.stores import TableStore
from antipodes_tasks.searches.packed import MOST_PACKED, digest, pack, packed_size
from antipodes_tasks.searches.progress import Pulse, no_pulse, on_threads

LIMIT_VARIABLE = "ANTIPODES_CACHE_SIZE"
"""The environment variable that has the limit."""
DEFAULT_LIMIT = 8 * GIB
SUFFIX = ".depths"
READ_TOGETHER = 1 << 24
"""Entries that a thread reads from a store at once."""
LEAST_CACHED = 1 << 24
"""Entries of a table from which on the cache is faster than the store."""
DIGEST_BYTES = 8
BLOCK = 1 << 24
"""Bytes of which there is a digest."""
Values = NDArray[np.uint8]


def can_be_packed(manifest: TableManifest) -> bool:
    """Whether half a byte holds each distance of a table."""
    return len(manifest.layers) - 1 <= MOST_PACKED


def read_distances(
    store: TableStore, manifest: TableManifest, packed: bool, values: Values, pulse: Pulse = no_pulse
) -> None:
    """Write the distances of all entries to the values: from the cache if they are there, else from the store.

    The pulse may end it.

    Raises
    ------
    StoreDamagedError
        The store is damaged.
    InputError
        The limit of the cache is none.
    """
    limit = _limit()
    cached = _file_of(manifest, f"packed {packed}")
    if manifest.index_size < LEAST_CACHED:
        read_store(store, manifest, packed, values, pulse)
    elif not _read_cached(cached, values):
        read_store(store, manifest, packed, values, pulse)
        _keep(cached, values, limit)


def kept(manifest: TableManifest, form: str) -> Values | None:
    """The bytes that are kept of a table in some form; None if there are none, or they are damaged."""
    path = _file_of(manifest, form)
    with suppress(OSError):
        size = path.stat().st_size
        blocks = -(-size // (BLOCK + DIGEST_BYTES))
        values = np.empty(max(0, size - blocks * DIGEST_BYTES), dtype=np.uint8)
        if _read_cached(path, values):
            return values
    return None


def keep(manifest: TableManifest, form: str, values: Values) -> None:
    """Keep bytes of a table in some form; InputError where the limit of the cache is none."""
    _keep(_file_of(manifest, form), values, _limit())


def _limit() -> int:
    """Bytes that all files of the cache may take; InputError where the environment says something else."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return DEFAULT_LIMIT
    return 0 if text.strip() == "0" else memory_size(text, LIMIT_VARIABLE)


def read_store(
    store: TableStore, manifest: TableManifest, packed: bool, values: Values, pulse: Pulse = no_pulse
) -> None:
    """Write the distances of all entries of a store to the values; StoreDamagedError if it is damaged."""
    size = manifest.chunk_rows * manifest.width
    step = max(2, READ_TOGETHER // size // 2 * 2)  # two chunks have an even number of entries, and begin a byte

    def read(chunk: int) -> None:
        distances = store.read_chunks(manifest, chunk, min(chunk + step, manifest.chunk_count)).ravel()
        assert distances.dtype == np.uint8
        if packed:
            begin = chunk * size // 2
            pack(distances.view(np.uint8), values[begin : begin + packed_size(len(distances), packed)])
        else:
            values[chunk * size : chunk * size + len(distances)] = distances

    for _ in on_threads(read, range(0, manifest.chunk_count, step), available_workers(), pulse):
        pass


def _file_of(manifest: TableManifest, form: str) -> Path:
    """Where the distances of a table are kept: the name has a digest of the table."""
    name = hashlib.sha256(f"{manifest.fingerprint} {manifest.rows} {manifest.width} {form} 2 ".encode())
    name.update(manifest.chunks.digests.tobytes())
    return platformdirs.user_cache_path("antipodes", appauthor=False) / "tables" / f"{name.hexdigest()}{SUFFIX}"


def _read_cached(path: Path, values: Values) -> bool:
    """Whether a file has all distances, and their digests are right; then they are the values."""
    try:
        with path.open("rb") as file:
            whole = file.readinto(values.data) == len(values)
            right = whole and file.read() == _digests(values)
        if right:
            os.utime(path)
        return right
    except OSError:
        return False


def _keep(path: Path, values: Values, limit: int) -> None:
    """Keep the distances for the next time, if there is room: without them it takes a few seconds longer."""
    if len(values) > limit:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path.parent, limit - len(values))
        if shutil.disk_usage(path.parent).free < 4 * len(values):
            return
        with TemporaryDirectory(dir=path.parent) as folder:  # it takes along what a full disk cut off
            whole = Path(folder) / path.name
            with whole.open("wb") as file:
                file.write(values.data)
                file.write(_digests(values))
            os.replace(whole, path)


def _make_room(folder: Path, most: int) -> None:
    """Delete the files that have not been used for the longest time, until the others take at most so many bytes."""
    files = sorted(((path.stat().st_mtime, path) for path in folder.glob(f"*{SUFFIX}")), reverse=True)
    for _, path in files:
        most -= path.stat().st_size
        if most < 0:
            path.unlink(missing_ok=True)


def _digests(values: Values) -> bytes:
    """The digest of each block."""

    def blocks() -> Iterator[Values]:
        return (values[first : first + BLOCK] for first in range(0, len(values), BLOCK))

    with ThreadPoolExecutor(available_workers()) as threads:
        return np.array(list(threads.map(digest, blocks())), dtype="<u8").tobytes()
