"""Shortest paths between the starts and a position, counted exactly and numbered."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from antipodes.system.recently_used import RecentlyUsed
from antipodes.tables.paths import predecessors_among
from antipodes.tables.table import Table
from antipodes_tasks.base.array_types import Labels, Numbers

MAX_POSITIONS = 50_000
"""Maximum number of positions on shortest paths; with more, the paths are not counted."""
MAX_DIGITS = 4_000
"""Maximum number of digits of a path's number."""
MAX_CACHED = 4
"""Maximum number of positions whose shortest paths stay in memory, a few megabytes each."""
Sources = Numbers
Links = list[list[int]]
"""For each position of a layer, the numbers of its neighbours in the next layer, one move closer to the starts."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class CountedPaths:
    """All shortest paths from a position back to the starts."""

    layers: list[Labels]
    """For each number of moves from the position, the positions on the paths, ``(n, places)``."""
    links: list[Links]
    """The steps from each layer to the next layer."""
    counts: list[list[int]]
    """The number of paths from each position of each layer to the starts."""

    def __repr__(self) -> str:
        return f"<CountedPaths: {len(self.links):,} moves, {sum(map(len, self.layers)):,} positions>"

    @property
    def count(self) -> int:
        """Number of paths; two paths are different if they visit different positions."""
        return self.counts[0][0]

    def path(self, number: int) -> Labels:
        """Return the positions ``(distance + 1, places)`` of the path with this number, from 1 to `count`."""
        here, before = 0, number - 1
        path = [self.layers[0][0]]
        for layer, links, counts in zip(self.layers[1:], self.links, self.counts[1:], strict=True):
            for there in links[here]:
                if before < counts[there]:
                    break
                before -= counts[there]
            here = there
            path.append(layer[here])
        return np.array(path)


PathsCache = RecentlyUsed[Hashable, CountedPaths | None]
"""A cache of shortest paths. A user who browses the paths of a position requests them one by one."""


def shortest_paths(table: Table, position: Labels, distance: int) -> CountedPaths | None:
    """Return all shortest paths from a position to the starts; None if they contain more than MAX_POSITIONS positions.

    ``distance`` is the distance of the position. If predecessors cannot be computed, the moves are applied to all
    positions of the table instead, and the result is None if the table has more than MAX_POSITIONS positions.
    """
    moves = table.puzzle.moves
    if not (moves.invertible or moves.reversible) and len(table) > MAX_POSITIONS:
        return None
    layers, links, seen = [position[np.newaxis]], list[Links](), 1
    for depth in range(distance - 1, -1, -1):
        before, sources = _nearer(table, layers[-1], depth)
        layer, steps = _linked(before, sources, len(layers[-1]))
        layers.append(layer)
        links.append(steps)
        seen += len(layer)
        if seen > MAX_POSITIONS:
            return None
    return CountedPaths(layers, links, _counted(links, len(layers[-1])))


def _nearer(table: Table, layer: Labels, depth: int) -> tuple[Labels, Sources]:
    """Return the predecessors of a layer at this depth, and the row in ``layer`` of each one's successor."""
    moves = table.puzzle.moves
    if not (moves.invertible or moves.reversible):
        befores, rows = zip(*predecessors_among(table.space, table.batches_at(depth), layer), strict=True)
        return np.concatenate(befores), np.concatenate(rows)
    sources, _, before = (moves.steps if moves.reversible else moves.steps_back)(layer)
    nearer = table.distances(before) == depth
    return before[nearer], sources[nearer]


def _linked(labels: Labels, sources: Sources, size: int) -> tuple[Labels, Links]:
    """Return the distinct positions among ``labels``, and for each of ``size`` sources its neighbours among them.

    Several moves between the same two positions count as one step.
    """
    first: dict[bytes, int] = {}
    numbers: dict[bytes, int] = {}
    steps: list[dict[int, None]] = [{} for _ in range(size)]
    for at, (one, source) in enumerate(zip(labels, sources.tolist(), strict=True)):
        key = one.tobytes()
        first.setdefault(key, at)
        steps[source][numbers.setdefault(key, len(numbers))] = None
    return labels[list(first.values())], [list(step) for step in steps]


def _counted(links: list[Links], starts: int) -> list[list[int]]:
    """Return the number of paths from each position of each layer to the last layer, which contains the starts."""
    counts = [[1] * starts]
    for steps in reversed(links):
        counts.append([sum(counts[-1][there] for there in step) for step in steps])
    return counts[::-1]
