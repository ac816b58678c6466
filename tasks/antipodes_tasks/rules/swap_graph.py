"""The graph of places whose edges are the moves of single pieces, and what it says of the arrangements."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps

Edges = frozenset[tuple[int, int]]
UNREACHABLE = -1
THETA_0 = (7, 8)
"""Places and edges of the exception to Wilson's theorem: a hexagon, and a vertex joined to two opposite corners."""


def swap_edges(rules: Rules) -> Edges | None:
    """The ``(origin, destination)`` pairs if every move is a swap of a piece with an empty place, else None."""
    return _edges(rules.moves)


@lru_cache(maxsize=4)
def _edges(moves: Moves) -> Edges | None:
    return frozenset((a, b) for a, b in moves.pairs.tolist() if a != b) if isinstance(moves, Swaps) else None


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
def two_colouring(edges: Edges, places: int, seeds: tuple[tuple[int, int], ...] = ()) -> NDArray[np.int8] | None:
    """``(places,)`` colours 0 and 1 such that every edge joins different ones, or None.

    In each set of connected places the colour of one place is arbitrary: that of its first seed, a place and its
    colour, else 0 for the first place.
    """
    around = neighbours(edges | {(b, a) for a, b in edges}, places)
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
    """Whether swaps are known to lead to every arrangement.

    Where all pieces differ and the place of a single empty square decides the parity, only to those of that parity.
    R. M. Wilson (Graph puzzles, homotopy, and the alternating group, 1974) proves it for one empty square on graphs
    without a cut vertex that are no circles, with one exception. The pieces can be equal, and further empty squares
    are pieces that need no care.
    """
    edges = swap_edges(rules) if rules.counts and rules.counts[0] else None
    around = connected(edges, rules.places) if edges is not None and both_ways(edges) else None
    if edges is None or around is None or max(map(len, around)) <= 2:
        return False
    return (rules.places, len(edges) // 2) != THETA_0 and not has_cut_vertex(around)


@lru_cache(maxsize=4)
def connected(edges: Edges, places: int) -> list[list[int]] | None:
    """The neighbours of each place if every place can be reached from every other one, or None."""
    around = neighbours(edges, places)
    reached, waiting = {0}, [0]
    while waiting:
        new = [place for place in around[waiting.pop()] if place not in reached]
        reached.update(new)
        waiting += new
    return around if len(reached) == places else None


def has_cut_vertex(around: list[list[int]]) -> bool:
    """Whether a connected graph has a cut vertex (Hopcroft and Tarjan 1973)."""
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
