"""Depth-first search of a sliding puzzle with one blank, guided by sums of pattern tables.

The search keeps the row and the column of its position in each table. When a tile moves, it updates them for the tables
that contain the tile, by looking up their move tables. So a lookup takes a few reads, and no position is ranked.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.rules.swaps import positions_along
from antipodes_tasks.searches.depth_first import (
    DEPTH,
    EXPANDED,
    FAR,
    FOUND,
    GENERATED,
    NEXT_BOUND,
    Descent,
    Pass,
    paths_to_list,
    room_for_paths,
    swap_leads_to_goal,
)
from antipodes_tasks.searches.pointers import address_of, byte_at
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.shares import NODE, Share

ZERO, ONE = np.uint64(0), np.uint64(1)
NO_TABLE = ~ZERO
ENTRY = 3
ROW, COLUMN, VALUE, SUM, BEFORE = (np.uint64(number) for number in range(ENTRY + 2))
"""Indices of the words of a slot; the first ENTRY words are an entry."""
SLOT = np.uint64(8)
"""Number of words of a slot, which is one line of the processor's cache."""
ADDRESS, MOVES, WIDTH, MAPS = (np.uint64(number) for number in range(4))
"""Columns of ``views``: the address of the table's values, its first move in ``moves``, its number of columns, and its
first column map in ``maps``."""
UNBOUNDED = np.uint64(FAR)


class RootEntries(NamedTuple):
    """The entries of the root position in the tables."""

    entries: Words
    """``(views, ENTRY)``: the start of the row's moves, the column, and the table's value."""
    sums: Numbers
    """``(sums,)``: for each sum of table values, its value at the root."""


class PatternArrays(NamedTuple):
    """The heuristic and the moves. A move takes a piece along an *edge*, from the piece's place to the blank's place.

    Edges are sorted by the blank's place.
    """

    origin: Words
    """``(edges,)``: the place of the piece; ``destination`` is the place of the blank."""
    destination: Words
    following: Words
    """The edges that may follow each edge, concatenated."""
    first_of: Words
    """``(edges + places + 1,)``: where lists of edges start in ``following``.

    For each edge, there is the list of the edges that may follow it without undoing it. Then follows, for each place of
    the blank, the list of the edges that lead there; these are the possible first moves.
    """
    view_of: Words
    """``(sums, labels)``: the view whose table contains each tile, or NO_TABLE."""
    edge_of: Words
    """``(views, edges)``: the number of the move along each edge, among the moves of a row of the view's table."""
    views: Words
    """``(views, 4)``: ADDRESS (filled in later), MOVES, WIDTH and MAPS of each view."""
    moves: NDArray[np.uint32 | np.uint64]
    """The target row of each move, with its column map in the lower bits.

    The moves of a row are contiguous and sorted by the place of the blank, so that moves that are looked up together
    are in one cache line.
    """
    maps: NDArray[np.uint16 | np.uint32]
    """All column maps, concatenated."""
    bits: np.uint64
    """Number of lower bits of an element of ``moves`` that hold the column map."""
    gains: Words
    """``(edges, labels)``: the change of the Manhattan distance, modulo 2^64."""


class _Path(NamedTuple):
    """The current path, and the paths found.

    Each successor of a position on the path that the heuristic does not prune has a group of slots, one for each sum.
    """

    labels: Labels
    """``(places,)``: the last position of the path."""
    slots: Words
    """``(slots, SLOT)``, flat: an entry, the sum, and the previous slot of the view.

    The first slots contain the root's entry in each view. Then come a group with the root's sums, and the groups at
    each depth.
    """
    slot_of: Words
    """``(views,)``: the start of the slot that holds the last position's entry in each view."""
    group_of: Words
    """``(bound,)``: for each depth, the start of the position's group of slots."""
    edge: Words
    """``(bound, most)``, flat: the moves to the successors that are not pruned."""
    kept: Words
    """``(bound,)``: number of successors that are not pruned."""
    tried: Words
    """``(bound,)``: number of these successors whose search has begun."""
    tally: Numbers
    found: Words
    """``(paths, bound)``: the moves of the paths found, while there is room."""

    @classmethod
    def of(cls, position: Labels, depth: int, arrays: PatternArrays, root: RootEntries, room: Words) -> "_Path":
        """Return the path that consists of the root only."""
        views, sums = len(root.entries), len(root.sums)
        most = int(np.diff(arrays.first_of).max(initial=0))
        slots = np.zeros((views + (1 + depth * most) * sums, int(SLOT)), dtype=np.uint64)
        slots[:views, :ENTRY] = root.entries
        slots[views : views + sums, SUM] = root.sums
        return cls(
            labels=position.copy(),
            slots=slots.ravel(),
            slot_of=np.arange(views, dtype=np.uint64) * SLOT,
            group_of=np.full(depth, views * SLOT, dtype=np.uint64),
            edge=np.zeros(depth * most, dtype=np.uint64),
            kept=np.zeros(depth, dtype=np.uint64),
            tried=np.zeros(depth, dtype=np.uint64),
            tally=np.array([0, 0, 0, FAR, 0, 0]),
            found=room,
        )


