"""Groups of partitions: one task advances a group, one partition after another.

Groups are large, since each task costs a scheduler some time. Partitions are small, so that a layer touches only the
rows that it can reach, and stays in cache.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs import partition
from antipodes.bfs.partition import State
from antipodes.bfs.rows import Partition
from antipodes.spaces.move_tables import MoveTables

Group = tuple[State, ...]


class Links(NamedTuple):
    """The move tables, and the partitions that they connect."""

    tables: MoveTables
    predecessors: list[list[int]]
    """For each partition the partitions whose moves lead to it, by number."""


def begin(parts: Sequence[Partition], width: int, starts: NDArray[np.int64], dtype: str, hold_depths: bool) -> Group:
    """The group at depth 0; ``starts`` are indices ``(n,)`` of the whole table."""
    return tuple(partition.begin(part, width, starts, dtype, hold_depths) for part in parts)


def links(tables: MoveTables, bounds: Sequence[int]) -> Links:
    """The links between partitions: ``bounds`` are the first row of each, and the row past the end of the last one."""
    return Links(tables, partition.predecessors(partition.successors(tables, bounds)))


def predecessors(links: Links) -> list[list[int]]:
    """For each partition the partitions whose moves lead to it."""
    return links.predecessors


def advance(group: Group, others: Sequence[Group], links: Links, depth: int, layers: int) -> Group:
    """The group ``layers`` layers after ``depth``; more than one layer only where no moves come from ``others``."""
    for at in range(depth, depth + layers):
        group = _advance(group, others, links, at + 1)
    return group


def _advance(group: Group, others: Sequence[Group], links: Links, depth: int) -> Group:
    known = (state for one in (group, *others) for state in one)
    frontiers = {state.number: state for state in known if state.depth == depth - 1}
    after = []
    for state in group:
        leading_here = [frontiers[number] for number in links.predecessors[state.number] if number in frontiers]
        after.append(partition.advance(state, leading_here, links.tables, depth) if leading_here else state)
    return tuple(after)


def boundary(group: Group, links: Links, depth: int) -> Group:
    """The part of the frontier at ``depth`` from which a move leads out of the group: all that other groups need."""
    rows = group[0].first_row, group[-1].first_row + len(group[-1].rows)
    states = (partition.boundary(state, links.tables, *rows) for state in group if state.depth == depth)
    return tuple(state for state in states if len(state.rows))


def found(group: Group) -> dict[int, int]:
    """The number of positions at each of the last depths, as far as the partitions remember them."""
    counts: Counter[int] = Counter()
    for state in group:
        counts.update(dict(state.found))
    return dict(counts)
