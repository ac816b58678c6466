"""Blocks of depths that tasks read: each stays in memory as long as there is no better use for its place."""

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future

from antipodes_tasks.bfs.proof import Block

Read = Callable[[int], Block]
"""Reads the block of a number."""


class Blocks:
    """Blocks by their numbers, at most ``capacity`` of them in memory between two uses. Threads can share it.

    The tasks are known in advance, and with them the next use of each block: the block whose next use is farthest makes
    room for others. No strategy reads less (L. A. Belady, A study of replacement algorithms, 1966).

    Parameters
    ----------
    read
        Reads a block; it travels to workers, as this object does, which arrives there without the blocks in memory.
    uses
        The numbers of the blocks that each task uses, in the order of the tasks. A block that a task uses twice is
        there twice.
    capacity
        Blocks in memory at most, besides those that tasks have just got.
    """

    def __init__(self, read: Read, uses: Sequence[Sequence[int]], capacity: int) -> None:
        self._read = read
        self._uses = uses
        self._capacity = capacity
        self._lock = threading.Lock()
        self._next_uses = _places(uses)
        self._held: dict[int, tuple[Future[Block], int]] = {}
        """Each block in memory, or under way to it, with the place of its next use."""
        self._farthest: list[tuple[int, int]] = []
        """A heap of next uses, negated, and blocks; those whose next use has changed meanwhile are ignored."""

    def __reduce__(self) -> tuple[object, ...]:
        return Blocks, (self._read, self._uses, self._capacity)

    def get(self, number: int) -> Block:
        """The block of a number, from memory or read; a block that another thread reads is waited for."""
        with self._lock:
            held = self._held.pop(number, None)
            block: Future[Block] = held[0] if held else Future()
            self._hold(number, block)
        if not held:
            self._fill(block, number)
        return block.result()

    def _hold(self, number: int, block: "Future[Block]") -> None:
        """Keep a block for its next use, if it has one, in place of that whose next use is farthest."""
        places = self._next_uses[number]
        places.popleft()
        if not places:
            return
        self._held[number] = block, places[0]
        heapq.heappush(self._farthest, (-places[0], number))
        while len(self._held) > self._capacity:
            place, farthest = heapq.heappop(self._farthest)
            if farthest in self._held and self._held[farthest][1] == -place:
                del self._held[farthest]

    def _fill(self, block: "Future[Block]", number: int) -> None:
        try:
            block.set_result(self._read(number))
        except BaseException as error:
            block.set_exception(error)  # for the threads that wait for it; this one raises it, too


def _places(uses: Iterable[Sequence[int]]) -> dict[int, deque[int]]:
    """For each block the places of the tasks that use it, in ascending order."""
    places: dict[int, deque[int]] = {}
    for place, numbers in enumerate(uses):
        for number in numbers:
            places.setdefault(number, deque()).append(place)
    return places
