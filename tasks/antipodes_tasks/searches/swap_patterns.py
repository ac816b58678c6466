"""Additive pattern databases as a heuristic: sums of tables of disjoint tiles, and the greatest of several sums.

A table says how many moves of its own tiles a position needs at least. So tables without a common tile add up, and the
greatest of several sums is a bound, too (A. Felner, R. E. Korf and S. Hanan, Additive Pattern Database Heuristics,
2004). Symmetries of the board that leave the goal as it is give further sums from the same tables. Tiles in no table of
a sum contribute their Manhattan distance.

A search keeps the row and the column of its position in each table. A move changes those of the tables that have the
tile, by their move tables; so a look-up costs a few reads, and ranks nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.reachability.position_set import Numbers, Words
from antipodes_tasks.rules.counted_swaps import EMPTY, CountedSwaps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import swap_edges
from antipodes_tasks.searches.addresses import address_of, byte_at
from antipodes_tasks.searches.depth_first import (
    DEPTH,
    EXPANDED,
    FAR,
    FOUND,
    GENERATED,
    NEXT_BOUND,
    Descent,
    Pass,
    listed,
    room_for_paths,
    swap_leads_to_goal,
)
from antipodes_tasks.searches.heuristics import NEVER
from antipodes_tasks.searches.patterns import UNREACHED, Patterns
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.shares import NODE, WHOLE, Share
from antipodes_tasks.searches.swap_rows import SwapRows
from antipodes_tasks.spaces.space import NOT_NUMBERED
from antipodes_tasks.symmetries.finding import symmetries_of
from antipodes_tasks.symmetries.symmetry import Symmetry

MOST_SYMMETRIES = 16
"""Symmetries of which each gives sums: a rectangle has eight at most."""
ZERO, ONE = np.uint64(0), np.uint64(1)
NO_TABLE = NOT_EXPANDED = NOTHING = ~ZERO


@dataclass(frozen=True, eq=False)
class PatternTable:
    """The table of a pattern: the distances of its entries from the goal."""

    name: str
    rows: SwapRows
    """Its entries."""
    label_of: NDArray[np.uint8]
    """``(labels,)``: the label that each label of the puzzle has in the pattern."""
    values: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, dtype=np.uint8))
    """``(entries,)``: its distances, UNREACHED where no moves lead; none before they are loaded."""

    @property
    def adds(self) -> bool:
        """Whether it counts the moves of some tiles alone, so that it adds to tables of others."""
        return isinstance(self.rows.rules.moves, CountedSwaps)

    @cached_property
    def tiles(self) -> frozenset[int]:
        """The labels of the puzzle whose moves it counts."""
        moves = self.rows.rules.moves
        uncounted = (EMPTY, moves.free) if isinstance(moves, CountedSwaps) else (EMPTY,)
        counted = np.flatnonzero(~np.isin(self.label_of, uncounted)) if self.adds else np.arange(1, len(self.label_of))
        return frozenset(counted.tolist())

    def read(self, indices: Numbers) -> Numbers:
        """What it says of entries ``(n,)``; NEVER where no moves lead."""
        found = self.values[np.maximum(indices, 0)].astype(np.int64)
        return np.where((found == UNREACHED) | (indices == NOT_NUMBERED), NEVER, found)


class LookUp(NamedTuple):
    """A table that a sum looks up for the image of a position."""

    table: PatternTable
    symmetry: Symmetry

    @property
    def counted(self) -> NDArray[np.bool_]:
        """``(labels,)``: whether the table counts the moves of the image of each label."""
        return np.isin(self.symmetry.labels[0], list(self.table.tiles))  # pieces change in the same way everywhere

    def entry(self, position: Labels) -> int:
        """The entry of the image of one position ``(places,)``."""
        image = self.table.label_of[self.symmetry.image(position[np.newaxis])[0]]
        return self.table.rows.numbering.rank_one(image.tolist())

    def said(self, labels: Labels) -> Numbers:
        """What the table says of the images of positions ``(n, places)``, ``(n,)``."""
        images = self.table.label_of[self.symmetry.image(labels)]
        return self.table.read(self.table.rows.numbering.rank(images))


@dataclass(frozen=True, eq=False)
class SwapPatterns(Patterns):
    """The greatest of several sums of tables, each with the Manhattan distance of the tiles in none of its tables."""

    rules: Rules
    goal: Labels
    """``(places,)``: the position to which the tables count the moves."""
    sums: tuple[tuple[LookUp, ...], ...]
    costs: Numbers
    """``(labels, places)``: the Manhattan distance of each tile."""

    @classmethod
    def of(cls, rules: Rules, goal: Labels, tables: Sequence[PatternTable], costs: Numbers) -> "SwapPatterns":
        """The heuristic for distances to a goal ``(places,)``: each table joins the first sum that has none of its
        tiles; one that counts all moves is alone.
        """
        sums: list[list[PatternTable]] = []
        for table in tables:
            disjoint = (own for own in sums if not any(table.tiles & other.tiles for other in own))
            joined = next(disjoint, None) if table.adds else None
            if joined is None:
                sums.append(joined := [])
            joined.append(table)
        found = symmetries_of(rules, goal[np.newaxis])
        identity = found.encoding.symmetry(np.arange(found.chain.points))
        symmetries = found.elements() if found.order <= MOST_SYMMETRIES else (identity,)
        views = (tuple(LookUp(table, one) for table in own) for one in symmetries for own in sums)
        return cls(rules, goal, tuple(views), costs)

    @cached_property
    def views(self) -> tuple[LookUp, ...]:
        """The look-ups of all sums."""
        return tuple(view for own in self.sums for view in own)

    @cached_property
    def single(self) -> Numbers:
        """``(sums, labels, places)``: the cost of each tile that no table of a sum has; 0 for the others."""
        single = np.repeat(self.costs[np.newaxis], len(self.sums), axis=0)
        for number, own in enumerate(self.sums):
            for view in own:
                single[number, view.counted] = 0
        return single

    @property
    def name(self) -> str:
        """The tables that are added, and of how many such sums it is the greatest: ``seven + eight, greatest of 2``."""
        different = dict.fromkeys(" + ".join(view.table.name for view in own) for own in self.sums)
        greatest = f", greatest of {len(self.sums)}" if len(self.sums) > 1 else ""
        return ", ".join(different) + greatest

    def estimate(self, position: Labels) -> int:
        """The heuristic of one position ``(places,)``; NEVER where a table knows that no moves lead to the goal."""
        return min(NEVER, int(self.root(position).sums.max()))

    def estimates(self, labels: Labels) -> Numbers:
        """As `estimate`, of positions ``(n, places)``, ``(n,)``."""
        greatest = np.zeros(len(labels), dtype=np.int64)
        for single, own in zip(self.single, self.sums, strict=True):
            total = single[labels, np.arange(labels.shape[1])].sum(axis=1)
            for view in own:
                total += view.said(labels)
            np.maximum(greatest, total, out=greatest)
        return np.minimum(greatest, NEVER)

    def descent(self, depth: int, problem: Problem, request: Request, share: Share = WHOLE) -> Descent:
        """The search for paths of ``depth`` moves, guided by the tables."""
        return _descent(depth, problem, self, request, share)

    def root(self, position: Labels) -> "_Entries":
        """The entries of one position ``(places,)``, and what they say."""
        indices = [view.entry(position) for view in self.views]
        values = [int(view.table.read(np.array([index]))[0]) for view, index in zip(self.views, indices, strict=True)]
        rest = iter(values)
        places = np.arange(len(position))
        sums = [
            int(single[position, places].sum()) + sum(islice(rest, len(own)))
            for single, own in zip(self.single, self.sums, strict=True)
        ]
        cells = [divmod(index, view.table.rows.width) for view, index in zip(self.views, indices, strict=True)]
        rows = [
            self.first_moves[view.table.rows] + row * len(view.table.rows.edges)
            for view, (row, _) in zip(self.views, cells, strict=True)
        ]
        columns = [column for _, column in cells]
        return _Entries(
            np.array(rows, dtype=np.int64).astype(np.uint64),
            np.array(columns, dtype=np.uint64),
            np.array(values, dtype=np.int64),
            np.array(sums, dtype=np.int64),
        )

    @cached_property
    def first_moves(self) -> dict[SwapRows, int]:
        """The different numberings, and where the moves of each begin among those of all."""
        different = dict.fromkeys(view.table.rows for view in self.views)
        sizes = [rows.rows * len(rows.edges) for rows in different]
        return dict(zip(different, accumulate(sizes, initial=0), strict=False))

    @cached_property
    def arrays(self) -> "_Arrays":
        """The heuristic for the kernel."""
        return _arrays(self)


class _Arrays(NamedTuple):
    """The heuristic and the moves; an edge is the place of a piece and that of the blank, in order of the blank's."""

    origin: Words
    """``(edges,)``: the place of the piece."""
    destination: Words
    first_of: Words
    """``(places + 1,)``: where the edges to each place begin."""
    inverse: Words
    """``(edges,)``: the edge backwards."""
    view_of: Words
    """``(sums, labels)``: the view whose table has each tile, or NO_TABLE."""
    edge_of: Words
    """``(views, edges)``: the number of each edge among the moves of a row of the view's table."""
    moves: NDArray[np.uint32 | np.uint64]
    """``(moves, 3)``: the first move of the row that a move leads to, the first value of that row, and where the column
    map begins. Those of a row follow one another, by the edges of its table. Of 64 bits where 32 are too few."""
    maps: NDArray[np.uint32]
    """All column maps, one after another."""
    gains: Numbers
    """``(edges, labels)``: the change of the Manhattan distance."""


