"""The depths of a table as its store holds them: whole chunks of a zarr array, each with a summary in the manifest.

Chunks may hold depths beyond the committed one, left by a crashed run: readers take them for unreached.
"""

from dataclasses import dataclass

import numpy as np

from antipodes.bfs.arrays import Depths
from antipodes.errors import StoreDamagedError
from antipodes.storage.layout import chunk_digest, chunk_key
from antipodes.storage.store import Store
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.summaries import NO_DEPTH, Summaries, Summary, committed


@dataclass(frozen=True)
class DepthArray:
    """The depths in a store, as a manifest describes them."""

    store: Store[TableManifest]
    manifest: TableManifest

    def write(self, first_row: int, depths: Depths, depth: int, token: str | None = None) -> Summaries:
        """Store the depths of whole chunks up to ``depth``, durably; the summaries of these chunks.

        Raises
        ------
        StoreLockedError
            The lock no longer contains the fencing ``token``: this writer was declared dead, and newer bytes stay.
        """
        array, chunk_rows = self.store.arrays.open_to_write(self.manifest.array, token), self.manifest.chunk_rows
        first_chunk = first_row // chunk_rows
        written = Summaries.empty(first_chunk, -(-len(depths) // chunk_rows))
        for number, row in enumerate(range(0, len(depths), chunk_rows), first_chunk):
            block, summary = self._summarised(number, depths[row : row + chunk_rows], depth)
            if summary.least != NO_DEPTH:
                with self.store.storage.writing():
                    array[first_row + row : first_row + row + len(block)] = block
                written.set(number, summary)
        return written

    def read(self, first_row: int, end_row: int) -> Depths:
        """The committed depths of the rows ``first_row`` to ``end_row - 1``; all others are unreached.

        Raises
        ------
        StoreDamagedError
            A chunk is missing, its checksum is wrong, or its summary is not the one in the manifest; the message
            names it.
        StoreChangedError
            The same, because a run has committed something else.
        """
        with self.store.unless_changed():
            return self._read(first_row, end_row)

    def _read(self, first_row: int, end_row: int) -> Depths:
        manifest, chunk_rows = self.manifest, self.manifest.chunk_rows
        depths = np.full((end_row - first_row, manifest.width), manifest.unreached, dtype=manifest.dtype)
        for number in range(first_row // chunk_rows, -(-end_row // chunk_rows)):
            expected = manifest.chunks.get(number)
            if expected is not None:
                chunk_row = number * chunk_rows
                first, end = max(first_row, chunk_row), min(end_row, chunk_row + chunk_rows)
                block = self._read_chunk(number, expected)
                depths[first - first_row : end - first_row] = block[first - chunk_row : end - chunk_row]
        return depths

    def _read_chunk(self, number: int, expected: Summary) -> Depths:
        """The committed depths of a chunk that has this summary."""
        manifest = self.manifest
        first_row = number * manifest.chunk_rows
        end_row = min(manifest.rows, first_row + manifest.chunk_rows)
        block = self.store.arrays.read_chunk(manifest.array, number, first_row, end_row)
        if block.dtype != manifest.dtype:
            address = self.store.address
            raise StoreDamagedError(f"{address} was widened to {block.dtype} after it was opened: open it again")
        block, found = self._summarised(number, block, manifest.committed_depth)
        if found != expected:
            raise self.store.arrays.misplaced(manifest.array, number)
        return block

    def _summarised(self, number: int, block: Depths, depth: int) -> tuple[Depths, Summary]:
        """The depths of a chunk up to ``depth``, and their summary."""
        block, least, greatest = committed(block, depth)
        if least == NO_DEPTH:
            return block, Summary(0, least, greatest)
        digest = chunk_digest(self.manifest.identity, chunk_key(self.manifest.array, number), block)
        return block, Summary(int.from_bytes(digest, "little"), least, greatest)
