"""The numbering of puzzles whose moves are functions: a digit for each field, first those that decide themselves.

A field is a place that holds any value, or a whole part of pieces, whose digit is the number of their arrangement. The
new value of a field may depend on other fields. A set of fields *decides itself* if a move's new values of the set
depend on its old values alone, wherever the move is legal. Such a set can be the row. What depends on what is seen on
a sample of positions; the move tables show whether it holds for all: to fill them, every move is applied to every
position, block by block, and the results are ranked. So a row whose target depends on the column is found, and so is a
move that its inverse does not undo.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import accumulate
from math import log2, prod
from operator import mul
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError, InputError
from antipodes_tasks.permutations.arrangements import rank_arrangements, ranker, unrank_arrangements
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels, Moves
from antipodes_tasks.rules.parts import Part, random_numbers, random_positions, ranges_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.move_tables import (
    COLUMN_BYTES,
    ILLEGAL,
    ColumnMap,
    Fill,
    Filler,
    Indices,
    MoveTables,
    blocks,
    map_type,
)
from antipodes_tasks.spaces.space import Numbering, SpaceRecord

PAIRS = 256
"""Pairs of positions that differ in one field, for each field."""

SPARE_BYTES = 1 << 24
"""Memory for column maps that a sample of rows did not show."""
WIDTHS = (1 << 4, 1 << 15)
"""Columns of a row that are worth column maps."""
IDEAL_WIDTH = 1 << 10
CUTS_TRIED = 6
ACCEPTED_MAP_BYTES = 2 * SPARE_BYTES
"""Bytes of column maps with which a cut is good enough to try no other."""
WORD_BYTES = 4 * 8
"""Bytes of 64 columns of a row in the bitmaps of a search."""

POSITIONS = 1 << 17
"""Positions of a block, times moves: filled in some 20 ms, after which an interruption is answered."""
SAMPLE = 1 << 18
"""Positions of the rows of a sample, times moves: seen in a tenth of a second."""
LEAST_ROWS = 8
"""Rows of a sample, at least."""
NUMBER_BYTES = 160
"""Memory of the number of a column map while tables are filled."""
FUNCTION_COST = 150
"""The time to apply a function to a position and to rank the result, in positions that a search expands by a move."""
PLAIN = "give the puzzle plain=True"

Digits = NDArray[np.int64]


class Field(NamedTuple):
    """Places that have one digit."""

    first: int
    end: int
    """One past the last place."""
    radix: int
    """The number of values of the digit."""
    counts: tuple[int, ...] | None
    """The pieces of an arrangement; None: one place that holds any value."""

    def digit(self, labels: Labels) -> Digits:
        """The digit ``(n,)`` of positions ``(n, places)``."""
        if self.counts is None:
            return labels[:, self.first].astype(np.int64)
        return rank_arrangements(labels[:, self.first : self.end], self.counts)

    def digit_of_one(self, labels: Sequence[int]) -> int:
        """As `digit`, for one position, given as Python's integers."""
        if self.counts is None:
            return labels[self.first]
        return ranker(self.counts)(labels[self.first : self.end])

    def write(self, digit: Digits, labels: Labels) -> None:
        """Write the content that has this digit ``(n,)`` into positions ``(n, places)``."""
        if self.counts is None:
            labels[:, self.first] = digit
        else:
            labels[:, self.first : self.end] = unrank_arrangements(digit, self.counts)


def fields_of(parts: Sequence[Part]) -> tuple[Field, ...]:
    """The fields of a puzzle, in the order of its places."""
    found = []
    for part, at in zip(parts, ranges_of(parts), strict=True):
        if part.counts is None:
            places = range(at.start, at.stop)
            found += [Field(place, place + 1, len(part.symbols), None) for place in places]
        else:
            found.append(Field(at.start, at.stop, part.size, part.counts))
    return tuple(found)


