"""Swaps of which some cost nothing: moves of counted pieces, each after any number of free ones.

This makes additive pattern databases: only moves of the pattern's tiles count, so the distances of patterns without a
common tile add up to a lower bound (A. Felner, R. E. Korf and S. Hanan, Additive Pattern Database Heuristics, 2004).
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from antipodes_tasks.errors import InputError
from antipodes_tasks.rules.moves import Labels, Mask, Moves
from antipodes_tasks.rules.swaps import Swaps, both_ways, neighbours

EMPTY = 0


class CountedSwaps(Moves):
    """Swaps of one empty place with a counted piece beside it, after any number of swaps with equal free pieces.

    Positions that free swaps lead to from each other are one position. Its labels have the empty place on the first
    place that free swaps take it to.
    """

    def __init__(self, swaps: Swaps, free: int) -> None:
        """Moves along the pairs of ``swaps``, where pieces with the label ``free`` cost nothing.

        InputError unless each swap can be undone.
        """
        edges = frozenset((a, b) for a, b in swaps.pairs.tolist() if a != b)
        if not both_ways(edges):
            raise InputError("expected free moves that can be undone, found moves in one direction")
        self.swaps = swaps
        self.free = free
        self.edges = tuple(sorted(edges))
        """The place of a piece and a place beside it: a move of a counted piece each."""
        self._around = neighbours(edges, max((max(pair) for pair in edges), default=0) + 1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that the swaps have."""
        names = dict(zip(map(tuple, self.swaps.pairs.tolist()), self.swaps.names, strict=False))
        return tuple(names[edge] for edge in self.edges) if names else ()

    def __len__(self) -> int:
        return len(self.edges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountedSwaps) and (self.free, self.edges) == (other.free, other.edges)

    def __hash__(self) -> int:
        return hash((self.free, self.edges))

    @property
    def reversible(self) -> bool:
        """Each move is undone by the opposite one."""
        return True

    @property
    def table_key(self) -> bytes:
        """The free label and the pairs of places."""
        return b"counted swaps" + bytes([self.free]) + np.array(self.edges, dtype="<i2").tobytes()

    def regions(self, labels: Labels) -> Mask:
        """The places that free swaps take the empty place to, ``(n, places)``, of positions of that shape."""
        reached: Mask = labels == EMPTY
        passable = reached | (labels == self.free)
        size = -1
        while size != (size := int(reached.sum())):
            for a, b in self.edges:
                reached[:, b] |= reached[:, a] & passable[:, b]
        return reached

    def canonical(self, labels: Labels) -> Labels:
        """The positions ``(..., places)`` with the empty place on the first one of its region."""
        positions = labels.reshape(-1, labels.shape[-1])
        every = np.arange(len(positions))
        first = self.regions(positions).argmax(axis=1)
        changed = positions.copy()
        changed[positions == EMPTY] = self.free
        changed[every, first] = EMPTY
        return changed.reshape(labels.shape)

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` after a move, and where it is legal, ``(n,)``."""
        origin, destination = self.edges[number]
        counted = (labels[:, origin] != EMPTY) & (labels[:, origin] != self.free)
        legal = counted & self.regions(labels)[:, destination]
        changed = labels.copy()
        changed[legal] = self.canonical(self._moved(labels[legal], origin, destination))
        return changed, legal

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` before a move, and where there is one, ``(n,)``."""
        return self.move(self.edges.index(self.edges[number][::-1]), labels)

    def successors(self, labels: Labels) -> Labels:
        """All positions one move after ``(places,)``, ``(k, places)``, in the order of the moves."""
        moved = [self._moved(labels[np.newaxis], *edge) for edge in self._legal(labels.tolist())]
        return self.canonical(np.concatenate(moved)) if moved else np.empty((0, len(labels)), dtype=np.uint8)

    predecessors = successors

    def _legal(self, labels: list[int]) -> Iterator[tuple[int, int]]:
        """The moves of one position, which loops find faster than arrays do."""
        empty = labels.index(EMPTY)
        region, waiting = {empty}, [empty] if empty < len(self._around) else []
        while waiting:
            new = [at for at in self._around[waiting.pop()] if labels[at] == self.free and at not in region]
            region.update(new)
            waiting += new
        return ((a, b) for a, b in self.edges if b in region and labels[a] not in (EMPTY, self.free))

    def _moved(self, labels: Labels, origin: int, destination: int) -> Labels:
        """The positions after a counted piece has moved to a place of the region."""
        changed = labels.copy()
        changed[labels == EMPTY] = self.free
        changed[:, destination] = labels[:, origin]
        changed[:, origin] = EMPTY
        return changed
