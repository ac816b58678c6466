"""The graph of places whose edges are the moves of single pieces."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.moves.moves import Moves
from antipodes.puzzles.moves.swaps import Swaps
from antipodes.puzzles.puzzle import Puzzle

Edges = frozenset[tuple[int, int]]
UNREACHABLE = -1


def swap_edges(puzzle: Puzzle) -> Edges | None:
    """The ``(origin, destination)`` pairs if every move is a swap of a piece with an empty place, else None."""
    return _edges(puzzle.moves)


@lru_cache(maxsize=4)
def _edges(moves: Moves) -> Edges | None:
    return frozenset((a, b) for a, b in moves.pairs.tolist()) if isinstance(moves, Swaps) else None


def both_ways(edges: Edges) -> bool:
    """Whether the reverse of each edge is an edge."""
    return all((b, a) in edges for a, b in edges)


def neighbours(edges: Edges, places: int) -> list[list[int]]:
    """For each place the places that its edges lead to, in ascending order."""
    lists: list[list[int]] = [[] for _ in range(places)]
    for a, b in sorted(edges):
        lists[a].append(b)
    return lists


def distances_to(goals: set[int], edges: Edges, places: int) -> NDArray[np.int32]:
    """``(places,)``: the number of edges from each place to the nearest goal, or UNREACHABLE."""
    backwards = neighbours(frozenset((b, a) for a, b in edges), places)
    distances = np.full(places, UNREACHABLE, dtype=np.int32)
    layer, distance = set(goals), 0
    while layer:
        distances[sorted(layer)] = distance
        layer = {a for b in layer for a in backwards[b] if distances[a] == UNREACHABLE}
        distance += 1
    return distances


@lru_cache(maxsize=4)
def two_colouring(edges: Edges, places: int) -> NDArray[np.int8] | None:
    """``(places,)`` colours 0 and 1 such that every edge joins different ones, or None."""
    around = neighbours(edges | {(b, a) for a, b in edges}, places)
    colours = np.full(places, -1, dtype=np.int8)
    for seed in range(places):
        if colours[seed] >= 0:
            continue
        colours[seed] = 0
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
