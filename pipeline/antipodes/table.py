"""A table of distances, open for questions.

>>> with open_table("outputs/eight-puzzle.zarr") as table:  # doctest: +SKIP
...     table.distance("8 6 7 / 2 5 4 / 3 0 1")
31
"""

from collections import OrderedDict
from collections.abc import Iterator
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from antipodes.arrays import Depths
from antipodes.errors import AntipodesError, InputError, StoreDamagedError, StoreError, UnreachableError
from antipodes.matches import Matches, match
from antipodes.plan import MIB
from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.storage.address import Address
from antipodes.store import Record, TableStore

UNREACHABLE = -1
"""Instead of a distance: no moves lead from the start to the position."""
UNKNOWN = -2
"""Instead of a distance: the table is unfinished, and the position lies beyond its committed depth, if anywhere."""


class UnfinishedError(AntipodesError, LookupError):
    """The answer lies beyond what an unfinished table knows."""


CACHE_BYTES = 256 * MIB


def open_table(address: Address, cache_bytes: int = CACHE_BYTES) -> "Table":
    """The table in a store, at a path or a URL; chunks that were read stay in memory up to ``cache_bytes``.

    Raises
    ------
    NotAStoreError, StoreDamagedError
        There is no table at the address, or its record is damaged.
    """
    store = TableStore(address)
    return Table(store, store.read(), cache_bytes)


