"""A table of distances, open for queries.

>>> with open_table("outputs/eight-puzzle.zarr") as table:  # doctest: +SKIP
...     table.distance("8 6 7 / 2 5 4 / 3 0 1")
31
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes.drawing.notebook import Shown
from antipodes.puzzles.config import PuzzleLike
from antipodes.puzzles.puzzle import PositionLike, PositionsLike
from antipodes.puzzles.python_source import FAMILY
from antipodes.system.addresses import Address
from antipodes.system.events import Listener, silence
from antipodes.system.machine import MIB
from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.counts import NOTHING_YET, SearchResult
from antipodes.tables.data_array import as_data_array
from antipodes.tables.display import DEFAULT_LIMIT, show_path, show_position, show_positions
from antipodes.tables.evaluation import Dataset, Evaluation, draw, evaluate, in_batches
from antipodes.tables.paths import best_moves, shortest_path, shortest_paths
from antipodes.tables.queries import Matches, match
from antipodes.tables.questions import TableQuestions
from antipodes.tables.reached_positions import reached_positions
from antipodes.tables.store.chunks import UNKNOWN, UNREACHABLE, TableChunks
from antipodes.tables.store.keys import StoredKeys
from antipodes.tables.store.manifest import DEEPEST
from antipodes.tables.store.search_stores import TableStore, read_given
from antipodes.tables.store.table_manifest import DEPTH, TableManifest
from antipodes.tables.tensors import ENCODINGS, LABELS, estimates_of, predict
from antipodes.tables.up_to_symmetry import SymmetricPositions, representatives
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ClosedError, InputError, UnfinishedError, UnreachableError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.properties.heuristic_function import Estimator, name_of_function
from antipodes_tasks.properties.obstacles import unreachable
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.moves import LegalMoves
from antipodes_tasks.spaces.space import Space

if TYPE_CHECKING:
    import xarray
    import zarr

__all__ = ["UNKNOWN", "UNREACHABLE", "Table", "UnfinishedError", "open_table"]

CACHE_BYTES = 256 * MIB
Default = TypeVar("Default")
"""The type of the value that the caller wants for an unreachable position."""


def open_table(address: Address, cache_bytes: int = CACHE_BYTES, puzzle: PuzzleLike | None = None) -> Table:
    """Open the table in a store, at a path or a URL. Chunks that were read stay in memory up to ``cache_bytes``.

    A ``puzzle``, in any form that `run` accepts, is needed if its code is in Python and this user has not yet run or
    checked it here, or if another process defined it without a file. Opening a store never runs unknown code.

    Raises
    ------
    InputError
        The address or the number of bytes is not valid.
    NotAStoreError, StoreDamagedError
        There is no table at the address, or its manifest is corrupt.
    SourceError
        The puzzle is written in Python, and its code was not run here before, or its file is missing or has changed.
    StoreMismatchError
        The table belongs to another puzzle than ``puzzle``.
    """
    cache_bytes = arguments.integer(cache_bytes, "cache_bytes", 0)
    return _opened(TableStore(arguments.address(address, "the address of a table")), cache_bytes, puzzle)


def _opened(store: TableStore, cache_bytes: int, puzzle: PuzzleLike | None) -> Table:
    return Table(store, read_given(store, puzzle).as_read, cache_bytes)


class Table(TableQuestions, SearchResult):
    """The distance of every position of a puzzle from its start: ``table[position]``, ``position in table``.

    A position is given as text or as labels ``(places,)``, several positions as labels ``(n, places)``. Lists, and
    arrays of any integer type, are accepted. Anything else raises PositionError or another InputError.

    Threads can share a table. Each thread reads the chunks that it needs, so memory holds the cache and up to one chunk
    per thread. After `close`, the attributes remain readable, and distances raise ClosedError.
    """

    def __init__(self, store: TableStore, manifest: TableManifest, cache_bytes: int = CACHE_BYTES) -> None:
        super().__init__(store.address, manifest)
        self._keys = StoredKeys(store, manifest, cache_bytes) if manifest.keyed else None
        self.space = CheckedSpace(self.puzzle, manifest.opened_space(self.puzzle, self._keys))
        """The positions and their indices."""
        self._layers = tuple(manifest.positions)
        self._layouts, self._listed = manifest.layouts, manifest.chunks
        self._chunks = TableChunks(store, manifest, cache_bytes)
        self._reached = reached_positions(self.space.stored, self._chunks)
        self._symmetric = SymmetricPositions(self.space.stored, self._chunks, self._reached, self._layers)
        self._source = (store, cache_bytes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Reduce to the store, so that a copy in this or another process opens the store again, with its own cache."""
        written = (self.puzzle.settings or {}).get("family", FAMILY) == FAMILY  # its code is not loaded from the store
        return _opened, (*self._source, self.puzzle if written else self._manifest.config)

    def __contains__(self, position: PositionLike) -> bool:
        """Return whether a position is reachable; raise as `distance` does if it is invalid or not yet reached."""
        return self.distance(position, None) is not None

    __iter__ = None
    """None, since otherwise Python would iterate over ``table[0]``, ``table[1]`` and so on."""

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the chunks in memory. Threads that are reading distances get ClosedError."""
        self._chunks.close()
        if self._keys is not None:
            self._keys.close()

    def captioned_start(self) -> tuple[Labels, str]:
        """Return a position ``(places,)`` at depth 0 and a caption; read a chunk only if a search had to find it."""
        if not self.puzzle.rules.depends_on_origin or not self._layers:
            return super().captioned_start()
        try:
            return self.positions_at(0, 1)[0], self._start_caption()
        except ClosedError:  # a closed table can still be displayed
            return super().captioned_start()

    def __getitem__(self, position: PositionLike) -> int:
        """Return what `distance` returns without a default."""
        return self.distance(position)

    @overload
    def distance(self, position: PositionLike) -> int: ...

    @overload
    def distance(self, position: PositionLike, default: Default) -> int | Default: ...

    def distance(self, position: PositionLike, default: Any = ...) -> Any:
        """Return the number of moves from the nearest start to the position, or ``default`` if it is unreachable.

        Raises
        ------
        PositionError
            The argument is not a position of the puzzle.
        UnreachableError
            The position is unreachable, and no default is given. This error is also a KeyError.
        UnfinishedError
            The table is unfinished and does not reach the position yet.
        """
        distance = self._chunks.distance(self.space.entry(position))
        if distance >= 0:
            return distance
        labels = self.space.labels(position)
        if distance == UNKNOWN and self.obstacle(labels) is None:
            raise self._unreached_error(labels)
        if default is ...:
            raise UnreachableError(f"{self.space.quoted(labels)} is {unreachable(self.obstacle(labels))}")
        return default

    def distances(self, positions: PositionsLike) -> NDArray[np.int32]:
        """Return the distance of each position ``(n, places)`` as ``(n,)``, or UNREACHABLE, or UNKNOWN.

        Positions may also be strings, or an array of more dimensions: ``(..., places)`` gives ``(...)``.

        Raises PositionError if one of them is not a position of the puzzle, and StoreDamagedError if a chunk that is
        needed is corrupt.
        """
        if isinstance(positions, np.ndarray) and positions.ndim > 2:
            *shape, places = positions.shape
            return self.distances(positions.reshape(math.prod(shape), places)).reshape(shape)
        return self._chunks.distances(self.space.stored.rank(self.puzzle.positions(positions)))

    def distances_by_index(self, indices: ArrayLike) -> NDArray[np.int32]:
        """Return the distances of indices ``(n,)``, as `distances` does; raise InputError if one is out of range."""
        return self._chunks.distances(self.space.entries(self.space.indices(indices)))

    def predict(self, states: Any) -> Any:
        """Return the distance of each position, labels ``(n, places)``, as float32 ``(n,)``; infinity if unreachable.

        The labels are integers in an array or in a tensor of torch. A tensor gives a tensor on the same device.

        Raises PositionError if one of them is not a position of the puzzle, and UnfinishedError if the table is
        unfinished and does not reach one of them yet.
        """
        return predict(lambda labels: self._known_distances(self.puzzle.checked(labels)), states)

    def path(self, position: PositionLike) -> Labels:
        """Return a shortest path from the position back to a start, ``(distance + 1, places)``, including both ends.

        Each position of the path is a *predecessor* of the position before it. This matters only if moves are
        irreversible. Raises as `distance` does.
        """
        here = self.space.labels(position)
        return shortest_path(self.space, self._chunks, here, self.distance(here))

    def paths(self, positions: PositionsLike) -> list[Labels | None]:
        """Return a shortest path from each position ``(n, places)`` back to a start, as `path` does.

        The path of an unreachable position is None. Raises PositionError if one of them is not a position of the
        puzzle, and UnfinishedError if the table is unfinished and does not reach one of them yet.
        """
        labels = self.puzzle.positions(positions)
        distances = self._known_distances(labels)
        reached = distances >= 0
        paths = shortest_paths(self.space, self._chunks, labels[reached], distances[reached])
        return [next(paths) if one else None for one in reached.tolist()]

    def best_moves(self, positions: PositionsLike) -> LegalMoves:
        """Return the moves that bring each position ``(n, places)`` one move nearer to a start.

        Starts and unreachable positions have none. ``best_moves(positions).by_position()`` lists the names for each
        position.

        Raises InputError if the moves are not reversible, since then the distance from a start is not the distance to
        the start. Otherwise raises as `paths` does.
        """
        labels = self.puzzle.positions(positions)
        return best_moves(self.space, self._chunks, labels, self._known_distances(labels))

    def _known_distances(self, labels: Labels) -> NDArray[np.int32]:
        """Return the distance of each checked position; raise UnfinishedError if the table does not reach one yet."""
        distances = self._chunks.distances(self.space.stored.rank(labels))
        if (unknown := np.flatnonzero(distances == UNKNOWN)).size:
            raise self._unreached_error(labels[unknown[0]])
        return distances

    def show(self, position: PositionLike) -> Shown:
        """Show a position and its distance: as a picture in a notebook, elsewhere as a drawing.

        Raises PositionError if the argument is not a position of the puzzle.
        """
        labels = self.space.labels(position)
        distance = self._chunks.distance(self.space.entry(labels))
        if distance == UNKNOWN:
            end = f"beyond depth {self.radius}, where the unfinished table ends"
            return show_position(self.puzzle, labels, NOTHING_YET if self.radius < 0 else end)
        reached = f"{counted(distance, 'move')} from the {self.puzzle.depth_zero}"
        return show_position(self.puzzle, labels, "unreachable" if distance == UNREACHABLE else reached)

    def show_all(self, positions: PositionsLike, limit: int = DEFAULT_LIMIT) -> Shown:
        """Show the first of the positions ``(n, places)``, at most ``limit``, and their distances, as `show` does.

        Raises PositionError if one of them is not a position of the puzzle, and InputError if the limit is not a
        number.
        """
        labels = self.puzzle.positions(positions)
        shown = labels[: arguments.integer(limit, "a limit", 0)]
        words = {UNREACHABLE: "unreachable", UNKNOWN: "not reached yet"}
        distances = [words.get(distance) or str(distance) for distance in self.distances(shown).tolist()]
        return show_positions(self.puzzle, shown, distances, len(labels))

    def show_path(self, position: PositionLike) -> Shown:
        """Show a shortest `path` from the position back to a start: as pictures in a notebook, elsewhere as drawings.

        Raises as `distance` does.
        """
        return show_path(self.puzzle, self.path(position))

    def match(self, pattern: str) -> Matches:
        """Return the distances of the positions that match a pattern; see `antipodes.tables.queries.match`."""
        if self.radius < 0:
            raise self._unfinished_error(NOTHING_YET)
        return match(self.space, self._chunks, pattern)

    def _numbered_space(self) -> Space:
        return self.space.stored

    def antipodes(self, limit: int | None = None) -> Labels:
        """Return the positions farthest from the start, ``(n, places)``, in the order of their indices.

        Raises InputError if the limit is negative or not an integer, and UnfinishedError if the table is unfinished, so
        that these positions are not known yet.
        """
        self._check_complete("table ends at")
        return self.positions_at(self.radius, limit)

    def positions_at(self, depth: int, limit: int | None = None) -> Labels:
        """Return the positions at a depth, ``(n, places)``, in the order of their indices, at most ``limit`` of them.

        If the table is reduced by symmetries, they are in the order of its entries. Raises InputError if there is no
        such depth or the limit is negative.
        """
        return self._reached.first_of(*self._first_at(depth, limit))

    def batches_at(self, depth: int, limit: int | None = None) -> Iterator[Labels]:
        """Yield what `positions_at` returns in batches of a few thousand positions, since all may not fit into memory.

        Each chunk is read when its first position is needed.
        """
        return self._batches(*self._first_at(depth, limit))

    def batches(self) -> Iterator[tuple[Labels, NDArray[np.int32]]]:
        """Yield all reached positions ``(n, places)`` and their distances ``(n,)``, in batches."""
        return self._reached.iterate()

    def reached_entries(self) -> Iterator[tuple[Indices, NDArray[np.int32]]]:
        """Yield the reached entries ``(n,)``, in ascending order, and their depths ``(n,)``, chunk by chunk."""
        return self._chunks.reached()

    def _batches(self, depth: int, missing: int) -> Iterator[Labels]:
        for labels in self._reached.batches_at(depth) if missing else ():
            yield labels[:missing]
            missing -= len(labels)
            if missing <= 0:
                return

    def _first_at(self, depth: int, limit: int | None) -> tuple[int, int]:
        """Return the depth and its number of positions, at most ``limit``; raise InputError if it is not valid."""
        depth = self._depth(depth)
        most = arguments.optional(limit, arguments.integer, "a limit", 0)
        return depth, self._layers[depth] if most is None else min(most, self._layers[depth])

    def unique_layers(self) -> list[int]:
        """Return the number of symmetry classes at each depth; see `antipodes.symmetries`.

        Raises InputError if the moves are functions, whose symmetries are unknown, and ResourceLimitError if there are
        more than 50,000 symmetries.
        """
        return self._symmetric.unique_layers()

    def symmetric_layers(self, symmetry: Symmetry) -> list[int]:
        """Return how many positions at each depth a symmetry of the puzzle leaves unchanged."""
        return symmetric_layers(self, [arguments.instance(symmetry, Symmetry, "a symmetry")])[0]

    def unique_antipodes(self, limit: int | None = None) -> Labels:
        """Return the lexicographically first position of each symmetry class of `antipodes`, ``(n, places)``.

        At most ``limit`` positions are returned. Raises as `antipodes` and `unique_layers` do.
        """
        most = arguments.optional(limit, arguments.integer, "a limit", 0)
        self._check_complete("table ends at")
        found = [np.empty((0, self.puzzle.places), dtype=np.uint8)]
        for batch in representatives(self.space.stored, self.batches_at(self.radius)):
            if most is not None and sum(map(len, found)) >= most:
                break
            found.append(batch)
        return np.concatenate(found)[:most]

    def random_position(self, depth: int | None = None, seed: int | np.random.Generator | None = None) -> Labels:
        """Return a position ``(places,)`` drawn uniformly from those at a depth, or from all reached positions.

        The same integer as ``seed`` gives the same position. Raises InputError if there is no position at the depth.
        """
        rng = arguments.generator(seed, "a seed")
        if depth is None:
            depth = int(np.searchsorted(np.cumsum(self._layers), rng.integers(max(1, len(self))), side="right"))
        depth = self._depth(depth)
        if not self._layers[depth]:
            raise InputError(f"no position has depth {depth}; the largest depth is {self.radius}")
        position: Labels = self._reached.numbered_at(depth, rng.integers(self._layers[depth], size=1))[0]
        return position

    def sample(self, depth: int, n: int, seed: int | np.random.Generator | None = None) -> Labels:
        """Return ``n`` different positions drawn uniformly from a depth, ``(n, places)``; the same for the same seed.

        Raises InputError if there is no such depth, or if fewer than ``n`` positions have it.
        """
        depth = self._depth(depth)
        n = arguments.integer(n, f"a number of the positions at depth {depth}", 0, self._layers[depth])
        drawn = arguments.generator(seed, "a seed").choice(self._layers[depth], n, replace=False)
        return self._reached.numbered_at(depth, drawn)

    def dataset(
        self,
        n: int,
        seed: int | np.random.Generator | None = None,
        *,
        depths: Iterable[int] | None = None,
        balanced: bool = False,
    ) -> Dataset:
        """Return ``n`` different reached positions in random order and their distances: ``positions, distances``.

        The result is the same for the same seed, wherever the table was made. A table reduced by symmetries gives
        another result than an unreduced table.

        Parameters
        ----------
        n
            Number of positions, at most the number of positions at these depths.
        seed
            An integer or a numpy Generator. None: a different result each time.
        depths
            The depths to draw from, such as ``range(20, 32)``. None: all depths.
        balanced
            False: all positions are equally probable, so few are near the start. True: each depth contributes the same
            number of positions, or all of its positions if there are fewer.

        Raises
        ------
        InputError
            An argument has the wrong type, there is no such depth, or fewer than ``n`` positions have these depths.
        """
        chosen = self._depths(depths)
        sizes = [self._layers[depth] for depth in chosen]
        n = arguments.integer(n, "a number of reached positions", 0, sum(sizes))
        balanced = arguments.flag(balanced, "balanced")
        return draw(self._reached, self._layers, chosen, n, arguments.generator(seed, "a seed"), balanced)

    def evaluate(
        self,
        heuristic: str | Estimator | Any,
        n: int | None = None,
        seed: int | np.random.Generator | None = None,
        *,
        consistency: bool = False,
        encode: str = LABELS,
        progress: Listener = silence,
    ) -> Evaluation:
        """Compare a heuristic with the distances, by depth, and return whether it is admissible.

        Parameters
        ----------
        heuristic
            A function from positions ``(n, places)`` to numbers ``(n,)`` of at least 0; the name of a heuristic, as for
            `solve`; or a model: a module of torch, or an object with a method ``predict``, such as an estimator of
            scikit-learn. A module is called in evaluation mode, without gradients, on its own device. Models may also
            return ``(n, 1)`` and negative numbers.
        n
            Number of positions to draw, as in `dataset`. None: all reached positions, chunk by chunk.
        seed
            See `dataset`.
        consistency
            Whether to apply all moves to the positions, too, to check that no move raises the heuristic by more than 1.
            The number of evaluations is then multiplied by about the number of moves.
        encode
            The form of positions for a function or a model. "labels": labels ``(n, places)``, as int64 for models.
            "one-hot": float32 with a column for each label of each place.
        progress
            A function that is called with each event `PositionsChecked`.

        Raises
        ------
        InputError
            An argument has the wrong type, the puzzle has no such heuristic, or the function or model raises an
            exception or returns anything other than these numbers.
        """
        form = arguments.choice(encode, "encode", ENCODINGS)
        arguments.function(progress, "progress: a function")
        name = heuristic if isinstance(heuristic, str) else name_of_function(heuristic)
        if isinstance(heuristic, str):
            from antipodes_tasks.properties.heuristics import from_start

            heuristic, form = from_start(self.puzzle.rules, heuristic), LABELS
        if not hasattr(heuristic, "predict"):
            arguments.function(heuristic, "the name of a heuristic, a function or a model")
        return evaluate(
            estimates_of(heuristic, self.puzzle.parts, form),
            self.batches() if n is None else in_batches([self.dataset(n, seed)]),
            self.puzzle,
            name,
            len(self._layers),
            len(self) if n is None else n,
            progress,
            consistency=arguments.flag(consistency, "consistency"),
            exhaustive=n in (None, len(self)),
        )

    @property
    def depths(self) -> zarr.Array[Any]:
        """The depths in the store: a read-only zarr array ``(rows, width)``, whose fill value means not reached.

        Raises UnfinishedError before the table is finished, since the depths are only in the journal until then.
        """
        if not self.complete:
            problem = f"the table is unfinished and ends at depth {self.radius}, so it has no array of depths yet"
            raise self._unfinished_error(problem)
        self._chunks.check_readable()
        array: zarr.Array[Any] = self._source[0].arrays.open(DEPTH, self._layouts[DEPTH], self._listed)
        return array

    def _unreached_error(self, position: Labels) -> UnfinishedError:
        """Return the error for a position ``(places,)`` that an unfinished table does not reach yet."""
        text = self.space.quoted(position)
        return self._unfinished_error(f"{text} is beyond depth {self.radius}, where the unfinished table ends")

    def _depth(self, depth: int) -> int:
        """Return a valid depth of the table; raise InputError if it is not valid, UnfinishedError without a commit."""
        if self.radius < 0:
            raise self._unfinished_error(NOTHING_YET)
        return arguments.integer(depth, "a depth", 0, self.radius)

    def _depths(self, depths: Iterable[int] | None) -> list[int]:
        """Return these depths of the table, without duplicates, in ascending order. Raises as `_depth` does."""
        if depths is None:
            return list(range(self._depth(self.radius) + 1))
        given = arguments.integers(arguments.few(depths, DEEPEST + 1, "depths"), "depths (n,)", 1)
        if not len(given):
            raise InputError("depths: the list is empty; give at least one depth")
        return [self._depth(depth) for depth in np.unique(given).tolist()]

    def to_xarray(self) -> xarray.DataArray:
        """Return the depth of each entry along the dimension ``index``, as float32; NaN if the entry is not reached.

        If the table is reduced by symmetries, the dimension is ``entry``, and the coordinate ``weight`` contains the
        number of positions for which each entry stands. Dask reads the chunks when it computes. Raises InputError if
        xarray is not installed, and otherwise as `depths` does.
        """
        return as_data_array(self.depths, self.space.stored.weights, puzzle=self.puzzle.name, radius=self.radius)


def symmetric_layers(table: Table, symmetries: Sequence[Symmetry]) -> list[list[int]]:
    """Return, for each symmetry, the number of positions at each depth that it leaves unchanged."""
    return [counts.tolist() for counts in table._symmetric.unchanged_by(symmetries)]


def unique_farthest(table: Table) -> int:
    """Return the number of symmetry classes at the greatest depth of a table."""
    return table._symmetric.unique_at(table.radius)
