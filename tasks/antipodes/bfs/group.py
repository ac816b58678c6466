"""Partitions that one task advances together, one after another: what passes between them stays in the task.

A task takes its time, so it does the work of several partitions; these stay small, so that a layer touches only what
it can reach, and works in the cache.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs import partition
from antipodes.bfs.partition import State
from antipodes.spaces.move_tables import MoveTables

Group = tuple[State, ...]


class Links(NamedTuple):
    """How partitions lead into each other."""

    tables: MoveTables
    sources: list[list[int]]
    """From which partitions moves lead into each, by their numbers."""


def begin(
    parts: Sequence[tuple[int, int, int]], width: int, starts: NDArray[np.int64], dtype: str, hold_depths: bool
) -> Group:
    """The group at depth 0; each of its parts is the number, the first row and the number of rows of a partition."""
    return tuple(partition.begin(*part, width, starts, dtype, hold_depths) for part in parts)


def links(tables: MoveTables, bounds: Sequence[int]) -> Links:
    """The links between partitions: ``bounds`` are the first row of each, and the row behind the last one."""
    return Links(tables, partition.sources(partition.reaches(tables, bounds)))


def sources(links: Links) -> list[list[int]]:
    """From which partitions moves lead into each."""
    return links.sources


def advance(group: Group, others: Sequence[Group], links: Links, depth: int, layers: int) -> Group:
    """The group after so many layers more than ``depth``; more than one only where no moves come from ``others``."""
    for at in range(depth, depth + layers):
        group = _advance(group, others, links, at + 1)
    return group


def _advance(group: Group, others: Sequence[Group], links: Links, depth: int) -> Group:
    known = (state for one in (group, *others) for state in one)
    frontiers = {state.number: state for state in known if state.depth == depth - 1}
    after = []
    for state in group:
        leading_here = [frontiers[number] for number in links.sources[state.number] if number in frontiers]
        after.append(partition.advance(state, leading_here, links.tables, depth) if leading_here else state)
    return tuple(after)


def for_others(group: Group, links: Links, depth: int) -> Group:
    """What other groups need of it: the frontiers at ``depth``, where moves leave the group."""
    rows = group[0].first_row, group[-1].first_row + len(group[-1].rows)
    lean = (partition.for_others(state, links.tables, *rows) for state in group if state.depth == depth)
    return tuple(state for state in lean if len(state.rows))


def found(group: Group) -> dict[int, int]:
    """How many positions there are at each of the last depths, as far as all partitions remember them."""
    counts: Counter[int] = Counter()
    for state in group:
        counts.update(dict(state.found))
    return dict(counts)
