"""One partition of the search: its bits, and the step to the next layer, which changes them in place.

A partition takes three bits a position at most: visited, and the frontier at its last two depths. Neighbours read the
frontier of the last layer while the next one is found. Where moves lead from even layers to odd ones, as in sliding
puzzles, a partition has positions in every other layer, its older frontier is no longer needed, and two bits do.
`antipodes_tasks.bfs.two_bits` has partitions that never take more.

A step pushes the frontier along its moves, or pulls it to the unvisited positions: S. Beamer, K. Asanovic and D.
Patterson, Direction-Optimizing Breadth-First Search (2012), for positions that are bits, and for each partition on its
own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

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
from antipodes_tasks.bfs.segments import Segment, SegmentLog, depths_of, no_segment, set_bits
from antipodes_tasks.errors import InterruptedRunError, StoreDamagedError
from antipodes_tasks.spaces.move_tables import MoveTables

TEST_COST = 3.0
"""The cost of an expected test in pushed moves. Fitted to six puzzles of 3 to 25 moves: push and pull take equally long
at 2.8 to 3.3 with 2x2x2, pancakes, burnt pancakes, TopSpin and pyraminx, and near 6 with Lights Out. Most of these are
interpolated between layers. Three colours of tiles never gain by a pull.

A test itself takes as long as a pushed move, 0.8 ns. But about twice as many are needed as expected: no move leads to
the frontier from positions deeper than the next layer. A word with few unvisited bits costs a mispredicted branch."""


MIN_ROWS_PER_POSITION = 64
"""Rows of a partition for each position of a layer, from which on the rows with positions are copied for neighbours: in
large spaces many partitions read them, and not all others each."""


@dataclass(frozen=True)
class Partition:
    """A task's range of rows, a whole number of chunks."""

    number: int
    first_row: int
    end_row: int
    """One past the last row."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.end_row - self.first_row


class Lines(NamedTuple):
    """Some lines of a frontier."""

    rows: NDArray[np.int32]
    """``(lines,)``: the row of each line, ascending."""
    bits: Bitmap
    """``(lines, words)``."""


@dataclass(frozen=True, eq=False, slots=True)
class Frontier:
    """The positions of a partition that are new at a depth, or some rows of them."""

    number: int
    """The number of the partition."""
    rows: NDArray[np.int32]
    """``(lines,)``: the row of each line, ascending."""
    bits: Bitmap
    """``(lines, words)``."""
    count: int
    """The number of positions of the partition that are new at the depth."""
    unvisited: int
    """The number of positions of the partition that were not reached by then."""
    some: Lines | None = None
    """The lines that have positions, where these are few: then neighbours need not read the others."""
    mask: Bitmap | None = None
    """Where given, the positions are those bits that are in the mask, too: others are found meanwhile."""

    @property
    def layer(self) -> Bitmap:
        """``(lines, words)``: the positions and no others."""
        return self.bits if self.mask is None else self.bits & self.mask

    def weigh(self, weights: NDArray[np.int64]) -> int:
        """The sum of the weights of its entries: those of their rows, ``(rows of the space,)``."""
        entries = np.bitwise_count(self.layer).sum(axis=1, dtype=np.int64)
        return int(entries @ weights[self.rows])


class Layer(NamedTuple):
    """The bits of a partition at a depth at which it has positions."""

    depth: int
    positions: int
    bits: Bitmap
    """``(rows, words)``."""
    some: Lines | None
    """The lines that have positions, where these are few."""


class AtDepth(Protocol):
    """Positions that have the same depth."""

    @property
    def depth(self) -> int:
        """Their depth."""


OfDepth = TypeVar("OfDepth", bound=AtDepth)


def layer_at(depth: int, layers: Iterable[OfDepth], first_kept: int) -> OfDepth | None:
    """The one of some layers at ``depth``; None where a depth has no positions.

    InterruptedRunError where the layer was discarded: it is before the first depth whose positions are kept.
    """
    for layer in layers:
        if layer.depth == depth:
            return layer
    if depth < first_kept:
        raise InterruptedRunError(f"the positions at depth {depth} are not kept any more")
    return None


class State:
    """A partition after a layer."""

    def __init__(self, part: Partition, width: int, chunk_rows: int) -> None:
        self.part = part
        self.width = width
        self.visited: Bitmap = np.zeros((part.rows, words(width)), dtype=np.uint64)
        """``(rows, words)``: all positions reached."""
        self.unvisited = part.rows * width
        """The number of positions that are not reached yet."""
        self._rows = np.arange(part.first_row, part.end_row, dtype=np.int32)
        self._chunk_rows = chunk_rows
        self._layers: tuple[Layer, ...] = ()
        """The last two layers at most, the deeper one first. Replaced as a whole, since other threads read it."""
        self._unused: list[Bitmap] = []
        self._first_kept = -1
        """The least depth whose positions are known still."""

    @property
    def chunks(self) -> range:
        """The numbers of the chunks of the partition."""
        first = self.part.first_row // self._chunk_rows
        return range(first, first + -(-self.part.rows // self._chunk_rows))

    @property
    def most_bytes(self) -> int:
        """Bytes of memory that the state takes at most: of visited bits and two layers, and their few lines."""
        return self._rows.nbytes + 3 * self.visited.nbytes + 2 * self.visited.nbytes // MIN_ROWS_PER_POSITION

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        bits = [self.visited, *self._unused, *(layer.bits for layer in self._layers)]
        bits += [layer.some.bits for layer in self._layers if layer.some]
        return self._rows.nbytes + sum(one.nbytes for one in bits)

    def kept_from(self, depth: int) -> int:
        """The least depth of the segments that are needed to return to ``depth``."""
        return depth

    def restored_from(self, depth: int) -> int:
        """The least depth of the segments that are needed to restore the state at ``depth``: all are."""
        return 0

    def positions_before(self, depth: int) -> int:
        """How many positions there are at lesser depths than ``depth``, the last one."""
        frontier = self.frontier(depth)
        return self.part.rows * self.width - self.unvisited - (frontier.count if frontier else 0)

    def frontier(self, depth: int) -> Frontier | None:
        """The positions at ``depth``, one of the last two depths at which there are any; None where there are none.

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
        """Find the ``starts``, indices ``(n,)`` of the table, that lie in the partition; how many do."""
        first, end = self.part.first_row * self.width, self.part.end_row * self.width
        row, column = np.divmod(starts[(starts >= first) & (starts < end)] - first, self.width)
        bits = np.zeros_like(self.visited)
        np.bitwise_or.at(bits, (row, column // 64), np.uint64(1) << (column % 64).astype(np.uint64))
        return self._settle(0, bits, log)

    def advance(self, depth: int, sources: Sequence[Frontier], tables: MoveTables, log: SegmentLog | None) -> int:
        """Find the positions at ``depth`` from the frontiers at the depth before it; how many are new."""
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
        if tables.closing is not None and not pulls:  # a pull finds all of equivalent entries, or none
            close(bits, self.visited, self.part.first_row, *tables.closing, tables.column_maps)
        return self._settle(depth, bits, log)

    def replay(self, depth: int, segments: Sequence[Segment]) -> int:
        """Take the positions at ``depth`` from segments instead of searching them; how many there are."""
        if not segments:
            return 0
        bits = self._empty_bits(depth)
        for one in segments:
            self._set(one, bits)
        found = self._settle(depth, bits, None)
        if found != sum(one.positions for one in segments):
            raise StoreDamagedError(f"the journal is damaged: positions at depth {depth} are also at other depths")
        return found

    def restore(self, depth: int, segments: Iterable[Segment]) -> None:
        """Set the state to ``depth``, by all segments up to this depth.

        Raises
        ------
        StoreDamagedError
            They are no segments of the partition, or have a position twice.
        """
        self.visited.fill(0)
        self._layers, self._unused, self._first_kept = (), [], depth
        self.unvisited = self.part.rows * self.width
        bits, count = self._new_bits(), 0
        for one in segments:
            self._set(one, self.visited)
            self.unvisited -= one.positions
            if one.depth == depth:
                self._set(one, bits)
                count += one.positions
        if count_bits(self.visited) + self.unvisited != self.part.rows * self.width:
            raise StoreDamagedError(f"the journal is damaged: it has a position of partition {self.part.number} twice")
        self._keep(depth, count, bits)

    def go_back(self, depth: int, segments: Iterable[Segment]) -> None:
        """Return to ``depth``, by all segments at this depth or after it; raises as `restore`."""
        self._layers, self._unused, self._first_kept = (), [], depth
        bits, later, count = self._new_bits(), np.zeros_like(self.visited), 0
        for one in segments:
            if one.depth == depth:
                self._set(one, bits)
                count += one.positions
            else:
                self._set(one, later)
                self.unvisited += one.positions
        self.visited &= ~later
        self._keep(depth, count, bits)

    def checkpoint(self, depth: int) -> SegmentLog:
        """Two segments of each chunk: the positions at ``depth``, the last one, and as of depth - 1 all before."""
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
        """The indices in the table of the first positions at one of the last two depths, ``(n,)``, ascending."""
        frontier = self.frontier(depth)
        if frontier is None:
            return np.empty(0, dtype=np.int64)
        return self.part.first_row * self.width + first_positions(frontier.bits, self.width, limit)

    def forget_before(self, depth: int) -> None:
        """Forget what is not needed once all partitions have found the layer at ``depth``, where that takes memory."""

    def _new_bits(self) -> Bitmap:
        """Empty bits for a layer that is restored."""
        return np.zeros_like(self.visited)

    def _set(self, one: Segment, bits: Bitmap) -> None:
        """Set the positions of a segment in bits of the partition."""
        row = one.chunk * self._chunk_rows - self.part.first_row
        if not set_bits(one.kind, one.data, one.positions, self.width, bits[row : row + self._chunk_rows]):
            raise no_segment(one)

    def _empty_bits(self, depth: int) -> Bitmap:
        """Empty bits for ``depth``, in the memory of a discarded layer if there is one."""
        self._unused += [layer.bits for layer in self._layers if layer.depth < depth - 1]
        self._layers = tuple(layer for layer in self._layers if layer.depth >= depth - 1)
        self._first_kept = depth - 1
        if not self._unused:
            return np.zeros_like(self.visited)
        bits = self._unused.pop()
        bits.fill(0)
        return bits

    def _settle(self, depth: int, bits: Bitmap, log: SegmentLog | None) -> int:
        """Visit the positions of a layer that are new, and add them to the log; how many these are."""
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
        """Remove what is visited from the bits of some rows, and visit the rest; how many positions that has."""
        return int(settle(bits, self.visited[rows]))

    def _keep(self, depth: int, count: int, bits: Bitmap) -> None:
        if count:
            self._layers = (Layer(depth, count, bits, self._few_lines(count, bits)), *self._layers[:1])
        else:
            self._unused.append(bits)

    def _few_lines(self, count: int, bits: Bitmap) -> Lines | None:
        """The lines that have some of ``count`` positions, if these are few."""
        if count * MIN_ROWS_PER_POSITION > len(bits):
            return None
        lines = filled_lines(bits, count)
        return Lines(self._rows[lines], bits[lines])

    def _pulls(self, sources: Sequence[Frontier], tables: MoveTables) -> bool:
        """Whether to pull the frontiers; the partitions that they come from are about as large as this one."""
        frontier = sum(source.count for source in sources) / len(sources)
        unvisited = sum(source.unvisited for source in sources) / len(sources)
        return pull_is_cheaper(frontier, unvisited, self.unvisited, tables.target.shape[1])


def boundary(frontier: Frontier, tables: MoveTables, first_row: int, end_row: int) -> Frontier | None:
    """The part of a frontier from which a move leads out of the rows from ``first_row`` to ``end_row``, if any."""
    layer = frontier.layer
    lines = boundary_lines(layer, frontier.rows, tables.target, first_row, end_row)
    if not len(lines):
        return None
    return replace(frontier, rows=frontier.rows[lines], bits=layer[lines], some=None, mask=None)


class Links(NamedTuple):
    """The move tables, and the partitions that they connect."""

    tables: MoveTables
    predecessors: list[list[int]]
    """For each partition the partitions whose moves lead to it, by number."""


def links(tables: MoveTables, bounds: Sequence[int]) -> Links:
    """The links between partitions: ``bounds`` are the first row of each, and the row past the end of the last one."""
    return Links(tables, sources(tables, bounds, bounds))


def sources(tables: MoveTables, blocks: Sequence[int], ranges: Sequence[int]) -> list[list[int]]:
    """For each range of rows the blocks whose moves lead into it, by number in ascending order.

    ``blocks`` and ``ranges`` are the first row of each, in ascending order from 0, and the number of all rows.
    """
    into: list[list[int]] = [[] for _ in ranges[1:]]
    reached = np.empty(ranges[-1] + 1, dtype=np.bool_)  # its last entry is that of ILLEGAL
    for block, (first, end) in enumerate(pairwise(blocks)):
        reached.fill(False)
        reached[tables.target[first:end]] = True
        for number in np.flatnonzero(np.logical_or.reduceat(reached[:-1], ranges[:-1])).tolist():
            into[number].append(block)
    return into


def pull_is_cheaper(frontier: float, neighbours: float, unvisited: int, moves: int) -> bool:
    """Whether it is cheaper to pull than to push.

    A push follows all ``moves`` of the ``frontier``. A pull tests the moves of each of the ``unvisited`` positions,
    until one leads to the frontier. No move leads from these to positions visited earlier: their neighbours are visited
    by now. So their moves lead to the frontier and to the unvisited ``neighbours``. If all were alike, a test would
    succeed with the probability p = frontier / (frontier + neighbours). The expected number of tests until one
    succeeds, or all moves are tested, is (1 - (1 - p)^moves) / p.

    The frontier and the unvisited neighbours are those of a partition that the moves lead to, on average.
    """
    if TEST_COST * unvisited >= frontier * moves:  # each takes a test at least
        return False
    hit = frontier / (frontier + neighbours)
    tests = (1 - (1 - hit) ** moves) / hit
    return TEST_COST * unvisited * tests < frontier * moves


def warm_up(masked: bool = False) -> None:
    """Compile the kernels of a search without interruption on threads, or load them from numba's cache.

    ``masked``: also those for frontiers that have a mask.
    """
    tables = MoveTables(np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int16), np.zeros((1, 1), np.int32), True)
    layer, rows = np.ones((1, 1), dtype=np.uint64), np.zeros(1, dtype=np.int32)
    for mask in (None, layer)[: 1 + masked]:
        expand(layer, 0, layer, mask, rows, *tables[:3])
        pull(layer, layer, 0, layer, mask, rows, *tables[:3])
    settle(layer, np.zeros_like(layer))
    filled_lines(layer, 1)
    log = SegmentLog()
    log.add(0, 0, layer, 1, 1)
    depths_of(log.segments, np.zeros((1, 1), dtype=np.uint8))  # 16 bits are rare
