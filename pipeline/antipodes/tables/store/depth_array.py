"""The finished arrays of a table: depths, and how many positions each chunk has at each depth.

The manifest has the digest of each chunk. A chunk of depths without any reached position is not written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.storage.layout import chunk_digest, chunk_key
from antipodes.storage.store import Store
from antipodes.tables.store.manifest import COUNTS, DEPTH, TableManifest
from antipodes_tasks.bfs.bitmaps import Depths

LayerCounts = NDArray[np.uint32]
"""The number of positions of each chunk at each depth, ``(chunks, depths)``."""


@dataclass(frozen=True)
class DepthArray:
    """The depths in a store, as a manifest describes them."""

    store: Store[TableManifest]
    manifest: TableManifest

    def write(self, chunk: int, depths: Depths, token: str | None = None) -> int:
        """Store the depths of a chunk ``(rows, width)``, durably; its digest.

        Raises
        ------
        StoreLockedError
            The lock no longer contains the fencing ``token``: this writer was declared dead, and newer bytes stay.
        """
        layout, rows = self.manifest.layouts[DEPTH], self.manifest.rows_of(chunk)
        array = self.store.arrays.open_to_write(DEPTH, layout, token)
        with self.store.storage.writing():
            array[rows.start : rows.stop] = depths
        return self._digest(DEPTH, chunk, depths)

    def read(self, chunk: int, expected: int) -> Depths:
        """The depths of a chunk with this digest, ``(rows, width)``.

        Raises
        ------
        StoreDamagedError
            The chunk is missing, its checksum is wrong, or its digest is another; the message names it.
        """
        rows = self.manifest.rows_of(chunk)
        return self._checked(
            DEPTH,
            chunk,
            self.store.arrays.read_chunk(DEPTH, self.manifest.layouts[DEPTH], chunk, rows.start, rows.stop),
            expected,
        )

    def write_counts(self, counts: LayerCounts) -> Mapping[int, int]:
        """Create the array of counts; the digests of its chunks, by their numbers."""
        layout = self.manifest.counts_layout
        with self.store.storage.writing():
            self.store.storage.delete(COUNTS)
            self.store.arrays.create(COUNTS, layout)
            self.store.arrays.open_to_write(COUNTS, layout)[:] = counts
        blocks = (counts[row : row + layout.chunk_rows] for row in range(0, len(counts), layout.chunk_rows))
        return {number: self._digest(COUNTS, number, block) for number, block in enumerate(blocks)}

    def read_counts(self) -> LayerCounts:
        """The number of positions of each chunk at each depth; raises as `read`."""
        layout, digests = self.manifest.counts_layout, self.manifest.layer_counts
        blocks = []
        for number in range(layout.chunks):
            first, end = number * layout.chunk_rows, min(layout.shape[0], (number + 1) * layout.chunk_rows)
            block = self.store.arrays.read_chunk(COUNTS, layout, number, first, end)
            blocks.append(self._checked(COUNTS, number, block, digests.get(number) or 0))
        return np.concatenate(blocks)

    def _checked(self, array: str, chunk: int, block: NDArray[Any], expected: int) -> NDArray[Any]:
        if self._digest(array, chunk, block) != expected:
            raise self.store.arrays.misplaced(array, chunk)
        return block

    def _digest(self, array: str, chunk: int, block: NDArray[Any]) -> int:
        digest = chunk_digest(self.manifest.identity, chunk_key(array, chunk), block)
        return int.from_bytes(digest, "little") or 1  # 0 stands for a chunk that is not written
