"""Segments: which positions of a chunk are new in a layer, as bytes; a partition keeps those that are not stored yet.

Each position is new in one layer, so that all segments together are the table. `antipodes_tasks.bfs.segments` has
the codes.
"""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.arrays import Bitmap, Depths, bitmap_bytes
from antipodes_tasks.errors import StoreDamagedError


class Segment(NamedTuple):
    """The positions of a chunk that are new at a depth."""

    chunk: int
    depth: int
    kind: int
    """GAPS or BITS."""
    positions: int
    """The number of positions."""
    data: NDArray[np.uint8]


_of_thread = threading.local()


class SegmentLog:
    """Segments in memory, in the order in which they were found."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.size = 0
        """The number of bytes of all segments."""

    def add(self, chunk: int, depth: int, layer: Bitmap, width: int, count: int) -> None:
        """Add the ``count`` positions of a chunk, ``(rows, words)``, that are new at a depth, unless there are none."""
        from antipodes_tasks.bfs.segments import encode  # loads the compiler, which few commands need

        if count:
            out = _scratch(bitmap_bytes(len(layer), width))
            kind, length = encode(layer, width, count, out)
            self.segments.append(Segment(chunk, depth, kind, count, out[:length].copy()))
            self.size += length

    def of_chunks(self, first_chunk: int, end_chunk: int) -> list[Segment]:
        """The segments of some chunks."""
        return [one for one in self.segments if first_chunk <= one.chunk < end_chunk]


def _scratch(size: int) -> NDArray[np.uint8]:
    """Room for ``size`` bytes, the same each time in a thread: new memory would cost as much as the bytes in it."""
    if len(getattr(_of_thread, "out", ())) < size:
        _of_thread.out = np.empty(size, dtype=np.uint8)
    out: NDArray[np.uint8] = _of_thread.out
    return out


def depths_of(segments: Sequence[Segment], depths: Depths) -> Depths:
    """Write the depths of the positions of a chunk, ``(rows, width)``, of which none is reached yet; the array.

    Raises
    ------
    StoreDamagedError
        A segment does not have as many positions as it says.
    """
    from antipodes_tasks.bfs.segments import fill  # loads the compiler

    lengths = [len(one.data) for one in segments]
    ends = np.cumsum(lengths, dtype=np.int64)
    wrong = fill(
        depths.reshape(-1),
        depths.shape[1],
        np.array([one.kind for one in segments], dtype=np.uint8),
        np.array([one.depth for one in segments], dtype=np.int64),
        np.array([one.positions for one in segments], dtype=np.int64),
        ends - lengths,
        ends,
        np.concatenate([one.data for one in segments]) if segments else np.empty(0, dtype=np.uint8),
    )
    if wrong >= 0:
        raise no_segment(segments[wrong])
    return depths


def no_segment(segment: Segment) -> StoreDamagedError:
    """The error for bytes that are not a segment."""
    return StoreDamagedError(
        f"the journal is damaged: expected {segment.positions:,} positions of chunk {segment.chunk} "
        f"at depth {segment.depth}, found others"
    )
