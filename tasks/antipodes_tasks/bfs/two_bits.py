"""Partitions with two bits per position, visited and marked, for searches limited by memory.

    visited  marked
       0       0     not reached
       1       0     reached before the last layer
       1       1     in the last layer
       0       1     in the layer being computed

While a layer is computed, ``visited`` does not change, and new marks are only set on unvisited positions. So other
partitions can read the last layer, that is, the visited positions with a mark, without a lock. Once all partitions have
computed the new layer, `TwoBitState.forget_before` sets the marked positions as visited and removes the marks of the
previous layer. The disadvantage is that all partitions have to wait for each other before this step, which reads all
positions once more.
"""

import threading
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.bitmaps import Bitmap, empty_bits, mark, visit_marked
from antipodes_tasks.bfs.partition import MIN_ROWS_PER_POSITION, Frontier, Layer, Lines, Partition, State
from antipodes_tasks.bfs.segments import SegmentLog

NOTHING = Lines(np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.uint64))
_of_thread = threading.local()


class TwoBitState(State):
    """The state of a partition after a layer, in two bits per position.

    Other partitions may read it between `advance` and `forget_before`. Only the last layer is known, not the layer
    before it.
    """

    def __init__(self, part: Partition, width: int, chunk_rows: int) -> None:
        super().__init__(part, width, chunk_rows)
        self._marks: Bitmap = np.zeros_like(self.visited)
        self._found: Layer | None = None
        """The layer that has been computed but not yet merged into ``visited``."""

    @property
    def most_bytes(self) -> int:
        """Maximum number of bytes of the state."""
        return self._rows.nbytes + 2 * self.visited.nbytes + self.visited.nbytes // MIN_ROWS_PER_POSITION

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        few = sum(layer.some.bits.nbytes for layer in self._layers if layer.some)
        return self._rows.nbytes + 2 * self.visited.nbytes + few

    def frontier(self, depth: int) -> Frontier | None:
        """Return the positions at ``depth``, which must be the last merged layer; None if it is empty.

        Raises the errors of `State.frontier`.
        """
        assert self._found is None or depth < self._found.depth, "the layer is not settled"
        found = super().frontier(depth)
        return found and replace(found, mask=self.visited)

    def begin(self, starts: NDArray[np.int64], log: SegmentLog | None) -> int:
        """Add the ``starts``, indices ``(n,)`` of the table, that lie in the partition; return their number."""
        count = super().begin(starts, log)
        self.forget_before(0)
        return count

    def forget_before(self, depth: int) -> None:
        """Merge the layer at ``depth``, once all partitions have computed it, and forget the layer before it.

        If the new layer is empty, the last layer is kept, since its positions may be antipodes.
        """
        if self._found is None:
            return
        found, self._found = self._found, None
        before = self._layers[0].some if self._layers else NOTHING
        if before is None or found.some is None:
            visit_marked(self.visited, self._marks)
        else:
            self._marks[before.rows - self.part.first_row] = 0
            lines = found.some.rows - self.part.first_row
            self.visited[lines] |= found.some.bits
            self._marks[lines] = found.some.bits
        self._layers, self._first_kept = (found,), depth

    def _layer(self, depth: int, count: int, bits: Bitmap) -> Layer:
        """Return the marks as a layer; ``bits`` contains the positions of this layer."""
        return Layer(depth, count, self._marks, self._few_lines(count, bits))

    def _new_bits(self) -> Bitmap:
        self._found = None
        self._marks.fill(0)
        return self._marks

    def _empty_bits(self, depth: int) -> Bitmap:
        """Return empty bits for a layer, in memory that each thread reuses."""
        return empty_bits(_of_thread, self.part.rows, self.width)

    def _take(self, bits: Bitmap, rows: slice) -> int:
        """Remove the visited positions from the bits of some rows, and mark the rest; return the number of the rest."""
        return int(mark(bits, self.visited[rows], self._marks[rows]))

    def _keep(self, depth: int, count: int, bits: Bitmap) -> None:
        if bits is self._marks:  # the layer was restored, so its positions are visited already
            self._layers = (self._layer(depth, count, bits),) if count else ()
        elif count:
            self._found = self._layer(depth, count, bits)