class Table:
    """The distance of every position of a puzzle from its start.

    A position is given as text or as labels ``(places,)``; many at once as labels ``(n, places)``.
    """

    def __init__(
        self, store: TableStore, record: Record, cache_bytes: int = CACHE_BYTES, puzzle: Puzzle | None = None
    ) -> None:
        self.puzzle: Puzzle = puzzle or record.config.puzzle
        self._store = store
        self._identity = store.identity()
        self._record = record
        self._index = record.cut[0]
        self._chunk_states = record.chunk_rows * record.width
        self._cached_chunks = max(1, cache_bytes // (self._chunk_states * np.dtype(record.dtype).itemsize))
        self._chunks: OrderedDict[int, Depths] = OrderedDict()

    def __enter__(self) -> "Table":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """How many positions have a distance."""
        return self._record.states

    def __repr__(self) -> str:
        return f"open_table({self._store.address!r})"

    def close(self) -> None:
        """Let go of the chunks in memory."""
        self._chunks.clear()

    @property
    def complete(self) -> bool:
        """Whether the table is finished."""
        return self._record.complete

    @property
    def layers(self) -> list[int]:
        """How many positions there are at each depth."""
        return list(self._record.layers)

    @property
    def radius(self) -> int:
        """The greatest distance, so far if the table is unfinished."""
        return self._record.radius

    @property
    def index_size(self) -> int:
        """How many positions there are, reachable or not."""
        return self._index.size

    def labels(self, position: str | Labels) -> Labels:
        """The position as labels ``(places,)``, checked; PositionError where it is none."""
        if isinstance(position, str):
            return self.puzzle.parse(position)
        labels: Labels = self.puzzle.checked(np.asarray(position)[np.newaxis])[0]
        return labels

    def rank(self, labels: Labels) -> NDArray[np.int64]:
        """The index of each position ``(n, places)``, ``(n,)``; PositionError where one is none."""
        return self._index.rank(self.puzzle.checked(np.asarray(labels)))

    def unrank(self, indices: NDArray[np.int64]) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is out of range."""
        return self._index.unrank(np.asarray(indices))

    def distance(self, position: str | Labels) -> int:
        """The number of moves from the nearest start to the position.

        Raises
        ------
        PositionError
            It is no position of the puzzle.
        UnreachableError
            No moves lead to it.
        UnfinishedError
            The table does not know yet.
        """
        distance = int(self.distances(self.labels(position)[np.newaxis])[0])
        if distance == UNREACHABLE:
            raise UnreachableError(f"no moves lead to {self._text(position)}")
        if distance == UNKNOWN:
            raise UnfinishedError(
                f"{self._text(position)} lies beyond depth {self.radius}, where the unfinished table ends: "
                f"antipodes resume {self._store.address}"
            )
        return distance

    def get_distance(self, position: str | Labels, default: int | None = None) -> int | None:
        """As `distance`, with ``default`` for a position that cannot be reached."""
        try:
            return self.distance(position)
        except UnreachableError:
            return default

    def get_distances(self, labels: Labels) -> list[int | None]:
        """The distance of each position ``(n, places)``; None for one that cannot be reached. Raises as `distance`."""
        distances = self.distances(labels)
        if (unknown := np.flatnonzero(distances == UNKNOWN)).size:
            self.distance(labels[unknown[0]])
        return [None if distance == UNREACHABLE else distance for distance in distances.tolist()]

    def distances(self, labels: Labels) -> NDArray[np.int32]:
        """The distance of each position ``(n, places)``, ``(n,)``; UNREACHABLE or UNKNOWN where there is none.

        Raises
        ------
        PositionError
            One of the arrays is no position of the puzzle.
        StoreDamagedError
            A chunk that is needed is damaged.
        """
        return self.distances_by_index(self.rank(labels))

    def distances_by_index(self, indices: NDArray[np.int64]) -> NDArray[np.int32]:
        """As `distances`, for indices ``(n,)`` of positions."""
        outside = (indices < 0) | (indices >= self.index_size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.index_size - 1}, found {indices[outside][0]}")
        distances = np.empty(len(indices), dtype=np.int32)
        chunk_of = indices // self._chunk_states
        order = np.argsort(chunk_of, kind="stable")
        numbers, begins = np.unique(chunk_of[order], return_index=True)
        for number, group in zip(numbers.tolist(), np.split(order, begins)[1:], strict=True):
            distances[group] = self._distances_in(number, indices[group] % self._chunk_states)
        return distances

    def path(self, position: str | Labels) -> Labels:
        """A shortest way from the position back to a start: ``(distance + 1, places)``, both ends included.

        Each position is one move *before* the one that it follows, which only matters where moves cannot be undone.
        Raises as `distance`.
        """
        here = self.labels(position)
        distance = self.distance(here)
        way = [here]
        while distance > 0:
            before = self.puzzle.predecessors(way[-1])
            distance -= 1
            nearer = np.flatnonzero(self.distances(before) == distance)
            if not nearer.size:
                raise StoreDamagedError(
                    f"{self._store.address} is damaged: no position at distance {distance} leads to "
                    f"{self._text(way[-1])}, whose distance is {distance + 1}"
                )
            way.append(before[nearer[0]])
        self.check_starts(way[-1][np.newaxis])
        return np.array(way)

    def check_starts(self, labels: Labels) -> None:
        """Raise StoreDamagedError unless these positions ``(n, places)``, which ways end at, are starts."""
        starts = set(map(bytes, self.puzzle.start_labels))
        for position in labels:
            if bytes(position) not in starts:
                raise StoreDamagedError(
                    f"{self._store.address} is damaged: {self._text(position)} has distance 0, and is no start"
                )

    def match(self, pattern: str) -> Matches:
        """How far the positions are that fit a pattern; see `antipodes.matches.match`."""
        return match(self, pattern)

    def antipodes(self, limit: int | None = None) -> Labels:
        """The positions that are farthest from the start, ``(n, places)``, in the order of their indices.

        Raises
        ------
        UnfinishedError
            The table is unfinished, so they are not known.
        """
        if not self.complete:
            raise UnfinishedError(
                f"the table ends at depth {self.radius}, unfinished, so the antipodes are not known: "
                f"antipodes resume {self._store.address}"
            )
        return self.positions_at(self.radius, limit)

    def positions_at(self, depth: int, limit: int | None = None) -> Labels:
        """The positions at a depth, ``(n, places)``, in the order of their indices, at most ``limit`` of them."""
        self._check_depth(depth)
        parts, missing = [], self.layers[depth] if limit is None else min(limit, self.layers[depth])
        for indices in self._indices_at(depth):
            parts.append(indices[:missing])
            missing -= len(parts[-1])
            if missing <= 0:
                break
        self._check_found(depth, missing)
        return self._index.unrank(np.concatenate(parts))

    def random_position(self, depth: int | None = None, rng: np.random.Generator | None = None) -> Labels:
        """A position ``(places,)`` drawn uniformly from those at a depth, or from all that can be reached."""
        rng = rng or np.random.default_rng()
        if depth is None:
            depth = int(np.searchsorted(np.cumsum(self.layers), rng.integers(len(self)), side="right"))
        self._check_depth(depth)
        drawn = int(rng.integers(self.layers[depth]))
        for indices in self._indices_at(depth):
            if drawn < len(indices):
                break
            drawn -= len(indices)
        else:
            self._check_found(depth, drawn + 1)
        position: Labels = self._index.unrank(indices[drawn : drawn + 1])[0]
        return position

    def _text(self, position: str | Labels) -> str:
        return self.puzzle.format(self.labels(position))

    def _check_depth(self, depth: int) -> None:
        if not 0 <= depth <= self.radius:
            raise InputError(f"expected a depth from 0 to {self.radius}, found {depth}")

    def _check_found(self, depth: int, missing: int) -> None:
        if missing > 0:
            raise StoreDamagedError(
                f"{self._store.address} is damaged: expected {self.layers[depth]:,} positions at depth {depth}, "
                "found fewer"
            )

    def _indices_at(self, depth: int) -> Iterator[NDArray[np.int64]]:
        """The indices of the positions at a depth, in ascending order, chunk by chunk."""
        for number in self._record.chunks.holding(depth):
            yield np.flatnonzero(self._chunk(number).ravel() == depth) + number * self._chunk_states

    def _distances_in(self, number: int, places: NDArray[np.int64]) -> NDArray[np.int32]:
        depths = self._chunk(number).ravel()[places]
        missing = UNREACHABLE if self.complete else UNKNOWN
        return np.where(depths > self._record.committed_depth, missing, depths.astype(np.int32))

    def _read_rows(self, first_row: int, end_row: int) -> Depths:
        try:
            return self._store.read_rows(self._record, first_row, end_row)
        finally:  # chunks of another store would make wrong distances, or look damaged
            if self._store.identity() != self._identity:
                raise StoreError(f"{self._store.address} was replaced since it was opened: open it anew")

    def _chunk(self, number: int) -> Depths:
        if number in self._chunks:
            self._chunks.move_to_end(number)
            return self._chunks[number]
        first_row = number * self._record.chunk_rows
        end_row = min(self._record.rows, first_row + self._record.chunk_rows)
        depths = self._read_rows(first_row, end_row)
        self._chunks[number] = depths
        if len(self._chunks) > self._cached_chunks:
            self._chunks.popitem(last=False)
        return depths
