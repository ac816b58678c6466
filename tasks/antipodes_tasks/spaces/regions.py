"""The numbering for additive pattern databases: places of the counted pieces, region of the empty place, and order.

In such a puzzle, only moves of the *counted* pieces count as moves. Moves of the other pieces are free. They can take
the empty place anywhere within its *region*: the places that are connected with it without passing a counted piece. So
the numbering stores the region instead of the empty place.

A row is a set of places for the counted pieces, together with one of the regions into which they divide the other
places. A column is the order of the counted pieces on their places. A move takes one counted piece to another place. In
the order of places, the counted pieces between its old and its new place shift by one. This shift is the column map.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from math import comb, prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import FieldError, SizeLimitError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.move_tables import (
    COLUMNS_AT_ONCE,
    ILLEGAL,
    Fill,
    Filler,
    Indices,
    MoveTables,
    blocks,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.permutations.multisets import (
    binomials,
    numbering,
    numbering_bytes,
    radices,
    rank_arrangements,
    rank_combinations,
    ranker,
    unrank_arrangements,
    unrank_combinations,
)
from antipodes_tasks.rules.counted_swaps import EMPTY
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps, any_order, neighbours
from antipodes_tasks.spaces.space import Numbering, SpaceRecord
from antipodes_tasks.spaces.swap_tables import column_shifts, fill_columns, maps_of

MAX_SETS = 1 << 23
"""Maximum number of sets of places whose regions are kept in memory. Each set takes a byte for each place."""
NO_REGION = -1
"""Used instead of the index of a region if a counted piece is on the place."""
Edges = tuple[tuple[int, int], ...]


class PlaceSets(NamedTuple):
    """The sets of places that counted pieces can occupy, and the regions of the other places."""

    counted: Mask
    """``(sets, places)``: the places of each set, in colexicographic order."""
    region: NDArray[np.int8 | np.int16]
    """``(sets, places)``: the region of each place, or NO_REGION if a counted piece is there. The regions of a set are
    numbered in the order of their first places."""
    first_row: Indices
    """``(sets + 1,)``: the row of the first region of each set, then the number of rows."""
    sources: NDArray[np.int32]
    """``(rows,)``: the number of legal moves of each row."""


@dataclass(frozen=True)
class Regions(Numbering):
    """The numbering of positions up to free moves: places of the counted pieces, region of the empty place, order."""

    KIND: ClassVar[str] = "regions"

    edges: Edges
    """Pairs of adjacent places between which pieces can move, in both directions."""
    pieces: tuple[int, ...]
    """Number of pieces with each label."""
    free: int
    """The label of the pieces whose moves are free."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering; raise SizeLimitError if there are too many sets of places."""
        ends, free = rules.moves.ends, rules.moves.free
        assert ends is not None
        assert free is not None
        found = cls(tuple(map(tuple, ends.tolist())), rules.counts, free)
        if (sets := comb(found.places, found.counted)) > MAX_SETS:
            raise SizeLimitError(
                f"expected at most {MAX_SETS:,} sets of places for the tiles that count, found {sets:,} "
                f"({found.counted} of {found.places} places)"
            )
        return found

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering of a store; raise FieldError if every move of the puzzle counts."""
        if rules.moves.free is None:
            raise FieldError(f"space: the kind {record.kind!r} does not match the puzzle {rules.name}")
        numbering = cls.of(rules)
        if record.details != numbering.details:
            raise FieldError(f"details: expected {numbering.details}, found {shorten(repr(dict(record.details)))}")
        return numbering

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out cached properties when pickling."""
        return type(self), (self.edges, self.pieces, self.free)

    @property
    def places(self) -> int:
        """Number of places."""
        return sum(self.pieces)

    @property
    def counted(self) -> int:
        """Number of pieces whose moves count."""
        return sum(self.orders)

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """Number of pieces with each counted label."""
        return tuple(count for label, count in enumerate(self.pieces) if label not in (EMPTY, self.free))

    @cached_property
    def board(self) -> PlaceSets:
        """The sets of places and their regions."""
        return board_of(self.edges, self.places, self.counted)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """A digit with one value, so that all rows form one row block; then the numbers of rows and of columns."""
        return 1, int(self.board.first_row[-1]), prod(radices(self.orders))

    @property
    def cuts(self) -> tuple[int]:
        """The only cut: the order of the pieces is the column."""
        return (2,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The label of the free pieces."""
        return {"free": self.free}

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64. The pieces are not checked."""
        counted = (labels != EMPTY) & (labels != self.free)
        number = rank_combinations(counted)
        region = self.board.region[number, (labels == EMPTY).argmax(axis=1)]
        order = np.array(self._numbers, dtype=np.uint8)[labels[counted]].reshape(len(labels), self.counted)
        row: Indices = self.board.first_row[number] + region
        return row * self.radices[-1] + rank_arrangements(order, self.orders)

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of one position given as Python integers."""
        taken = [place for place, label in enumerate(labels) if label not in (EMPTY, self.free)]
        number = sum(comb(place, k) for k, place in enumerate(taken, start=1))
        row = int(self.board.first_row[number]) + int(self.board.region[number, labels.index(EMPTY)])
        order = ranker(self.orders)([self._numbers[labels[place]] for place in taken])
        return row * self.radices[-1] + order

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""
        row, column = np.divmod(indices, self.radices[-1])
        number = np.searchsorted(self.board.first_row, row, side="right") - 1
        region = row - self.board.first_row[number]
        labels = np.full((len(indices), self.places), self.free, dtype=np.uint8)
        labels[self.board.counted[number]] = self._label_of[unrank_arrangements(column, self.orders)].ravel()
        empty = (self.board.region[number] == region[:, np.newaxis]).argmax(axis=1)
        labels[np.arange(len(indices)), empty] = EMPTY
        return labels

    def reachable(self, rules: Rules) -> int | None:
        """Return the number of positions if all of them are known to be reachable, otherwise None.

        This is known if some pieces are identical and `any_order` proves that the pieces can take any order.
        """
        known = max(self.pieces) > 1 and any_order(replace(rules, moves=Swaps(self.edges)))
        return self.size if known else None

    def filler(self, rules: Rules, leading: int) -> "RegionTables":
        """Return the filler of the move tables."""
        return RegionTables(self)

    @property
    def _label_of(self) -> NDArray[np.uint8]:
        """``(counted labels,)``: the labels that count, ascending."""
        return np.array([label for label in range(len(self.pieces)) if label not in (EMPTY, self.free)], dtype=np.uint8)

    @cached_property
    def _numbers(self) -> list[int]:
        """The number of each counted label in `_label_of`; 0 for other labels."""
        counted = self._label_of.tolist()
        return [counted.index(label) if label in counted else 0 for label in range(len(self.pieces))]


@lru_cache(maxsize=4)
def board_of(edges: Edges, places: int, counted: int) -> PlaceSets:
    """Return the sets of ``counted`` places, and the regions of the other places if pieces move along ``edges``."""
    sets = comb(places, counted)
    chosen = unrank_combinations(np.arange(sets), places, counted)
    region, regions = np.full((sets, places), NO_REGION, _region_type(places)), np.empty(sets, dtype=np.int64)
    beside = neighbours(frozenset(edges), places)
    begins = np.cumsum([0, *map(len, beside)])
    ends = np.array([place for own in beside for place in own], dtype=np.int64)
    _find_regions(chosen, begins, ends, region, regions, np.empty(places, dtype=np.int64))
    first_row = np.concatenate(([0], np.cumsum(regions)))
    sources = np.zeros(first_row[-1], dtype=np.int32)
    for a, b in edges:
        legal = chosen[:, a] & ~chosen[:, b]
        sources[first_row[:-1][legal] + region[legal, b]] += 1
    return PlaceSets(chosen, region, first_row, sources)


def _region_type(places: int) -> type[np.int8 | np.int16]:
    """Return the dtype for numbers of regions. There can be as many regions as places, if each place is walled in."""
    return np.int8 if places <= np.iinfo(np.int8).max else np.int16


@kernel
def _find_regions(
    counted: Mask, begins: Indices, ends: Indices, region: NDArray[Any], regions: Indices, waiting: Indices
) -> None:
    """Number the regions of each set, and count them; ``waiting`` is scratch memory with an entry for each place."""
    for number in range(len(counted)):
        found = 0
        for place in range(counted.shape[1]):
            if counted[number, place] or region[number, place] >= 0:
                continue
            region[number, place] = found
            waiting[0], size = place, 1
            while size > 0:
                size -= 1
                at = waiting[size]
                for i in range(begins[at], begins[at + 1]):
                    if not counted[number, ends[i]] and region[number, ends[i]] < 0:
                        region[number, ends[i]] = found
                        waiting[size] = ends[i]
                        size += 1
            found += 1
        regions[number] = found


@dataclass(frozen=True)
class RegionTables(Filler):
    """The filler of a numbering of regions."""

    ENTRY_COST: ClassVar = 16

    numbering: Regions

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.numbering.radices[1]

    @property
    def width(self) -> int:
        """Number of columns of a row."""
        return self.numbering.radices[-1]

    @cached_property
    def max_moves(self) -> int:
        """Maximum number of legal moves of a row."""
        return int(self.numbering.board.sources.max())

    @property
    def most_column_maps(self) -> int:
        """Number of column maps."""
        return len(self.shifts)

    @cached_property
    def shifts(self) -> NDArray[np.int64]:
        """The column maps; see `column_shifts`."""
        if self.width == 1:
            return np.zeros((1, 2), dtype=np.int64)
        pairs = np.array(self.numbering.edges, dtype=np.int16).reshape(-1, 2)
        return column_shifts(pairs, self.numbering.places, self.numbering.counted)

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them."""
        target = np.full((self.rows, self.max_moves), ILLEGAL, dtype=np.int32)
        numbers = np.zeros(
            (self.rows, self.max_moves if self.width > 1 else 0), dtype=index_type(self.most_column_maps)
        )
        tables = MoveTables(target, numbers, unfilled_maps(self.most_column_maps, self.width), undirected=True)
        return tables, self._fills(tables)

    def by_edge(self) -> MoveTables:
        """Return filled move tables with one move for each edge, in the order of the edges; ILLEGAL if illegal."""
        target = np.full((self.rows, len(self.numbering.edges)), ILLEGAL, dtype=np.int32)
        numbers = np.zeros(target.shape, dtype=index_type(self.most_column_maps))
        tables = MoveTables(target, numbers, unfilled_maps(self.most_column_maps, self.width), undirected=True)
        for fill in self._fills(tables, by_edge=True):
            fill()
        return tables

    def _fills(self, tables: MoveTables, by_edge: bool = False) -> list[Fill]:
        edges = np.array(self.numbering.edges, dtype=np.int64).reshape(-1, 2)
        places = self.numbering.places
        counted, region, first_row, _ = self.numbering.board
        choices = binomials(places + 1, self.numbering.counted)
        board = (counted, region, first_row, edges, choices, maps_of(self.shifts, self.numbering.counted))
        calls: list[Fill] = [
            partial(_fill_sets, tables.target, tables.column_map, by_edge, first, end, *board, self._scratch())
            for first, end in blocks(len(counted), len(edges) * places)
        ]
        if self.width == 1:
            tables.column_maps[0] = 0
        else:
            orders = numbering(self.numbering.orders)
            a_column = len(self.shifts) + 2 * self.numbering.counted * len(self.numbering.orders)
            ranges = blocks(self.width, a_column, min_size=COLUMNS_AT_ONCE)
            calls += [partial(fill_columns, tables.column_maps, *columns, orders, self.shifts) for columns in ranges]
        return calls

    def _scratch(self) -> Indices:
        """Return scratch memory with two numbers for each place of a set."""
        return np.zeros((2, self.numbering.places + 1), dtype=np.int64)

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        counted, kinds = self.numbering.counted, len(self.numbering.orders)
        a_column = COLUMNS_AT_ONCE * (counted + 1) * 8 * (2 * kinds + 3)
        board = sum(array.nbytes for array in self.numbering.board)
        return (a_column + numbering_bytes(self.numbering.orders)) * threads + 2 * board


@kernel
def _fill_sets(
    target: NDArray[np.int32],
    column_map: NDArray[Any],
    by_edge: bool,
    first: int,
    end: int,
    counted: Mask,
    region: NDArray[Any],
    first_row: Indices,
    edges: Indices,
    choices: Indices,
    map_of: NDArray[np.int32],
    scratch: Indices,
) -> None:
    """Fill the rows of the sets from ``first`` to ``end``.

    If ``by_edge`` is true, a move has the number of its edge. Otherwise the legal moves of each row come first.
    """
    before, used = scratch[0], scratch[1]
    places, mapped = counted.shape[1], column_map.shape[1] > 0
    for number in range(first, end):
        for place in range(places):
            before[place + 1] = before[place] + counted[number, place]
            used[place] = 0
        # A counted piece moves from `a` to the empty place `b`. Only the row whose region contains `b` has this move;
        # afterwards the region of the empty place contains `a`.
        for edge in range(len(edges)):
            a, b = edges[edge, 0], edges[edge, 1]
            if not counted[number, a] or counted[number, b]:
                continue
            inside = region[number, b]
            row = first_row[number] + inside
            after = _moved_set(counted[number], a, b, choices)
            slot = edge if by_edge else used[inside]
            target[row, slot] = first_row[after] + region[after, a]
            if mapped:
                column_map[row, slot] = map_of[before[a], before[b] - (a < b)]
            used[inside] += 1


@kernel
def _moved_set(counted: Mask, origin: int, destination: int, choices: Indices) -> np.int64:
    """Return the number of the set of places after a piece has moved."""
    number, rank = np.int64(0), np.int64(0)
    for place in range(len(counted)):
        if place == destination or (counted[place] and place != origin):
            number += 1
            rank += choices[place, number]
    return rank
