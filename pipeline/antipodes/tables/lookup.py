"""Positions looked up in a table, with a shortest path to each if asked for."""

from collections.abc import Iterator
from dataclasses import dataclass

from antipodes.tables.store.chunks import UNKNOWN, UNREACHABLE
from antipodes.tables.table import Table
from antipodes_tasks.errors import UnfinishedError
from antipodes_tasks.puzzles.puzzle import Labels


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """A position and its distance."""

    position: Labels
    """``(places,)``."""
    distance: int | None
    """None if the position is unreachable."""
    path: Labels | None
    """``(distance + 1, places)``: a shortest path back to a start, if it was asked for and there is one."""


def look_up(table: Table, positions: Labels, with_path: bool = False) -> Iterator[Found | UnfinishedError]:
    """The distance of each position ``(n, places)``; the error for one that an unfinished table does not reach yet."""
    for position, distance in zip(positions, table.distances(positions).tolist(), strict=True):
        if distance == UNKNOWN:
            try:
                table.distance(position)
            except UnfinishedError as error:
                yield error
        elif distance == UNREACHABLE:
            yield Found(position, None, None)
        else:
            yield Found(position, distance, table.path(position) if with_path else None)
