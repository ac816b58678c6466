"""The filler of the move tables of swaps, which move one piece to an empty place.

The rank of an arrangement is a sum over its places. Each place adds a number that depends on its label and on the
*state*, the number of pieces with each label on earlier places (see `antipodes_tasks.permutations.multisets`). A
piece that moves changes all states between its origin and its destination by the same amount. So sums are computed once
with the original states and with the changed states. From these sums, the rank of each successor follows in a few
steps, however far the piece moves.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.move_tables import (
    COLUMNS_AT_ONCE,
    ColumnMap,
    ColumnMaps,
    Fill,
    Filler,
    MoveTables,
    blocks,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.permutations.multisets import (
    ArrangementNumbering,
    Ranks,
    numbering,
    numbering_bytes,
    radices,
    unrank_arrangement,
)
from antipodes_tasks.rules.moves import Moves, Pairs

STEPS = 1 << 23
"""Number of inner-loop steps of a block: twice as many as for other fillers, because these steps are shorter."""


class SwapGraph(NamedTuple):
    """Swaps, grouped by one of their two places.

    The other places of the swaps of ``place`` are ``ends[at[place] : at[place + 1]]``.
    """

    at: NDArray[np.int64]
    ends: NDArray[np.uint16]
    by_destination: bool
    """Whether ``place`` is the destination of the piece; otherwise it is the origin."""


@dataclass(frozen=True)
class SwapTables(Filler):
    """The filler for swaps."""

    ENTRY_COST: ClassVar = 16
    CACHED_WIDTH: ClassVar = 1 << 14

    moves: Moves
    """Moves that are stated as pairs."""
    counts: tuple[int, ...]
    """Number of pieces with each label."""
    leading: int
    """Number of labels in the row; the others are in the column."""

    @property
    def pairs(self) -> Pairs:
        """The place of the piece and the empty place of each move, ``(moves, 2)``."""
        assert self.moves.pairs is not None
        return self.moves.pairs

    @cached_property
    def row_counts(self) -> tuple[int, ...]:
        """Number of pieces with each label of the row, then the number of places that these pieces leave free."""
        return (*self.counts[: self.leading], sum(self.counts[self.leading :]))

    @cached_property
    def column_counts(self) -> tuple[int, ...]:
        """Number of pieces with each label of the column. They are on the places that the row leaves free."""
        return self.counts[self.leading :] or (0,)

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return prod(radices(self.counts)[: self.leading])

    @cached_property
    def width(self) -> int:
        """Number of columns of a row."""
        return prod(radices(self.counts)[self.leading :])

    @property
    def places(self) -> int:
        """Number of places of the puzzle."""
        return sum(self.counts)

    @cached_property
    def max_moves(self) -> int:
        """Upper bound on the number of legal moves of a position.

        If k places are empty, a position has at most as many moves as there are swaps to the k most frequent
        destinations. Likewise, it has at most as many moves as there are swaps from the most frequent origins, one for
        each occupied place. The result is the smaller of these two bounds.
        """
        origins, destinations = (np.sort(np.bincount(ends, minlength=self.places))[::-1] for ends in self.pairs.T)
        empty = self.counts[0]
        return int(min(destinations[:empty].sum(), origins[: self.places - empty].sum()))

    @property
    def most_column_maps(self) -> int:
        """Number of column maps."""
        return len(self.shifts)

    @cached_property
    def shifts(self) -> NDArray[np.int64]:
        """The column maps; see `column_shifts`."""
        if self.width == 1:
            return np.zeros((1, 2), dtype=np.int64)
        return column_shifts(self.pairs, self.places, sum(self.column_counts))

    @property
    def map_of(self) -> NDArray[np.int32]:
        """``(free places, free places)``: the numbers of the column maps; see `maps_of`."""
        return maps_of(self.shifts, max(1, sum(self.column_counts)))

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them."""
        rows, width, count = self.rows, self.width, self.most_column_maps
        target = np.empty((rows, self.max_moves), dtype=np.int32)
        column_map: ColumnMap = np.empty((rows, self.max_moves if width > 1 else 0), dtype=index_type(count))
        tables = MoveTables(target, column_map, unfilled_maps(count, width), undirected=self.moves.reversible)
        return tables, self.fills(tables)

    def fills(self, tables: MoveTables) -> list[Fill]:
        """Return the calls that fill the tables."""
        target, column_map, column_maps = tables.target, tables.column_map, tables.column_maps
        rows, graph, map_of = numbering(self.row_counts), self._graph(), self.map_of
        a_row = target.shape[1] + 2 * self.places * len(self.row_counts)
        calls: list[Fill] = [
            partial(fill_rows, target[first:end], column_map[first:end], first, rows, graph, map_of)
            for first, end in blocks(self.rows, a_row, steps=STEPS)
        ]
        if self.width > 1:
            columns = numbering(self.column_counts)
            a_column = len(column_maps) + 2 * sum(self.column_counts) * len(self.column_counts)
            ranges = blocks(self.width, a_column, steps=STEPS, min_size=COLUMNS_AT_ONCE)
            calls += [partial(fill_columns, column_maps, first, end, columns, self.shifts) for first, end in ranges]
        return calls

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        free, kinds = sum(self.column_counts), len(self.column_counts)
        a_column = COLUMNS_AT_ONCE * (free + 1) * 8 * (2 * kinds + 3)
        a_row = (self.places + 1) * 8 * (2 * len(self.row_counts) + 5)
        shared = numbering_bytes(self.row_counts) + numbering_bytes(self.column_counts) + 32 * len(self.moves)
        return (a_column + a_row + shared) * threads

    def _graph(self) -> SwapGraph:
        """Return the moves, grouped by their empty or by their occupied place, whichever kind is less frequent."""
        by_destination = 2 * self.counts[0] <= self.places
        ends = self.pairs[:, 0 if by_destination else 1]
        grouped = self.pairs[:, 1 if by_destination else 0]
        order = np.argsort(grouped, kind="stable")
        at = np.searchsorted(grouped[order], np.arange(self.places + 1)).astype(np.int64)
        return SwapGraph(at, ends[order].astype(np.uint16), by_destination)


