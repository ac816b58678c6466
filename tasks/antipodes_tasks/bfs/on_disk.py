"""Partitions on disk: memory holds only the bits of the layer being computed, one bit per entry of the partition, and a
window of the frontier.

All layers are segments in files. To find the layer at depth d, a partition reads the frontiers at depth d - 1 of the
partitions with moves into it, chunk by chunk, and sets the bits of all successors. Then it removes the positions that
are not new, also chunk by chunk. If moves are reversible, these are at depths d - 1 and d - 2, since a neighbour of a
position at depth d - 1 has depth d - 2, d - 1 or d. Otherwise the positions at all earlier depths are removed.

If most positions are visited, it pulls instead: it sets the bits of its own positions at depths d - 1 and d - 2 first,
reads the frontiers in windows of many rows, and tests all other positions for a move into the window. A position at an
earlier depth is tested in vain, since none of its neighbours is in the frontier.

So neither the visited bits nor the bits of earlier layers are ever needed, and each layer is written once.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs import map_order
from antipodes_tasks.bfs.bitmaps import Bitmap, bitmap_bytes, close, empty_bits, expand, first_positions, pull, words
from antipodes_tasks.bfs.encoded_layers import has_bits, push, remove, tally
from antipodes_tasks.bfs.layer_weights import NO_WEIGHTS, LayerSums, LayerWeights, total
from antipodes_tasks.bfs.partition import IndexState, Partition, pull_is_cheaper
from antipodes_tasks.bfs.segments import Segment, SegmentLog, depths_of, no_segment
from antipodes_tasks.move_tables import MoveTables, one_move

WINDOWS = 16
"""Maximum number of windows in which the bits of a partition's frontier are read."""
LINE_BYTES = 64
"""Bytes of a cache line. If a frontier has fewer positions than its bits have cache lines, its positions are pushed in
the order of rows, even if `map_order` is worthwhile."""
_of_thread = threading.local()


class DiskLinks(NamedTuple):
    """The move tables, the partitions and chunks that they connect, and the bits of the layer being computed."""

    tables: MoveTables
    predecessors: list[list[int]]
    """For each partition, the numbers of the partitions with moves into it."""
    chunks: NDArray[np.bool_]
    """``(partitions, chunks)``: whether the chunk has a move into the partition."""
    bits: threading.local
    """Memory for the bits of a partition, which each thread reuses; all bits are 0 between two layers. It is freed
    together with the links, before a table is assembled."""
    window: threading.local
    """Memory for a part of a frontier, which each thread reuses."""


