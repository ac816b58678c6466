"""Moves of additive pattern databases: swaps of counted pieces, each after any number of free swaps.

Only moves of the pattern's tiles are counted. So the distances in patterns without a common tile add up to a lower
bound (A. Felner, R. E. Korf and S. Hanan, Additive Pattern Database Heuristics, 2004).
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.rules.moves import Moves, Pairs
from antipodes_tasks.rules.swaps import Swaps, both_ways, neighbours

EMPTY = 0


class CountedSwaps(Moves):
    """Swaps of the single empty place with an adjacent counted piece, after any number of *free swaps*: swaps of the
    empty place with free pieces, which are identical and not counted.

    Positions that free swaps connect count as one position. In its canonical labels, the empty place is the first place
    that free swaps can take it to.
    """

    def __init__(self, swaps: Swaps, free: int) -> None:
        """Use the pairs of ``swaps`` as moves; pieces with the label ``free`` are not counted.

        Raises InputError unless each swap is reversible.
        """
        edges = frozenset((a, b) for a, b in swaps.pairs.tolist() if a != b)
        if not both_ways(edges):
            raise InputError("additive patterns need reversible moves; some swaps only work in one direction")
        self.swaps = swaps
        self.free: int = free
        self.edges = tuple(sorted(edges))
        """The moves of counted pieces: pairs of the place of a piece and an adjacent place."""
        self._around = neighbours(edges, max((max(pair) for pair in edges), default=0) + 1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the swaps."""
        names = dict(zip(map(tuple, self.swaps.pairs.tolist()), self.swaps.names, strict=False))
        return tuple(names[edge] for edge in self.edges) if names else ()

    @cached_property
    def ends(self) -> Pairs:
        """The edges as an array ``(moves, 2)``."""
        return np.array(self.edges, dtype=np.int16).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.edges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountedSwaps) and (self.free, self.edges) == (other.free, other.edges)

    def __hash__(self) -> int:
        return hash((self.free, self.edges))

    @property
    def reversible(self) -> bool:
        """Always True, since the opposite swap undoes each move."""
        return True

    @property
    def table_key(self) -> bytes:
        """The free label and the pairs of places, as bytes."""
        return b"counted swaps" + bytes([self.free]) + np.array(self.edges, dtype="<i2").tobytes()

    def regions(self, labels: Labels) -> Mask:
        """Return a mask ``(n, places)`` of the places to which free swaps can take the empty place."""
        reached: Mask = labels == EMPTY
        passable = reached | (labels == self.free)
        size = -1
        while size != (size := int(reached.sum())):
            for a, b in self.edges:
                reached[:, b] |= reached[:, a] & passable[:, b]
        return reached

    def with_regions(self, labels: Labels) -> Labels:
        """Return positions ``(n, places)`` with the label 0 on all places that free swaps can make empty."""
        spread: Labels = np.where(self.regions(labels), np.uint8(EMPTY), labels)
        return spread

    def canonical(self, labels: Labels) -> Labels:
        """Return the positions ``(..., places)`` with the empty place moved to the first place of its region."""
        positions = labels.reshape(-1, labels.shape[-1])
        every = np.arange(len(positions))
        first = self.regions(positions).argmax(axis=1)
        changed = positions.copy()
        changed[positions == EMPTY] = self.free
        changed[every, first] = EMPTY
        return changed.reshape(labels.shape)

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the positions ``(n, places)`` after a move and a mask ``(n,)`` of the positions that allow it."""
        origin, destination = self.edges[number]
        counted = (labels[:, origin] != EMPTY) & (labels[:, origin] != self.free)
        legal = counted & self.regions(labels)[:, destination]
        changed = labels.copy()
        changed[legal] = self.canonical(self._moved(labels[legal], origin, destination))
        return changed, legal

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the predecessors ``(n, places)`` by a move and a mask ``(n,)`` of the positions that have one."""
        return self.move(self.edges.index(self.edges[number][::-1]), labels)

    def successors(self, labels: Labels) -> Labels:
        """Return all successors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        moved = [self._moved(labels[np.newaxis], *edge) for edge in self._legal(labels.tolist())]
        return self.canonical(np.concatenate(moved)) if moved else np.empty((0, len(labels)), dtype=np.uint8)

    predecessors = successors

    def _legal(self, labels: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the legal moves of one position; for one position, loops are faster than arrays."""
        empty = labels.index(EMPTY)
        region, waiting = {empty}, [empty] if empty < len(self._around) else []
        while waiting:
            new = [at for at in self._around[waiting.pop()] if labels[at] == self.free and at not in region]
            region.update(new)
            waiting += new
        return ((a, b) for a, b in self.edges if b in region and labels[a] not in (EMPTY, self.free))

    def _moved(self, labels: Labels, origin: int, destination: int) -> Labels:
        """Return the positions after a counted piece has moved to a place in the region of the empty place."""
        changed = labels.copy()
        changed[labels == EMPTY] = self.free
        changed[:, destination] = labels[:, origin]
        changed[:, origin] = EMPTY
        return changed
