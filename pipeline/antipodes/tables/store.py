"""The table as it is kept: a chunked zarr array of depths, and the record that says how far it can be trusted.

Chunks may hold depths beyond the committed one, from a run that died: readers take them for unreached.
"""

from dataclasses import replace

import numpy as np

from antipodes.bfs.arrays import Depths
from antipodes.config import Config
from antipodes.errors import StoreDamagedError, StoreMismatchError
from antipodes.storage.layout import chunk_key
from antipodes.storage.store import RecordedStore
from antipodes.storage.summaries import NO_DEPTH, Summaries, Summary, chunk_digest, committed
from antipodes.tables.manifest import DEPTH, NOTHING_COMMITTED, WIDER, WIDEST, Record
from antipodes.tables.plan import Plan

__all__ = ["DEPTH", "NOTHING_COMMITTED", "WIDEST", "Record", "TableStore", "check_same_puzzle"]


class TableStore(RecordedStore):
    """A store of a table; it may be sent to other processes, since nothing in it is open."""

    FORMAT = "antipodes-table"
    HOLDS = "a table of distances"
    MADE_BY = "antipodes run PUZZLE"

    def create(self, config: Config, plan: Plan, overwrite: bool = False) -> Record:
        """Make an empty store; it appears as a whole, or not at all, in place of the one that is to be overwritten."""
        record = Record(
            puzzle=dict(config.settings),
            fingerprint=config.puzzle.fingerprint,
            symbols=config.puzzle.symbols,
            counts=config.puzzle.counts,
            rows=plan.index.rows,
            width=plan.index.width,
            chunk_rows=plan.chunk_rows,
            dtype="uint8",
            array=DEPTH,
            complete=False,
            committed_depth=NOTHING_COMMITTED,
            layers=(),
            chunks=Summaries.empty(0, -(-plan.index.rows // plan.chunk_rows)),
            metadata={},
        )
        with self.creating(overwrite) as new:
            new.create_array(DEPTH, record.layout)
            return new._commit_metadata(record)

    def read(self) -> Record:
        """The record.

        Raises
        ------
        NotAStoreError
            There is no store, or one of another version.
        StoreDamagedError
            The record or the metadata is not what was written.
        """
        return self.steadily(self._read)

    def _read(self) -> Record:
        record = self.read_as(Record)
        with self.checking():
            record.check()
        self.check_metadata(record.metadata, {record.array: record.layout})
        return record

    def commit(self, record: Record) -> None:
        """Replace the record; all that it says must be safe already."""
        with self.writing():
            self.storage.settle(record.array)
        self.write_record(record)

    def sweep(self, record: Record) -> Record:
        """Clear away what a run that died left behind."""
        self.storage.sweep()
        if record.array == WIDER:
            return self._finish_widening(record)
        self.storage.delete(WIDER)
        return record

    def write_rows(
        self, record: Record, first_row: int, depths: Depths, depth: int, token: str | None = None
    ) -> Summaries:
        """Store the depths of whole chunks up to ``depth``, durably; the summaries of these chunks.

        Raises
        ------
        StoreLockedError
            The lock no longer bears the ``token``: whoever writes was given up for lost, and newer bytes stay.
        """
        array = self.open_to_write(record.array, token)
        first_chunk = first_row // record.chunk_rows
        written = Summaries.empty(first_chunk, -(-len(depths) // record.chunk_rows))
        for number, row in enumerate(range(0, len(depths), record.chunk_rows), first_chunk):
            block, summary = self._summed(record, number, depths[row : row + record.chunk_rows], depth)
            if summary.least != NO_DEPTH:
                with self.writing():
                    array[first_row + row : first_row + row + len(block)] = block
                written.set(number, summary)
        return written

    def read_rows(self, record: Record, first_row: int, end_row: int) -> Depths:
        """The committed depths of a range of rows; all else is unreached.

        Raises
        ------
        StoreDamagedError
            A chunk is missing, its checksum is wrong, or it is not what the record vouches for; the message names it.
        StoreChangedError
            That is so since a run has committed something else.
        """
        with self.unless_changed():
            return self._read_rows(record, first_row, end_row)

    def _read_rows(self, record: Record, first_row: int, end_row: int) -> Depths:
        depths = np.full((end_row - first_row, record.width), record.unreached, dtype=record.dtype)
        for number in range(first_row // record.chunk_rows, -(-end_row // record.chunk_rows)):
            expected = record.chunks.get(number)
            if expected is not None:
                chunk_row = number * record.chunk_rows
                first, end = max(first_row, chunk_row), min(end_row, chunk_row + record.chunk_rows)
                block = self._read_block(record, number, expected)
                depths[first - first_row : end - first_row] = block[first - chunk_row : end - chunk_row]
        return depths

    def _read_block(self, record: Record, number: int, expected: Summary) -> Depths:
        """The committed depths of a chunk, for which the summary vouches."""
        first_row = number * record.chunk_rows
        block = self.read_chunk(record.array, number, first_row, min(record.rows, first_row + record.chunk_rows))
        if block.dtype != record.dtype:
            raise StoreDamagedError(f"{self.address} was widened to {block.dtype} after it was opened: open it again")
        block, found = self._summed(record, number, block, record.committed_depth)
        if found != expected:
            raise self.foreign(chunk_key(record.array, number))
        return block

    def _summed(self, record: Record, number: int, block: Depths, depth: int) -> tuple[Depths, Summary]:
        """The depths of a chunk up to ``depth``, and their summary."""
        block, least, greatest = committed(block, depth)
        if least == NO_DEPTH:
            return block, Summary(0, least, greatest)
        digest = chunk_digest(record.fingerprint, chunk_key(record.array, number), block)
        return block, Summary(int.from_bytes(digest, "little"), least, greatest)

    def widen(self, record: Record) -> Record:
        """The same depths in an array of 16 bits each."""
        wider = replace(record, dtype=WIDEST, array=WIDER)
        with self.writing():
            self.storage.delete(WIDER)
            self.create_array(WIDER, wider.layout)
            wider = self._commit_metadata(self._copy(record, wider))
            return self._finish_widening(wider)

    def _finish_widening(self, wider: Record) -> Record:
        final = replace(wider, array=DEPTH)
        self.storage.delete(DEPTH)
        self.create_array(DEPTH, final.layout)
        final = self._commit_metadata(self._copy(wider, final))
        self.storage.delete(WIDER)
        return final

    def _copy(self, source: Record, destination: Record) -> Record:
        """The destination with the depths of the source."""
        copied = []
        for number in source.chunks.numbers():
            first_row = number * source.chunk_rows
            depths = self.read_rows(source, first_row, min(source.rows, first_row + source.chunk_rows))
            wider = depths.astype(destination.dtype)
            wider[depths == source.unreached] = destination.unreached
            copied.append(self.write_rows(destination, first_row, wider, source.committed_depth))
        return replace(destination, chunks=destination.chunks.updated(copied))

    def _commit_metadata(self, record: Record) -> Record:
        record = replace(record, metadata=self.digests(("zarr.json", f"{record.array}/zarr.json")))
        self.commit(record)
        return record


def check_same_puzzle(record: Record, config: Config, address: str) -> None:
    """Raise StoreMismatchError unless the store holds the table of this puzzle."""
    if record.fingerprint != config.puzzle.fingerprint:
        raise StoreMismatchError(
            f"{address} holds the table of another puzzle ({record.puzzle.get('name')!r}); "
            "expected the same start and moves: choose another --store, or --overwrite it"
        )
