"""The move tables of swaps, in which one piece moves to an empty place: their size, and how they are filled.

The rank of an arrangement is a sum over its places: each label adds a number that depends on the state before it (see
`antipodes_tasks.permutations.arrangements`). A piece that moves changes all states between its origin and its
destination by the same difference. So sums over the changed states give the rank of every successor in a few steps,
however far a piece moves.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.permutations.arrangements import (
    Numbering,
    Ranks,
    numbering,
    numbering_bytes,
    radices,
    unrank_arrangement,
)
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.spaces.move_tables import COLUMNS_AT_ONCE, ColumnMap, Fill, Filler, MoveTables, blocks, map_type

STEPS = 1 << 23
"""Steps of a block, which are short here."""


class Graph(NamedTuple):
    """The swaps by one of their two places: the other places are ``ends[at[place] : at[place + 1]]``."""

    at: NDArray[np.int64]
    ends: NDArray[np.uint16]
    by_destination: bool
    """Whether ``place`` is the destination of the piece; else its origin."""


@dataclass(frozen=True)
class SwapTables(Filler):
    """How large the move tables are, and how they are filled."""

    ENTRY_COST: ClassVar = 16
    CACHED_WIDTH: ClassVar = 1 << 14

    moves: Swaps
    counts: tuple[int, ...]
    """The number of pieces with each label."""
    leading: int
    """The number of labels in the row; the others are in the column."""

    @cached_property
    def row_counts(self) -> tuple[int, ...]:
        """The counts of a row's labels, then the number of places that it leaves free."""
        return (*self.counts[: self.leading], sum(self.counts[self.leading :]))

    @cached_property
    def column_counts(self) -> tuple[int, ...]:
        """The counts of a column's labels, on the places that the row leaves free."""
        return self.counts[self.leading :] or (0,)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return prod(radices(self.counts)[: self.leading])

    @cached_property
    def width(self) -> int:
        """The number of columns of a row."""
        return prod(radices(self.counts)[self.leading :])

    @property
    def places(self) -> int:
        """The number of places of the puzzle."""
        return sum(self.counts)

    @cached_property
    def most_moves(self) -> int:
        """An upper bound of the moves that a position allows.

        Moves onto an empty place are at most those that lead to the most popular places, as many as are empty, and at
        most those that leave the most popular places, as many as are occupied.
        """
        origins, destinations = (np.sort(np.bincount(ends, minlength=self.places))[::-1] for ends in self.moves.pairs.T)
        empty = self.counts[0]
        return int(min(destinations[:empty].sum(), origins[: self.places - empty].sum()))

    @property
    def most_column_maps(self) -> int:
        """The number of column maps."""
        return self.map_numbers[1]

    @cached_property
    def map_numbers(self) -> tuple[NDArray[np.int64], int]:
        """The first number of the column maps of pieces that pass each number of free places, and the number of maps.

        The numbers ``(2, free places)``, for pieces that go up or down, count from 1, since map 0 is the identity; -1
        where no piece does that. A piece passes at most the free places between its ends, and at least those that the
        row's own pieces cannot fill.
        """
        free = sum(self.column_counts)
        firsts = np.full((2, max(1, free)), -1, dtype=np.int64)
        count = 1
        if self.width == 1:
            return firsts, count
        others = self.places - 1 - free
        origins, destinations = self.moves.pairs.T.astype(np.int64)
        for shifted in np.flatnonzero(np.bincount(destinations - origins + self.places)).tolist():
            step = shifted - self.places
            between = abs(step) - 1
            for passed in range(max(1, between - others), min(between, free - 1) + 1):
                direction = int(step < 0) if passed > 1 else 0  # two neighbours swap either way
                if firsts[direction, passed] < 0:
                    firsts[direction, passed] = count
                    count += free - passed
        firsts[1, 1:2] = firsts[0, 1:2]
        return firsts, count

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        rows, width, count = self.rows, self.width, self.most_column_maps
        target = np.empty((rows, self.most_moves), dtype=np.int32)
        column_map: ColumnMap = np.empty((rows, self.most_moves if width > 1 else 0), dtype=map_type(count))
        column_maps = np.zeros((count, width), dtype=np.int32)
        tables = MoveTables(target, column_map, column_maps, undirected=self.moves.reversible)
        return tables, self.fills(tables)

    def fills(self, tables: MoveTables) -> list[Fill]:
        """The calls that fill the tables."""
        target, column_map, column_maps = tables.target, tables.column_map, tables.column_maps
        firsts, _ = self.map_numbers
        rows, graph = numbering(self.row_counts), self._graph()
        a_row = target.shape[1] + 2 * self.places * len(self.row_counts)
        calls: list[Fill] = [
            partial(fill_rows, target[first:end], column_map[first:end], first, rows, graph, firsts)
            for first, end in blocks(self.rows, a_row, steps=STEPS)
        ]
        if self.width > 1:
            columns = numbering(self.column_counts)
            a_column = len(column_maps) + 2 * firsts.shape[1] * len(self.column_counts)
            ranges = blocks(self.width, a_column, steps=STEPS, least=COLUMNS_AT_ONCE)
            calls += [partial(fill_columns, column_maps, first, end, columns, firsts) for first, end in ranges]
        return calls

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        free, kinds = sum(self.column_counts), len(self.column_counts)
        a_column = COLUMNS_AT_ONCE * (free + 1) * 8 * (2 * kinds + 3)
        a_row = (self.places + 1) * 8 * (2 * len(self.row_counts) + 5)
        shared = numbering_bytes(self.row_counts) + numbering_bytes(self.column_counts) + 32 * len(self.moves)
        return (a_column + a_row + shared) * threads

    def _graph(self) -> Graph:
        """The moves by the empty or the occupied place, whichever kind there are fewer of."""
        by_destination = 2 * self.counts[0] <= self.places
        ends = self.moves.pairs[:, 0 if by_destination else 1]
        grouped = self.moves.pairs[:, 1 if by_destination else 0]
        order = np.argsort(grouped, kind="stable")
        at = np.searchsorted(grouped[order], np.arange(self.places + 1)).astype(np.int64)
        return Graph(at, ends[order].astype(np.uint16), by_destination)


Labels = NDArray[np.uint8]
NONE = -1
UP, DOWN = 0, 1


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