def column_shifts(pairs: NDArray[np.int16], places: int, free: int) -> NDArray[np.int64]:
    """Return the column maps ``(maps, 2)`` of moves along ``(origin, destination)`` pairs; map 0 is the identity.

    A column is an arrangement of pieces on ``free`` places, and the row determines which places these are. They are
    numbered in ascending order, and a map is described by the numbers of the piece's origin and destination. A moving
    piece passes the free places between its origin and its destination. Their number is at most the number of all
    places between the two, and at least this number minus the number of other places that the row fills.
    """
    found = {(0, 0): 0}
    others = places - 1 - free
    origins, destinations = pairs.T.astype(np.int64)
    steps = np.flatnonzero(np.bincount(destinations - origins + places)) - places
    for step in steps.tolist():
        between = abs(step) - 1
        for passed in range(max(1, between - others), min(between, free - 1) + 1):
            up = step > 0 or passed == 1  # exchanging two adjacent pieces is the same map in both directions
            for low in range(free - passed):
                found.setdefault((low, low + passed) if up else (low + passed, low), len(found))
    return np.array(list(found), dtype=np.int64)


def maps_of(shifts: NDArray[np.int64], free: int) -> NDArray[np.int32]:
    """Return ``(free places, free places)``: the number of the map if a piece moves from the first to the second."""
    numbers = np.zeros((free, free), dtype=np.int32)
    numbers[*shifts.T] = np.arange(len(shifts))
    neighbours = np.arange(free - 1)
    numbers[neighbours + 1, neighbours] = numbers[neighbours, neighbours + 1]
    return numbers


UP, DOWN = 0, 1


@kernel
def states_and_ranks(labels: Labels, numbering: ArrangementNumbering, states: Ranks, ranks: Ranks) -> None:
    """Fill in the state before each place, and the sum that earlier labels add to the rank; both ``(places + 1,)``."""
    states[0] = ranks[0] = 0
    for place in range(len(labels)):
        label = labels[place]
        states[place + 1] = states[place] + numbering.units[label]
        ranks[place + 1] = ranks[place] + numbering.added[states[place], label]


