"""Swaps: moves of one piece to an empty place, stored as a compact array."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.rules.moves import Moves, Pairs, Steps
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms

Naming = Callable[[int, int], str]
"""Function that returns the name of a move from the piece's place and the empty place; it must be picklable."""
MAX_PLACE = np.iinfo(np.int16).max


class Swaps(Moves):
    """Moves that swap one piece with an empty place, which has the label 0.

    The moves are stored in one array, because a complete graph has up to a million of them.
    """

    pairs: Pairs
    """``(moves, 2)``: the place of the piece and the empty place."""

    def __init__(self, pairs: ArrayLike, naming: Naming | None = None) -> None:
        """Copy the pairs; raise InputError if a number is not a place."""
        wide = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if wide.size and not 0 <= wide.min() <= wide.max() <= MAX_PLACE:
            raise InputError(f"expected places from 0 to {MAX_PLACE}, found {wide.min()} to {wide.max()}")
        self.pairs = wide.astype(np.int16)
        self._naming = naming

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each move, if moves have names; computed on demand, because there may be many."""
        return () if self._naming is None else tuple(self._naming(*pair) for pair in self.pairs.tolist())

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Swaps) and np.array_equal(self.pairs, other.pairs)

    def __hash__(self) -> int:
        return hash(self.pairs.tobytes())

    @cached_property
    def reversible(self) -> bool:
        """Whether each piece can move back."""
        return np.array_equal(_different(self.pairs), _different(self.pairs[:, ::-1]))

    @property
    def table_key(self) -> bytes:
        """The distinct pairs as bytes, regardless of their order and of repeats."""
        return b"swaps" + _different(self.pairs).tobytes()

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the positions ``(n, places)`` after a move and a mask ``(n,)`` of the positions that allow it."""
        return _moved(labels, *self.pairs[number])

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the predecessors ``(n, places)`` by a move and a mask ``(n,)`` of the positions that have one."""
        return _moved(labels, *self.pairs[number, ::-1])

    def moves_on_path(self, path: Labels) -> list[int | None]:
        """Return the index of the move for each step of a path; see `Moves`."""
        numbers = {pair: number for number, pair in reversed(list(enumerate(map(tuple, self.pairs.tolist()))))}
        return [numbers.get(_pair(before, after)) for before, after in pairwise(path)]

    def successors(self, labels: Labels) -> Labels:
        """Return all successors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        origin, destination = self.pairs.T
        return _each_swapped(labels, self.pairs[(labels[origin] != 0) & (labels[destination] == 0)])

    def predecessors(self, labels: Labels) -> Labels:
        """Return all predecessors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        origin, destination = self.pairs.T
        return _each_swapped(labels, self.pairs[(labels[origin] == 0) & (labels[destination] != 0)])

    def steps(self, labels: Labels) -> Steps:
        """Return all legal moves of positions ``(n, places)``; see `Moves`."""
        return self._forwards.steps(labels)

    def steps_back(self, labels: Labels) -> Steps:
        """Return all moves that lead to positions ``(n, places)``, each with its predecessor; see `Moves`."""
        return self._inverses.steps(labels)

    @cached_property
    def _forwards(self) -> "_SwapsByEmpty":
        return _SwapsByEmpty.of(self.pairs[:, 0], self.pairs[:, 1])

    @cached_property
    def _inverses(self) -> "_SwapsByEmpty":
        return _SwapsByEmpty.of(self.pairs[:, 1], self.pairs[:, 0])


@dataclass(frozen=True, eq=False, slots=True)
class _SwapsByEmpty:
    """Swaps sorted by their empty place, so that the legal swaps of a position are found without testing all swaps."""

    numbers: NDArray[np.int64]
    """``(moves,)``: number of each swap, sorted by empty place."""
    begins: NDArray[np.int64]
    """Start, in ``numbers``, of the swaps with each empty place, up to the last place that has swaps, and their end."""
    pieces: Pairs
    """``(moves,)``: place of the piece, by number of the swap."""
    empties: Pairs

    @classmethod
    def of(cls, pieces: Pairs, empties: Pairs) -> "_SwapsByEmpty":
        counts = np.bincount(empties, minlength=1 + max(int(pieces.max(initial=0)), 0))
        return cls(np.argsort(empties, kind="stable"), np.cumsum([0, *counts]), pieces, empties)

    def steps(self, labels: Labels) -> Steps:
        """Return the legal swaps of positions ``(n, places)``; see `Moves.steps`."""
        rows, places = (labels == 0).nonzero()
        begins, ends = (self.begins.take(at, mode="clip") for at in (places, places + 1))  # later places have no swaps
        each = ends - begins
        within = np.arange(int(each.sum())) - np.repeat(each.cumsum() - each - begins, each)
        parents, numbers = np.repeat(rows, each), self.numbers[within]
        legal = labels[parents, self.pieces[numbers]] != 0
        parents, numbers = parents[legal], numbers[legal]
        if len(rows) > len(labels):  # several empty places per position: restore the order of the moves
            order = np.lexsort((numbers, parents))
            parents, numbers = parents[order], numbers[order]
        positions, every = labels[parents], np.arange(len(parents))
        piece, empty = self.pieces[numbers], self.empties[numbers]
        positions[every, empty], positions[every, piece] = positions[every, piece], 0
        return parents, numbers, positions


def _different(pairs: Pairs) -> NDArray[np.int32]:
    """Return the distinct pairs as numbers, ascending."""
    origin, destination = pairs.T.astype("<i4")
    numbers: NDArray[np.int32] = np.sort(origin << 16 | destination)
    differs = np.ones(len(numbers), dtype=np.bool_)
    differs[1:] = numbers[1:] != numbers[:-1]  # np.unique loads numpy.ma, which takes 20 ms
    return numbers[differs]


def _pair(before: Labels, after: Labels) -> tuple[int, ...]:
    """Return the piece's place and the empty place of the swap from one position to another; () if there is none."""
    places = np.flatnonzero(before != after)
    if len(places) != 2 or sorted(before[places]) != sorted(after[places]) or before[places].all():
        return ()
    origin, destination = places if before[places[0]] else places[::-1]
    return int(origin), int(destination)


