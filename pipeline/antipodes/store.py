"""The table as it is kept: a chunked zarr array of depths, and the record that says how far it can be trusted.

Chunks may hold depths beyond the committed one, from a run that died: readers take them for unreached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from antipodes.arrays import UNREACHED, Depths
from antipodes.config import Config
from antipodes.errors import StoreDamagedError, StoreMismatchError
from antipodes.index import Index
from antipodes.plan import Cut, Plan
from antipodes.recorded_store import RecordedStore

DEPTH = "depth"
WIDER = "depth.wide"
"""Where the depths are while the array is replaced by one of a wider type."""
WIDEST = "uint16"
"""The type of depths past those that a byte holds."""
NOTHING_COMMITTED = -1


@dataclass(frozen=True)
class Record:
    """What a store holds, as of its last commit."""

    puzzle: Mapping[str, Any]
    """The ``[puzzle]`` table of the config."""
    fingerprint: str
    """That of the puzzle."""
    symbols: Sequence[str]
    """How each label is written."""
    counts: Sequence[int]
    """How many pieces bear each label: with the symbols, all that `rank` needs."""
    rows: int
    width: int
    chunk_rows: int
    dtype: str
    array: str
    """The name of the array that holds the depths."""
    complete: bool
    committed_depth: int
    """Greater depths in the array do not count; NOTHING_COMMITTED before the first commit."""
    layers: Sequence[int]
    """How many positions there are at each depth up to the committed one."""
    chunks: Sequence[int]
    """The chunks that hold a depth, in ascending order: those that must be there."""
    metadata: Mapping[str, str]
    """SHA-256 of the zarr metadata files, by their path in the store."""

    @property
    def radius(self) -> int:
        """The greatest depth that was committed."""
        return len(self.layers) - 1

    @property
    def index_size(self) -> int:
        """How many positions there are, reachable or not."""
        return self.rows * self.width

    @property
    def states(self) -> int:
        """How many positions have a committed depth."""
        return sum(self.layers)

    @property
    def cut(self) -> Cut:
        """How positions are numbered by row and column, and how many rows a chunk has."""
        counts = tuple(self.counts)
        for leading in range(1, max(2, len(counts))):
            index = Index(counts, leading)
            if (index.rows, index.width) == (self.rows, self.width):
                return index, self.chunk_rows
        raise StoreDamagedError(f"the record has {self.rows} rows of {self.width} columns, which no cut of it gives")

    @property
    def unreached(self) -> int:
        """What stands for a position that was not reached."""
        return UNREACHED[self.dtype]


class TableStore(RecordedStore):
    """A store of a table; it may be sent to other processes, since nothing in it is open."""

    FORMAT = "antipodes-table"
    VERSION = 1
    HOLDS = "a table of distances"

    def create(self, config: Config, plan: Plan) -> Record:
        """Make an empty store; it appears as a whole, or not at all."""
        with self.writing():
            new = self.begin_as()
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
                chunks=(),
                metadata={},
            )
            new._create_array(DEPTH, record)
            record = new._commit_metadata(record)
            self.appear(new)
        return record

    def read(self) -> Record:
        """The record.

        Raises
        ------
        NotAStoreError
            There is no store, or one of a newer version.
        StoreDamagedError
            The record or the metadata is not what was written.
        """
        try:
            record = Record(**self.read_content())
        except TypeError as error:
            raise StoreDamagedError(f"{self.address} is damaged: its record has other fields than expected") from error
        self.check_metadata(record.metadata)
        return record

    def commit(self, record: Record) -> None:
        """Replace the record; all that it says must be safe already."""
        with self.writing():
            self.storage.settle(record.array)
        self.write_content(asdict(record))

    def sweep(self, record: Record) -> Record:
        """Clear away what a run that died left behind."""
        self.storage.sweep()
        if record.array == WIDER:
            return self._finish_widening(record)
        self.storage.delete(WIDER)
        return record

    def write_rows(self, record: Record, first_row: int, depths: Depths, token: str | None = None) -> list[int]:
        """Store the depths of whole chunks, durably; which of the chunks hold one.

        Raises
        ------
        StoreLockedError
            The lock no longer bears the ``token``: whoever writes was given up for lost, and newer bytes stay.
        """
        array = self.open_to_write(record.array, token)
        written = []
        for row in range(0, len(depths), record.chunk_rows):
            block = depths[row : row + record.chunk_rows]
            number = (first_row + row) // record.chunk_rows
            if (block == record.unreached).all():
                continue
            with self.writing():
                array[first_row + row : first_row + row + len(block)] = block
            written.append(number)
        return written

    def read_rows(self, record: Record, first_row: int, end_row: int) -> Depths:
        """The depths of a range of rows; chunks that the record does not name are unreached.

        Raises
        ------
        StoreDamagedError
            A chunk is missing or its checksum is wrong; the message names it.
        """
        depths = np.full((end_row - first_row, record.width), record.unreached, dtype=record.dtype)
        known = set(record.chunks)
        for number in range(first_row // record.chunk_rows, -(-end_row // record.chunk_rows)):
            if number in known:
                chunk_row = number * record.chunk_rows
                first, end = max(first_row, chunk_row), min(end_row, chunk_row + record.chunk_rows)
                block = self.read_chunk(record.array, number, first, end)
                if block.dtype != depths.dtype:
                    raise StoreDamagedError(
                        f"{self.address} was widened to {block.dtype} since it was opened: open it anew"
                    )
                depths[first - first_row : end - first_row] = block
        return depths

    def widen(self, record: Record) -> Record:
        """The same depths in an array of 16 bits each."""
        wider = replace(record, dtype=WIDEST, array=WIDER)
        with self.writing():
            self.storage.delete(WIDER)
            self._create_array(WIDER, wider)
            self._copy(record, wider)
            self._commit_metadata(wider)
            return self._finish_widening(wider)

    def _finish_widening(self, wider: Record) -> Record:
        final = replace(wider, array=DEPTH)
        self.storage.delete(DEPTH)
        self._create_array(DEPTH, final)
        self._copy(wider, final)
        final = self._commit_metadata(final)
        self.storage.delete(WIDER)
        return final

    def _copy(self, source: Record, destination: Record) -> None:
        for number in source.chunks:
            first_row = number * source.chunk_rows
            depths = self.read_rows(source, first_row, min(source.rows, first_row + source.chunk_rows))
            wider = depths.astype(destination.dtype)
            wider[depths > source.committed_depth] = destination.unreached
            self.write_rows(destination, first_row, wider)

    def _create_array(self, name: str, record: Record) -> None:
        shape, axes = (record.rows, record.width), ("row", "column")
        self.create_array(name, shape, record.chunk_rows, record.dtype, record.unreached, axes)

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
