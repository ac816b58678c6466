"""The move tables of single pieces that go to empty places, in machine code.

An arrangement's rank is a sum over its places of what each label adds in its state (see `antipodes.spaces.ranking`). A
piece that goes elsewhere changes the states between its ends by one and the same difference. So sums of what the labels
add in the changed states give the rank of every successor in a few steps, however far the piece goes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.spaces.combinations import Ranks
from antipodes.spaces.ranking import Numbering, unrank
from antipodes.spaces.swap_tables import COLUMNS_AT_ONCE

Labels = NDArray[np.uint8]
ColumnMap = NDArray[np.int16] | NDArray[np.int32]
NONE = -1
UP, DOWN = 0, 1


class Graph(NamedTuple):
    """Where pieces may go, by one end of their way: those are ``ends[at[place]:at[place + 1]]``."""

    at: NDArray[np.int64]
    ends: NDArray[np.uint16]
    by_destination: bool
    """Whether a place stands for the end of the way; else for its beginning."""


@kernel
def states_and_ranks(labels: Labels, numbering: Numbering, states: Ranks, ranks: Ranks) -> None:
    """The state before each place, and the sum of what the labels before it add, both ``(places + 1,)``."""
    states[0] = ranks[0] = 0
    for place in range(len(labels)):
        label = labels[place]
        states[place + 1] = states[place] + numbering.units[label]
        ranks[place + 1] = ranks[place] + numbering.added[states[place], label]


@kernel
def changed_ranks(labels: Labels, states: Ranks, numbering: Numbering, gone: int, came: int, ranks: Ranks) -> None:
    """As the ranks of `states_and_ranks`, where a label has gone from before each place and another one has come.

    Either may be NONE. Places before which that cannot be add nothing: no such sum is asked for.
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


class Ways(NamedTuple):
    """What a piece adds to the rank of a row's successor: where it leaves, plus where it arrives.

    Each has a line for UP, to a later place, and one for DOWN.
    """

    leave: Ranks
    """``(2, places)``: by the place that the piece leaves."""
    arrive: Ranks
    """``(2, labels, places)``: by its label and the empty place that it goes to."""


@kernel
def find_ways(labels: Labels, states: Ranks, ranks: Ranks, numbering: Numbering, ways: Ways) -> None:
    """Fill ``ways`` for the pieces and the empty places of a row.

    Between the ends of its way, a piece that goes up has gone from before each place, and an empty place has come.
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
                    ways.arrive[UP, label, place] = up + added[state - unit, label] - ranks[place + 1]
                if pieces_before < counts[label]:
                    arriving = ranks[place] + added[state, label]
                    ways.arrive[DOWN, label, place] = arriving - down - _added(can_go_down, state + unit, here, added)
            elif here == label and empty_before > 0:
                ways.leave[DOWN, place] = down + added[state + unit, 0] - ranks[place + 1]
            up += _added(can_go_up, state - unit, here, added)
            down += _added(can_go_down, state + unit, here, added)
            if here == label:
                if empty_before < counts[0]:
                    ways.leave[UP, place] = ranks[place] + added[state, 0] - up
                pieces_before += 1
            empty_before += here == 0


@kernel
def _added(possible: Any, state: int, label: int, added: Ranks) -> Any:
    """What a label adds in a state, if there is such a state."""
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

    ``map_numbers`` ``(2, free places)`` says which column map a piece causes that passes so many free places up or
    down: the number, plus the least of the places among the free ones that it goes between. ``column_map`` has no
    columns where the only column map is the identity.
    """
    places, kinds = len(graph.at) - 1, len(numbering.counts)
    labels, scratch = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    states, ranks = np.empty(places + 1, dtype=np.int64), np.empty(places + 1, dtype=np.int64)
    ways = Ways(np.empty((2, places), dtype=np.int64), np.empty((2, kinds, places), dtype=np.int64))
    free = np.empty(places, dtype=np.int64)
    for line in range(target.shape[0]):
        unrank(first_row + line, numbering, labels, scratch)
        states_and_ranks(labels, numbering, states, ranks)
        find_ways(labels, states, ranks, numbering, ways)
        if column_map.shape[1]:
            number_free(labels, kinds - 1, free)
        _fill_row(target[line], column_map[line], first_row + line, labels, ways, free, graph, map_numbers)


@kernel
def number_free(labels: Labels, free_label: int, free: NDArray[np.int64]) -> None:
    """How many free places lie before each place, ``(places,)``."""
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
    ways: Ways,
    free: NDArray[np.int64],
    graph: Graph,
    map_numbers: NDArray[np.int64],
) -> None:
    free_label, one_column = ways.arrive.shape[1] - 1, column_map.shape[0] == 0
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
            way, label = UP if a < b else DOWN, labels[a]
            target[slot] = row + ways.leave[way, a] + ways.arrive[way, label, b]
            if not one_column:
                column_map[slot] = _map_of(free[a], free[b] - (a < b), map_numbers) if label == free_label else 0
            slot += np.uint64(1)
    target[slot:] = -1
    column_map[slot:] = 0


@kernel
def _map_of(before: int, after: int, map_numbers: NDArray[np.int64]) -> int:
    """The column map of a piece that was one of the free places in their order, and comes to be another one."""
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
            unrank(begin + i, numbering, labels[i], scratch)
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
