"""The move tables of swaps, moves of one piece to an empty place, in machine code.

The rank of an arrangement is a sum over its places: each label adds a number that depends on the state before it (see
`antipodes_tasks.permutations.arrangements`). A piece that moves changes all states between its origin and its
destination by the same difference. So sums over the changed states give the rank of every successor in a few steps,
however far a piece moves.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.permutations.arrangements import Numbering, Ranks, unrank_arrangement
from antipodes_tasks.spaces.move_tables import COLUMNS_AT_ONCE, ColumnMap

Labels = NDArray[np.uint8]
NONE = -1
UP, DOWN = 0, 1


class Graph(NamedTuple):
    """The swaps by one of their two places: the other places are ``ends[at[place] : at[place + 1]]``."""

    at: NDArray[np.int64]
    ends: NDArray[np.uint16]
    by_destination: bool
    """Whether ``place`` is the destination of the piece; else its origin."""


@kernel
def states_and_ranks(labels: Labels, numbering: Numbering, states: Ranks, ranks: Ranks) -> None:
    """Fill in the state before each place, and the rank of the labels before it, both ``(places + 1,)``."""
    states[0] = ranks[0] = 0
    for place in range(len(labels)):
        label = labels[place]
        states[place + 1] = states[place] + numbering.units[label]
        ranks[place + 1] = ranks[place] + numbering.added[states[place], label]


@kernel
def changed_ranks(labels: Labels, states: Ranks, numbering: Numbering, gone: int, came: int, ranks: Ranks) -> None:
    """As the ranks of `states_and_ranks`, in states with one label ``gone`` fewer and one label ``came`` more.

    Either can be NONE. A place with no such state adds nothing; no such sum is used.
    """
    shift = np.int64(0)
    if gone != NONE:
        shift -= numbering.units[gone]
    if came != NONE:
        shift += numbering.units[came]
    gone_before, came_before = np.int64(0), np.int64(0)
    ranks[0] = 0
    for place in range(len(labels)):
        label = labels[place]
        ranks[place + 1] = ranks[place]
        if (gone == NONE or gone_before > 0) and (came == NONE or came_before < numbering.counts[came]):
            ranks[place + 1] += numbering.added[states[place] + shift, label]
        gone_before += label == gone
        came_before += label == came


class RankChanges(NamedTuple):
    """The change of a row's rank by a swap: a part for the place that the piece leaves, plus one for its destination.

    Each has a line for UP, to a later place, and one for DOWN.
    """

    leave: Ranks
    """``(2, places)``: by the place of the piece."""
    arrive: Ranks
    """``(2, labels, places)``: by the label of the piece and the empty place."""


@kernel
def find_rank_changes(labels: Labels, states: Ranks, ranks: Ranks, numbering: Numbering, changes: RankChanges) -> None:
    """Fill ``changes`` for the pieces and the empty places of a row.

    If a piece moves up, the states between its origin and destination have this piece less and an empty place more.
    """
    added, counts = numbering.added, numbering.counts
    for label in range(1, len(counts)):
        unit = numbering.units[label] - numbering.units[0]
        up, down = np.int64(0), np.int64(0)
        pieces_before, empty_before = np.int64(0), np.int64(0)
        for place in range(len(labels)):
            here, state = labels[place], states[place]
            can_go_up = pieces_before > 0 and empty_before < counts[0]
            can_go_down = empty_before > 0 and pieces_before < counts[label]
            if here == 0:
                if pieces_before > 0:
                    changes.arrive[UP, label, place] = up + added[state - unit, label] - ranks[place + 1]
                if pieces_before < counts[label]:
                    arriving = ranks[place] + added[state, label]
                    changes.arrive[DOWN, label, place] = (
                        arriving - down - _added(can_go_down, state + unit, here, added)
                    )
            elif here == label and empty_before > 0:
                changes.leave[DOWN, place] = down + added[state + unit, 0] - ranks[place + 1]
            up += _added(can_go_up, state - unit, here, added)
            down += _added(can_go_down, state + unit, here, added)
            if here == label:
                if empty_before < counts[0]:
                    changes.leave[UP, place] = ranks[place] + added[state, 0] - up
                pieces_before += 1
            empty_before += here == 0


@kernel
def _added(possible: Any, state: int, label: int, added: Ranks) -> Any:
    """The number that a label adds in a state, 0 if there is no such state."""
    return added[state, label] if possible else np.int64(0)


@kernel
def fill_rows(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    first_row: int,
    numbering: Numbering,
    graph: Graph,
    map_numbers: NDArray[np.int64],
) -> None:
    """Fill the lines of the row tables from ``first_row`` on.

    ``map_numbers`` ``(2, free places)`` are those of `SwapTables.map_numbers`. The column map of a piece has the number
    for the free places that it passes, plus the lower of its two places, counted among the free places.
    ``column_map`` has no columns if the only column map is the identity.
    """
    places, kinds = len(graph.at) - 1, len(numbering.counts)
    labels, scratch = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    states, ranks = np.empty(places + 1, dtype=np.int64), np.empty(places + 1, dtype=np.int64)
    changes = RankChanges(np.empty((2, places), dtype=np.int64), np.empty((2, kinds, places), dtype=np.int64))
    free = np.empty(places, dtype=np.int64)
    for line in range(target.shape[0]):
        unrank_arrangement(first_row + line, numbering, labels, scratch)
        states_and_ranks(labels, numbering, states, ranks)
        find_rank_changes(labels, states, ranks, numbering, changes)
        if column_map.shape[1]:
            number_free(labels, kinds - 1, free)
        _fill_row(target[line], column_map[line], first_row + line, labels, changes, free, graph, map_numbers)


@kernel
def number_free(labels: Labels, free_label: int, free: NDArray[np.int64]) -> None:
    """Fill in the number of free places before each place, ``(places,)``."""
    before = np.int64(0)
    for place in range(len(labels)):
        free[place] = before
        before += labels[place] == free_label


@kernel
def _fill_row(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    row: int,
    labels: Labels,
    changes: RankChanges,
    free: NDArray[np.int64],
    graph: Graph,
    map_numbers: NDArray[np.int64],
) -> None:
    free_label, one_column = changes.arrive.shape[1] - 1, column_map.shape[0] == 0
    slot = np.uint64(0)
    for place in range(len(labels)):
        if (labels[place] == 0) != graph.by_destination:
            continue
        for edge in range(graph.at[place], graph.at[place + 1]):
            other = graph.ends[edge]
            if (labels[other] == 0) == graph.by_destination:
                continue
            a, b = (
                (np.uint64(other), np.uint64(place)) if graph.by_destination else (np.uint64(place), np.uint64(other))
            )
            direction, label = UP if a < b else DOWN, labels[a]
            target[slot] = row + changes.leave[direction, a] + changes.arrive[direction, label, b]
            if not one_column:
                column_map[slot] = _map_of(free[a], free[b] - (a < b), map_numbers) if label == free_label else 0
            slot += np.uint64(1)
    target[slot:] = -1
    column_map[slot:] = 0


@kernel
def _map_of(before: int, after: int, map_numbers: NDArray[np.int64]) -> int:
    """The column map of a piece that moves from one of the free places, counted in their order, to another."""
    if before == after:
        return 0
    if before < after:
        return int(map_numbers[UP, after - before] + before)
    return int(map_numbers[DOWN, before - after] + after)


@kernel
def fill_columns(
    column_maps: NDArray[np.int32], first: int, end: int, numbering: Numbering, map_numbers: NDArray[np.int64]
) -> None:
    """Fill the column maps for the columns from ``first`` to ``end``."""
    free, kinds = len(map_numbers[0]), len(numbering.counts)
    labels, scratch = np.empty((COLUMNS_AT_ONCE, free), dtype=np.uint8), np.empty(free, dtype=np.int64)
    states = np.empty((COLUMNS_AT_ONCE, free + 1), dtype=np.int64)
    ranks = np.empty((COLUMNS_AT_ONCE, free + 1), dtype=np.int64)
    gone = np.empty((COLUMNS_AT_ONCE, kinds, free + 1), dtype=np.int64)
    came = np.empty((COLUMNS_AT_ONCE, kinds, free + 1), dtype=np.int64)
    for begin in range(first, end, COLUMNS_AT_ONCE):
        columns = min(COLUMNS_AT_ONCE, end - begin)
        for i in range(columns):
            unrank_arrangement(begin + i, numbering, labels[i], scratch)
            states_and_ranks(labels[i], numbering, states[i], ranks[i])
            for label in range(kinds):
                changed_ranks(labels[i], states[i], numbering, label, NONE, gone[i, label])
                changed_ranks(labels[i], states[i], numbering, NONE, label, came[i, label])
            column_maps[0, begin + i] = begin + i
        for passed in range(1, free):
            for low in range(free - passed):
                high = low + passed
                if map_numbers[UP, passed] >= 0:
                    number = map_numbers[UP, passed] + low
                    for i in range(columns):
                        label = labels[i, low]
                        between = gone[i, label, high + 1] - gone[i, label, low + 1]
                        ends = numbering.added[states[i, high + 1] - numbering.units[label], label]
                        rest = ranks[i, free] - ranks[i, high + 1]
                        column_maps[number, begin + i] = ranks[i, low] + between + ends + rest
                if map_numbers[DOWN, passed] >= 0:
                    number = map_numbers[DOWN, passed] + low
                    for i in range(columns):
                        label = labels[i, high]
                        between = came[i, label, high] - came[i, label, low]
                        ends = numbering.added[states[i, low], label]
                        rest = ranks[i, free] - ranks[i, high + 1]
                        column_maps[number, begin + i] = ranks[i, low] + between + ends + rest
