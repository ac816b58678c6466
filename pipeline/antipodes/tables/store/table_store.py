"""The store of a table: a journal while it is searched, then zarr arrays, and the manifest that says which counts."""

from dataclasses import replace

import numpy as np

from antipodes.storage.manifest import StoreKind
from antipodes.tables.journal.journal import FOLDER
from antipodes.tables.journal.stored_segments import StoredSegments
from antipodes.tables.store.chunk_digests import ChunkDigests
from antipodes.tables.store.depth_array import DepthArray, LayerCounts
from antipodes.tables.store.manifest import COUNTS, DEPTH, TableManifest
from antipodes.tables.store.search_store import SearchStore
from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.bfs.segments import depths_of


class TableStore(SearchStore[TableManifest]):
    """A store of a table."""

    KIND = StoreKind(
        format="antipodes-table",
        holds="a table of distances",
        made_by="antipodes run PUZZLE",
        version=5,
        replaces={
            "antipodes-counts": "the layers of a counts-only run, which have no distances: antipodes run PUZZLE makes "
            "a table, at another --store or with --overwrite"
        },
    )
    MANIFEST_TYPE = TableManifest
    _segments: tuple[TableManifest, StoredSegments] | None = None
    """The segments of an unfinished table that was read last, and its manifest."""

    def commit(self, manifest: TableManifest) -> None:
        """Replace the manifest; all that it names must be durable already."""
        with self.storage.writing():
            for array in manifest.layouts:
                self.storage.sync(array)
        super().commit(manifest)

    def create_depths(self, manifest: TableManifest) -> None:
        """Create the array of depths of a table that is searched, in place of what a crashed run left of one."""
        with self.storage.writing():
            self.storage.delete(DEPTH)
            self.arrays.create(DEPTH, manifest.layouts[DEPTH])

    def complete(self, manifest: TableManifest, counts: LayerCounts) -> TableManifest:
        """Finish a table whose chunks are all written, and delete its journal; the manifest from now on."""
        manifest = replace(manifest, complete=True)
        digests = DepthArray(self, manifest).write_counts(counts)
        layer_counts = ChunkDigests.empty(manifest.counts_layout.chunks).updated(digests)
        manifest = self.commit_arrays(replace(manifest, layer_counts=layer_counts))
        self.storage.delete(FOLDER)
        return manifest

    def remove_leftovers(self, manifest: TableManifest) -> TableManifest:
        """Delete what a crashed run was writing; the manifest from now on."""
        super().remove_leftovers(manifest)
        kept = (*manifest.layouts, *(() if manifest.complete else (FOLDER,)))
        for folder in (DEPTH, COUNTS, FOLDER):
            if folder not in kept:
                self.storage.delete(folder)
        return manifest

    def write_chunk(self, manifest: TableManifest, chunk: int, depths: Depths, token: str | None = None) -> int:
        """Store the depths of a chunk, durably; its digest. See `DepthArray.write`."""
        return DepthArray(self, manifest).write(chunk, depths, token)

    def read_chunk(self, manifest: TableManifest, chunk: int) -> Depths:
        """The committed depths of a chunk, ``(rows, width)``; all others are unreached.

        Raises
        ------
        StoreDamagedError
            What holds the depths is missing or damaged; the message names it.
        StoreChangedError
            The same, because a run has committed something else.
        """
        with self.unless_changed():
            if not manifest.complete:
                return self._read_segments(manifest, chunk)
            digest = manifest.chunks.get(chunk)
            return (
                self._unreached(manifest, chunk) if digest is None else DepthArray(self, manifest).read(chunk, digest)
            )

    def read_rows(self, manifest: TableManifest, first_row: int, end_row: int) -> Depths:
        """The committed depths of the rows ``first_row`` to ``end_row - 1``; see `read_chunk`."""
        rows = manifest.chunk_rows
        depths = np.empty((end_row - first_row, manifest.width), dtype=manifest.dtype)
        for chunk in range(first_row // rows, -(-end_row // rows)):
            first, end = max(first_row, chunk * rows), min(end_row, (chunk + 1) * rows)
            block = self.read_chunk(manifest, chunk)
            depths[first - first_row : end - first_row] = block[first - chunk * rows : end - chunk * rows]
        return depths

    def layer_counts(self, manifest: TableManifest) -> LayerCounts:
        """The number of positions of each chunk at each committed depth; raises as `read_chunk`."""
        with self.unless_changed():
            if manifest.complete:
                return DepthArray(self, manifest).read_counts()
            stored = self._stored_segments(manifest)
            self.journal(manifest).check_known(stored, manifest.committed_depth)
            return stored.counts(len(manifest.layers))

    def _read_segments(self, manifest: TableManifest, chunk: int) -> Depths:
        depths = self._unreached(manifest, chunk)
        stored, journal = self._stored_segments(manifest).part(chunk, chunk + 1), self.journal(manifest)
        journal.check_known(stored, manifest.committed_depth)
        committed = stored.entries[stored.entries["depth"] <= manifest.committed_depth]
        return depths_of(list(journal.segments(stored, committed)), depths)

    def _stored_segments(self, manifest: TableManifest) -> StoredSegments:
        if self._segments is None or self._segments[0] is not manifest:
            self._segments = manifest, self.journal(manifest).load(0, manifest.chunk_count)
        return self._segments[1]

    def _unreached(self, manifest: TableManifest, chunk: int) -> Depths:
        return np.full((len(manifest.rows_of(chunk)), manifest.width), manifest.unreached, dtype=manifest.dtype)