def disk_links(tables: MoveTables, partition_rows: int, chunk_rows: int) -> DiskLinks:
    """Return the links between partitions of ``partition_rows``, and from chunks of ``chunk_rows`` to partitions."""
    rows = len(tables.target)
    partitions, chunks = -(-rows // partition_rows), -(-rows // chunk_rows)
    into = np.zeros((partitions + 1, chunks), dtype=np.bool_)  # ILLEGAL sets the last partition
    for chunk in range(chunks):
        into[tables.target[chunk * chunk_rows : (chunk + 1) * chunk_rows] // partition_rows, chunk] = True
    begins = np.arange(0, chunks, partition_rows // chunk_rows)
    linked = np.logical_or.reduceat(into[:-1], begins, axis=1)
    return DiskLinks(
        tables, [np.flatnonzero(one).tolist() for one in linked], into[:-1], threading.local(), threading.local()
    )


class LayerFiles(Protocol):
    """The layers of some chunks in files, and a buffer for the segments that are not in a file yet."""

    def count(self, chunks: range, depth: int) -> int:
        """Return the number of positions of some chunks at a depth."""

    def segments_between(
        self, chunks: range, first_depth: int, last_depth: int, needed: NDArray[np.bool_] | None = None
    ) -> Iterator[Segment]:
        """Yield the segments of some chunks at depths from ``first_depth`` to ``last_depth``.

        If ``needed`` ``(all chunks,)`` is given, only these of the chunks are read.

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

    def pull(self, bits: Bitmap, part: Partition, links: DiskLinks) -> None:
        """Set the bits of all other positions of a partition with a move to the frontier.

        The positions whose ``bits`` are set already are not tested.
        """
        tables = links.tables
        for first, window in self._windows(part, links):
            if map_order.is_worthwhile(*tables.column_maps.shape):
                map_order.pull(bits, part.first_row, window, first, tables)
            else:
                rows = np.arange(first, first + len(window), dtype=np.int32)
                pull(bits, bits, part.first_row, window, None, rows, *tables[:3])

    def push(self, incoming: Bitmap, part: Partition, links: DiskLinks) -> None:
        """Set the bits of ``incoming`` for all successors in a partition; read only chunks with moves into it."""
        state, tables = self.state, links.tables
        cache_lines = bitmap_bytes(state.part.rows, state.width) // LINE_BYTES
        if self.count >= cache_lines and map_order.is_worthwhile(*tables.column_maps.shape):
            for first, window in self._windows(part, links):
                map_order.push(incoming, part.first_row, window, first, tables)
            return
        needed = links.chunks[part.number]
        for one in state.files.segments_between(state.chunks, self.depth, self.depth, needed):
            if not push(one, state.rows_of(one.chunk), state.width, incoming, part.first_row, tables):
                raise no_segment(one)

    def _windows(self, part: Partition, links: DiskLinks) -> Iterator[tuple[int, Bitmap]]:
        """Yield the first row and the bits of each window with moves into a partition.

        The bits are valid until the next window is yielded.
        """
        state, needed = self.state, links.chunks[part.number]
        for chunks in state.windows:
            if needed[chunks.start : chunks.stop].any():
                first, end = state.rows_of(chunks[0]).start, state.rows_of(chunks[-1]).stop
                window = empty_bits(links.window, end - first, state.width)
                for one in state.files.segments_between(chunks, self.depth, self.depth, needed):
                    state.set(one, window, first)
                yield first, window

    def weigh(self, weights: LayerWeights) -> LayerSums:
        """Return the sums over the frontier."""
        state, known = self.state, self.state.weighed
        if known is not None and known[0] == self.depth:
            return known[1]
        segments = state.files.segments_between(state.chunks, self.depth, self.depth)
        return total(_tally(state.bits_of(one), state.rows_of(one.chunk), weights)[1] for one in segments)


class DiskState(IndexState):
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
        weights: LayerWeights = NO_WEIGHTS,
    ) -> None:
        """Create the state of a partition.

        ``one_way`` means that some move is irreversible. The ``weights`` are summed over each layer while it is found.
        """
        super().__init__(part, width, chunk_rows)
        self.files: LayerFiles
        """The files of the partition's layers, set before the state is used."""
        self.weighed: tuple[int, LayerSums] | None = None
        """The depth that was found last, and its sums."""
        self._one_way = one_way
        self._weights = weights

    def to_test(self, depth: int) -> int:
        """Return the number of entries that a pull tests to find the layer at ``depth``.

        They are all entries except those at the last two depths: unvisited entries, those at earlier depths, and those
        that are never reached.
        """
        last = self.files.count(self.chunks, depth - 1) + (self.files.count(self.chunks, depth - 2) if depth > 1 else 0)
        return self.size - last

    @property
    def windows(self) -> list[range]:
        """The numbers of the chunks in each window of the partition."""
        chunks, size = self.chunks, window_chunks(len(self.chunks))
        return [chunks[first : first + size] for first in range(0, len(chunks), size)]

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
        row, column = self.places_of(np.unique(starts))
        row += self.part.first_row
        for chunk in np.unique(row // self._chunk_rows).tolist():
            rows = self.rows_of(chunk)
            bits = empty_bits(_of_thread, len(rows), self.width)
            here = (row >= rows.start) & (row < rows.stop)
            ones = np.uint64(1) << (column[here] % 64).astype(np.uint64)
            np.bitwise_or.at(bits, (row[here] - rows.start, column[here] // 64), ones)
            log.add(chunk, 0, bits, self.width, int(here.sum()))
        return len(row)

    def advance(self, depth: int, sources: Sequence[StoredFrontier], links: DiskLinks, log: Log) -> int:
        """Find the positions at ``depth`` from frontiers at depth - 1; return the number of new positions."""
        if not sources:
            return 0
        with _lent_bits(links.bits, self.part.rows, self.width) as bits:
            if links.tables.undirected and self._pulls(depth, sources, links.tables):
                for one in self._before(depth):
                    self.set(one, bits, self.part.first_row)
                for source in sources:
                    source.pull(bits, self.part, links)
            else:
                for source in sources:
                    source.push(bits, self.part, links)
            return self._settle(depth, bits, links.tables, log)

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
                here = first_positions(self.bits_of(one), self.width, left)
                found.append(self.rows_of(chunk).start * self.width + here)
        return np.concatenate(found)

    def bits_of(self, one: Segment) -> Bitmap:
        """Return the positions of a segment as a bitmap of its chunk, which is valid until the thread's next call.

        Raises StoreDamagedError if the segment is malformed.
        """
        rows = self.rows_of(one.chunk)
        bits = empty_bits(_of_thread, len(rows), self.width)
        self.set(one, bits, rows.start)
        return bits

    def _pulls(self, depth: int, sources: Sequence[StoredFrontier], tables: MoveTables) -> bool:
        """Return whether to pull from the frontiers at depth - 1; see `partition.State`."""
        frontier = sum(source.count for source in sources) / len(sources)
        others = sum(source.state.to_test(depth) for source in sources) / len(sources)
        moves, windows = tables.target.shape[1], sum(len(source.state.windows) for source in sources)
        return pull_is_cheaper(frontier, others, self.to_test(depth), moves, windows * moves * self.part.rows)

    def _before(self, depth: int, needed: NDArray[np.bool_] | None = None) -> Iterator[Segment]:
        """Yield the segments at the depths before ``depth`` that neighbours of the last layer can have."""
        return self.files.segments_between(self.chunks, self.kept_from(depth - 1), depth - 1, needed)

    def _settle(self, depth: int, bits: Bitmap, tables: MoveTables, log: Log) -> int:
        """Log the positions that are not at earlier depths, and clear the bits; return their number."""
        rows_of = {chunk: self.rows_of(chunk) for chunk in self.chunks}
        first = self.part.first_row
        here = {chunk: bits[rows.start - first : rows.stop - first] for chunk, rows in rows_of.items()}
        reached = np.zeros(self.chunks.stop, dtype=np.bool_)
        reached[self.chunks.start :] = [has_bits(here[chunk]) for chunk in self.chunks]
        for one in self._before(depth, reached):
            if not remove(one, self.width, here[one.chunk]):
                raise no_segment(one)
        found, sums = 0, []
        for chunk in np.flatnonzero(reached).tolist():
            rows = rows_of[chunk]
            _close(here[chunk], rows, tables)
            count, weighed = _tally(here[chunk], rows, self._weights)
            log.add(chunk, depth, here[chunk], self.width, count)
            here[chunk].fill(0)
            found += count
            sums.append(weighed)
        self.weighed = depth, total(sums)
        return found


def window_chunks(chunks: int) -> int:
    """Return the number of chunks of a window, of a partition that has that many ``chunks``."""
    return -(-chunks // WINDOWS)


def most_chunks(memory: int, chunk_bytes: int, window_bytes: int) -> int:
    """Return the number of chunks of the largest partition that fits into memory together with a window.

    A chunk takes ``chunk_bytes`` as a part of the partition, and ``window_bytes`` as a part of the window. At least one
    chunk is returned.
    """
    left = memory - window_bytes  # a window is rounded up to whole chunks
    return max(1, left * WINDOWS // (WINDOWS * chunk_bytes + window_bytes))


def _tally(layer: Bitmap, rows: range, weights: LayerWeights) -> tuple[int, LayerSums]:
    """Return the number of entries of a layer in some ``rows``, and its sums."""
    of_rows = None if weights.of_rows is None else weights.of_rows[rows.start : rows.stop]
    count, positions = tally(layer, of_rows)
    return int(count), LayerSums(int(positions), weights.unchanged_in(layer, None, rows.start))


def _close(new: Bitmap, rows: range, tables: MoveTables) -> None:
    """Add the entries that are equivalent to the ``new`` entries in some ``rows``; see `Closing`.

    No equivalent entry is at an earlier depth, since equivalent entries have equal depths.
    """
    if tables.closing is None:
        return
    first, end = np.searchsorted(tables.closing.rows, [rows.start, rows.stop])
    if first < end:
        closing = tables.closing
        begins = closing.begins[first : end + 1]
        close(new, None, rows.start, closing.rows[first:end], begins, closing.maps, tables.column_maps)


def warm_up(maps: int = 1, width: int = 1) -> None:
    """Compile the kernels of a search, or load them from numba's cache, before threads use them.

    The kernels are those for ``maps`` column maps of ``width`` columns.
    """
    tables, log = one_move(maps, width), SegmentLog()
    layer, rows = np.ones((1, 1), dtype=np.uint64), np.zeros(1, dtype=np.int32)
    log.add(0, 0, layer, 1, 1)
    push(log.segments[0], range(1), 1, layer, 0, tables)
    expand(layer, 0, layer, None, rows, *tables[:3])
    if map_order.is_worthwhile(maps, width):
        map_order.push(layer, 0, layer, 0, tables)
        map_order.pull(layer, 0, layer, 0, tables)
    else:
        pull(layer, layer, 0, layer, None, rows, *tables[:3])
    has_bits(layer)
    tally(layer, None)
    remove(log.segments[0], 1, layer)
    depths_of(log.segments, np.zeros((1, 1), dtype=np.uint8))  # depths of 16 bits are rare


@contextmanager
def _lent_bits(of_thread: threading.local, rows: int, width: int) -> Iterator[Bitmap]:
    """Lend an empty bitmap ``(rows, words)`` in memory that each thread reuses. The block must clear it.

    Most layers reach few chunks, so the block clears it faster than `empty_bits`, which clears all of it.
    """
    size = rows * words(width)
    held = vars(of_thread).pop("bits", None)  # if the block fails, the memory is not used again
    if held is None or held.size < size:
        held = None  # frees the old memory before the new memory is taken
        held = np.zeros(size, dtype=np.uint64)
    yield held[:size].reshape(rows, words(width))
    of_thread.bits = held
