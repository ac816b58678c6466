"""Additive pattern databases of sliding puzzles: sums of tables of disjoint sets of tiles, and the maximum of sums.

A table contains the minimum number of moves of its own tiles. So the values of tables without a common tile can be
added, and the maximum of several sums is a lower bound, too (A. Felner, R. E. Korf and S. Hanan, Additive Pattern
Database Heuristics, 2004). Symmetries of the board that leave the goal unchanged give further sums from the same
tables. Tiles that are in no table of a sum contribute their Manhattan distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.counted_swaps import EMPTY
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import swap_edges
from antipodes_tasks.searches.depth_first import Descent
from antipodes_tasks.searches.pattern_databases import UNREACHED, Patterns
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.shares import WHOLE, Share
from antipodes_tasks.searches.sliding_dfs import ENTRY, NO_TABLE, PatternArrays, RootEntries, descent_by_patterns
from antipodes_tasks.searches.sliding_rows import SwapRows
from antipodes_tasks.spaces.space import NOT_NUMBERED

MAX_SYMMETRIES = 16
"""Maximum number of symmetries that are used for further sums; a rectangle has at most eight."""


@dataclass(frozen=True, eq=False)
class PatternTable:
    """The table of a pattern: the distances of its entries from the goal."""

    name: str
    rows: SwapRows
    """The rows and columns of its entries."""
    label_of: NDArray[np.uint8]
    """``(labels,)``: the label in the pattern of each label of the puzzle."""
    values: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, dtype=np.uint8))
    """``(entries,)``: the distances, UNREACHED for unreachable entries; empty until they are loaded."""

    @property
    def adds(self) -> bool:
        """Whether the table only counts the moves of some tiles, so that it can be added to tables of other tiles."""
        return self.rows.rules.moves.free is not None

    @cached_property
    def tiles(self) -> frozenset[int]:
        """Labels of the puzzle whose moves the table counts."""
        free = self.rows.rules.moves.free
        counted = np.arange(1, len(self.label_of))
        if free is not None:
            counted = np.flatnonzero(~np.isin(self.label_of, (EMPTY, free)))
        return frozenset(counted.tolist())

    def read(self, indices: Numbers) -> Numbers:
        """Return the distances of entries ``(n,)``; UNREACHABLE_COST for unreachable entries."""
        found = self.values[np.maximum(indices, 0)].astype(np.int64)
        return np.where((found == UNREACHED) | (indices == NOT_NUMBERED), UNREACHABLE_COST, found)


class LookUp(NamedTuple):
    """A table in a sum that is looked up at the position's image under a symmetry."""

    table: PatternTable
    symmetry: Symmetry

    @property
    def counted(self) -> NDArray[np.bool_]:
        """``(labels,)``: whether the table counts the moves of each label's image under the symmetry."""
        return np.isin(self.symmetry.labels[0], list(self.table.tiles))  # pieces are mapped alike on every place

    def entry(self, position: Labels) -> int:
        """Return the index of the entry of the image of one position ``(places,)``."""
        image = self.table.label_of[self.symmetry.image(position[np.newaxis])[0]]
        return self.table.rows.numbering.rank_one(image.tolist())

    def look_up(self, labels: Labels) -> Numbers:
        """Return the table's values ``(n,)`` for the images of positions ``(n, places)``."""
        images = self.table.label_of[self.symmetry.image(labels)]
        return self.table.read(self.table.rows.numbering.rank(images))


