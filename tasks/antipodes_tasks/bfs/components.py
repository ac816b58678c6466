"""All components of a space: sets of positions that moves lead to from each other."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.spaces.move_tables import ILLEGAL, ColumnMap, MoveTables

BYTES = 9
"""Memory of an entry: its place in the queue, and whether it was found."""
BUDGET = 1 << 20
"""Positions that one call of the kernel expands, after which an interruption is answered."""
ROOM = 1 << 16
"""Components that one call of the kernel lists."""
FIRST, NEXT, HEAD, TAIL, LAYER_END, DEPTH, LISTED = range(7)
"""What the kernel keeps between calls: the first entry of the component under way, the least one that may be of none
yet, where the queue begins and ends, where its layer ends and its depth, and how many components are listed."""


class Components(NamedTuple):
    """Some components, in the order of their first entries; ``(n,)`` each."""

    first: NDArray[np.int64]
    """The least index."""
    size: NDArray[np.int64]
    """The number of entries."""
    radius: NDArray[np.int64]
    """The greatest distance from the first entry."""


def components(tables: MoveTables) -> Iterator[Components]:
    """The components of all entries, some at a time. Moves have to be ones that can be undone."""
    assert tables.undirected
    entries = len(tables.target) * tables.column_maps.shape[1]
    found, queue = np.zeros(entries, dtype=np.bool_), np.empty(entries, dtype=np.int64)
    state, listed = np.zeros(7, dtype=np.int64), np.empty((ROOM, 3), dtype=np.int64)
    over = False
    while not over:
        over = _search(tables.target, tables.column_map, tables.column_maps, found, queue, state, listed)
        yield Components(*listed[: state[LISTED]].T.copy())
        state[LISTED] = 0


@kernel
def _search(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: NDArray[np.int32],
    found: NDArray[np.bool_],
    queue: NDArray[np.int64],
    state: NDArray[np.int64],
    listed: NDArray[np.int64],
) -> bool:
    """Go on with the search, and list the components that end; whether all entries are in one."""
    width, mapped = column_maps.shape[1], column_map.shape[1] > 0
    first, next_entry, head, tail, layer_end, depth = state[0], state[1], state[2], state[3], state[4], state[5]
    budget, count, entries = BUDGET, 0, len(found)
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
        row, column = entry // width, entry % width
        for move in range(target.shape[1]):
            to_row = np.int64(target[row, move])
            if to_row == ILLEGAL:
                break
            to_column = np.int64(column_maps[column_map[row, move], column]) if mapped else column
            after = to_row * width + to_column
            if to_column != ILLEGAL and not found[after]:
                found[after], queue[tail] = True, after
                tail += 1
        if head == layer_end:
            if head == tail:
                listed[count, 0], listed[count, 1], listed[count, 2] = first, tail, depth
                count += 1
            else:
                depth, layer_end = depth + 1, tail
    state[0], state[1], state[2], state[3], state[4], state[5] = first, next_entry, head, tail, layer_end, depth
    state[LISTED] = count
    return bool(head == tail and next_entry == entries)