@kernel
def changed_ranks(
    labels: Labels, states: Ranks, numbering: ArrangementNumbering, label: int, fewer: Ranks, more: Ranks
) -> None:
    """Compute ranks as in `states_and_ranks`, but in states with one piece of ``label`` fewer, and with one more.

    If there is no such state before a place, the place adds nothing. Sums that include such a place are never used.
    """
    unit, before = numbering.units[label], np.int64(0)
    fewer[0] = more[0] = 0
    for place in range(len(labels)):
        here, state = labels[place], states[place]
        fewer[place + 1] = fewer[place] + _added(before > 0, state - unit, here, numbering.added)
        more[place + 1] = more[place] + _added(before < numbering.counts[label], state + unit, here, numbering.added)
        before += here == label


@kernel
def find_rank_changes(
    labels: Labels, states: Ranks, ranks: Ranks, numbering: ArrangementNumbering, leave: Ranks, arrive: Ranks
) -> None:
    """Fill in two summands for each swap, one for its origin and one for its destination.

    Their sum is the change of the row's rank. ``leave`` ``(2, places)`` is indexed by direction and by the place of the
    piece. ``arrive`` ``(2, labels, places)`` is indexed by direction, by the label of the piece and by the empty place.
    The direction is UP, to a later place, or DOWN. If a piece moves up, the states between its origin and its
    destination have one piece with its label less, and one empty place more.
    """
    added, counts = numbering.added, numbering.counts
    for label in range(1, len(counts)):
        unit = numbering.units[label] - numbering.units[0]
        up, down = np.int64(0), np.int64(0)
        pieces_before, empty_before = np.int64(0), np.int64(0)
        for place in range(len(labels)):
            here, state = labels[place], states[place]
            up_here = _added(pieces_before > 0 and empty_before < counts[0], state - unit, here, added)
            down_here = _added(empty_before > 0 and pieces_before < counts[label], state + unit, here, added)
            if here == 0:
                if pieces_before > 0:
                    arrive[UP, label, place] = up + added[state - unit, label] - ranks[place + 1]
                if pieces_before < counts[label]:
                    arrive[DOWN, label, place] = ranks[place] + added[state, label] - down - down_here
            elif here == label and empty_before > 0:
                leave[DOWN, place] = down + added[state + unit, 0] - ranks[place + 1]
            up += up_here
            down += down_here
            if here == label:
                if empty_before < counts[0]:
                    leave[UP, place] = ranks[place] + added[state, 0] - up
                pieces_before += 1
            empty_before += here == 0


@kernel
def _added(possible: Any, state: int, label: int, added: Ranks) -> Any:
    """Return the number that a label adds to the rank in a state; 0 if there is no such state."""
    return added[state, label] if possible else np.int64(0)


def fill_rows(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    first_row: int,
    numbering: ArrangementNumbering,
    graph: SwapGraph,
    map_of: NDArray[np.int32],
) -> None:
    """Fill lines of the row tables, beginning with row ``first_row``.

    ``map_of`` is `SwapTables.map_of`. The lines of ``column_map`` are empty if there is only one column.
    """
    places, kinds = len(graph.at) - 1, len(numbering.counts)
    labels, numbers = np.empty(places, dtype=np.uint8), np.empty((3, places + 1), dtype=np.int64)
    leave, arrive = np.empty((2, places), dtype=np.int64), np.empty((2, kinds, places), dtype=np.int64)
    _fill_rows(target, column_map, first_row, numbering, graph, map_of, labels, numbers, leave, arrive)


# Kernels that Python calls get their scratch memory as arguments: np.empty and assignments to slices take long to
# compile.


@kernel
def _fill_rows(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    first_row: int,
    numbering: ArrangementNumbering,
    graph: SwapGraph,
    map_of: NDArray[np.int32],
    labels: Labels,
    numbers: Ranks,
    leave: Ranks,
    arrive: Ranks,
) -> None:
    free, states, ranks = numbers[0], numbers[1], numbers[2]
    for line in range(target.shape[0]):
        row = first_row + line
        unrank_arrangement(row, numbering, labels, free)
        states_and_ranks(labels, numbering, states, ranks)
        find_rank_changes(labels, states, ranks, numbering, leave, arrive)
        _fill_row(target[line], column_map[line], row, labels, leave, arrive, free, graph, map_of)