@dataclass(frozen=True, eq=False, repr=False)
class SlidingPatterns(Patterns):
    """The maximum of several sums of tables; a sum includes the Manhattan distances of tiles in none of its tables."""

    rules: Rules
    goal: Labels
    """``(places,)``: the position to which the tables contain the distances."""
    sums: tuple[tuple[LookUp, ...], ...]
    costs: Numbers
    """``(labels, places)``: the Manhattan distance of each tile."""

    @classmethod
    def of(cls, rules: Rules, goal: Labels, tables: Sequence[PatternTable], costs: Numbers) -> "SlidingPatterns":
        """Return the heuristic for distances to a goal ``(places,)``.

        Each table joins the first sum that contains none of its tiles. A table that counts all moves forms its own sum.
        """
        sums: list[list[PatternTable]] = []
        for table in tables:
            disjoint = (own for own in sums if not any(table.tiles & other.tiles for other in own))
            joined = next(disjoint, None) if table.adds else None
            if joined is None:
                sums.append(joined := [])
            joined.append(table)
        found = symmetries_of(rules, goal[np.newaxis])
        identity = found.graph.symmetry(np.arange(found.chain.points))
        symmetries = found.elements() if found.order <= MAX_SYMMETRIES else (identity,)
        views = (tuple(LookUp(table, one) for table in own) for one in symmetries for own in sums)
        return cls(rules, goal, tuple(views), costs)

    @cached_property
    def views(self) -> tuple[LookUp, ...]:
        """The lookups of all sums."""
        return tuple(view for own in self.sums for view in own)

    @cached_property
    def single(self) -> Numbers:
        """``(sums, labels, places)``: the Manhattan distance of tiles that are in no table of the sum; otherwise 0."""
        single = np.repeat(self.costs[np.newaxis], len(self.sums), axis=0)
        for number, own in enumerate(self.sums):
            for view in own:
                single[number, view.counted] = 0
        return single

    @property
    def name(self) -> str:
        """Names of the added tables, and the number of sums: ``seven + eight, greatest of 2``."""
        different = dict.fromkeys(" + ".join(view.table.name for view in own) for own in self.sums)
        greatest = f", greatest of {len(self.sums)}" if len(self.sums) > 1 else ""
        return ", ".join(different) + greatest

    def bound(self, position: Labels) -> int:
        """Return the bound of one position ``(places,)``; UNREACHABLE_COST if a table excludes a path to the goal."""
        _, values = self._looked_up(position)
        return min(UNREACHABLE_COST, max(self._sums(position, values)))

    def bounds(self, labels: Labels) -> Numbers:
        """Return the bounds ``(n,)`` of positions ``(n, places)``, as `bound` does."""
        greatest = np.zeros(len(labels), dtype=np.int64)
        for single, own in zip(self.single, self.sums, strict=True):
            total = single[labels, np.arange(labels.shape[1])].sum(axis=1)
            for view in own:
                total += view.look_up(labels)
            np.maximum(greatest, total, out=greatest)
        return np.minimum(greatest, UNREACHABLE_COST)

    def descent(self, depth: int, problem: Problem, request: Request, share: Share = WHOLE) -> Descent:
        """Return the search for paths of ``depth`` moves, guided by the tables."""
        values = [view.table.values for view in self.views]
        root = self.root(problem.position)
        return descent_by_patterns(depth, problem, request, share, self.arrays, root, values)

    def root(self, position: Labels) -> RootEntries:
        """Return the entries and values of one position ``(places,)`` in all tables."""
        indices, values = self._looked_up(position)
        entries = np.empty((len(self.views), ENTRY), dtype=np.uint64)
        for i, (view, index, value) in enumerate(zip(self.views, indices, values, strict=True)):
            row, column = divmod(index, view.table.rows.width)
            entries[i] = self.first_moves[view.table.rows] + row * len(view.table.rows.edges), column, value
        return RootEntries(entries, np.array(self._sums(position, values), dtype=np.int64))

    def _looked_up(self, position: Labels) -> tuple[list[int], list[int]]:
        """Return the index of one position in each view, or NOT_NUMBERED, and its distance in each view."""
        indices = [view.entry(position) for view in self.views]
        values = [int(view.table.read(np.array([index]))[0]) for view, index in zip(self.views, indices, strict=True)]
        return indices, values

    def _sums(self, position: Labels, values: Sequence[int]) -> list[int]:
        """Return the value of each sum for one position, from the distances of all views."""
        rest, places = iter(values), np.arange(len(position))
        return [
            int(single[position, places].sum()) + sum(islice(rest, len(own)))
            for single, own in zip(self.single, self.sums, strict=True)
        ]

    @cached_property
    def first_moves(self) -> dict[SwapRows, int]:
        """The offset of each distinct numbering's moves, in the concatenated moves of all numberings."""
        different = dict.fromkeys(view.table.rows for view in self.views)
        sizes = [rows.rows * len(rows.edges) for rows in different]
        return dict(zip(different, accumulate(sizes, initial=0), strict=False))

    @cached_property
    def arrays(self) -> PatternArrays:
        """The heuristic as arrays for the kernel."""
        return _arrays(self)


