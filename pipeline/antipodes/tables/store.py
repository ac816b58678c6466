"""The table as it is kept: a chunked zarr array of depths, and the manifest that says how far it can be trusted.

Chunks may hold depths beyond the committed one, from a run that died: readers take them for unreached.
"""

from dataclasses import replace

import numpy as np

from antipodes.bfs.arrays import Depths
from antipodes.config import Config
from antipodes.errors import StoreDamagedError, StoreMismatchError
from antipodes.storage.layout import chunk_key
from antipodes.storage.store import Store
from antipodes.storage.summaries import NO_DEPTH, Summaries, Summary, chunk_digest, committed
from antipodes.tables.manifest import DEPTH, NOTHING_COMMITTED, WIDER, WIDEST, TableManifest
from antipodes.tables.plan import Plan

__all__ = ["DEPTH", "NOTHING_COMMITTED", "WIDEST", "TableManifest", "TableStore", "check_same_puzzle"]


class TableStore(Store):
    """A store of a table; it may be sent to other processes, since nothing in it is open."""

    FORMAT = "antipodes-table"
    HOLDS = "a table of distances"
    MADE_BY = "antipodes run PUZZLE"

    def create(self, config: Config, plan: Plan, overwrite: bool = False) -> TableManifest:
        """Make an empty store; it appears as a whole, or not at all, in place of the one that is to be overwritten."""
        record = plan.space.record
        manifest = TableManifest(
            puzzle=dict(config.settings),
            fingerprint=config.puzzle.fingerprint,
            symbols=config.puzzle.symbols,
            counts=record.counts,
            rows=record.rows,
            width=record.width,
            chunk_rows=plan.chunk_rows,
            dtype="uint8",
            array=DEPTH,
            complete=False,
            committed_depth=NOTHING_COMMITTED,
            layers=(),
            chunks=Summaries.empty(0, -(-record.rows // plan.chunk_rows)),
            metadata={},
        )
        with self.creating(overwrite) as new:
            new.create_array(DEPTH, manifest.layout)
            return new._commit_metadata(manifest)

    def read(self) -> TableManifest:
        """The manifest.

        Raises
        ------
        NotAStoreError
            There is no store, or one of another version.
        StoreDamagedError
            The manifest or the metadata is not what was written.
        """
        return self.steadily(self._read)

    def _read(self) -> TableManifest:
        manifest = self.read_as(TableManifest)
        with self.checking():
            manifest.check()
        self.check_metadata(manifest.metadata, {manifest.array: manifest.layout})
        return manifest

    def commit(self, manifest: TableManifest) -> None:
        """Replace the manifest; all that it says must be safe already."""
        with self.writing():
            self.storage.sync(manifest.array)
        self.write_manifest(manifest)

    def remove_leftovers(self, manifest: TableManifest) -> TableManifest:
        """Clear away what a run that died left behind."""
        self.storage.remove_leftovers()
        if manifest.array == WIDER:
            return self._finish_widening(manifest)
        self.storage.delete(WIDER)
        return manifest

    def write_rows(
        self, manifest: TableManifest, first_row: int, depths: Depths, depth: int, token: str | None = None
    ) -> Summaries:
        """Store the depths of whole chunks up to ``depth``, durably; the summaries of these chunks.

        Raises
        ------
        StoreLockedError
            The lock no longer bears the ``token``: whoever writes was given up for lost, and newer bytes stay.
        """
        array = self.open_to_write(manifest.array, token)
        first_chunk = first_row // manifest.chunk_rows
        written = Summaries.empty(first_chunk, -(-len(depths) // manifest.chunk_rows))
        for number, row in enumerate(range(0, len(depths), manifest.chunk_rows), first_chunk):
            block, summary = self._summed(manifest, number, depths[row : row + manifest.chunk_rows], depth)
            if summary.least != NO_DEPTH:
                with self.writing():
                    array[first_row + row : first_row + row + len(block)] = block
                written.set(number, summary)
        return written

    def read_rows(self, manifest: TableManifest, first_row: int, end_row: int) -> Depths:
        """The committed depths of a range of rows; all else is unreached.

        Raises
        ------
        StoreDamagedError
            A chunk is missing, its checksum is wrong, or it is not what the manifest vouches for; the message names it.
        StoreChangedError
            That is so since a run has committed something else.
        """
        with self.unless_changed():
            return self._read_rows(manifest, first_row, end_row)

    def _read_rows(self, manifest: TableManifest, first_row: int, end_row: int) -> Depths:
        depths = np.full((end_row - first_row, manifest.width), manifest.unreached, dtype=manifest.dtype)
        for number in range(first_row // manifest.chunk_rows, -(-end_row // manifest.chunk_rows)):
            expected = manifest.chunks.get(number)
            if expected is not None:
                chunk_row = number * manifest.chunk_rows
                first, end = max(first_row, chunk_row), min(end_row, chunk_row + manifest.chunk_rows)
                block = self._read_block(manifest, number, expected)
                depths[first - first_row : end - first_row] = block[first - chunk_row : end - chunk_row]
        return depths

    def _read_block(self, manifest: TableManifest, number: int, expected: Summary) -> Depths:
        """The committed depths of a chunk, for which the summary vouches."""
        first_row = number * manifest.chunk_rows
        block = self.read_chunk(manifest.array, number, first_row, min(manifest.rows, first_row + manifest.chunk_rows))
        if block.dtype != manifest.dtype:
            raise StoreDamagedError(f"{self.address} was widened to {block.dtype} after it was opened: open it again")
        block, found = self._summed(manifest, number, block, manifest.committed_depth)
        if found != expected:
            raise self.foreign(chunk_key(manifest.array, number))
        return block

    def _summed(self, manifest: TableManifest, number: int, block: Depths, depth: int) -> tuple[Depths, Summary]:
        """The depths of a chunk up to ``depth``, and their summary."""
        block, least, greatest = committed(block, depth)
        if least == NO_DEPTH:
            return block, Summary(0, least, greatest)
        digest = chunk_digest(manifest.fingerprint, chunk_key(manifest.array, number), block)
        return block, Summary(int.from_bytes(digest, "little"), least, greatest)

    def widen(self, manifest: TableManifest) -> TableManifest:
        """The same depths in an array of 16 bits each."""
        wider = replace(manifest, dtype=WIDEST, array=WIDER)
        with self.writing():
            self.storage.delete(WIDER)
            self.create_array(WIDER, wider.layout)
            wider = self._commit_metadata(self._copy(manifest, wider))
            return self._finish_widening(wider)

    def _finish_widening(self, wider: TableManifest) -> TableManifest:
        final = replace(wider, array=DEPTH)
        self.storage.delete(DEPTH)
        self.create_array(DEPTH, final.layout)
        final = self._commit_metadata(self._copy(wider, final))
        self.storage.delete(WIDER)
        return final

    def _copy(self, source: TableManifest, destination: TableManifest) -> TableManifest:
        """The destination with the depths of the source."""
        copied = []
        for number in source.chunks.numbers():
            first_row = number * source.chunk_rows
            depths = self.read_rows(source, first_row, min(source.rows, first_row + source.chunk_rows))
            wider = depths.astype(destination.dtype)
            wider[depths == source.unreached] = destination.unreached
            copied.append(self.write_rows(destination, first_row, wider, source.committed_depth))
        return replace(destination, chunks=destination.chunks.updated(copied))

    def _commit_metadata(self, manifest: TableManifest) -> TableManifest:
        manifest = replace(manifest, metadata=self.digests(("zarr.json", f"{manifest.array}/zarr.json")))
        self.commit(manifest)
        return manifest


def check_same_puzzle(manifest: TableManifest, config: Config, address: str) -> None:
    """Raise StoreMismatchError unless the store holds the table of this puzzle."""
    if manifest.fingerprint != config.puzzle.fingerprint:
        raise StoreMismatchError(
            f"{address} holds the table of another puzzle ({manifest.puzzle.get('name')!r}); "
            "expected the same start and moves: choose another --store, or --overwrite it"
        )
