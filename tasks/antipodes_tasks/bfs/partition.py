"""Partitions of the table: their bits, and the step to the next layer, which changes the bits in place.

A partition takes at most three bits per position: visited, and the frontiers of its last two depths. Other partitions
read the frontier of the last layer while the next one is computed. In sliding puzzles, for example, moves connect only
even layers with odd layers. If a partition therefore has positions only in every other layer, its older frontier is not
needed, and two bits are enough. `antipodes_tasks.bfs.two_bits` contains partitions that never take more than two bits.

A step either pushes the frontier along its moves, or lets each unvisited position pull from the frontier (S. Beamer, K.
Asanovic and D. Patterson, Direction-Optimizing Breadth-First Search, 2012). Here positions are bits, and each partition
chooses the direction separately.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import InterruptedRunError, StoreDamagedError
from antipodes_tasks.bfs.bitmaps import (
    Bitmap,
    boundary_lines,
    close,
    count_bits,
    expand,
    filled_lines,
    first_positions,
    pull,
    settle,
    words,
)
from antipodes_tasks.bfs.layer_weights import LayerSums, LayerWeights
from antipodes_tasks.bfs.segments import (
    Segment,
    SegmentLog,
    decode_sparse,
    depths_of,
    encode_sparse,
    no_segment,
    set_bits,
)
from antipodes_tasks.move_tables import MoveTables, one_move

TEST_COST = 3.0
"""Cost of an expected test of a pull, as a multiple of the cost of a pushed move. It was fitted to six puzzles with 3
to 25 moves: push and pull take equally long at a cost of 2.8 to 3.3 for 2x2x2, pancakes, burnt pancakes, TopSpin and
pyraminx, and near 6 for Lights Out (mostly interpolated between layers). For three colours of tiles, a pull is never
faster.

A test itself takes as long as a pushed move, 0.8 ns. But about twice as many tests are needed as expected, since
positions deeper than the next layer have no move to the frontier. Besides, a word with few unvisited bits costs a
mispredicted branch."""


MIN_ROWS_PER_POSITION = 64
"""Minimum number of rows per position of a layer for which the nonempty rows are copied. In large spaces, many
partitions read the copies, so that they need not read all rows.
"""


@dataclass(frozen=True)
class Partition:
    """A range of rows that one task processes, consisting of whole chunks."""

    number: int
    first_row: int
    end_row: int
    """One past the last row."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.end_row - self.first_row


class Lines(NamedTuple):
    """Some rows (lines) of a frontier."""

    rows: NDArray[np.int32]
    """``(lines,)``: the row of each line, ascending."""
    bits: Bitmap
    """``(lines, words)``: the bits of each line."""


@dataclass(frozen=True, eq=False, slots=True)
class Frontier:
    """The positions of a partition that are new at a depth, or some rows of them."""

    number: int
    """Number of the partition."""
    rows: NDArray[np.int32]
    """``(lines,)``: the row of each line, ascending."""
    bits: Bitmap
    """``(lines, words)``: the bits of each line."""
    count: int
    """Number of positions of the partition that are new at the depth."""
    unvisited: int
    """Number of positions of the partition that had not been reached when the frontier was read."""
    some: Lines | None = None
    """The nonempty lines if they are few, so that neighbours need not read the others."""
    mask: Bitmap | None = None
    """If there is a mask, only bits that are also set in the mask are positions of the frontier. The other bits belong
    to the next layer, which is being computed."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle for another process, with the positions encoded as in the journal if that is smaller."""
        bits = self.layer
        sent = self.number, self.rows, encode_sparse(bits), bits.shape, self.count, self.unvisited
        if sent[2] is None:
            return Frontier, (self.number, self.rows, bits, self.count, self.unvisited)
        return _received, sent

    @property
    def layer(self) -> Bitmap:
        """``(lines, words)``: exactly the positions of the frontier."""
        return self.bits if self.mask is None else self.bits & self.mask

    def weigh(self, weights: LayerWeights) -> LayerSums:
        """Return the sums over the frontier, which must have all rows of its partition."""
        positions = self.count
        if weights.of_rows is not None:
            entries = np.bitwise_count(self.layer).sum(axis=1, dtype=np.int64)
            positions = int(entries @ weights.of_rows[self.rows])
        return LayerSums(positions, weights.unchanged_in(self.bits, self.mask, int(self.rows[0])))