def _arrays(patterns: SwapPatterns) -> _Arrays:
    edges = sorted(swap_edges(patterns.rules) or (), key=lambda edge: (edge[1], edge[0]))
    number = {edge: i for i, edge in enumerate(edges)}
    origin, destination = np.array(edges, dtype=np.uint64).reshape(-1, 2).T.copy()
    views = patterns.views
    moves, maps = _move_arrays(patterns)
    view_of = np.full((len(patterns.sums), len(patterns.rules.symbols)), NO_TABLE)
    edge_of = np.empty((len(views), len(edges)), dtype=np.uint64)
    for i, view in enumerate(views):
        own = {edge: k for k, edge in enumerate(view.table.rows.edges)}
        ends = zip(view.symmetry.places[origin].tolist(), view.symmetry.places[destination].tolist(), strict=True)
        edge_of[i] = [own[edge] for edge in ends]
    of_sum = [s for s, own in enumerate(patterns.sums) for _ in own]
    for i, view in enumerate(views):
        view_of[of_sum[i], view.counted] = i
    return _Arrays(
        origin,
        destination,
        np.searchsorted(destination, np.arange(patterns.rules.places + 1)).astype(np.uint64),
        np.array([number[b, a] for a, b in edges], dtype=np.uint64),
        view_of,
        edge_of,
        moves,
        maps,
        (patterns.costs[:, destination] - patterns.costs[:, origin]).T.copy(),
    )


