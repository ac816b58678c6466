"""The components of a space: sets of positions that are mutually reachable.

If all moves are reversible, breadth-first searches find the components one after another. Otherwise, the strongly
connected components are computed first, by `strong_components`. Each search then stays within one component, since a
path between two positions of a component never leaves it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.bfs.strong_components import STRONG_BYTES, strong_components
from antipodes_tasks.bfs.successors import ENDED, successor
from antipodes_tasks.move_tables import ILLEGAL, ColumnMap, ColumnMaps, MoveTables

BYTES = 9
"""Memory per entry, in bytes: its place in the queue, and whether it was found."""
ONE_WAY_BYTES = max(BYTES + 8, STRONG_BYTES)
"""Memory per entry if some moves are irreversible, in bytes."""
BUDGET = 1 << 20
"""Number of positions that one call of the kernel expands; interruptions are handled between calls."""
ROOM = 1 << 16
"""Maximum number of components that one call of the kernel lists."""
FIRST, NEXT, HEAD, TAIL, LAYER_END, DEPTH, COMPONENTS = range(7)
"""Indices of the kernel's state between calls: the first entry of the current component; the smallest entry that may
not belong to any component yet; the two ends of the queue; the end of the current layer in the queue; the depth of this
layer; and the number of listed components.
"""


class ComponentArrays(NamedTuple):
    """Some components as arrays ``(n,)``, ordered by their first entries."""

    first: NDArray[np.int64]
    """First entry: the smallest index."""
    size: NDArray[np.int64]
    """Number of entries."""
    radius: NDArray[np.int64]
    """Maximum distance from the first entry."""


def components(tables: MoveTables) -> Iterator[ComponentArrays]:
    """Yield the components of all entries in batches; they are strongly connected if some moves are irreversible."""
    entries = len(tables.target) * tables.column_maps.shape[1]
    found, queue = np.zeros(entries, dtype=np.bool_), np.empty(entries, dtype=np.int64)
    state, listed = np.zeros(7, dtype=np.int64), np.empty((ROOM, 3), dtype=np.int64)
    member_of = np.empty(0, dtype=np.int64) if tables.undirected else strong_components(tables)
    over = False
    while not over:
        over = _search(tables.target, tables.column_map, tables.column_maps, member_of, found, queue, state, listed)
        yield ComponentArrays(*listed[: state[COMPONENTS]].T.copy())
        state[COMPONENTS] = 0


@kernel
def _search(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
    member_of: NDArray[np.int64],
    found: NDArray[np.bool_],
    queue: NDArray[np.int64],
    state: NDArray[np.int64],
    listed: NDArray[np.int64],
) -> bool:
    """Continue the search and list completed components; return whether the search is complete."""
    one_way = len(member_of) > 0
    first, next_entry, head, tail, layer_end, depth = state[0], state[1], state[2], state[3], state[4], state[5]
    budget, count, entries = BUDGET, 0, len(found)
    # The queue holds one component at a time, layer by layer, from its smallest entry. Every entry before `next_entry`
    # has been found. If the queue is empty (`head == tail`), the next component begins at the next entry that has not
    # been found.
    while budget > 0 and count < len(listed):
        if head == tail:
            while next_entry < entries and found[next_entry]:
                next_entry += 1
                budget -= 1
                if budget == 0:
                    break
            if next_entry == entries or found[next_entry]:
                break
            first, depth, head, tail, layer_end = next_entry, 0, 0, 1, 1
            found[first], queue[0] = True, first
        entry = queue[head]
        head, budget = head + 1, budget - 1
        for move in range(target.shape[1]):
            there = successor(target, column_map, column_maps, entry, move)
            if there == ENDED:
                break
            if there == ILLEGAL or found[there] or (one_way and member_of[there] != member_of[first]):
                continue
            found[there], queue[tail] = True, there
            tail += 1
        if head == layer_end:
            if head == tail:
                listed[count, 0], listed[count, 1], listed[count, 2] = first, tail, depth
                count += 1
            else:
                depth, layer_end = depth + 1, tail
    state[0], state[1], state[2], state[3], state[4], state[5] = first, next_entry, head, tail, layer_end, depth
    state[COMPONENTS] = count
    return bool(head == tail and next_entry == entries)