def _moved(labels: Labels, origin: int, destination: int) -> tuple[Labels, Mask]:
    changed = labels.copy()
    changed[:, [origin, destination]] = labels[:, [destination, origin]]
    return changed, (labels[:, origin] != 0) & (labels[:, destination] == 0)


def _each_swapped(labels: Labels, pairs: Pairs) -> Labels:
    """Return copies of the position ``(pairs, places)``, each with the labels of one pair swapped."""
    changed = np.repeat(labels[np.newaxis], len(pairs), axis=0)
    every = np.arange(len(pairs))
    changed[every, pairs[:, 0]], changed[every, pairs[:, 1]] = labels[pairs[:, 1]], labels[pairs[:, 0]]
    return changed


def sorted_swaps(pairs: Pairs, places: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct swaps of ``pairs`` ``(moves, 2)``, sorted by the empty place and then by the piece's place.

    The three arrays contain the empty place, the piece's place, and the number of the first equal pair.
    """
    ends, numbers = np.unique(pairs[:, 1].astype(np.int64) * places + pairs[:, 0], return_index=True)
    return *np.divmod(ends, places), numbers


def positions_along(position: Labels, pairs: NDArray[np.integer[Any]]) -> Labels:
    """Return the positions ``(n + 1, places)`` along a sequence of swaps ``(n, 2)``, starting with ``position``.

    Each swap consists of the place of the piece and the empty place.
    """
    positions = np.repeat(position[np.newaxis], len(pairs) + 1, axis=0)
    for step, pair in enumerate(pairs.tolist(), 1):
        positions[step] = positions[step - 1]
        positions[step, pair] = positions[step - 1, pair[::-1]]
    return positions


Edges = frozenset[tuple[int, int]]
UNREACHABLE = -1
THETA_0 = (7, 8)
"""Numbers of places and edges of the exception to Wilson's theorem, a hexagon and a vertex that is joined to two
opposite corners of the hexagon."""


def swap_edges(rules: Rules) -> Edges | None:
    """Return the pairs ``(origin, destination)`` of all moves; None if some move is not a swap with an empty place."""
    return _edges(rules.moves)


@lru_cache(maxsize=4)
def _edges(moves: Moves) -> Edges | None:
    return None if moves.pairs is None else frozenset((a, b) for a, b in moves.pairs.tolist() if a != b)


def transforms_of(rules: Rules) -> Transforms:
    """Return the moves of a puzzle, which must be stated as transforms or pairs, as transforms.

    A swap exchanges two places. It is legal if one of them is empty and the other is not.
    """
    moves = rules.moves
    if (stated := Transforms.of(moves)) is not None:
        return stated
    assert moves.pairs is not None
    pairs = np.unique(moves.pairs, axis=0).astype(np.int64)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    labels = len(rules.counts)
    every = np.arange(len(pairs))
    origins = np.tile(np.arange(rules.places), (len(pairs), 1))
    origins[every, pairs[:, 0]], origins[every, pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    allowed = np.full(origins.shape, (1 << labels) - 1, dtype=np.uint64)
    allowed[every, pairs[:, 0]] -= np.uint64(1)
    allowed[every, pairs[:, 1]] = 1
    return Transforms((), origins, np.full(rules.places, labels), None, allowed)


def reversed_edges(edges: Edges) -> Edges:
    """Return the edges in the opposite direction. The blank moves along them when pieces move along the edges."""
    return frozenset((b, a) for a, b in edges)


def both_ways(edges: Edges) -> bool:
    """Return whether the reverse of each edge is an edge."""
    return edges == reversed_edges(edges)


def neighbours(edges: Edges, places: int) -> list[list[int]]:
    """Return, for each place, the places to which its edges lead, in ascending order."""
    lists: list[list[int]] = [[] for _ in range(places)]
    for a, b in sorted(edges):
        lists[a].append(b)
    return lists


def distances_to(goals: set[int], edges: Edges, places: int) -> NDArray[np.int32]:
    """Return the number of edges ``(places,)`` from each place to the nearest goal, or UNREACHABLE."""
    backwards = neighbours(reversed_edges(edges), places)
    distances = np.full(places, UNREACHABLE, dtype=np.int32)
    layer, distance = set(goals), 0
    while layer:
        distances[sorted(layer)] = distance
        layer = {a for b in layer for a in backwards[b] if distances[a] == UNREACHABLE}
        distance += 1
    return distances


@lru_cache(maxsize=4)
def two_colouring(edges: Edges, places: int, seeds: tuple[tuple[int, int], ...] = ()) -> NDArray[np.int8] | None:
    """Return colours 0 and 1 ``(places,)`` such that every edge joins different colours; None if this is impossible.

    In each connected component, one place determines all colours. It is the place of the component's first seed, which
    is a pair of a place and its colour; without a seed, it is the component's first place, which gets colour 0.
    """
    around = neighbours(edges | reversed_edges(edges), places)
    colours = np.full(places, -1, dtype=np.int8)
    for seed, colour in (*seeds, *((place, 0) for place in range(places))):
        if colours[seed] >= 0:
            continue
        colours[seed] = colour
        waiting = [seed]
        while waiting:
            place = waiting.pop()
            for other in around[place]:
                if colours[other] < 0:
                    colours[other] = 1 - colours[place]
                    waiting.append(other)
                elif colours[other] == colours[place]:
                    return None
    return colours


def any_order(rules: Rules) -> bool:
    """Return whether swaps are known to reach every arrangement.

    If all pieces differ and the place of a single empty square determines the parity, "every arrangement" means those
    of the right parity. R. M. Wilson (Graph puzzles, homotopy, and the alternating group, 1974) proves this for one
    empty square on graphs that have no cut vertex and are not cycles, with one exception. It remains true if pieces are
    identical; further empty squares can be regarded as pieces.
    """
    edges = swap_edges(rules) if rules.counts and rules.counts[0] else None
    around = connected(edges, rules.places) if edges is not None and both_ways(edges) else None
    if edges is None or around is None or max(map(len, around)) <= 2:
        return False
    return (rules.places, len(edges) // 2) != THETA_0 and not has_cut_vertex(around)


@lru_cache(maxsize=4)
def connected(edges: Edges, places: int) -> list[list[int]] | None:
    """Return the neighbours of each place; None if some place is not reachable from place 0."""
    around = neighbours(edges, places)
    reached, waiting = {0}, [0]
    while waiting:
        new = [place for place in around[waiting.pop()] if place not in reached]
        reached.update(new)
        waiting += new
    return around if len(reached) == places else None


def has_cut_vertex(around: list[list[int]]) -> bool:
    """Return whether a connected graph has a cut vertex, by the algorithm of Hopcroft and Tarjan (1973)."""
    entered = [-1] * len(around)
    lowest = [0] * len(around)
    entered[0], time = 0, 1
    stack, children_of_root = [(0, -1, iter(around[0]))], 0
    while stack:
        place, parent, rest = stack[-1]
        other = next(rest, None)
        if other is None:
            stack.pop()
            if len(stack) > 1 and lowest[place] >= entered[parent]:
                return True
            children_of_root += len(stack) == 1
            if stack:
                lowest[parent] = min(lowest[parent], lowest[place])
        elif entered[other] < 0:
            entered[other] = lowest[other] = time
            time += 1
            stack.append((other, place, iter(around[other])))
        elif other != parent:
            lowest[place] = min(lowest[place], entered[other])
    return children_of_root > 1