def _move_arrays(patterns: SwapPatterns) -> tuple[NDArray[np.uint32 | np.uint64], NDArray[np.uint32]]:
    """The moves and the column maps of all different numberings."""
    # a table of nine tiles has more than 2^32 entries; of fewer ones, half the memory is read faster
    largest = max(rows.numbering.size for rows in patterns.first_moves)
    word = np.uint32 if largest < 1 << 32 else np.uint64
    moves, maps, map_begin = list[NDArray[np.uint32 | np.uint64]](), list[NDArray[np.uint32]](), 0
    for rows, begin in patterns.first_moves.items():
        filled, width = rows.tables(), rows.width
        row = filled.target.ravel().astype(np.int64)
        column_map = np.zeros(len(row), np.int64) if width == 1 else filled.column_map.ravel().astype(np.int64)
        columns = (begin + row * len(rows.edges), row * width, map_begin + column_map * width)
        moves.append(np.stack(columns, axis=1).astype(word))
        maps.append(filled.column_maps.ravel().astype(np.uint32))
        map_begin += filled.column_maps.size
    return np.concatenate(moves), np.concatenate(maps)


class _Entries(NamedTuple):
    """The entries of a position; or of those on a path, in arrays that begin with its depth."""

    rows: Words
    """``(views,)``: the row in each table, by its first move."""
    columns: Words
    values: Numbers
    """``(views,)``: what each table says."""
    sums: Numbers
    """``(sums,)``."""


