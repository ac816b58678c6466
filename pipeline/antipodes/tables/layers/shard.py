"""A shard: adjacent partitions that one thread advances one after another, with the segments found in them.

Shards are what is divided among the workers of a cluster, and what is restored after a loss. Partitions are small, so
that a layer touches only the rows that it can reach, and these stay in the cache. With threads, a shard is one
partition.
"""

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.journal import Journal
from antipodes.tables.layers.shard_segments import ShardSegments, write
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.bfs.layer_weights import LayerSums, LayerWeights, total
from antipodes_tasks.bfs.partition import Partition
from antipodes_tasks.bfs.partition_state import PartitionState
from antipodes_tasks.bfs.segments import Segment, SegmentLog

MakeState = Callable[[Partition], PartitionState]
"""Creates the state of a partition without positions. It can be sent to other processes."""


class Shard(ABC):
    """Adjacent partitions, which are changed in place.

    A layer that is already in the journal is replayed instead of searched. Therefore a shard may be restored at a depth
    that other shards have passed, or that it had passed itself.

    A shard never leaves its process. Dask must not move it to disk or to another worker, since tasks would then change
    a copy.
    """

    def __init__(
        self,
        parts: Sequence[Partition],
        weights: LayerWeights,
        make_state: MakeState,
        journal: Journal,
        buffer_bytes: int,
        max_gaps: float | None,
    ) -> None:
        """Create a shard without any position.

        The ``weights`` are summed over each layer. ``max_gaps`` is the one of `SegmentLog`, or None if the positions
        that the shard finds are not logged.
        """
        self.buffer_bytes = buffer_bytes
        """The shard's part of `Plan.buffer_bytes`: memory that the search can use beyond its minimum."""
        self.states: list[Any] = [make_state(part) for part in parts]
        """The `PartitionState` of each partition."""
        self.depth = -1
        """The depth of the bits. Positions at greater depths do not count, even if other shards have reached them."""
        chunks = range(self.states[0].chunks.start, self.states[-1].chunks.stop)
        self.segments = self.new_segments(journal, chunks, 1.0 if max_gaps is None else max_gaps)
        """The segments that the shard found, if they are logged."""
        self._logged = max_gaps is not None
        self.damaged: list[str] = []
        """Problems found in the journal when the shard was restored."""
        self._token = ""
        """The fencing token of tasks that may change the shard. It is empty until `go_back`: if a worker returns at the
        same address before the run notices its loss, dask creates the shard again, at its first depth, and no task may
        change it."""
        self._found: dict[int, int] = {}
        """The number of new entries at each depth that the shard has passed, which is returned if a task runs again."""
        self._weights = weights
        self._weighed: dict[int, LayerSums] = {}
        """The sums at each depth that the shard has passed, unless all weights are 1."""
        # Tasks that the run has given up may still be running, so every change holds the lock and checks the token.
        self._lock = threading.Lock()

    @property
    @abstractmethod
    def memory_limit(self) -> int:
        """Bytes that positions and segments may take together after a layer."""

    @abstractmethod
    def search(self, offers: Sequence[Any], links: Any, depth: int) -> int:
        """Find the positions at ``depth``, add them to the log if there is one, and return their number.

        ``offers`` are the data that the `Residence` collects from other shards, and ``links`` the moves.
        """

    def new_segments(self, journal: Journal, chunks: range, max_gaps: float) -> ShardSegments:
        """Return the segments of a new shard, whose states exist already: none yet."""
        return ShardSegments(journal, chunks.start, chunks.stop, max_gaps)

    def release_memory(self) -> None:  # noqa: B027  (most shards never exceed the limit)
        """Move positions to disk if they exceed `memory_limit`. Called whenever a state has changed."""

    def begin(self, starts: NDArray[Any]) -> int:
        """Go to depth 0, given all starts as indices ``(n,)`` or keys; return the number of starts in this shard."""
        self.depth = self.segments.searched = 0
        found: int = sum(state.begin(starts, self.log) for state in self.states)
        self._weigh(0)
        return found

    def fill(self, depth: int, segments_of: Callable[[PartitionState], Iterable[Segment]]) -> None:
        """Restore the states of the partitions at ``depth``, each from its segments."""
        for state in self.states:
            state.restore(depth, segments_of(state))
            self.release_memory()

    def go_back(self, depth: int, token: str) -> int:
        """Return to a depth that the shard has passed, and replay from there; return the number of positions there.

        From now on only tasks with this fencing ``token`` can change the shard, since older tasks may still be running.
        """
        with self._lock:
            self._token = token
            if depth < self.depth:
                for state in self.states:
                    state.go_back(
                        depth, self.segments.segments_between(state.chunks, state.kept_from(depth), self.depth)
                    )
                self.depth = depth
            return self.count(depth)

    def shut_out(self, token: str) -> None:
        """Let only tasks with ``token`` change the shard, after a task that is changing it has ended."""
        with self._lock:
            self._token = token

    def count(self, depth: int) -> int:
        """Return the number of positions at ``depth``, which is one of the last two."""
        return sum(frontier.count for frontier in self.frontiers(depth))

    def advance(self, offers: Sequence[Any], links: Any, depth: int, layers: int, token: str) -> list[int]:
        """Find the ``layers`` layers after ``depth``; return the number of positions in each.

        ``offers`` are the data that the `Residence` collects from other shards. With offers, only one layer is allowed.
        The caller must `settle` each layer, since other shards may still read the layer before it in place.
        """
        with self.held_by(token):
            return [self._advance(offers, links, at) for at in range(depth + 1, depth + layers + 1)]

    def settle(self, depth: int, token: str) -> None:
        """Forget earlier layers, and count the positions at ``depth``, after all shards have found this layer."""
        with self.held_by(token):
            for state in self.states:
                state.forget_before(depth)
            self._weigh(depth)

    def frontiers(self, depth: int) -> Sequence[Any]:
        """Return the frontiers at ``depth``, one of the last two, of the partitions that have any."""
        found = (state.frontier(depth) for state in self.states)
        return [frontier for frontier in found if frontier is not None]

    def weighed(self, first_depth: int, layers: int) -> list[LayerSums]:
        """Return the sums over each of ``layers`` layers from a depth on, all of which are found."""
        return [self._weighed.get(depth, LayerSums()) for depth in range(first_depth, first_depth + layers)]

    def positions(self, depth: int, limit: int) -> NDArray[Any]:
        """Return the first indices or keys at ``depth``, one of the last two, in ascending order."""
        found: list[NDArray[Any]] = []
        for state in self.states:
            found.append(state.positions(depth, limit - sum(map(len, found))))
        return np.concatenate(found)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a shard of partitions cannot leave its process")

    def __sizeof__(self) -> int:
        """Return the size in bytes for dask."""
        size: int = sum(state.nbytes for state in self.states) + self.segments.log.size
        return size

    @property
    def token(self) -> str:
        """The fencing token of the tasks that may change the shard."""
        return self._token

    @property
    def log(self) -> SegmentLog | None:
        """The log of the positions that partitions find, or None if they are not logged."""
        return self.segments.log if self._logged else None

    @contextmanager
    def held_by(self, token: str) -> Iterator[None]:
        """Lock the shard in the block; raise InterruptedRunError if ``token`` is not the shard's current token."""
        with self._lock:
            self.check(token)
            yield

    def check(self, token: str) -> None:
        """Raise InterruptedRunError if ``token`` is not the shard's current token."""
        if token != self._token:
            raise InterruptedRunError("the run has returned to an earlier depth, or the shard was lost")

    def _advance(self, offers: Sequence[Any], links: Any, depth: int) -> int:
        if depth > self.depth:
            found = self._replay(depth) if depth <= self.segments.searched else self._find(offers, links, depth)
            self._found[depth], self.depth = found, depth
        return self._found[depth]

    def _weigh(self, depth: int) -> None:
        if not self._weights.all_one:
            self._weighed[depth] = total(one.weigh(self._weights) for one in self.frontiers(depth))

    def _replay(self, depth: int) -> int:
        return sum(
            state.replay(depth, self.segments.segments_between(state.chunks, depth, depth)) for state in self.states
        )

    def _find(self, offers: Sequence[Any], links: Any, depth: int) -> int:
        found = self.search(offers, links, depth)
        self.segments.searched = depth
        if self.segments.log.size and sys.getsizeof(self) > self.memory_limit:
            write([self.segments], depth, self._token, durable=False)
        self.release_memory()
        return found


@contextmanager
def all_held(shards: Sequence[Shard], token: str) -> Iterator[None]:
    """Lock some shards in the block; raise InterruptedRunError if ``token`` is not the current token of all."""
    with ExitStack() as held:
        for one in shards:
            held.enter_context(one.held_by(token))
        yield