def descent_by_patterns(
    depth: int,
    problem: Problem,
    request: Request,
    share: Share,
    arrays: PatternArrays,
    root: RootEntries,
    values: Sequence[NDArray[np.uint8]],
) -> Descent:
    """Return the search for paths of ``depth`` moves; ``values`` contains the values of each view's table."""
    path = _Path.of(problem.position, depth, arrays, root, room_for_paths(depth, request, np.uint64, depth))

    def advance(budget: int) -> bool:
        views = arrays.views.copy()
        views[:, ADDRESS] = [address_of(own) for own in values]  # valid in this process, while `values` is alive
        here = arrays._replace(views=views)
        return _descend_by_patterns(path, budget, problem.goals, here, request.every, *share.words)

    def result() -> Pass:
        found = paths_to_list(path.found, int(path.tally[FOUND]), problem, request)
        swaps = (np.stack((arrays.origin[edges], arrays.destination[edges]), axis=1) for edges in found)
        positions = [positions_along(problem.position, one) for one in swaps]
        return Pass(positions, *path.tally[[FOUND, NEXT_BOUND]].tolist())

    return Descent(advance, path.tally, result)


@kernel
def _descend_by_patterns(
    path: _Path,
    budget: int,
    goals: Labels,
    arrays: PatternArrays,
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> bool:
    """Continue the search for about ``budget`` expansions; return whether it is complete.

    All successors of a position are looked up before the first of them is searched, and no lookup depends on the result
    of another, so the processor waits for memory only once. ``split``, ``part`` and ``parts`` are the `Share`; the
    first share counts the positions above the split.
    """
    labels, slots, slot_of, group_of, edge, kept, tried, tally, paths = path
    origin, destination, following, first_of, view_of, edge_of, views, moves, maps, bits, gains = arrays
    greatest, of_group = np.uint64(len(kept)), np.uint64(len(view_of)) * SLOT
    most, first_group = np.uint64(len(edge)) // greatest, np.uint64(len(slot_of)) * SLOT + of_group
    expanded, next_bound, generated = tally[EXPANDED], np.uint64(tally[NEXT_BOUND]), tally[GENERATED]
    depth, stop, over = np.uint64(tally[DEPTH]), expanded + budget, False
    while expanded < stop and not over:
        first, left = depth * most, greatest - depth - ONE
        last = edge[first - most + tried[depth - ONE] - ONE] if depth > ZERO else _pseudo_edge(labels, len(origin))
        counts = np.int64(depth >= split or part == ZERO)
        expanded += counts
        generated += counts * np.int64(first_of[last + ONE] - first_of[last])
        k, slot = first, first_group + first * of_group
        # Each successor is written to the next free place of `edge`. The place advances only if the successor fits, so
        # no branch has to wait for the lookup.
        for i in range(first_of[last], first_of[last + ONE]):
            e = following[i]
            total = _look_up(
                e,
                np.uint64(labels[origin[e]]),
                group_of[depth],
                slot,
                slots,
                slot_of,
                view_of,
                edge_of,
                views,
                moves,
                maps,
                bits,
                gains,
            )
            fits = np.uint64(total <= left)
            next_bound = min(next_bound, depth + ONE + total + fits * UNBOUNDED)
            edge[k] = e
            k += fits
            slot += fits * of_group
        kept[depth], tried[depth] = k - first, ZERO
        if left == ZERO and k > first:
            next_bound = min(next_bound, greatest + ONE)
            over = _take_goals(labels, origin, destination, goals, edge, kept, tried, tally, paths) and not every
        new = False
        while not (new or over):
            if tried[depth] < kept[depth]:
                k = depth * most + tried[depth]
                tried[depth] += ONE
                new = depth + ONE != split or _is_own(tally, part, parts)
                if new:
                    depth += ONE
                    group_of[depth] = first_group + k * of_group
                    _move(edge[k], group_of[depth], labels, origin, destination, view_of, slots, slot_of)
            elif depth == ZERO:
                over = True
            else:
                group = group_of[depth]
                depth -= ONE
                k = depth * most + tried[depth] - ONE
                _take_back(edge[k], group, labels, origin, destination, view_of, slots, slot_of)
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED] = depth, expanded, next_bound, generated
    return over