class _Children(NamedTuple):
    """The moves from each position of a path that the heuristic does not prune, a few for each depth."""

    edge: Words
    """``(bound, most)``: the edge."""
    sums: Numbers
    """``(bound, most, sums)``: the sums after it."""
    kept: Words
    """``(bound,)``: how many moves there are; NOT_EXPANDED if that is to be found."""
    tried: Words
    """``(bound,)``: how many were searched."""


class _Path(NamedTuple):
    """The path that is searched, and what was found."""

    labels: Labels
    """``(places,)``: its last position."""
    taken: Words
    """``(bound,)``: its moves."""
    tally: Numbers
    found: Words
    """``(paths, bound)``: the moves of the paths found, while there is room."""


def _descent(depth: int, problem: Problem, patterns: SwapPatterns, request: Request, share: Share) -> Descent:
    """The search for paths of ``depth`` moves, guided by pattern tables."""
    arrays = patterns.arrays
    most = int(np.diff(arrays.first_of).max(initial=0))
    first = patterns.root(problem.position)
    words = (np.tile(first.rows, (depth, 1)), np.tile(first.columns, (depth, 1)))
    entries = _Entries(*words, np.tile(first.values, (depth, 1)), np.tile(first.sums, (depth, 1)))
    children = _Children(
        edge=np.zeros((depth, most), dtype=np.uint64),
        sums=np.zeros((depth, most, len(patterns.sums)), dtype=np.int64),
        kept=np.full(depth, NOT_EXPANDED),
        tried=np.zeros(depth, dtype=np.uint64),
    )
    tally, paths = np.array([0, 0, 0, FAR, 0, 0]), room_for_paths(depth, request, np.uint64, depth)
    path = _Path(problem.position.copy(), np.zeros(depth, dtype=np.uint64), tally, paths)
    # addresses are of this process, so they are not kept
    addresses = np.array([address_of(view.table.values) for view in patterns.views], dtype=np.uint64)
    fixed = (entries, children, problem.goals, arrays, addresses, request.every)

    def result() -> Pass:
        found = listed(paths, int(tally[FOUND]), problem, request)
        return Pass(
            [_replayed(problem.position, patterns.arrays, one) for one in found], *tally[[FOUND, NEXT_BOUND]].tolist()
        )

    return Descent(lambda budget: _descend_by_patterns(path, budget, *fixed, *share.words), tally, result)


def _replayed(position: Labels, arrays: _Arrays, edges: Words) -> Labels:
    """The positions along a path of moves."""
    positions = [position]
    for edge in edges.tolist():
        after = positions[-1].copy()
        after[arrays.destination[edge]], after[arrays.origin[edge]] = after[arrays.origin[edge]], 0
        positions.append(after)
    return np.array(positions)