def _arrays(patterns: SlidingPatterns) -> PatternArrays:
    edges = sorted(swap_edges(patterns.rules) or (), key=_by_blank)
    number = {edge: i for i, edge in enumerate(edges)}
    origin, destination = np.array(edges, dtype=np.uint64).reshape(-1, 2).T.copy()
    after = [[number[c, a] for c, to in edges if to == a and c != b] for a, b in edges]
    after += [[number[edge] for edge in edges if edge[1] == place] for place in range(patterns.rules.places)]
    view_of = np.full((len(patterns.sums), len(patterns.rules.symbols)), NO_TABLE)
    edge_of = np.empty((len(patterns.views), len(edges)), dtype=np.uint64)
    for i, view in enumerate(patterns.views):
        ends = zip(view.symmetry.places[origin].tolist(), view.symmetry.places[destination].tolist(), strict=True)
        edge_of[i] = [number[edge] for edge in ends]
    of_sum = [s for s, own in enumerate(patterns.sums) for _ in own]
    for i, view in enumerate(patterns.views):
        view_of[of_sum[i], view.counted] = i
    return PatternArrays(
        origin,
        destination,
        np.array([edge for own in after for edge in own], dtype=np.uint64),
        np.cumsum([0, *map(len, after)]).astype(np.uint64),
        view_of,
        edge_of,
        *_move_arrays(patterns),
        (patterns.costs[:, destination] - patterns.costs[:, origin]).T.astype(np.uint64),
    )


def _by_blank(edge: tuple[int, int]) -> tuple[int, int]:
    return edge[1], edge[0]


def _move_arrays(
    patterns: SlidingPatterns,
) -> tuple[Words, NDArray[np.uint32 | np.uint64], NDArray[np.uint16 | np.uint32], np.uint64]:
    """Return the arrays ``views``, ``moves``, ``maps`` and the number ``bits`` of `PatternArrays`."""
    filled = {rows: rows.tables() for rows in patterns.first_moves}
    bits = max((len(tables.column_maps) - 1).bit_length() for tables in filled.values())
    narrow = max(rows.rows for rows in filled) << bits <= 1 << 32 and max(rows.width for rows in filled) <= 1 << 16
    moves, maps = list[NDArray[Any]](), list[NDArray[Any]]()
    for rows, tables in filled.items():
        order = sorted(range(len(rows.edges)), key=lambda k: _by_blank(rows.edges[k]))
        target = np.maximum(tables.target[:, order], 0).astype(np.uint64)
        column_map = tables.column_map[:, order].astype(np.uint64) if rows.width > 1 else np.uint64(0)
        moves.append((target << np.uint64(bits) | column_map).astype(np.uint32 if narrow else np.uint64).ravel())
        maps.append(tables.column_maps.astype(np.uint16 if narrow else np.uint32).ravel())
    first_maps = dict(zip(filled, accumulate((len(own) for own in maps), initial=0), strict=False))
    views = [
        (0, patterns.first_moves[rows], rows.width, first_maps[rows])
        for rows in (view.table.rows for view in patterns.views)
    ]
    return np.array(views, dtype=np.uint64), np.concatenate(moves), np.concatenate(maps), np.uint64(bits)
