"""The numbering of puzzles whose moves are functions, with one digit for each field.

A *field* is either a single place that can hold any value, or all places of a part that consists of pieces. The digit
of a single place is its value. The digit of a part is the number of the arrangement of its pieces.

A move may make the new value of a field depend on other fields. A set of fields is *closed* if, under every legal move,
the new values of these fields depend only on their old values. Only a closed set can form the row. The dependencies are
found on a sample of positions. Filling the move tables then verifies them on every position: every move is applied to
all positions, one row block at a time, and the results are ranked. This also detects moves whose declared inverse does
not undo them.
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

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import FieldError, InputError
from antipodes_tasks.move_tables import (
    COLUMN_BYTES,
    ILLEGAL,
    ColumnMap,
    ColumnMaps,
    Fill,
    Filler,
    Indices,
    MoveTables,
    blocks,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.permutations.multisets import rank_arrangements, ranker, unrank_arrangements
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part, random_numbers, random_positions, ranges_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.space import Numbering, SpaceRecord

PAIRS = 256
"""Number of pairs of positions that are compared for each field. The positions of a pair differ only in this field."""

SPARE_BYTES = 1 << 24
"""Bytes reserved for column maps that do not occur in the sample of rows."""
WIDTHS = (1 << 4, 1 << 15)
"""Minimum and maximum number of columns for which column maps are worthwhile."""
IDEAL_WIDTH = 1 << 10
"""Ideal number of columns. The cuts whose number of columns is closest to it are tried first."""
CUTS_TRIED = 6
"""Maximum number of cuts that are tried."""
ACCEPTED_MAP_BYTES = 2 * SPARE_BYTES
"""If a cut is the best so far and its column maps take at most this many bytes, no further cut is tried."""
WORD_BYTES = 4 * 8
"""Bytes that the bitmaps of a search need for 64 columns of a row."""

POSITIONS = 1 << 17
"""Number of positions in a row block times the number of moves. Filling a block takes about 20 ms, after which an
interruption takes effect."""
SAMPLE = 1 << 18
"""Number of positions in the sampled rows times the number of moves. Processing them takes a tenth of a second."""
LEAST_ROWS = 8
"""Minimum number of rows in a sample."""
NUMBER_BYTES = 160
"""Bytes that are needed to number one column map while tables are filled."""
FUNCTION_COST = 150
"""Time to apply a function to a position and rank the result, divided by the time to expand a position by one move."""
PLAIN = "define the puzzle with plain=True"
"""Remedy in error messages about moves with effects that the sample of positions did not reveal."""

Digits = NDArray[np.int64]


class Field(NamedTuple):
    """Places that share one digit."""

    first: int
    end: int
    """One past the last place."""
    radix: int
    """Number of values of the digit."""
    counts: tuple[int, ...] | None
    """For an arrangement, the number of pieces with each label. None for a single place that can hold any value."""

    def digit(self, labels: Labels) -> Digits:
        """Return the digit ``(n,)`` of positions ``(n, places)``."""
        if self.counts is None:
            return labels[:, self.first].astype(np.int64)
        return rank_arrangements(labels[:, self.first : self.end], self.counts)

    def digit_of_one(self, labels: Sequence[int]) -> int:
        """Return the digit of one position given as Python integers."""
        if self.counts is None:
            return labels[self.first]
        return ranker(self.counts)(labels[self.first : self.end])

    def write(self, digit: Digits, labels: Labels) -> None:
        """Decode the digits ``(n,)``, and write the labels of the field into the positions ``(n, places)``."""
        if self.counts is None:
            labels[:, self.first] = digit
        else:
            labels[:, self.first : self.end] = unrank_arrangements(digit, self.counts)


def fields_of(parts: Sequence[Part]) -> tuple[Field, ...]:
    """Return the fields of a puzzle, in the order of its places."""
    found = []
    for part, at in zip(parts, ranges_of(parts), strict=True):
        if part.counts is None:
            places = range(at.start, at.stop)
            found += [Field(place, place + 1, len(part.symbols), None) for place in places]
        else:
            found.append(Field(at.start, at.stop, part.size, part.counts))
    return tuple(found)


@dataclass(frozen=True)
class MixedRadix(Numbering):
    """The numbering of all combinations of field values, reachable or not, in mixed radix with a digit for each field.

    The order of the fields follows from the dependencies between them, and determines the possible cuts. Several cuts
    are tried, and the numbering keeps the one with which a search takes the least memory. The number of column maps of
    a cut is estimated from a sample of rows.
    """

    KIND: ClassVar[str] = "fields"

    fields: tuple[Field, ...]
    """The fields in the order of their digits, the most significant digit first."""
    order: tuple[int, ...]
    """For each digit, the index of its field among the puzzle's fields."""
    leading: int
    """Number of fields in the row."""
    max_maps: int
    """Number of column maps for which memory is reserved."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering with the cut that takes the least memory."""
        order, ends = deciding_order(rules.parts, rules.moves)
        fields = fields_of(rules.parts)
        best = cls(tuple(fields[number] for number in order), order, len(order), max_maps=1)
        for leading in () if rules.moves.plain else _promising(best.radices, ends):
            cut = replace(best, leading=leading)
            max_maps = cut.filler(rules, leading).estimated_maps()
            cut = replace(cut, max_maps=max_maps or 1)
            if max_maps is not None and cut._search_bytes(rules) < best._search_bytes(rules):
                best = cut
                if COLUMN_BYTES * max_maps * prod(cut.radices[leading:]) <= ACCEPTED_MAP_BYTES:
                    break
        return best

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """Return the number of combinations of the contents of all parts."""
        return prod(part.size for part in rules.parts)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering with the recorded order and cut; raise FieldError if they do not match the puzzle."""
        if not rules.moves.are_functions:
            raise FieldError(f"space: the kind {record.kind!r} does not match the puzzle {rules.name}")
        order, most = record.details.get("order"), record.details.get("column_maps")
        fields = fields_of(rules.parts)
        if not isinstance(order, list) or not all(type(one) is int for one in order):
            raise FieldError(f"details.order: expected a list of integers, found {order!r}")
        if sorted(order) != list(range(len(fields))):
            raise FieldError(f"details.order: expected each of 0 to {len(fields) - 1} once, found {order!r}")
        if type(most) is not int or not 1 <= most <= record.rows * len(rules.moves) + 1:
            raise FieldError(f"details.column_maps: expected a positive integer, found {most!r}")
        ordered = tuple(fields[number] for number in order)
        rows = list(accumulate((each.radix for each in ordered), mul))
        leading = rows.index(record.rows) + 1 if record.rows in rows else len(rows)
        return cls(ordered, tuple(order), leading, most)

    @property
    def radices(self) -> tuple[int, ...]:
        """Number of values of each field."""
        return tuple(field.radix for field in self.fields)

    @property
    def cuts(self) -> Sequence[int]:
        """The only cut."""
        return (self.leading,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The order of the fields, and the number of column maps for which memory is reserved."""
        return {"order": list(self.order), "column_maps": self.max_maps}

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64. The pieces are not checked."""
        ranks = np.zeros(len(labels), dtype=np.int64)
        for field in self.fields:
            ranks *= field.radix
            ranks += field.digit(labels)
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of one position given as Python integers."""
        rank = 0
        for field in self.fields:
            rank = rank * field.radix + field.digit_of_one(labels)
        return rank

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""
        labels = np.empty((len(indices), max(field.end for field in self.fields)), dtype=np.uint8, order="F")
        rest = np.array(indices, dtype=np.int64)
        for field in reversed(self.fields):
            rest, digit = np.divmod(rest, field.radix)
            field.write(digit, labels)
        return labels

    def filler(self, rules: Rules, leading: int) -> "FieldTables":
        """Return the filler of a cut. Filling raises InputError if the row after a move also depends on the column."""
        deciding = tuple(field.first for field in self.fields[:leading])
        return FieldTables(rules.moves, self, leading, deciding, self.max_maps)

    def _search_bytes(self, rules: Rules) -> int:
        """Return the bytes of the move tables and of the bitmaps of a search."""
        tables = self.filler(rules, self.leading)
        return tables.table_bytes + WORD_BYTES * tables.rows * -(-tables.width // 64)


def _promising(radices: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Return how many leading fields to put into the row, for each cut worth trying.

    The cut whose number of columns is closest to the ideal comes first.
    """
    least, most = WIDTHS
    widths = {leading: prod(radices[leading:]) for leading in ends}
    worth = [leading for leading, width in widths.items() if least <= width <= most]
    return sorted(worth, key=lambda leading: abs(log2(widths[leading] / IDEAL_WIDTH)))[:CUTS_TRIED]


def deciding_order(parts: Sequence[Part], moves: Moves) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the order of the fields, and the numbers of leading fields that form closed sets, in ascending order.

    The fields of the smallest closed set come first, then the fields that extend it to the next larger closed set, and
    so on.
    """
    fields = fields_of(parts)
    return closed_order(fields, dependencies_of(fields, parts, moves))


def closed_order(fields: Sequence[Field], dependencies: NDArray[np.bool_]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the same as `deciding_order`, given the dependencies ``(fields, fields)``; see `dependencies_of`."""
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
    """Return a field together with all fields on which it depends, directly or indirectly."""
    found, waiting = {number}, [number]
    while waiting:
        new = set(np.flatnonzero(dependencies[waiting.pop()]).tolist()) - found
        found |= new
        waiting += new
    return found


def dependencies_of(fields: Sequence[Field], parts: Sequence[Part], moves: Moves) -> NDArray[np.bool_]:
    """Return ``(fields, fields)``: whether the new value of a field after some move depends on another field.

    The first index is the field that changes, and the second index is the field on which its new value depends.
    """
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
    """The effect of a move on some rows."""

    rows: NDArray[np.int64]
    """``(n,)``: the rows in which the move is legal in at least one column, numbered from 0 among the given rows."""
    target: NDArray[np.int64]
    """``(n,)``: the target of each row, as found in one of its columns."""
    maps: NDArray[np.int32]
    """``(n, width)``: the new column of each column; ILLEGAL if the move is illegal in it."""
    decided: bool
    """Whether, in each row, all columns in which the move is legal have the same target."""


@dataclass(frozen=True)
class FieldTables(Filler):
    """The filler for moves that are functions."""

    moves: Moves
    numbering: Numbering
    leading: int
    """Number of digits of the row."""
    deciding: tuple[int, ...]
    """The first place of each field of the row."""
    max_maps: int
    """Number of column maps for which memory is reserved; it exceeds the number found in a sample of rows."""

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return prod(self.numbering.radices[: self.leading])

    @cached_property
    def width(self) -> int:
        """Number of columns of a row."""
        return prod(self.numbering.radices[self.leading :])

    @property
    def max_moves(self) -> int:
        """Number of moves."""
        return len(self.moves)

    @property
    def most_column_maps(self) -> int:
        """Number of column maps for which memory is reserved."""
        return self.max_maps

    @cached_property
    def places(self) -> int:
        """Number of places of a position."""
        return int(self.numbering.unrank(np.zeros(1, dtype=np.int64)).shape[1])

    def cost(self, column_maps: int) -> float:
        """Return the cost as `Filler.cost` does, plus the time that the functions take."""
        return super().cost(column_maps) + FUNCTION_COST * self.rows * self.width * len(self.moves)

    def rows_after(self, number: int, labels: Labels) -> Rows:
        """Return the effect of a move on whole rows, given all their positions ``(rows * width, places)``.

        Raises InputError if the declared inverse of the move does not undo it.
        """
        after, legal = self.moves.move(number, labels)
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
        """Estimate from a sample of rows for how many column maps memory should be reserved.

        If the second half of the sample still contains new maps, all other rows are assumed to contain new maps at the
        same rate. Return None if the row after a move also depends on the column.
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
        """Return unfilled tables and the calls that fill them.

        The calls raise InputError if there are too many column maps.
        """
        tables, numbers = self._empty()
        return tables, self._fills(tables, numbers)

    def _empty(self) -> "tuple[MoveTables, MapNumbers]":
        """Return unfilled tables, and the object that numbers their column maps."""
        max_maps = self.most_column_maps
        rows, width, moves = self.rows, self.width, len(self.moves)
        target = np.full((rows, moves), ILLEGAL, dtype=np.int32)
        column_map: ColumnMap = np.zeros((rows, moves if width > 1 else 0), dtype=index_type(max_maps))
        tables = MoveTables(target, column_map, unfilled_maps(max_maps, width), self.moves.reversible)
        return tables, MapNumbers(width, tables.column_maps)

    def _fills(self, tables: MoveTables, numbers: "MapNumbers") -> list[Fill]:
        return [
            partial(self._fill, tables, numbers, first, end)
            for first, end in blocks(self.rows, self.max_moves * self.width, steps=POSITIONS)
        ]

    def _fill(self, tables: MoveTables, numbers: "MapNumbers", first: int, end: int) -> None:
        labels = self._labels(np.arange(first, end))
        count = np.zeros(end - first, dtype=np.int64)
        for number in range(len(self.moves)):
            found = self.rows_after(number, labels)
            if not found.decided:
                raise InputError(
                    f"move {self.moves.names[number]!r}: the new values of the fields at places {self._deciding} "
                    f"depend on other fields, which a sample of positions did not reveal; {PLAIN}"
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
        """Number of rows of a row block."""
        return max(1, POSITIONS // (len(self.moves) * self.width))

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them.

        It assumes that the Python function of a move creates at most four arrays of the size of its argument.
        """
        position = self.places * (8 * (1 + 4) + 4) + 8 * 10
        count = -(-self.rows // self.block_rows)
        return threads * self.block_rows * self.width * position + NUMBER_BYTES * (self.most_column_maps + count)


class MapNumbers:
    """The numbers of distinct column maps; the identity is number 0. Several threads can use the same object."""

    def __init__(self, width: int, maps: ColumnMaps | None = None) -> None:
        """Number the identity. If ``maps`` ``(maximum, width)`` is given, also write each new map to it."""
        self._maps = maps
        self._lock = Lock()
        self._numbers: dict[bytes, int] = {}
        self._identity = np.arange(width, dtype=np.int32)
        self.of(self._identity[np.newaxis])

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, maps: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the number ``(n,)`` of each map ``(n, width)``; raise InputError if there is no room for more."""
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
                    raise InputError(
                        f"the moves have effects that a sample of positions did not reveal ({number:,} column maps are "
                        f"too few); {PLAIN}"
                    )
                self._maps[number] = column_map
        return number