@dataclass(frozen=True)
class Fields(Numbering):
    """All contents of a puzzle's fields, reachable or not: a mixed radix with a digit for each field, in any order.

    The order depends on how moves pass on what fields hold, and with it goes one cut: of those that are tried, the one
    with which a search takes the least memory. To know how many column maps a cut has takes a sample of its rows.
    """

    KIND: ClassVar[str] = "fields"

    fields: tuple[Field, ...]
    """In the order of their digits, the most significant first."""
    order: tuple[int, ...]
    """The number of each field among the puzzle's."""
    leading: int
    """The number of fields in the row."""
    most_maps: int
    """The column maps that memory is kept for."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """The numbering with the cut that takes the least memory."""
        moves, (order, ends) = functions_of(rules), deciding_order(rules.parts, rules.moves)
        fields = fields_of(rules.parts)
        best = cls(tuple(fields[number] for number in order), order, len(order), most_maps=1)
        for leading in () if moves.plain else _promising(best.radices, ends):
            cut = replace(best, leading=leading)
            most_maps = cut.filler(rules, leading).estimated_maps()
            cut = replace(cut, most_maps=most_maps or 1)
            if most_maps is not None and cut._search_bytes(rules) < best._search_bytes(rules):
                best = cut
                if COLUMN_BYTES * most_maps * prod(cut.radices[leading:]) <= ACCEPTED_MAP_BYTES:
                    break
        return best

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """The product of the numbers of contents."""
        return prod(part.size for part in rules.parts)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The numbering with the order and cut of a record; FieldError if the puzzle has no fields in such an order."""
        if not isinstance(rules.moves, Functions):
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        order, most = record.details.get("order"), record.details.get("column_maps")
        fields = fields_of(rules.parts)
        if not isinstance(order, list) or not all(type(one) is int for one in order):
            raise FieldError(f"details.order: expected a list of integers, found {order!r}")
        if sorted(order) != list(range(len(fields))):
            raise FieldError(f"details.order: expected each of 0 to {len(fields) - 1} once, found {order!r}")
        if type(most) is not int or not 1 <= most <= record.rows * len(rules.moves) + 1:
            raise FieldError(f"details.column_maps: expected a number of column maps, found {most!r}")
        ordered = tuple(fields[number] for number in order)
        rows = list(accumulate((each.radix for each in ordered), mul))
        leading = rows.index(record.rows) + 1 if record.rows in rows else len(rows)
        return cls(ordered, tuple(order), leading, most)

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of contents of each field."""
        return tuple(field.radix for field in self.fields)

    @property
    def cuts(self) -> Sequence[int]:
        """The one cut."""
        return (self.leading,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The order of the fields, and the bound of the column maps."""
        return {"order": list(self.order), "column_maps": self.most_maps}

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64. The pieces are not checked."""
        ranks = np.zeros(len(labels), dtype=np.int64)
        for field in self.fields:
            ranks *= field.radix
            ranks += field.digit(labels)
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        rank = 0
        for field in self.fields:
            rank = rank * field.radix + field.digit_of_one(labels)
        return rank

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``, which is not checked."""
        labels = np.empty((len(indices), max(field.end for field in self.fields)), dtype=np.uint8, order="F")
        rest = np.array(indices, dtype=np.int64)
        for field in reversed(self.fields):
            rest, digit = np.divmod(rest, field.radix)
            field.write(digit, labels)
        return labels

    def filler(self, rules: Rules, leading: int) -> "FieldTables":
        """The move tables of the cut; filling them raises InputError if a row does not decide where moves lead."""
        deciding = tuple(field.first for field in self.fields[:leading])
        return FieldTables(functions_of(rules), self, leading, deciding, self.most_maps)

    def _search_bytes(self, rules: Rules) -> int:
        """Bytes of the move tables, and of the bitmaps of a search."""
        tables = self.filler(rules, self.leading)
        return tables.table_bytes + WORD_BYTES * tables.rows * -(-tables.width // 64)


def functions_of(rules: Rules) -> Functions:
    """The moves of a puzzle that has functions."""
    assert isinstance(rules.moves, Functions)
    return rules.moves


def _promising(radices: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Numbers of leading fields whose rows have columns that are worth maps, the best number of columns first."""
    least, most = WIDTHS
    widths = {leading: prod(radices[leading:]) for leading in ends}
    worth = [leading for leading, width in widths.items() if least <= width <= most]
    return sorted(worth, key=lambda leading: abs(log2(widths[leading] / IDEAL_WIDTH)))[:CUTS_TRIED]


def deciding_order(parts: Sequence[Part], moves: Moves) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of all fields in order, and the numbers of leading fields that decide themselves, ascending.

    The smallest set that decides itself comes first, then the fields that make it the next larger one.
    """
    fields = fields_of(parts)
    return closed_order(fields, dependencies_of(fields, parts, moves))


def closed_order(fields: Sequence[Field], dependencies: NDArray[np.bool_]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """As `deciding_order`, of fields that depend on others as ``(fields, fields)`` says."""
    needed = [_closure(number, dependencies) for number in range(len(fields))]
    order: list[int] = []
    ends = []
    while len(order) < len(fields):
        left = [number for number in range(len(fields)) if number not in order]
        added = min((needed[number] - set(order) for number in left), key=lambda new: (_size(new, fields), min(new)))
        order += sorted(added)
        ends.append(len(order))
    return tuple(order), tuple(ends)


def _size(numbers: set[int], fields: Sequence[Field]) -> int:
    return prod(fields[number].radix for number in numbers)


def _closure(number: int, dependencies: NDArray[np.bool_]) -> set[int]:
    """The fields on which a field depends, those on which these depend, and so on; itself among them."""
    found, waiting = {number}, [number]
    while waiting:
        new = set(np.flatnonzero(dependencies[waiting.pop()]).tolist()) - found
        found |= new
        waiting += new
    return found


def dependencies_of(fields: Sequence[Field], parts: Sequence[Part], moves: Moves) -> NDArray[np.bool_]:
    """``(fields, fields)``: whether the new value of the first depends on the old one of the second, by any move."""
    depends = np.zeros((len(fields), len(fields)), dtype=np.bool_)
    sample, other = (random_positions(parts, PAIRS, f"dependencies {one}") for one in range(2))
    after = [moves.move(number, sample) for number in range(len(moves))]
    for cause, field in enumerate(fields):
        changed = sample.copy()
        changed[:, field.first : field.end] = other[:, field.first : field.end]
        for number, (first, legal) in enumerate(after):
            second, legal_too = moves.move(number, changed)
            differs = ((first != second) & (legal & legal_too)[:, np.newaxis]).any(axis=0)
            depends[:, cause] |= [differs[one.first : one.end].any() for one in fields]
    return depends


class Rows(NamedTuple):
    """Where a move leads from some rows."""

    rows: NDArray[np.int64]
    """``(n,)``: those of the rows, by their place in the block, from which the move is legal in some column."""
    target: NDArray[np.int64]
    """``(n,)``: the row that it leads to, of one of the columns."""
    maps: NDArray[np.int32]
    """``(n, width)``: the column that each column goes to, ILLEGAL where it is not legal."""
    decided: bool
    """Whether the target is that of all columns."""


@dataclass(frozen=True)
class FieldTables(Filler):
    """How the move tables of functions are filled."""

    moves: Functions
    numbering: Numbering
    leading: int
    """The number of digits of the row."""
    deciding: tuple[int, ...]
    """The first places of the fields of the row."""
    most_maps: int
    """The column maps that memory is kept for: more than a sample of rows showed."""

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return prod(self.numbering.radices[: self.leading])

    @cached_property
    def width(self) -> int:
        """The number of columns of a row."""
        return prod(self.numbering.radices[self.leading :])

    @property
    def most_moves(self) -> int:
        """The number of moves."""
        return len(self.moves)

    @property
    def most_column_maps(self) -> int:
        """The column maps that memory is kept for."""
        return self.most_maps

    @cached_property
    def places(self) -> int:
        """The number of places of a position."""
        return int(self.numbering.unrank(np.zeros(1, dtype=np.int64)).shape[1])

    def cost(self, column_maps: int) -> float:
        """As `Filler.cost`, with the time that functions take."""
        return super().cost(column_maps) + FUNCTION_COST * self.rows * self.width * len(self.moves)

    def rows_after(self, number: int, labels: Labels) -> Rows:
        """Where a move leads from whole rows, given by the labels of all their positions ``(rows * width, places)``.

        InputError if the move is said to be undone by another, and is not.
        """
        after, legal = self.moves.move(number, labels)
        if self.moves.reversible:
            self.moves.check_undone(number, labels, after, legal)
        row = np.full(len(labels), ILLEGAL, dtype=np.int64)
        column = row.copy()
        row[legal], column[legal] = np.divmod(self.numbering.rank(after[legal]), self.width)
        by_row = row.reshape(-1, self.width)
        target = by_row.max(axis=1)
        decided = bool(((by_row == target[:, np.newaxis]) | (by_row == ILLEGAL)).all())
        rows = np.flatnonzero(target != ILLEGAL)
        return Rows(rows, target[rows], column.reshape(by_row.shape)[rows].astype(np.int32), decided)

    def estimated_maps(self) -> int | None:
        """The number of column maps to keep memory for, from a sample of rows; None if a row does not decide.

        A sample that still showed new maps in its second half counts as if that went on.
        """
        rows = self._sampled_rows()
        numbers = MapNumbers(self.width)
        counts = []
        for half in np.array_split(rows, 2):
            for number in range(len(self.moves)):
                found = self.rows_after(number, self._labels(half))
                if not found.decided:
                    return None
                numbers.of(found.maps)
            counts.append(len(numbers))
        expected = counts[1] + (counts[1] - counts[0]) * 2 * max(0, self.rows - len(rows)) // len(rows)
        most = self.rows * len(self.moves) + 1
        return min(most, max(2 * expected, counts[1] + SPARE_BYTES // (4 * self.width)))

    def _sampled_rows(self) -> NDArray[np.int64]:
        count = max(LEAST_ROWS, SAMPLE // (len(self.moves) * self.width))
        if count >= self.rows:
            return np.arange(self.rows)
        return (random_numbers(count, "rows") % np.uint64(self.rows)).astype(np.int64)

    def _labels(self, rows: NDArray[np.int64]) -> Labels:
        columns = np.arange(self.width)
        return self.numbering.unrank((rows[:, np.newaxis] * self.width + columns).ravel())

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them; InputError in these if there are more column maps."""
        tables, numbers = self._empty()
        return tables, self._fills(tables, numbers)

    def _empty(self) -> "tuple[MoveTables, MapNumbers]":
        """Move tables to be filled, and the numbers of their column maps."""
        most_maps = self.most_column_maps
        rows, width, moves = self.rows, self.width, len(self.moves)
        target = np.full((rows, moves), ILLEGAL, dtype=np.int32)
        column_map: ColumnMap = np.zeros((rows, moves if width > 1 else 0), dtype=map_type(most_maps))
        maps = np.zeros((most_maps, width), dtype=np.int32)
        tables = MoveTables(target, column_map, maps, self.moves.reversible)
        return tables, MapNumbers(width, tables.column_maps)

    def _fills(self, tables: MoveTables, numbers: "MapNumbers") -> list[Fill]:
        return [
            partial(self._fill, tables, numbers, first, end)
            for first, end in blocks(self.rows, self.most_moves * self.width, steps=POSITIONS)
        ]

    def _fill(self, tables: MoveTables, numbers: "MapNumbers", first: int, end: int) -> None:
        labels = self._labels(np.arange(first, end))
        count = np.zeros(end - first, dtype=np.int64)
        for number in range(len(self.moves)):
            found = self.rows_after(number, labels)
            if not found.decided:
                raise InputError(
                    f"move {self.moves.names[number]!r}: expected that fields {self._deciding} decide where they go, "
                    f"as in a sample of positions; found that they do not: {PLAIN}"
                )
            at = first + found.rows, count[found.rows]
            tables.target[at] = found.target
            if tables.column_map.shape[1]:
                tables.column_map[at] = numbers.of(found.maps)
            count[found.rows] += 1

    @property
    def _deciding(self) -> str:
        return ", ".join(map(str, self.deciding))

    @cached_property
    def block_rows(self) -> int:
        """Rows of a block."""
        return max(1, POSITIONS // (len(self.moves) * self.width))

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them.

        A function may hold four arrays of the size of its argument.
        """
        position = self.places * (8 * (1 + 4) + 4) + 8 * 10
        count = -(-self.rows // self.block_rows)
        return threads * self.block_rows * self.width * position + NUMBER_BYTES * (self.most_column_maps + count)


class MapNumbers:
    """The numbers of different column maps, 0 for the identity; threads can share it."""

    def __init__(self, width: int, maps: NDArray[np.int32] | None = None) -> None:
        """Write the maps into an array ``(most, width)``, if there is one."""
        self._maps = maps
        self._lock = Lock()
        self._numbers: dict[bytes, int] = {}
        self._identity = np.arange(width, dtype=np.int32)
        self.of(self._identity[np.newaxis])

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, maps: NDArray[np.int32]) -> NDArray[np.int64]:
        """The number ``(n,)`` of each map ``(n, width)``; InputError if there are more than the array takes."""
        changing = np.flatnonzero((maps != self._identity).any(axis=1)) if self._numbers else np.arange(len(maps))
        numbers = np.zeros(len(maps), dtype=np.int64)
        for at in changing.tolist():
            key = blake2b(maps[at].tobytes(), digest_size=16).digest()
            number = self._numbers.get(key)
            numbers[at] = self._add(key, maps[at]) if number is None else number
        return numbers

    def _add(self, key: bytes, column_map: NDArray[np.int32]) -> int:
        with self._lock:
            number = self._numbers.setdefault(key, len(self._numbers))
            if self._maps is not None:
                if number >= len(self._maps):
                    raise InputError(f"expected at most {number:,} column maps after a sample, found more: {PLAIN}")
                self._maps[number] = column_map
        return number