def _received(
    number: int, rows: NDArray[np.int32], sent: Segment, shape: tuple[int, int], count: int, unvisited: int
) -> Frontier:
    """Return a frontier that another process has sent."""
    return Frontier(number, rows, decode_sparse(sent, shape), count, unvisited)


class Layer(NamedTuple):
    """The positions of a partition at one depth; there is at least one."""

    depth: int
    positions: int
    bits: Bitmap
    """``(rows, words)``: the positions."""
    some: Lines | None
    """The nonempty lines if they are few."""


class LayerPositions(Protocol):
    """An object whose positions have one depth."""

    @property
    def depth(self) -> int:
        """Depth of the positions."""


OfDepth = TypeVar("OfDepth", bound=LayerPositions)


def layer_at(depth: int, layers: Iterable[OfDepth], first_kept: int) -> OfDepth | None:
    """Return the layer at ``depth``, or None if no position has this depth.

    Raises InterruptedRunError if the layer was discarded because it is before the first depth that is kept.
    """
    for layer in layers:
        if layer.depth == depth:
            return layer
    if depth < first_kept:
        raise InterruptedRunError(f"the positions at depth {depth} are no longer stored")
    return None


class IndexState:
    """The rows, columns and chunks of a partition of positions with an index: what all its states have in common."""

    def __init__(self, part: Partition, width: int, chunk_rows: int) -> None:
        self.part = part
        self.width = width
        self._chunk_rows = chunk_rows

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.part.rows * self.width

    @property
    def chunks(self) -> range:
        """Numbers of the chunks of the partition."""
        first = self.part.first_row // self._chunk_rows
        return range(first, first + -(-self.part.rows // self._chunk_rows))

    def rows_of(self, chunk: int) -> range:
        """Return the rows of a chunk of the partition."""
        first = chunk * self._chunk_rows
        return range(first, min(first + self._chunk_rows, self.part.end_row))

    def places_of(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the row within the partition, and the column, of each of the ``indices`` ``(n,)`` that lie in it."""
        first = self.part.first_row * self.width
        row, column = np.divmod(indices[(indices >= first) & (indices < first + self.size)] - first, self.width)
        return row, column

    def set(self, one: Segment, bits: Bitmap, first_row: int) -> None:
        """Set the positions of a segment in ``bits`` ``(rows, words)``, whose first row is ``first_row``.

        Raises StoreDamagedError if the segment is malformed.
        """
        rows = self.rows_of(one.chunk)
        here = bits[rows.start - first_row : rows.stop - first_row]
        if not set_bits(one, self.width, here):
            raise no_segment(one)


class State(IndexState):
    """The state of a partition after a layer, in three bits per entry."""

    def __init__(self, part: Partition, width: int, chunk_rows: int) -> None:
        super().__init__(part, width, chunk_rows)
        self.visited: Bitmap = np.zeros((part.rows, words(width)), dtype=np.uint64)
        """``(rows, words)``: all positions reached."""
        self.unvisited = self.size
        """Number of positions that have not been reached yet."""
        self._rows = np.arange(part.first_row, part.end_row, dtype=np.int32)
        self._layers: tuple[Layer, ...] = ()
        """At most the last two layers, the deeper one first. The tuple is replaced, never changed, because other
        threads read it.
        """
        self._unused: list[Bitmap] = []
        self._first_kept = -1
        """Minimum depth whose positions are still known."""

    @property
    def most_bytes(self) -> int:
        """Maximum number of bytes of the state: visited bits, two layers, and copies of nonempty lines."""
        return self._rows.nbytes + 3 * self.visited.nbytes + 2 * self.visited.nbytes // MIN_ROWS_PER_POSITION

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        bits = [self.visited, *self._unused, *(layer.bits for layer in self._layers)]
        bits += [layer.some.bits for layer in self._layers if layer.some]
        return self._rows.nbytes + sum(one.nbytes for one in bits)

    def kept_from(self, depth: int) -> int:
        """Return the depth from which segments are needed to return to ``depth``."""
        return depth

    def restored_from(self, depth: int) -> int:
        """Return the depth from which segments are needed to restore the state at ``depth``: 0."""
        return 0

    def positions_before(self, depth: int) -> int:
        """Return the number of positions at smaller depths than ``depth``, which must be the last depth."""
        frontier = self.frontier(depth)
        return self.size - self.unvisited - (frontier.count if frontier else 0)

    def frontier(self, depth: int) -> Frontier | None:
        """Return the positions at ``depth``, one of the last two depths that have any; None if there are none.

        Raises
        ------
        InterruptedRunError
            The frontier at that depth has been discarded.
        """
        layer = layer_at(depth, self._layers, self._first_kept)
        if layer is None:
            return None
        return Frontier(self.part.number, self._rows, layer.bits, layer.positions, self.unvisited, layer.some)

    def begin(self, starts: NDArray[np.int64], log: SegmentLog | None) -> int:
        """Add the ``starts``, indices ``(n,)`` of the table, that lie in the partition; return their number."""
        row, column = self.places_of(starts)
        bits = np.zeros_like(self.visited)
        np.bitwise_or.at(bits, (row, column // 64), np.uint64(1) << (column % 64).astype(np.uint64))
        return self._settle(0, bits, log)

    def advance(self, depth: int, sources: Sequence[Frontier], tables: MoveTables, log: SegmentLog | None) -> int:
        """Find the positions at ``depth`` from frontiers at depth - 1; return the number of new positions."""
        if not self.unvisited or not sources:
            return 0
        bits = self._empty_bits(depth)
        moves = tables.target, tables.column_map, tables.column_maps
        pulls = tables.undirected and self._pulls(sources, tables)
        for source in sources:
            if pulls:
                pull(bits, self.visited, self.part.first_row, source.bits, source.mask, source.rows, *moves)
            elif source.some:
                expand(bits, self.part.first_row, source.some.bits, None, source.some.rows, *moves)
            else:
                expand(bits, self.part.first_row, source.bits, source.mask, source.rows, *moves)
        if tables.closing is not None and not pulls:  # a pull finds either all equivalent entries or none
            close(bits, self.visited, self.part.first_row, *tables.closing, tables.column_maps)
        return self._settle(depth, bits, log)

    def replay(self, depth: int, segments: Iterable[Segment]) -> int:
        """Read the positions at ``depth`` from segments instead of searching; return their number."""
        segments = list(segments)
        if not segments:
            return 0
        bits = self._empty_bits(depth)
        for one in segments:
            self.set(one, bits, self.part.first_row)
        found = self._settle(depth, bits, None)
        if found != sum(one.positions for one in segments):
            raise StoreDamagedError(f"the journal is corrupt: positions at depth {depth} are also at other depths")
        return found

    def restore(self, depth: int, segments: Iterable[Segment]) -> None:
        """Restore the state at ``depth`` from all segments up to this depth.

        Raises
        ------
        StoreDamagedError
            The segments do not belong to the partition, or contain a position twice.
        """
        self.visited.fill(0)
        self._layers, self._unused, self._first_kept = (), [], depth
        self.unvisited = self.size
        bits, count = self._new_bits(), 0
        for one in segments:
            self.set(one, self.visited, self.part.first_row)
            self.unvisited -= one.positions
            if one.depth == depth:
                self.set(one, bits, self.part.first_row)
                count += one.positions
        if count_bits(self.visited) + self.unvisited != self.size:
            raise StoreDamagedError(f"the journal is corrupt: partition {self.part.number} contains a position twice")
        self._keep(depth, count, bits)

    def go_back(self, depth: int, segments: Iterable[Segment]) -> None:
        """Return to ``depth``, using all segments at this depth or a greater one; raises the errors of `restore`."""
        self._layers, self._unused, self._first_kept = (), [], depth
        bits, later, count = self._new_bits(), np.zeros_like(self.visited), 0
        for one in segments:
            if one.depth == depth:
                self.set(one, bits, self.part.first_row)
                count += one.positions
            else:
                self.set(one, later, self.part.first_row)
                self.unvisited += one.positions
        self.visited &= ~later
        self._keep(depth, count, bits)

    def checkpoint(self, depth: int) -> SegmentLog:
        """Return two segments per chunk: the positions at the last depth, and all earlier positions.

        The earlier positions are stored with depth - 1.
        """
        log, frontier = SegmentLog(), self.frontier(depth)
        for place, chunk in enumerate(self.chunks):
            rows = slice(place * self._chunk_rows, (place + 1) * self._chunk_rows)
            before = self.visited[rows]
            if frontier is not None:
                last = frontier.bits[rows]
                before = before & ~last
                log.add(chunk, depth, last, self.width, int(count_bits(last)))
            log.add(chunk, depth - 1, before, self.width, int(count_bits(before)))
        return log

    def positions(self, depth: int, limit: int) -> NDArray[np.int64]:
        """Return the table indices of the first positions at one of the last two depths, ``(n,)``, ascending."""
        frontier = self.frontier(depth)
        if frontier is None:
            return np.empty(0, dtype=np.int64)
        return self.part.first_row * self.width + first_positions(frontier.bits, self.width, limit)

    def forget_before(self, depth: int) -> None:
        """Release memory that is not needed once all partitions have found the layer at ``depth``.

        This class has nothing to release.
        """

    def _new_bits(self) -> Bitmap:
        """Return empty bits for a layer that is restored."""
        return np.zeros_like(self.visited)

    def _empty_bits(self, depth: int) -> Bitmap:
        """Return empty bits for ``depth``, in the memory of a discarded layer if there is one."""
        self._unused += [layer.bits for layer in self._layers if layer.depth < depth - 1]
        self._layers = tuple(layer for layer in self._layers if layer.depth >= depth - 1)
        self._first_kept = depth - 1
        if not self._unused:
            return np.zeros_like(self.visited)
        bits = self._unused.pop()
        bits.fill(0)
        return bits

    def _settle(self, depth: int, bits: Bitmap, log: SegmentLog | None) -> int:
        """Mark the new positions of a layer as visited, and add them to the log; return their number."""
        found = 0
        for place, chunk in enumerate(self.chunks):
            rows = slice(place * self._chunk_rows, (place + 1) * self._chunk_rows)
            count = self._take(bits[rows], rows)
            if log is not None:
                log.add(chunk, depth, bits[rows], self.width, count)
            found += count
        self.unvisited -= found
        self._keep(depth, found, bits)
        return found

    def _take(self, bits: Bitmap, rows: slice) -> int:
        """Remove the visited positions from the bits of some rows, and mark the rest as visited; return the number of
        the rest.
        """
        return int(settle(bits, self.visited[rows]))

    def _keep(self, depth: int, count: int, bits: Bitmap) -> None:
        if count:
            self._layers = (Layer(depth, count, bits, self._few_lines(count, bits)), *self._layers[:1])
        else:
            self._unused.append(bits)

    def _few_lines(self, count: int, bits: Bitmap) -> Lines | None:
        """Return the nonempty lines if the number of positions, ``count``, is small."""
        if count * MIN_ROWS_PER_POSITION > len(bits):
            return None
        lines = filled_lines(bits, count)
        return Lines(self._rows[lines], bits[lines])

    def _pulls(self, sources: Sequence[Frontier], tables: MoveTables) -> bool:
        """Return whether to pull from the frontiers; all partitions are assumed to be about equally large."""
        frontier = sum(source.count for source in sources) / len(sources)
        unvisited = sum(source.unvisited for source in sources) / len(sources)
        return pull_is_cheaper(frontier, unvisited, self.unvisited, tables.target.shape[1])


def boundary(frontier: Frontier, tables: MoveTables, ranges: NDArray[np.int32]) -> Frontier | None:
    """Return the rows of a frontier from which moves lead into ``ranges`` of rows (see `boundary_lines`), or None."""
    layer = frontier.layer
    lines = boundary_lines(layer, frontier.rows, tables.target, ranges)
    if not len(lines):
        return None
    return replace(frontier, rows=frontier.rows[lines], bits=layer[lines], some=None, mask=None)


class Links(NamedTuple):
    """The move tables, and the partitions that they connect."""

    tables: MoveTables
    predecessors: list[list[int]]
    """For each partition, the numbers of the partitions with moves into it."""


def links(tables: MoveTables, bounds: Sequence[int]) -> Links:
    """Return the links between partitions. ``bounds`` contains their first rows, and then the number of rows."""
    return Links(tables, sources(tables, bounds, bounds))


def sources(tables: MoveTables, blocks: Sequence[int], ranges: Sequence[int]) -> list[list[int]]:
    """Return, for each range of rows, the numbers of the blocks with moves into it, ascending.

    ``blocks`` and ``ranges`` contain the first row of each block and range, ascending from 0, and then the number of
    rows.
    """
    into: list[list[int]] = [[] for _ in ranges[1:]]
    reached = np.empty(ranges[-1] + 1, dtype=np.bool_)  # ILLEGAL sets the last entry
    for block, (first, end) in enumerate(pairwise(blocks)):
        reached.fill(False)
        reached[tables.target[first:end]] = True
        for number in np.flatnonzero(np.logical_or.reduceat(reached[:-1], ranges[:-1])).tolist():
            into[number].append(block)
    return into


def pull_is_cheaper(frontier: float, neighbours: float, unvisited: int, moves: int, looked_up: int = 0) -> bool:
    """Return whether a pull is cheaper than a push.

    The arguments are numbers of positions and moves. A push follows all ``moves`` of the ``frontier``. A pull tests the
    moves of each of the ``unvisited`` positions until one leads to the frontier. No move of an unvisited position leads
    to a position that was visited before the frontier, since all neighbours of such a position have been visited. So
    the moves lead to the frontier or to unvisited positions, whose number is ``neighbours``. If all of these were
    equally likely, a test would succeed with probability p = frontier / (frontier + neighbours). The expected number of
    tests, until a test succeeds or all moves are tested, would be (1 - (1 - p)^moves) / p.

    ``frontier`` and ``neighbours`` are averages over the partitions to which the moves lead. A pull in windows looks up
    the targets of all rows for each window, which takes about as long as pushing ``looked_up`` moves.
    """
    if TEST_COST * unvisited + looked_up >= frontier * moves:  # each unvisited position takes at least one test
        return False
    hit = frontier / (frontier + neighbours)
    tests = (1 - (1 - hit) ** moves) / hit
    return TEST_COST * unvisited * tests + looked_up < frontier * moves


def warm_up(masked: bool = False, maps: int = 1, width: int = 1) -> None:
    """Compile the kernels of a search, or load them from numba's cache, before threads use them.

    The kernels are those for ``maps`` column maps of ``width`` columns, and, if ``masked`` is True, also those for
    frontiers with a mask.
    """
    tables = one_move(maps, width)
    layer, rows = np.ones((1, 1), dtype=np.uint64), np.zeros(1, dtype=np.int32)
    for mask in (None, layer)[: 1 + masked]:
        expand(layer, 0, layer, mask, rows, *tables[:3])
        pull(layer, layer, 0, layer, mask, rows, *tables[:3])
    settle(layer, np.zeros_like(layer))
    filled_lines(layer, 1)
    if (sent := encode_sparse(layer)) is not None:
        decode_sparse(sent, layer.shape)
    log = SegmentLog()
    log.add(0, 0, layer, 1, 1)
    depths_of(log.segments, np.zeros((1, 1), dtype=np.uint8))  # depths of 16 bits are rare