@kernel
def _descend_by_patterns(
    path: _Path,
    budget: int,
    entries: _Entries,
    children: _Children,
    goals: Labels,
    arrays: _Arrays,
    address: Words,
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> bool:
    """Whether the search is over; otherwise it has expanded ``budget`` positions and must be called again.

    All successors of a position are looked up before one is searched, so the processor waits for memory once. It is
    the `Share` of the other arguments; the first share counts the positions above the split.
    """
    labels, taken, tally, paths = path
    rows, columns, own, sums = entries
    edge, next_sums, kept, tried = children
    origin, destination, first_of, inverse, view_of, edge_of, moves, maps, gains = arrays
    greatest, all_sums, all_views = np.uint64(len(taken)), np.uint64(sums.shape[1]), np.uint64(rows.shape[1])
    expanded, next_bound, generated = tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED]
    depth, stop, over = np.uint64(tally[DEPTH]), expanded + budget, False
    while expanded < stop and not over:
        if kept[depth] == NOT_EXPANDED:
            counts = np.int64(depth >= split or part == ZERO)
            expanded += counts
            blank = origin[taken[depth - ONE]] if depth > ZERO else _place_of_blank(labels)
            back, k = inverse[taken[depth - ONE]] if depth > ZERO else NOTHING, ZERO
            for e in range(first_of[blank], first_of[blank + ONE]):
                if e == back:
                    continue
                generated += counts
                piece, estimate = np.uint64(labels[origin[e]]), 0
                for s in range(all_sums):
                    v, total = view_of[s, piece], sums[depth, s]
                    if v == NO_TABLE:
                        total += gains[e, piece]
                    else:
                        move = rows[depth, v] + edge_of[v, e]
                        column = np.uint64(maps[np.uint64(moves[move, 2]) + columns[depth, v]])
                        value = np.int64(byte_at(address[v] + np.uint64(moves[move, 1]) + column))
                        total += value - own[depth, v]
                    next_sums[depth, k, s] = total
                    estimate = max(estimate, total)
                total = np.int64(depth) + 1 + estimate
                if total > greatest:
                    next_bound = min(next_bound, total)
                elif depth + ONE < greatest:
                    edge[depth, k] = e
                    k += ONE
                else:
                    next_bound = min(next_bound, total + 1)
                    if swap_leads_to_goal(labels, origin[e], destination[e], goals):
                        taken[depth] = e
                        _add_path(taken, tally, paths)
                        over = not every
                        if over:
                            break
            kept[depth], tried[depth] = k, ZERO
        elif tried[depth] < kept[depth]:
            k, after = tried[depth], depth + ONE
            tried[depth] += ONE
            if after == split:
                tally[NODE] += 1
                if np.uint64(tally[NODE] - 1) % parts != part:
                    continue
            e = edge[depth, k]
            piece = np.uint64(labels[origin[e]])
            for v in range(all_views):
                rows[after, v], columns[after, v], own[after, v] = rows[depth, v], columns[depth, v], own[depth, v]
            for s in range(all_sums):
                v, sums[after, s] = view_of[s, piece], next_sums[depth, k, s]
                if v != NO_TABLE:
                    move = rows[depth, v] + edge_of[v, e]
                    rows[after, v] = moves[move, 0]
                    columns[after, v] = maps[np.uint64(moves[move, 2]) + columns[depth, v]]
                    own[after, v] += sums[after, s] - sums[depth, s]
            labels[destination[e]], labels[origin[e]] = piece, 0
            taken[depth], kept[after], depth = e, NOT_EXPANDED, after
        elif depth == ZERO:
            over = True
        else:
            depth -= ONE
            e = taken[depth]
            labels[origin[e]], labels[destination[e]] = labels[destination[e]], 0
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED] = depth, expanded, next_bound, generated
    return over


@kernel
def _place_of_blank(labels: Labels) -> np.uint64:
    blank = ZERO
    while labels[blank] != 0:
        blank += ONE
    return blank


@kernel
def _add_path(taken: Words, tally: Numbers, paths: Words) -> None:
    """Count a path, and write it down if there is room."""
    if tally[FOUND] < len(paths):
        for i in range(len(taken)):
            paths[tally[FOUND], i] = taken[i]
    tally[FOUND] += 1
