"""Tilings as they are kept: those of each searched partition while a run goes on, and at the end all, sorted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from antipodes.errors import StoreMismatchError
from antipodes.recorded_store import RecordedStore
from antipodes.tiling_config import BoardConfig
from antipodes.tilings.symmetry import Tilings

TILINGS = "tilings"
"""The array of a finished store."""
PARTITIONS = "partitions"
"""The folder of the arrays of an unfinished one; each is named by its partition."""
CHUNK_ROWS = 65536
NO_PLACEMENT = -1
"""The fill value; each tiling places every piece, so that no chunk consists of it."""


@dataclass(frozen=True)
class Searched:
    """What the search of one partition came to."""

    number: int
    tilings: int
    """How many tilings belong to it."""
    placements: int
    """How many placements were tried."""


@dataclass(frozen=True)
class TilingRecord:
    """What a store holds, as of its last commit."""

    board: Mapping[str, Any]
    """The ``[board]`` table of the config."""
    fingerprint: str
    """That of the problem: all that the tilings depend on."""
    pieces: Sequence[str]
    """The names of the pieces: the columns of the arrays."""
    method: str
    """How they are searched: all that the partitions depend on beside the problem."""
    partitions: int
    """How many there are."""
    searched: Sequence[Searched]
    """Those that are done, by their number."""
    complete: bool
    raw_tilings: int | None
    """How many there are when images under symmetries count as different; None until all is searched."""
    metadata: Mapping[str, str]
    """SHA-256 of the zarr metadata files, by their path in the store."""

    @property
    def tilings(self) -> int:
        """How many tilings are known, up to the symmetries of the problem."""
        return sum(one.tilings for one in self.searched)

    @property
    def placements(self) -> int:
        """How many placements were tried."""
        return sum(one.placements for one in self.searched)


class TilingStore(RecordedStore):
    """A store of tilings."""

    FORMAT = "antipodes-tilings"
    VERSION = 1
    HOLDS = "tilings of a board"

    def create(self, config: BoardConfig, method: str, partitions: int) -> TilingRecord:
        """Make an empty store; it appears as a whole, or not at all."""
        record = TilingRecord(
            board=dict(config.settings),
            fingerprint=config.problem.fingerprint,
            pieces=[piece.name for piece in config.problem.pieces],
            method=method,
            partitions=partitions,
            searched=(),
            complete=False,
            raw_tilings=None,
            metadata={},
        )
        with self.writing():
            new = self.begin_as()
            record = replace(record, metadata=new.digests(["zarr.json"]))
            new.commit(record)
            self.appear(new)
        return record

    def read(self) -> TilingRecord:
        """The record.

        Raises
        ------
        NotAStoreError
            There is no store, or one of another kind or a newer version.
        StoreDamagedError
            The record or the metadata is not what was written.
        """
        content = self.read_content()
        searched = tuple(Searched(**one) for one in content.pop("searched"))
        record = TilingRecord(searched=searched, **content)
        self.check_metadata(record.metadata)
        return record

    def commit(self, record: TilingRecord) -> None:
        """Replace the record; all that it says must be safe already."""
        self.write_content(asdict(record))

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
        metadata = dict(record.metadata)
        for searched, tilings in found.items():
            metadata |= self._write(f"{PARTITIONS}/{searched.number}", tilings)
        record = replace(record, searched=_merged(record, found), metadata=metadata)
        self.commit(record)
        return record

    def finish(
        self, record: TilingRecord, last: Iterable[Searched], tilings: Tilings, raw_tilings: int
    ) -> TilingRecord:
        """Commit all the tilings, ``(tilings, pieces)``, in place of those of the partitions."""
        metadata = {"zarr.json": record.metadata["zarr.json"], **self._write(TILINGS, tilings)}
        searched = _merged(record, last)
        record = replace(record, searched=searched, complete=True, raw_tilings=raw_tilings, metadata=metadata)
        self.commit(record)
        self.storage.delete(PARTITIONS)
        return record

    def tilings(self, record: TilingRecord) -> Tilings:
        """All the tilings of a finished store, or those found so far, ``(tilings, pieces)``.

        Raises
        ------
        StoreDamagedError
            A chunk is missing or its checksum is wrong; the message names it.
        """
        counts = {f"{PARTITIONS}/{one.number}": one.tilings for one in record.searched}
        blocks = [
            self.read_chunk(name, number, first, min(count, first + CHUNK_ROWS))
            for name, count in ({TILINGS: record.tilings} if record.complete else counts).items()
            for number, first in enumerate(range(0, count, CHUNK_ROWS))
        ]
        return np.concatenate([np.empty((0, len(record.pieces)), dtype=np.int32), *blocks])

    def _write(self, name: str, tilings: Tilings) -> dict[str, str]:
        """Store an array durably; the digest of its metadata."""
        with self.writing():
            self.storage.delete(name)
            rows = min(CHUNK_ROWS, max(1, len(tilings)))
            self.create_array(name, tilings.shape, rows, "int32", NO_PLACEMENT, ("tiling", "piece"))
            if len(tilings):
                self.open_to_write(name)[:] = tilings
            self.storage.settle(name)
            return self.digests([f"{name}/zarr.json"])


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
