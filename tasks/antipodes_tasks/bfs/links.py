"""The partitions that the moves of a table connect."""

from collections.abc import Sequence
from typing import NamedTuple

from antipodes_tasks.bfs import partition
from antipodes_tasks.spaces.move_tables import MoveTables


class Links(NamedTuple):
    """The move tables, and the partitions that they connect."""

    tables: MoveTables
    predecessors: list[list[int]]
    """For each partition the partitions whose moves lead to it, by number."""


def links(tables: MoveTables, bounds: Sequence[int]) -> Links:
    """The links between partitions: ``bounds`` are the first row of each, and the row past the end of the last one."""
    return Links(tables, partition.predecessors(partition.successors(tables, bounds)))


def predecessors(links: Links) -> list[list[int]]:
    """For each partition the partitions whose moves lead to it."""
    return links.predecessors
