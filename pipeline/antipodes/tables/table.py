"""A table of distances, open for questions.

>>> with open_table("outputs/eight-puzzle.zarr") as table:  # doctest: +SKIP
...     table.distance("8 6 7 / 2 5 4 / 3 0 1")
31
"""

from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes import arguments
from antipodes.errors import InputError, StoreDamagedError, UnfinishedError, UnreachableError
from antipodes.puzzles.move import predecessors
from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.quoting import shorten
from antipodes.sizes import MIB
from antipodes.storage.address import Address, in_shell
from antipodes.tables.chunks import UNKNOWN, UNREACHABLE, TableChunks
from antipodes.tables.matches import Matches, match
from antipodes.tables.store import TableManifest, TableStore

__all__ = ["UNKNOWN", "UNREACHABLE", "Table", "UnfinishedError", "open_table"]

CACHE_BYTES = 256 * MIB


def open_table(address: Address, cache_bytes: int = CACHE_BYTES) -> "Table":
    """The table in a store, at a path or a URL; chunks that were read stay in memory up to ``cache_bytes``.

    Raises
    ------
    InputError
        The address or the number of bytes is none.
    NotAStoreError, StoreDamagedError
        There is no table at the address, or its manifest is damaged.
    """
    cache_bytes = arguments.integer(cache_bytes, "cache_bytes", 0)
    store = TableStore(arguments.address(address, "the address of a table"))
    return Table(store, store.read(), cache_bytes)


def _reopened(store: TableStore, cache_bytes: int) -> "Table":
    return Table(store, store.read(), cache_bytes)


