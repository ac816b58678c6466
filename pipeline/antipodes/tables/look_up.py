"""The distances of many positions, each with its path or with the reason why it has no distance."""

from collections.abc import Iterator

from antipodes.tables.paths import shortest_paths
from antipodes.tables.queries import Found
from antipodes.tables.store.chunks import UNKNOWN
from antipodes.tables.table import Table
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import UnfinishedError


def look_up(table: Table, positions: Labels, with_path: bool = False) -> Iterator[Found | UnfinishedError]:
    """Yield the distance of each position ``(n, places)``, or the error if an unfinished table does not reach it yet.

    The positions are not checked: the caller has parsed them or got them from the table.
    """
    space, chunks = table.space, table._chunks
    distances = chunks.distances(space.stored.rank(positions))
    reached = distances >= 0
    paths = shortest_paths(space, chunks, positions[reached], distances[reached]) if with_path else None
    obstacles = iter(table._obstacles(positions[~reached]))
    for position, distance in zip(positions, distances.tolist(), strict=True):
        if distance >= 0:
            yield Found(position, distance, None if paths is None else next(paths))
        elif (obstacle := next(obstacles)) is None and distance == UNKNOWN:
            yield table._unreached_error(position)
        else:
            yield Found(position, None, None, obstacle=obstacle)