@kernel
def _look_up(
    e: np.uint64,
    piece: np.uint64,
    group: np.uint64,
    slot: np.uint64,
    slots: Words,
    slot_of: Words,
    view_of: Words,
    edge_of: Words,
    views: Words,
    moves: NDArray[np.uint32 | np.uint64],
    maps: NDArray[np.uint16 | np.uint32],
    bits: np.uint64,
    gains: Words,
) -> np.uint64:
    """Return the largest sum after a piece moves along an edge; the sums before the move are in ``group``.

    The changed entries and sums are written to the group of slots that begins at ``slot``.
    """
    greatest, edges, low = ZERO, np.uint64(len(gains)), (ONE << bits) - ONE
    # In each sum, at most one table contains the piece, and only its entry changes. A piece in no table of a sum
    # contributes its Manhattan distance.
    for s in range(np.uint64(len(view_of))):
        v, total, new = view_of[s, piece], slots[group + s * SLOT + SUM], slot + s * SLOT
        if v == NO_TABLE:
            total += gains[e, piece]
        else:
            own, width = slot_of[v], views[v, WIDTH]
            move = np.uint64(moves[slots[own + ROW] + edge_of[v, e]])
            row = move >> bits
            column = np.uint64(maps[views[v, MAPS] + (move & low) * width + slots[own + COLUMN]])
            value = np.uint64(byte_at(views[v, ADDRESS] + row * width + column))
            total += value - slots[own + VALUE]
            slots[new + ROW], slots[new + COLUMN] = views[v, MOVES] + row * edges, column
            slots[new + VALUE] = value
        slots[new + SUM] = total
        greatest = max(greatest, total)
    return greatest


@kernel
def _move(
    e: np.uint64,
    group: np.uint64,
    labels: Labels,
    origin: Words,
    destination: Words,
    view_of: Words,
    slots: Words,
    slot_of: Words,
) -> None:
    """Make the move along an edge; the views that contain the piece now use the slots of ``group``."""
    piece = np.uint64(labels[origin[e]])
    labels[destination[e]], labels[origin[e]] = piece, 0
    for s in range(np.uint64(len(view_of))):
        v = view_of[s, piece]
        if v != NO_TABLE:
            slots[group + s * SLOT + BEFORE], slot_of[v] = slot_of[v], group + s * SLOT


@kernel
def _take_back(
    e: np.uint64,
    group: np.uint64,
    labels: Labels,
    origin: Words,
    destination: Words,
    view_of: Words,
    slots: Words,
    slot_of: Words,
) -> None:
    """Undo `_move`."""
    piece = np.uint64(labels[destination[e]])
    labels[origin[e]], labels[destination[e]] = piece, 0
    for s in range(np.uint64(len(view_of))):
        v = view_of[s, piece]
        if v != NO_TABLE:
            slot_of[v] = slots[group + s * SLOT + BEFORE]


@kernel
def _is_own(tally: Numbers, part: np.uint64, parts: np.uint64) -> bool:
    """Count the next position at the split depth; return whether it belongs to the share."""
    tally[NODE] += 1
    return bool(np.uint64(tally[NODE] - 1) % parts == part)


@kernel
def _take_goals(
    labels: Labels,
    origin: Words,
    destination: Words,
    goals: Labels,
    edge: Words,
    kept: Words,
    tried: Words,
    tally: Numbers,
    paths: Words,
) -> bool:
    """Count and record the successors at the last depth that are goals; return whether there are any."""
    last, found = np.uint64(len(kept)) - ONE, tally[FOUND]
    most = np.uint64(len(edge)) // (last + ONE)
    while tried[last] < kept[last]:
        e = edge[last * most + tried[last]]
        tried[last] += ONE
        if swap_leads_to_goal(labels, origin[e], destination[e], goals):
            if tally[FOUND] < len(paths):
                for depth in range(last + ONE):
                    paths[tally[FOUND], depth] = edge[depth * most + tried[depth] - ONE]
            tally[FOUND] += 1
    return bool(tally[FOUND] > found)


@kernel
def _pseudo_edge(labels: Labels, edges: int) -> np.uint64:
    """Return the pseudo-edge that precedes the first move: the number of edges plus the blank's place."""
    blank = ZERO
    while labels[blank] != 0:
        blank += ONE
    return np.uint64(edges) + blank