class Table:
    """The distance of every position of a puzzle from its start.

    A position is given as text or as labels ``(places,)``; many at once as labels ``(n, places)``. Lists and arrays
    of any integers will do. PositionError or another InputError says what else was found.

    Threads may share a table. Each reads the chunks that it needs, so there may be one chunk a thread in memory beside
    the cache. After `close` the table still says what it says of itself, and ClosedError is raised for distances.
    """

    def __init__(
        self, store: TableStore, manifest: TableManifest, cache_bytes: int = CACHE_BYTES, puzzle: Puzzle | None = None
    ) -> None:
        self.puzzle: Puzzle = puzzle or manifest.config.puzzle
        self._address = store.address
        self._manifest = manifest
        self._index = manifest.cut[0]
        self._chunks = TableChunks(store, manifest, cache_bytes)
        self._source = (store, cache_bytes)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in this process or another, opens the store anew, with a cache of its own."""
        return _reopened, self._source

    def __enter__(self) -> "Table":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """How many positions have a distance."""
        return self._manifest.states

    def __repr__(self) -> str:
        return f"open_table({self._address!r})"

    def close(self) -> None:
        """Let go of the chunks in memory; a thread that asks for distances meanwhile gets ClosedError."""
        self._chunks.close()

    @property
    def complete(self) -> bool:
        """Whether the table is finished."""
        return self._manifest.complete

    @property
    def layers(self) -> list[int]:
        """How many positions there are at each depth."""
        return list(self._manifest.layers)

    @property
    def radius(self) -> int:
        """The greatest distance, so far if the table is unfinished."""
        return self._manifest.radius

    @property
    def index_size(self) -> int:
        """How many positions there are, reachable or not."""
        return self._index.size

    def labels(self, position: str | ArrayLike) -> Labels:
        """The position as labels ``(places,)``, checked; PositionError where it is none."""
        return self.puzzle.parse(position) if isinstance(position, str) else self.puzzle.checked_one(position)

    def rank(self, labels: ArrayLike) -> NDArray[np.int64]:
        """The index of each position ``(n, places)``, ``(n,)``; PositionError where one is none."""
        return self._index.rank(self.puzzle.checked(labels))

    def unrank(self, indices: ArrayLike) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is out of range."""
        return self._index.unrank(self._checked(indices))

    def distance(self, position: str | ArrayLike) -> int:
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
        labels = self.labels(position)
        distance = int(self._chunks.distances(self._index.rank(labels[np.newaxis]))[0])
        if distance == UNREACHABLE:
            raise UnreachableError(f"no moves lead to {self._quoted(labels)}")
        if distance == UNKNOWN:
            raise UnfinishedError(
                f"{self._quoted(labels)} lies beyond depth {self.radius}, where the unfinished table ends: "
                f"antipodes resume {in_shell(self._address)}"
            )
        return distance

    def get_distance(self, position: str | ArrayLike, default: int | None = None) -> int | None:
        """As `distance`, with ``default`` for a position that cannot be reached."""
        try:
            return self.distance(position)
        except UnreachableError:
            return default

    def get_distances(self, labels: ArrayLike) -> list[int | None]:
        """The distance of each position ``(n, places)``; None for one that cannot be reached. Raises as `distance`."""
        labels = self.puzzle.checked(labels)
        distances = self._chunks.distances(self._index.rank(labels))
        if (unknown := np.flatnonzero(distances == UNKNOWN)).size:
            self.distance(labels[unknown[0]])
        return [None if distance == UNREACHABLE else distance for distance in distances.tolist()]

    def distances(self, labels: ArrayLike) -> NDArray[np.int32]:
        """The distance of each position ``(n, places)``, ``(n,)``; UNREACHABLE or UNKNOWN where there is none.

        Raises
        ------
        PositionError
            One of the arrays is no position of the puzzle.
        StoreDamagedError
            A chunk that is needed is damaged.
        """
        return self._chunks.distances(self.rank(labels))

    def distances_by_index(self, indices: ArrayLike) -> NDArray[np.int32]:
        """As `distances`, for indices ``(n,)`` of positions; InputError where one is out of range."""
        return self._chunks.distances(self._checked(indices))

    def path(self, position: str | ArrayLike) -> Labels:
        """A shortest way from the position back to a start: ``(distance + 1, places)``, both ends included.

        Each position is one move *before* the one that it follows, which only matters where moves cannot be undone.
        Raises as `distance`.
        """
        here = self.labels(position)
        way = [here]
        for depth in range(self.distance(here) - 1, -1, -1):
            way.append(self._predecessor(way[-1], depth))
        self.check_starts(way[-1][np.newaxis])
        return np.array(way)

    def check_starts(self, labels: Labels) -> None:
        """Raise StoreDamagedError unless these positions ``(n, places)``, at which ways end, are starts."""
        starts = set(map(bytes, self.puzzle.start_labels))
        for position in labels:
            if bytes(position) not in starts:
                raise self._damaged(position, 0, "which is no start")

    def match(self, pattern: str) -> Matches:
        """How far the positions are that fit a pattern; see `antipodes.tables.matches.match`."""
        return match(self, pattern)

    def antipodes(self, limit: int | None = None) -> Labels:
        """The positions that are farthest from the start, ``(n, places)``, in the order of their indices.

        Raises
        ------
        InputError
            The limit is negative, or no integer.
        UnfinishedError
            The table is unfinished, so they are not known.
        """
        if not self.complete:
            raise UnfinishedError(
                f"the table ends at depth {self.radius}, unfinished, so the antipodes are not known: "
                f"antipodes resume {in_shell(self._address)}"
            )
        return self.positions_at(self.radius, limit)

    def positions_at(self, depth: int, limit: int | None = None) -> Labels:
        """The positions at a depth, ``(n, places)``, in the order of their indices, at most ``limit`` of them.

        InputError where there is no such depth, or the limit is negative.
        """
        depth = self._checked_depth(depth)
        most = arguments.optional(limit, arguments.integer, "a limit", 0)
        parts, missing = [], self.layers[depth] if most is None else most
        for indices in self._chunks.all_at(depth):
            parts.append(indices[:missing])
            missing -= len(parts[-1])
            if missing <= 0:
                break
        if missing > 0 and sum(map(len, parts)) < self.layers[depth]:
            raise self._fewer(depth)
        return self._index.unrank(np.concatenate(parts))

    def random_position(self, depth: int | None = None, rng: np.random.Generator | None = None) -> Labels:
        """A position ``(places,)`` drawn uniformly from those at a depth, or from all that can be reached."""
        rng = np.random.default_rng() if rng is None else rng
        arguments.instance(rng, np.random.Generator, "a numpy.random.Generator, such as default_rng(seed)")
        if depth is None:
            depth = int(np.searchsorted(np.cumsum(self.layers), rng.integers(len(self)), side="right"))
        depth = self._checked_depth(depth)
        drawn = int(rng.integers(self.layers[depth]))
        for indices in self._chunks.all_at(depth):
            if drawn < len(indices):
                position: Labels = self._index.unrank(indices[drawn : drawn + 1])[0]
                return position
            drawn -= len(indices)
        raise self._fewer(depth)

    def _checked(self, indices: ArrayLike) -> NDArray[np.int64]:
        """The indices as numbers of positions ``(n,)``."""
        numbers = arguments.integers(indices, "indices (n,)", 1)
        outside = (numbers < 0) | (numbers >= self.index_size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.index_size - 1}, found {numbers[outside][0]}")
        return numbers.astype(np.int64, copy=False)

    def _checked_depth(self, depth: int) -> int:
        return arguments.integer(depth, "a depth", 0, self.radius)

    def _predecessor(self, position: Labels, depth: int) -> Labels:
        """One of the positions at a depth from which a move leads to this one, in the first chunk that has one."""
        before = predecessors(self.puzzle.moves, position)
        chosen = self._chunks.first_at(self._index.rank(before), depth)
        if chosen is None:
            raise self._damaged(position, depth + 1, f"and no position at depth {depth} leads there")
        predecessor: Labels = before[chosen]
        return predecessor

    def _fewer(self, depth: int) -> StoreDamagedError:
        return StoreDamagedError(
            f"{self._address} is damaged: expected {self.layers[depth]:,} positions at depth {depth}, found fewer"
        )

    def _damaged(self, position: Labels, depth: int, but: str) -> StoreDamagedError:
        chunk = self._chunks.number_of(int(self._index.rank(position[np.newaxis])[0]))
        text = self._quoted(position)
        return StoreDamagedError(f"{self._address} is damaged: chunk {chunk} has {text} at depth {depth}, {but}")

    def _quoted(self, position: Labels) -> str:
        """The position for a message: boards may have hundreds of places."""
        return shorten(self.puzzle.format(position))
