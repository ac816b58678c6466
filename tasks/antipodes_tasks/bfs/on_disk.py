"""Partitions on disk: memory holds only the bits of the layer being computed, one bit per entry of the partition.

All layers are segments in files. To find the layer at depth d, a partition reads the frontiers at depth d - 1 of the
partitions with moves into it, chunk by chunk, and sets the bits of all successors. Then it removes the positions that
are not new, also chunk by chunk. If moves are reversible, these are at depths d - 1 and d - 2, since a neighbour of a
position at depth d - 1 has depth d - 2, d - 1 or d. Otherwise the positions at all earlier depths are removed.

So neither the visited bits nor the bits of earlier layers are ever needed, and each layer is written once.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.bitmaps import Bitmap, close, expand, first_positions, settle, words
from antipodes_tasks.bfs.partition import Frontier, Partition
from antipodes_tasks.bfs.segments import Segment, no_segment, set_bits
from antipodes_tasks.move_tables import MoveTables

_of_thread = threading.local()


class LayerFiles(Protocol):
    """The layers of some chunks in files, and a buffer for the segments that are not in a file yet."""

    def count(self, chunks: range, depth: int) -> int:
        """Return the number of positions of some chunks at a depth."""

    def segments_between(self, chunks: range, first_depth: int, last_depth: int) -> Iterator[Segment]:
        """Yield the segments of some chunks at depths from ``first_depth`` to ``last_depth``.

        Raises StoreDamagedError if a segment is missing or its checksum is wrong.
        """


class Log(Protocol):
    """A log that takes the segments of a layer, in ascending order of their chunks."""

    def add(self, chunk: int, depth: int, layer: Bitmap, width: int, count: int) -> None:
        """Add a segment with the ``count`` positions of a chunk in ``layer`` ``(rows, words)``, unless it is empty."""


@dataclass(frozen=True, eq=False)
class StoredFrontier:
    """The positions of a partition that are new at a depth, in files."""

    state: "DiskState"
    depth: int
    count: int
    """Number of positions."""

    @property
    def number(self) -> int:
        """Number of the partition."""
        return self.state.part.number

    def pieces(self) -> Iterator[Frontier]:
        """Read the frontier, and yield the part of each chunk that has positions. Each part is valid until the next."""
        state = self.state
        for one in state.files.segments_between(state.chunks, self.depth, self.depth):
            rows = state.rows_of(one.chunk)
            bits = _scratch("piece", len(rows), state.width)
            state.set_bits(one, bits)
            yield Frontier(self.number, np.arange(rows.start, rows.stop, dtype=np.int32), bits, one.positions, 0)

    def weigh(self, weights: NDArray[np.int64]) -> int:
        """Return the sum, over all entries of the frontier, of the weight of the entry's row.

        ``weights`` contains a weight for each row of the space.
        """
        known = self.state.weighed
        if known is not None and known[0] == self.depth:
            return known[1]
        return sum(piece.weigh(weights) for piece in self.pieces())


class DiskState:
    """The state of a partition whose layers are in files; the counterpart of `partition.State`, with its methods.

    The state itself has no positions, so it need not be changed to return to an earlier depth.
    """

    most_bytes = nbytes = 0
    """Bytes of memory between two layers: none."""

    def __init__(
        self,
        part: Partition,
        width: int,
        chunk_rows: int,
        one_way: bool,
        weights: NDArray[np.int64] | None = None,
    ) -> None:
        """Create the state of a partition.

        ``one_way`` means that some move is irreversible. ``weights`` ``(rows of the space,)`` are the numbers of
        positions per entry, None if all are 1.
        """
        self.part = part
        self.files: LayerFiles
        """The files of the partition's layers, set before the state is used."""
        self.width = width
        self.weighed: tuple[int, int] | None = None
        """The depth that was found last, and the weight of its entries, if there are weights."""
        self._chunk_rows = chunk_rows
        self._one_way = one_way
        self._weights = weights

    @property
    def chunks(self) -> range:
        """Numbers of the chunks of the partition."""
        first = self.part.first_row // self._chunk_rows
        return range(first, first + -(-self.part.rows // self._chunk_rows))

    def rows_of(self, chunk: int) -> range:
        """Return the rows of a chunk of the partition."""
        first = chunk * self._chunk_rows
        return range(first, min(first + self._chunk_rows, self.part.end_row))

    def kept_from(self, depth: int) -> int:
        """Return the depth from which segments are needed to continue from ``depth``."""
        return 0 if self._one_way else max(0, depth - 1)

    restored_from = kept_from
    """Function that returns the depth from which segments are needed to restore the state at a depth."""

    def frontier(self, depth: int) -> StoredFrontier | None:
        """Return the positions at ``depth``; None if there are none."""
        count = self.files.count(self.chunks, depth)
        return StoredFrontier(self, depth, count) if count else None

    def begin(self, starts: NDArray[np.int64], log: Log) -> int:
        """Add the ``starts``, indices ``(n,)`` of the table, that lie in the partition; return their number."""
        first, end = self.part.first_row * self.width, self.part.end_row * self.width
        inside = np.unique(starts[(starts >= first) & (starts < end)])
        row, column = np.divmod(inside, self.width)
        for chunk in np.unique(row // self._chunk_rows).tolist():
            rows = self.rows_of(chunk)
            bits = _scratch("piece", len(rows), self.width)
            here = (row >= rows.start) & (row < rows.stop)
            ones = np.uint64(1) << (column[here] % 64).astype(np.uint64)
            np.bitwise_or.at(bits, (row[here] - rows.start, column[here] // 64), ones)
            log.add(chunk, 0, bits, self.width, int(here.sum()))
        return len(inside)

    def advance(self, depth: int, sources: Sequence[StoredFrontier], tables: MoveTables, log: Log) -> int:
        """Find the positions at ``depth`` from frontiers at depth - 1; return the number of new positions."""
        if not sources:
            return 0
        bits = _scratch("incoming", self.part.rows, self.width)
        for source in sources:
            for piece in source.pieces():
                moves = tables.target, tables.column_map, tables.column_maps
                expand(bits, self.part.first_row, piece.bits, None, piece.rows, *moves)
        return self._settle(depth, bits, tables, log)

    def replay(self, depth: int, segments: Iterable[Segment]) -> int:
        """Return the number of positions at ``depth``, which are in files already; ``segments`` are not read."""
        return self.files.count(self.chunks, depth)

    def restore(self, depth: int, segments: Iterable[Segment]) -> None:
        """Do nothing: all layers are in files. ``segments`` are not read."""

    go_back = restore
    """Function that does nothing."""

    def forget_before(self, depth: int) -> None:
        """Do nothing: no layer is in memory."""

    def positions(self, depth: int, limit: int) -> NDArray[np.int64]:
        """Return the table indices of the first positions at a depth, ``(n,)``, ascending."""
        found, chunks = [np.empty(0, dtype=np.int64)], iter(self.chunks)
        while (left := limit - sum(map(len, found))) > 0 and (chunk := next(chunks, None)) is not None:
            for one in self.files.segments_between(range(chunk, chunk + 1), depth, depth):
                rows = self.rows_of(chunk)
                bits = _scratch("piece", len(rows), self.width)
                self.set_bits(one, bits)
                found.append(rows.start * self.width + first_positions(bits, self.width, left))
        return np.concatenate(found)

    def set_bits(self, one: Segment, bits: Bitmap) -> None:
        """Set the positions of a segment in the bits of its chunk; raise StoreDamagedError if it is malformed."""
        if not set_bits(one.kind, one.data, one.positions, self.width, bits):
            raise no_segment(one)

    def _settle(self, depth: int, bits: Bitmap, tables: MoveTables, log: Log) -> int:
        """Remove the positions at earlier depths, and add the others to the log; return their number."""
        found = weighed = 0
        for chunk in self.chunks:
            rows = self.rows_of(chunk)
            here = bits[rows.start - self.part.first_row : rows.stop - self.part.first_row]
            if not here.any():
                continue
            earlier = _scratch("earlier", len(rows), self.width)
            for one in self.files.segments_between(range(chunk, chunk + 1), self.kept_from(depth - 1), depth - 1):
                self.set_bits(one, earlier)
            _close(here, earlier, rows, tables)
            count = int(settle(here, earlier))
            log.add(chunk, depth, here, self.width, count)
            found += count
            if self._weights is not None:
                entries = np.bitwise_count(here).sum(axis=1, dtype=np.int64)
                weighed += int(entries @ self._weights[rows.start : rows.stop])
        self.weighed = depth, weighed
        return found


def _close(here: Bitmap, earlier: Bitmap, rows: range, tables: MoveTables) -> None:
    """Add the entries that are equivalent to new entries in some ``rows``; see `Closing`."""
    if tables.closing is None:
        return
    first, end = np.searchsorted(tables.closing.rows, [rows.start, rows.stop])
    if first < end:
        closing = tables.closing
        begins = closing.begins[first : end + 1]
        close(here, earlier, rows.start, closing.rows[first:end], begins, closing.maps, tables.column_maps)


def _scratch(name: str, rows: int, width: int) -> Bitmap:
    """Return an empty bitmap ``(rows, words)`` in memory that each thread reuses for each name."""
    size = rows * words(width)
    held = getattr(_of_thread, name, None)
    if held is None or held.size < size:
        setattr(_of_thread, name, None)  # frees the old memory before the new memory is taken
        held = np.empty(size, dtype=np.uint64)
        setattr(_of_thread, name, held)
    bits: Bitmap = held[:size].reshape(rows, words(width))
    bits.fill(0)
    return bits
