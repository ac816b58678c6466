"""The numbering for additive pattern databases: places of the counted pieces, the region of the empty one, their order.

Free swaps take the empty place anywhere within its region: the places that are connected without passing a counted
piece. So the region is numbered, not the empty place. A row is a set of places with counted pieces, and one of the
regions into which they divide the other places. A column is the order of the pieces on the places of the set. A move
takes one piece across, and the pieces between its ends, in the order of places, shift by one: a column map.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from math import comb, prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError, SizeLimitError
from antipodes_tasks.jit import kernel
from antipodes_tasks.permutations.arrangements import (
    Mask,
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
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.counted_swaps import EMPTY, CountedSwaps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import any_order, neighbours
from antipodes_tasks.spaces.move_tables import (
    COLUMNS_AT_ONCE,
    ILLEGAL,
    Fill,
    Filler,
    Indices,
    MoveTables,
    blocks,
    map_type,
)
from antipodes_tasks.spaces.space import Numbering, SpaceRecord
from antipodes_tasks.spaces.swap_tables import column_shifts, fill_columns, maps_of

MAX_SETS = 1 << 23
"""Sets of places whose regions are kept in memory: a byte for each place of each set."""
NO_REGION = -1
Edges = tuple[tuple[int, int], ...]


class PlaceSets(NamedTuple):
    """The sets of places that counted pieces take, and the regions of the others."""

    counted: Mask
    """``(sets, places)``: the places of each set, in colexicographic order."""
    region: NDArray[np.int8 | np.int16]
    """``(sets, places)``: the region of each place, numbered by their first places; NO_REGION on a counted piece."""
    first_row: Indices
    """``(sets + 1,)``: the row of the first region of each set, and the number of rows."""
    sources: NDArray[np.int32]
    """``(rows,)``: how many moves each row allows."""


@dataclass(frozen=True)
class Regions(Numbering):
    """Positions up to free swaps: the counted pieces' places and the region of the empty place, then their order."""

    KIND: ClassVar[str] = "regions"

    edges: Edges
    """The place of a piece and a place beside it, in both directions."""
    pieces: tuple[int, ...]
    """The number of pieces with each label."""
    free: int
    """The label of the pieces that move for nothing."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """The numbering; SizeLimitError if the pieces have too many sets of places."""
        assert isinstance(rules.moves, CountedSwaps)
        found = cls(rules.moves.edges, rules.counts, rules.moves.free)
        if (sets := comb(found.places, found.counted)) > MAX_SETS:
            raise SizeLimitError(
                f"expected at most {MAX_SETS:,} sets of places for the tiles that count, found {sets:,} "
                f"of {found.counted} of {found.places} places"
            )
        return found

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The numbering of a store; FieldError if every move of the puzzle counts."""
        if not isinstance(rules.moves, CountedSwaps):
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        numbering = cls.of(rules)
        if record.details != numbering.details:
            raise FieldError(f"details: expected {numbering.details}, found {shorten(repr(dict(record.details)))}")
        return numbering

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was found out about the board."""
        return type(self), (self.edges, self.pieces, self.free)

    @property
    def places(self) -> int:
        """The number of places."""
        return sum(self.pieces)

    @property
    def counted(self) -> int:
        """The number of pieces whose moves count."""
        return sum(self.orders)

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """The number of counted pieces with each label, without labels that do not count."""
        return tuple(count for label, count in enumerate(self.pieces) if label not in (EMPTY, self.free))

    @cached_property
    def board(self) -> PlaceSets:
        """The sets of places and their regions."""
        return board_of(self.edges, self.places, self.counted)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The number of sets and their regions, after a digit of one value: all are one block; and of orders."""
        return 1, int(self.board.first_row[-1]), prod(radices(self.orders))

    @property
    def cuts(self) -> tuple[int]:
        """The order of the pieces is the column."""
        return (2,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The label that costs nothing."""
        return {"free": self.free}

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64. The pieces are not checked."""
        counted = (labels != EMPTY) & (labels != self.free)
        number = rank_combinations(counted)
        region = self.board.region[number, (labels == EMPTY).argmax(axis=1)]
        order = np.array(self._numbers, dtype=np.uint8)[labels[counted]].reshape(len(labels), self.counted)
        row: Indices = self.board.first_row[number] + region
        return row * self.radices[-1] + rank_arrangements(order, self.orders)

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        taken = [place for place, label in enumerate(labels) if label not in (EMPTY, self.free)]
        number = sum(comb(place, k) for k, place in enumerate(taken, start=1))
        row = int(self.board.first_row[number]) + int(self.board.region[number, labels.index(EMPTY)])
        order = ranker(self.orders)([self._numbers[labels[place]] for place in taken])
        return row * self.radices[-1] + order

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``, which is not checked."""
        row, column = np.divmod(indices, self.radices[-1])
        number = np.searchsorted(self.board.first_row, row, side="right") - 1
        region = row - self.board.first_row[number]
        labels = np.full((len(indices), self.places), self.free, dtype=np.uint8)
        labels[self.board.counted[number]] = self._label_of[unrank_arrangements(column, self.orders)].ravel()
        empty = (self.board.region[number] == region[:, np.newaxis]).argmax(axis=1)
        labels[np.arange(len(indices)), empty] = EMPTY
        return labels

    def reachable(self, rules: Rules) -> int | None:
        """All, where a theorem says so, see `any_order`, and two equal pieces make the parity as it has to be."""
        assert isinstance(rules.moves, CountedSwaps)
        known = max(self.pieces) > 1 and any_order(replace(rules, moves=rules.moves.swaps))
        return self.size if known else None

    def filler(self, rules: Rules, leading: int) -> "RegionTables":
        """The move tables."""
        return RegionTables(self)

    @property
    def _label_of(self) -> NDArray[np.uint8]:
        """The label of each number of a counted label."""
        return np.array([label for label in range(len(self.pieces)) if label not in (EMPTY, self.free)], dtype=np.uint8)

    @cached_property
    def _numbers(self) -> list[int]:
        """The inverse of `_label_of`; other labels have any number."""
        counted = self._label_of.tolist()
        return [counted.index(label) if label in counted else 0 for label in range(len(self.pieces))]


@lru_cache(maxsize=4)
def board_of(edges: Edges, places: int, counted: int) -> PlaceSets:
    """The sets of ``counted`` places, and the regions of the other places when pieces move along ``edges``."""
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
    """The type for numbers of regions: where walls are around each place, there are as many as places."""
    return np.int8 if places <= np.iinfo(np.int8).max else np.int16


@kernel
def _find_regions(
    counted: Mask, begins: Indices, ends: Indices, region: NDArray[Any], regions: Indices, waiting: Indices
) -> None:
    """Number the regions of each set, and count them; ``waiting`` has room for all places."""
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
    """How large the move tables are, and how they are filled."""

    ENTRY_COST: ClassVar = 16

    numbering: Regions

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.numbering.radices[1]

    @property
    def width(self) -> int:
        """The number of columns of a row."""
        return self.numbering.radices[-1]

    @cached_property
    def most_moves(self) -> int:
        """The moves of the row that allows most."""
        return int(self.numbering.board.sources.max())

    @property
    def most_column_maps(self) -> int:
        """The number of column maps."""
        return len(self.shifts)

    @cached_property
    def shifts(self) -> NDArray[np.int64]:
        """The column maps; see `column_shifts`."""
        if self.width == 1:
            return np.zeros((1, 2), dtype=np.int64)
        pairs = np.array(self.numbering.edges, dtype=np.int16).reshape(-1, 2)
        return column_shifts(pairs, self.numbering.places, self.numbering.counted)

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        target = np.full((self.rows, self.most_moves), ILLEGAL, dtype=np.int32)
        numbers = np.zeros((self.rows, self.most_moves if self.width > 1 else 0), dtype=map_type(self.most_column_maps))
        tables = MoveTables(target, numbers, np.zeros((self.most_column_maps, self.width), np.int32), undirected=True)
        return tables, self._fills(tables)

    def by_edge(self) -> MoveTables:
        """The move tables with a move for each edge of the numbering, in its order: ILLEGAL where it is none."""
        target = np.full((self.rows, len(self.numbering.edges)), ILLEGAL, dtype=np.int32)
        numbers = np.zeros(target.shape, dtype=map_type(self.most_column_maps))
        tables = MoveTables(target, numbers, np.zeros((self.most_column_maps, self.width), np.int32), undirected=True)
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
            ranges = blocks(self.width, a_column, least=COLUMNS_AT_ONCE)
            calls += [partial(fill_columns, tables.column_maps, *columns, orders, self.shifts) for columns in ranges]
        return calls

    def _scratch(self) -> Indices:
        """Numbers for each place of one set, which the call fills."""
        return np.zeros((2, self.numbering.places + 1), dtype=np.int64)

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
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
    """Fill the rows of the sets from ``first`` to ``end``; a move's number is its edge, or the next of its row."""
    before, used = scratch[0], scratch[1]
    places, mapped = counted.shape[1], column_map.shape[1] > 0
    for number in range(first, end):
        for place in range(places):
            before[place + 1] = before[place] + counted[number, place]
            used[place] = 0
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
    """The number of a set of places after a piece has moved."""
    number, rank = np.int64(0), np.int64(0)
    for place in range(len(counted)):
        if place == destination or (counted[place] and place != origin):
            number += 1
            rank += choices[place, number]
    return rank
