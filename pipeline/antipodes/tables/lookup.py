"""Positions given as texts, looked up in a table batch by batch: there may be more than fit into memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from antipodes.puzzles.puzzle import Labels
from antipodes.tables.table import Table

BATCH = 4096
"""Positions looked up together, and texts that are read before the first result."""


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """A position and its distance."""

    position: Labels
    """``(places,)``."""
    distance: int | None
    """None if the position is unreachable."""
    path: Labels | None
    """``(distance + 1, places)``: a shortest path back to a start, if it was asked for and there is one."""


def look_up(table: Table, texts: Iterator[str], with_path: bool = False) -> Iterator[Found]:
    """The distance of each position, in order, and a shortest path to each that is reached, if asked for.

    Raises
    ------
    PositionError
        A text is not a position of the puzzle; the batches before it are answered.
    UnfinishedError
        The table is unfinished, and does not reach a position yet.
    """
    while batch := list(islice(texts, BATCH)):
        labels = table.puzzle.parse_many(batch)
        for position, distance in zip(labels, table.get_distances(labels), strict=True):
            path = table.path(position) if with_path and distance is not None else None
            yield Found(position, distance, path)
