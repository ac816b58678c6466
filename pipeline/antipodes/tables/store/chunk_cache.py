"""The most recently used chunks of a table, for threads that share them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.errors import ClosedError


def by_chunk(indices: NDArray[np.int64], chunk_states: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The number of each chunk that the indices ``(n,)`` lie in, ascending, and the places of these indices."""
    if not len(indices):
        return
    chunk_of = indices // chunk_states
    first, last = int(chunk_of.min()), int(chunk_of.max())
    if first == last:
        yield first, np.arange(len(indices))
        return
    if last < 1 << 16:
        chunk_of = chunk_of.astype(np.uint16)  # numpy sorts 16 bits by their digits, ten times as fast
    order = np.argsort(chunk_of, kind="stable")
    counts = np.bincount(chunk_of)
    ends = np.cumsum(counts)
    for number in np.flatnonzero(counts).tolist():
        yield number, order[ends[number] - counts[number] : ends[number]]


class ChunkCache:
    """At most ``capacity`` chunks by their numbers; the least recently used chunk makes room.

    A chunk is read outside the lock, so threads that need different chunks do not wait for each other; two threads
    that need the same chunk may both read it.
    """

    def __init__(self, read: Callable[[int], Depths], capacity: int, address: str) -> None:
        self._read = read
        self._capacity = capacity
        self._address = address
        self._lock = threading.Lock()
        self._chunks: OrderedDict[int, Depths] = OrderedDict()
        self._closed = False

    def __getitem__(self, number: int) -> Depths:
        """The chunk, from memory or read now; ClosedError once the cache is closed."""
        with self._lock:
            self.check_open()
            if number in self._chunks:
                self._chunks.move_to_end(number)
                return self._chunks[number]
        chunk = self._read(number)
        with self._lock:
            self.check_open()
            self._chunks[number] = chunk
            if len(self._chunks) > self._capacity:
                self._chunks.popitem(last=False)
        return chunk

    def close(self) -> None:
        """Drop all chunks, for good."""
        with self._lock:
            self._closed = True
            self._chunks.clear()

    def check_open(self) -> None:
        if self._closed:
            raise ClosedError(f"the table {self._address} was closed: open it again")