@kernel
def _fill_row(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    row: int,
    labels: Labels,
    leave: Ranks,
    arrive: Ranks,
    free: Ranks,
    graph: SwapGraph,
    map_of: NDArray[np.int32],
) -> None:
    """Fill a line of the row tables; write the number of free places before each place to ``free`` ``(places,)``."""
    free_label, mapped, before = arrive.shape[1] - 1, len(column_map) > 0, np.int64(0)
    for place in range(len(labels)):
        free[place] = before
        before += labels[place] == free_label
    # Edges are listed by the end that fewer places can be: the places with label 0 if there are few of them
    # (`by_destination`), otherwise the others. So few edges are tried. Legal moves come first.
    slot = np.uint64(0)
    for place in range(len(labels)):
        if (labels[place] == 0) != graph.by_destination:
            continue
        for edge in range(graph.at[place], graph.at[place + 1]):
            a, b = np.uint64(place), np.uint64(graph.ends[edge])
            if (labels[b] == 0) == graph.by_destination:
                continue
            if graph.by_destination:
                a, b = b, a
            direction, label = UP if a < b else DOWN, labels[a]
            target[slot] = row + leave[direction, a] + arrive[direction, label, b]
            if mapped:
                column_map[slot] = map_of[free[a], free[b] - (a < b)] if label == free_label else 0
            slot += np.uint64(1)
    for rest in range(slot, np.uint64(len(target))):
        target[rest] = -1
        if mapped:
            column_map[rest] = 0


def fill_columns(
    column_maps: ColumnMaps, first: int, end: int, numbering: ArrangementNumbering, shifts: NDArray[np.int64]
) -> None:
    """Fill the column maps for the columns from ``first`` to ``end``; ``shifts`` is `SwapTables.shifts`."""
    free, kinds = int(numbering.counts.sum()), len(numbering.counts)
    labels, scratch = np.empty((COLUMNS_AT_ONCE, free), dtype=np.uint8), np.empty(free, dtype=np.int64)
    states, ranks = np.empty((2, COLUMNS_AT_ONCE, free + 1), dtype=np.int64)
    changed = np.empty((COLUMNS_AT_ONCE, kinds, 2, free + 1), dtype=np.int64)
    _fill_columns(column_maps, first, end, numbering, shifts, labels, scratch, states, ranks, changed)


@kernel
def _fill_columns(
    column_maps: ColumnMaps,
    first: int,
    end: int,
    numbering: ArrangementNumbering,
    shifts: NDArray[np.int64],
    labels: Labels,
    scratch: Ranks,
    states: Ranks,
    ranks: Ranks,
    changed: Ranks,
) -> None:
    free = len(scratch)
    for begin in range(first, end, COLUMNS_AT_ONCE):
        columns = min(COLUMNS_AT_ONCE, end - begin)
        for i in range(columns):
            unrank_arrangement(begin + i, numbering, labels[i], scratch)
            states_and_ranks(labels[i], numbering, states[i], ranks[i])
            for label in range(len(numbering.counts)):
                changed_ranks(labels[i], states[i], numbering, label, changed[i, label, UP], changed[i, label, DOWN])
            column_maps[0, begin + i] = begin + i
        for number in range(1, len(shifts)):
            origin, destination = shifts[number, 0], shifts[number, 1]
            up = origin < destination
            direction, low, high = (UP, origin, destination) if up else (DOWN, destination, origin)
            from_place, to_place = low + up, high + up
            for i in range(columns):
                label = labels[i, origin]
                between = changed[i, label, direction, to_place] - changed[i, label, direction, from_place]
                state = states[i, destination + up] - (numbering.units[label] if up else 0)
                rest = ranks[i, free] - ranks[i, high + 1]
                column_maps[number, begin + i] = ranks[i, low] + between + numbering.added[state, label] + rest
