"""Tilings as they are kept: those of each searched partition while a run goes on, and at the end all, sorted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from antipodes.errors import StoreMismatchError
from antipodes.exact_cover.partitions import partitions_of
from antipodes.exact_cover.symmetry import Tilings
from antipodes.storage.api import GROUP
from antipodes.storage.fields import expect_fields
from antipodes.storage.layout import chunk_key
from antipodes.storage.store import RecordedStore
from antipodes.storage.summaries import DIGEST_BYTES, chunk_digest
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.manifest import CHUNK_ROWS, PARTITIONS, TILINGS, Searched, TilingRecord, array_of

__all__ = ["Searched", "TilingRecord", "TilingStore", "check_same_problem"]


class TilingStore(RecordedStore):
    """A store of tilings."""

    FORMAT = "antipodes-tilings"
    HOLDS = "tilings of a board"
    MADE_BY = "antipodes tile BOARD"

    def create(self, config: BoardConfig, method: str, partitions: int, overwrite: bool = False) -> TilingRecord:
        """Make an empty store; it appears as a whole, or not at all, in place of the one that is to be overwritten."""
        record = TilingRecord(
            board=dict(config.settings),
            fingerprint=config.problem.fingerprint,
            pieces=tuple(piece.name for piece in config.problem.pieces),
            method=method,
            partitions=partitions,
            searched=(),
            complete=False,
            raw_tilings=None,
            digests={},
            metadata={},
        )
        with self.creating(overwrite) as new:
            record = replace(record, metadata=new.digests([GROUP]))
            new.commit(record)
            return record

    def read(self) -> TilingRecord:
        """The record.

        Raises
        ------
        NotAStoreError
            There is no store, or one of another kind or version.
        StoreDamagedError
            The record or the metadata is not what was written.
        """
        return self.steadily(self._read)

    def _read(self) -> TilingRecord:
        record = self.read_as(TilingRecord)
        with self.checking():
            record.check()
        self.check_metadata(record.metadata, {name: record.layout(count) for name, count in record.arrays.items()})
        return record

    def check_partitions(self, record: TilingRecord) -> None:
        """Raise StoreDamagedError unless the search for these tilings has as many partitions as the record says."""
        with self.checking():
            expect_fields(record, partitions=len(partitions_of(record.problem, record.method)))

    def commit(self, record: TilingRecord) -> None:
        """Replace the record; all that it says must be safe already."""
        self.write_record(record)

    def sweep(self, record: TilingRecord) -> None:
        """Clear away what a run that died left behind."""
        self.storage.sweep()
        if record.complete:
            self.storage.delete(PARTITIONS)
            return
        self.storage.delete(TILINGS)
        known = {str(one.number) for one in record.searched}
        for folder in self.storage.folders(PARTITIONS):
            if folder not in known:
                self.storage.delete(f"{PARTITIONS}/{folder}")

    def add(self, record: TilingRecord, found: Mapping[Searched, Tilings]) -> TilingRecord:
        """Commit the tilings of further partitions, ``(tilings, pieces)`` each."""
        metadata, digests = dict(record.metadata), dict(record.digests)
        for searched, tilings in found.items():
            name = array_of(searched)
            digests[name] = self._write(record, name, tilings)
            metadata |= self.digests([f"{name}/{GROUP}"])
        record = replace(record, searched=_merged(record, found), digests=digests, metadata=metadata)
        self.commit(record)
        return record

    def finish(
        self, record: TilingRecord, last: Iterable[Searched], tilings: Tilings, raw_tilings: int
    ) -> TilingRecord:
        """Commit all the tilings, ``(tilings, pieces)``, in place of those of the partitions."""
        record = replace(
            record,
            searched=_merged(record, last),
            complete=True,
            raw_tilings=raw_tilings,
            digests={TILINGS: self._write(record, TILINGS, tilings)},
            metadata=self.digests([GROUP, f"{TILINGS}/{GROUP}"]),
        )
        self.commit(record)
        self.storage.delete(PARTITIONS)
        return record

    def tilings(self, record: TilingRecord) -> Tilings:
        """All the tilings of a finished store, or those found so far, ``(tilings, pieces)``.

        Raises
        ------
        StoreDamagedError
            A chunk is missing, its checksum is wrong, or it is not what the record vouches for; the message names it.
        StoreChangedError
            That is so since a run has committed something else.
        """
        blocks = [
            self._read_block(record, name, number, count)
            for name, count in record.arrays.items()
            for number in range(-(-count // CHUNK_ROWS))
        ]
        return np.concatenate([np.empty((0, len(record.pieces)), dtype=np.int32), *blocks])

    def picked(self, record: TilingRecord, numbers: Sequence[int]) -> Tilings:
        """The tilings of these numbers, from 0, in a finished store, ``(numbers, pieces)``; raises as `tilings`."""
        blocks = {
            chunk: self._read_block(record, TILINGS, chunk, record.tilings)
            for chunk in {number // CHUNK_ROWS for number in numbers}
        }
        rows = [blocks[number // CHUNK_ROWS][number % CHUNK_ROWS] for number in numbers]
        return np.array(rows, dtype=np.int32).reshape(len(rows), len(record.pieces))

    def _read_block(self, record: TilingRecord, name: str, number: int, count: int) -> Tilings:
        """The tilings of a chunk of an array of ``count``, for which the record vouches."""
        first = number * CHUNK_ROWS
        expected = record.digests[name][number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]
        with self.unless_changed():
            block: Tilings = self.read_chunk(name, number, first, min(count, first + CHUNK_ROWS))
            if chunk_digest(record.fingerprint, chunk_key(name, number), block) != expected:
                raise self.foreign(chunk_key(name, number))
        return block

    def _write(self, record: TilingRecord, name: str, tilings: Tilings) -> bytes:
        """Store an array durably; the digests of its chunks."""
        with self.writing():
            self.storage.delete(name)
            self.create_array(name, record.layout(len(tilings)))
            if len(tilings):
                self.open_to_write(name)[:] = tilings
            self.storage.settle(name)
        return b"".join(
            chunk_digest(record.fingerprint, chunk_key(name, number), tilings[first : first + CHUNK_ROWS])
            for number, first in enumerate(range(0, len(tilings), CHUNK_ROWS))
        )


def _merged(record: TilingRecord, further: Iterable[Searched]) -> tuple[Searched, ...]:
    return tuple(sorted((*record.searched, *further), key=lambda one: one.number))


def check_same_problem(record: TilingRecord, config: BoardConfig, method: str | None, address: str) -> None:
    """Raise StoreMismatchError unless the store holds the tilings of this problem, found by this method if any."""
    if record.fingerprint != config.problem.fingerprint:
        raise StoreMismatchError(
            f"{address} holds the tilings of another board ({record.board.get('name')!r}); "
            "expected the same cells and pieces: choose another --store, or --overwrite it"
        )
    if method is not None and record.method != method:
        raise StoreMismatchError(
            f"{address} holds what the method {record.method} found; expected {method}: "
            "choose another --store, or --overwrite it"
        )
