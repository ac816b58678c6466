"""The replacement of a table's array by one of 16 bits a depth, which a later run finishes if it is interrupted.

The depths are copied to a second array, then to a new one of the old name. The manifest names the array that counts.
"""

from dataclasses import replace

from antipodes.storage.backend import GROUP
from antipodes.storage.store import Store
from antipodes.tables.store.depth_array import DepthArray
from antipodes.tables.store.manifest import DEPTH, WIDER, WIDEST, TableManifest


def widen(store: Store[TableManifest], manifest: TableManifest) -> TableManifest:
    """Replace the array of a table by one of 16 bits a depth; the manifest, committed."""
    wider = replace(manifest, dtype=WIDEST, array=WIDER)
    return finish_widening(store, _copy(store, manifest, wider))


def finish_widening(store: Store[TableManifest], wider: TableManifest) -> TableManifest:
    """Move the depths from the second array to a new one of the usual name; the manifest, committed."""
    final = _copy(store, wider, replace(wider, array=DEPTH))
    store.storage.delete(WIDER)
    return final


def commit_array(store: Store[TableManifest], manifest: TableManifest) -> TableManifest:
    """Commit a manifest with the digests of the metadata of its array, which is new."""
    with store.storage.writing():
        manifest = replace(manifest, metadata=store.arrays.digests((GROUP, f"{manifest.array}/{GROUP}")))
    store.commit(manifest)
    return manifest


def _copy(store: Store[TableManifest], source: TableManifest, destination: TableManifest) -> TableManifest:
    """Create the array of the destination with the depths of the source; the destination, committed."""
    with store.storage.writing():
        store.storage.delete(destination.array)
        store.arrays.create(destination.array, destination.layout)
    old, new, copied = DepthArray(store, source), DepthArray(store, destination), []
    for number in source.chunks.numbers():
        first_row = number * source.chunk_rows
        depths = old.read(first_row, min(source.rows, first_row + source.chunk_rows))
        wider = depths.astype(destination.dtype)
        wider[depths == source.unreached] = destination.unreached
        copied.append(new.write(first_row, wider, source.committed_depth))
    return commit_array(store, replace(destination, chunks=destination.chunks.updated(copied)))
