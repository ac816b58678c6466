"""Components of a space with irreversible moves: strongly connected components, and the number of weak components.

Two positions are strongly connected if each is reachable from the other. They are weakly connected if they are
connected by a sequence of moves, some of which may be made backwards. One depth-first search finds the strong
components, by the algorithm of D. Pearce (A Space-Efficient Algorithm for Finding Strongly Connected Components, 2016),
which needs one number per entry besides its stacks.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.bfs.successors import ENDED, successor
from antipodes_tasks.move_tables import ILLEGAL, ColumnMap, ColumnMaps, MoveTables

STRONG_BYTES = 8 + 8 + 4 + 1 + 8
"""Memory per entry, in bytes: its number; its item on the path stack, with a move and a flag; its item on the component
stack."""
BUDGET = 1 << 20
"""Number of moves that one call of a kernel tries; interruptions are handled between calls."""
ENTRY, DEPTH, LEFT, NEXT, NUMBER = range(5)
"""Indices of the kernel's state: the next entry from which a search may start; the lengths of the path stack and the
component stack; the number for the next entry on a stack; and the number of the next component."""
Entries = NDArray[np.int64]


def strong_components(tables: MoveTables) -> Entries:
    """Return the number ``(n,)`` of each entry's strongly connected component; the numbers are not consecutive."""
    entries = len(tables.target) * tables.column_maps.shape[1]
    number, way, left = np.zeros(entries, dtype=np.int64), np.empty(entries, np.int64), np.empty(entries, np.int64)
    move, is_root = np.empty(entries, dtype=np.int32), np.empty(entries, dtype=np.bool_)
    state = np.array([0, 0, 0, 1, entries], dtype=np.int64)
    moves = tables.target, tables.column_map, tables.column_maps
    while not _deepen(*moves, number, way, move, is_root, left, state):
        pass  # interruptions are handled here
    return number


@kernel
def _deepen(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
    number: Entries,
    way: Entries,
    next_move: NDArray[np.int32],
    is_root: NDArray[np.bool_],
    left: Entries,
    state: Entries,
) -> bool:
    """Continue the depth-first search for some moves; return whether it is complete.

    Entries on the stacks are numbered upwards from 1, components downwards from the number of entries. The two kinds of
    numbers never meet, because a component takes one number and removes at least one entry from the stacks.
    """
    first, depth, count_left, next_number, component = state[0], state[1], state[2], state[3], state[4]
    for _ in range(BUDGET):
        if depth == 0:
            while first < len(number) and number[first] != 0:
                first += 1
            if first == len(number):
                break
            way[0], next_move[0], is_root[0], number[first], depth = first, 0, True, next_number, 1
            next_number += 1
        top = depth - 1
        entry, move = way[top], next_move[top]
        there = successor(target, column_map, column_maps, entry, move) if move < target.shape[1] else ENDED
        if there != ENDED:
            if there == ILLEGAL:
                next_move[top] += 1
            elif number[there] == 0:  # the same move is tried again after the subtree, to compare the numbers
                way[depth], next_move[depth], is_root[depth], number[there] = there, 0, True, next_number
                next_number, depth = next_number + 1, depth + 1
            else:
                next_move[top] += 1
                if number[there] < number[entry]:
                    number[entry], is_root[top] = number[there], False
            continue
        depth -= 1
        if not is_root[top]:
            left[count_left] = entry
            count_left += 1
            continue
        next_number -= 1
        while count_left > 0 and number[entry] <= number[left[count_left - 1]]:
            count_left -= 1
            number[left[count_left]] = component
            next_number -= 1
        number[entry] = component
        component -= 1
    state[0], state[1], state[2], state[3], state[4] = first, depth, count_left, next_number, component
    return bool(depth == 0 and first == len(number))


def weak_components(tables: MoveTables) -> int:
    """Return the number of weakly connected components."""
    width = tables.column_maps.shape[1]
    parent = np.arange(len(tables.target) * width)
    step = max(1, BUDGET // (max(1, tables.target.shape[1]) * width))
    moves = tables.target, tables.column_map, tables.column_maps
    joined = sum(_join(*moves, parent, begin, begin + step) for begin in range(0, len(tables.target), step))
    return len(parent) - joined


@kernel
def _join(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
    parent: Entries,
    begin: int,
    end: int,
) -> int:
    """Join the sets of entries that moves from some rows connect; return how many times two sets were joined."""
    width, joined = column_maps.shape[1], 0
    for entry in range(begin * width, min(end, len(target)) * width):
        for move in range(target.shape[1]):
            there = successor(target, column_map, column_maps, entry, move)
            if there == ENDED:
                break
            if there == ILLEGAL:
                continue
            one, other = _root(parent, entry), _root(parent, there)
            if one != other:
                parent[max(one, other)] = min(one, other)
                joined += 1
    return joined


@kernel
def _root(parent: Entries, entry: int) -> int:
    """Return the representative of an entry's set, halving the path to it for later calls."""
    while parent[entry] != entry:
        parent[entry] = parent[parent[entry]]
        entry = parent[entry]
    return entry
