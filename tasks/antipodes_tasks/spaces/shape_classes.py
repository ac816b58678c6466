"""The numbering of classes of positions under free moves, for puzzles that can be numbered by shapes.

A class is a class of shapes and an arrangement of the pieces on the slots of its representative, up to rotations of the
representative (see `antipodes_tasks.spaces.class_graph`). The row consists of the class of shapes and the arrangement
of some kinds of pieces, the column of the arrangement of the other kinds. Of the rows that rotations map to each other,
only the first one is numbered. The kinds of the row are chosen so that a rotation that keeps a row also keeps all its
columns; so each entry is one class.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, combinations, pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import FieldError
from antipodes_tasks.move_tables import (
    ILLEGAL,
    ColumnMap,
    Fill,
    Filler,
    Indices,
    MoveTables,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.class_graph import ClassGraph, Slots, class_graph
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.shapes import SHAPES
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering, SpaceRecord

MAX_LISTED_ROWS = 1 << 27
"""Maximum number of rows before those are left out that rotations map to earlier rows; each takes 8 bytes."""
MAX_COLUMNS = 1 << 24
"""Maximum number of columns."""
MIN_ENTRIES_FOR_ONE_BLOCK = 1 << 26
"""Number of entries above which all rows form one row block."""


class _Rows(NamedTuple):
    """The numbered rows, and to which of them each row is rotated."""

    number: NDArray[np.int32]
    """``(classes, row arrangements)``: the number of the first row to which rotations take each row."""
    rotation: NDArray[np.int32]
    """``(classes, row arrangements)``: the number of such a rotation."""
    of: Numbers
    """``(rows,)``: the class of each numbered row, ascending."""
    arrangement: Numbers
    """``(rows,)``: the row arrangement of each numbered row."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The division of the kinds of pieces into those of the row and those of the column."""

    graph: ClassGraph
    row: Orbits
    """The numbering of the arrangements of the row; it ignores the other slots."""
    column: Orbits
    """The numbering of the arrangements of the column."""

    @classmethod
    def of(cls, graph: ClassGraph) -> "Frame | None":
        """Return the division with the lowest cost of a search; None if all are too large."""
        kinds = Orbits.of(graph.slots).parts
        chosen = chain.from_iterable(combinations(range(len(kinds)), count) for count in range(len(kinds) + 1))
        frames = [cls._divided(graph, kinds, set(row)) for row in chosen]
        fitting = [frame for frame in frames if frame.fits]
        return min(fitting, key=lambda frame: ClassTables(frame).cost(frame.most_maps), default=None)

    @classmethod
    def _divided(cls, graph: ClassGraph, kinds: Sequence[Any], row: set[int]) -> "Frame":
        parts = [
            tuple(kind for number, kind in enumerate(kinds) if (number in row) is inside) for inside in (True, False)
        ]
        places = graph.slots.places
        return cls(graph, *(Orbits(each, places, (0,) * len(each)) for each in parts))

    @property
    def fits(self) -> bool:
        """Whether rows and columns are not too many, and rotations that keep a row keep its columns."""
        rows = len(self.graph.representatives) * self.row.size
        return rows <= MAX_LISTED_ROWS and self.column.size <= MAX_COLUMNS and self._is_free

    @property
    def _is_free(self) -> bool:
        every = np.unique(np.concatenate(self.graph.rotations), axis=0)
        moved = every != np.arange(every.shape[1])
        always = np.zeros(len(every), dtype=np.bool_)
        for part in self.row.parts:
            if set(part.pieces) == {1}:  # type: ignore[union-attr]
                always |= moved[:, part.place_slice].any(axis=1)
        return bool((always | ~moved[:, self.column_slots].any(axis=1)).all())

    @cached_property
    def column_slots(self) -> Numbers:
        """The slots of the column."""
        return np.array([slot for part in self.column.parts for slot in range(part.places)], dtype=np.int64) + np.array(
            [part.first for part in self.column.parts for _ in range(part.places)], dtype=np.int64
        )

    @cached_property
    def most_maps(self) -> int:
        """The number of column maps."""
        return len(self.maps)

    @cached_property
    def maps(self) -> dict[bytes, int]:
        """The number of each rearrangement of the slots of the column, the identity first."""
        numbers = {self.column_slots.astype(np.uint8).tobytes(): 0}
        for _, _, origins in self.every_move():
            for line in origins[:, self.column_slots]:
                numbers.setdefault(line.tobytes(), len(numbers))
        return numbers

    def every_move(self) -> Iterator[tuple[int, int, Slots]]:
        """Yield for each move its class, the class after it, and its rearrangement followed by each rotation there."""
        for number, moves in enumerate(self.graph.moves):
            for to, slots in zip(moves.to.tolist(), moves.origins, strict=True):
                yield number, to, slots[self.graph.rotations[to]]

    @cached_property
    def row_arrangements(self) -> Labels:
        """``(row arrangements, slots)``: the pieces of each arrangement of the row; other slots are undefined."""
        return self.row.unrank(np.arange(self.row.size))

    @cached_property
    def rows(self) -> _Rows:
        """The numbered rows."""
        classes, size = len(self.graph.representatives), self.row.size
        number, rotation = (np.zeros((classes, size), dtype=np.int32) for _ in range(2))
        first, of, arrangement, every = 0, list[Numbers](), list[Numbers](), np.arange(size)
        for one, rotations in enumerate(self.graph.rotations):
            least = every.copy()
            for which, slots in enumerate(rotations[1:], start=1):
                image = self.row.rank(self.row_arrangements[:, slots])
                smaller = image < least
                least[smaller], rotation[one, smaller] = image[smaller], which
            kept = np.flatnonzero(least == every)
            numbers = np.zeros(size, dtype=np.int32)
            numbers[kept] = first + np.arange(len(kept))
            number[one] = numbers[least]
            of.append(np.full(len(kept), one))
            arrangement.append(kept)
            first += len(kept)
        return _Rows(number, rotation, np.concatenate(of), np.concatenate(arrangement))


@dataclass(frozen=True)
class ShapeClasses(Numbering):
    """The numbering of classes of positions. Some numbered classes may be unreachable."""

    KIND: ClassVar[str] = "classes"

    rules: Rules

    def __reduce__(self) -> tuple[Any, ...]:
        """Send only the rules to other processes, which find the classes again."""
        return ShapeClasses, (self.rules,)

    @classmethod
    def suits(cls, rules: Rules) -> bool:
        """Return whether the numbering exists: the shapes can be found, and there are not too many rows or columns."""
        return _frame(rules) is not None

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering of a puzzle that it suits."""
        return cls(rules)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering of a record; raise FieldError if the classes of the puzzle differ in number."""
        if not (rules.moves.free_moves and cls.suits(rules)) or record.details != (numbering := cls(rules)).details:
            raise FieldError(f"space: the record does not match the free moves of the puzzle {rules.name}")
        return numbering

    @cached_property
    def frame(self) -> Frame:
        """The classes of shapes, and the kinds of row and column."""
        frame = _frame(self.rules)
        assert frame is not None
        return frame

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The numbers of rows and columns; in large spaces, a digit with one value comes first, as in reduced ones."""
        rows, columns = len(self.frame.rows.of), self.frame.column.size
        return (*((1,) if rows * columns > MIN_ENTRIES_FOR_ONE_BLOCK else ()), rows, columns)

    @property
    def cuts(self) -> Sequence[int]:
        """The only cut."""
        return (len(self.radices) - 1,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The numbers of shapes and of their classes, and the records of the kinds of row and column."""
        graph = self.frame.graph
        return {
            SHAPES: len(graph.of),
            self.KIND: len(graph.representatives),
            "row": [part.details for part in self.frame.row.parts],
            "column": [part.details for part in self.frame.column.parts],
        }

    def rank(self, labels: Labels) -> Indices:
        """Return the index of the class of each position ``(n, places)``, as ``(n,)``; NOT_NUMBERED if it has none."""
        graph, rows, ranks = self.frame.graph, self.frame.rows, np.full(len(labels), NOT_NUMBERED)
        known, shapes, arranged = graph.shapes.divided(labels)
        at_home = np.empty_like(arranged)
        np.put_along_axis(at_home, graph.homes[shapes].astype(np.int64), arranged, axis=1)
        row, of = self.frame.row.rank(at_home), graph.of[shapes]
        rotations = self._rotations[of, rows.rotation[of, row]]
        column = self.frame.column.rank(np.take_along_axis(at_home, rotations, axis=1))
        numbered = (row != NOT_NUMBERED) & (column != NOT_NUMBERED)
        ranks[known] = np.where(
            numbered, rows.number[of, row].astype(np.int64) * self.radices[-1] + column, NOT_NUMBERED
        )
        return ranks

    @cached_property
    def _rotations(self) -> Numbers:
        """``(classes, rotations, slots)``: the rotations of each class, as far as it has them."""
        each = self.frame.graph.rotations
        found = np.zeros((len(each), max(map(len, each)), each[0].shape[1]), dtype=np.int64)
        for number, rotations in enumerate(each):
            found[number, : len(rotations)] = rotations
        return found

    def unrank(self, indices: Indices) -> Labels:
        """Return a position ``(n, places)`` of the class with each index ``(n,)``. The indices are not checked."""
        frame, (row, column) = self.frame, np.divmod(indices, self.radices[-1])
        arranged = frame.row.unrank(frame.rows.arrangement[row])
        arranged[:, frame.column_slots] = frame.column.unrank(column)[:, frame.column_slots]
        return frame.graph.shapes.positions(frame.graph.representatives[frame.rows.of[row]], arranged)

    def filler(self, rules: Rules, leading: int) -> "ClassTables":
        """Return the filler of the only cut."""
        return ClassTables(self.frame)


def _frame(rules: Rules) -> Frame | None:
    if not _latest or _latest[0][0] != rules.fingerprint:
        graph = class_graph(rules)
        _latest[:] = [(rules.fingerprint, None if graph is None else Frame.of(graph))]
    return _latest[0][1]


_latest: list[tuple[str, Frame | None]] = []
"""The most recent frame, with the fingerprint of its puzzle."""


@dataclass(frozen=True)
class ClassTables(Filler):
    """The filler: the moves of a class of shapes apply to all of its rows, and are followed by rotations."""

    frame: Frame

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.frame.rows.of)

    @property
    def width(self) -> int:
        """Number of columns of each row."""
        return self.frame.column.size

    @cached_property
    def max_moves(self) -> int:
        """Maximum number of moves of a class."""
        return max(len(moves.to) for moves in self.frame.graph.moves)

    @property
    def most_column_maps(self) -> int:
        """The number of column maps."""
        return self.frame.most_maps if self.width > 1 else 1

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them: one for each class and one for each column map."""
        rows, count = self.frame.rows, self.most_column_maps
        target = np.full((self.rows, self.max_moves), ILLEGAL, dtype=np.int32)
        column_map: ColumnMap = np.zeros((self.rows, self.max_moves if self.width > 1 else 0), dtype=index_type(count))
        maps = unfilled_maps(count, self.width)
        ends = np.searchsorted(rows.of, np.arange(len(self.frame.graph.moves) + 1)).tolist()
        fills: list[Fill] = [
            partial(self._fill_rows, number, rows.arrangement[first:end], target[first:end], column_map[first:end])
            for number, (first, end) in enumerate(pairwise(ends))
        ]
        if self.width > 1:
            fills += [partial(self._fill_map, maps[number], key) for key, number in self.frame.maps.items()]
        return MoveTables(target, column_map, maps, undirected=True), fills

    def _fill_rows(self, number: int, arrangements: Numbers, target: NDArray[np.int32], column_map: ColumnMap) -> None:
        frame, moves = self.frame, self.frame.graph.moves[number]
        labels = frame.row_arrangements[arrangements]
        for move, (to, slots) in enumerate(zip(moves.to.tolist(), moves.origins, strict=True)):
            after = frame.row.rank(labels[:, slots])
            target[:, move] = frame.rows.number[to, after]
            if column_map.shape[1]:
                turned = slots[frame.graph.rotations[to]][:, frame.column_slots]
                maps = np.array([frame.maps[line.tobytes()] for line in turned])
                column_map[:, move] = maps[frame.rows.rotation[to, after]]

    def _fill_map(self, column_map: NDArray[Any], key: bytes) -> None:
        columns = self.frame.column.unrank(np.arange(self.width))
        columns[:, self.frame.column_slots] = columns[:, np.frombuffer(key, dtype=np.uint8)]
        column_map[:] = self.frame.column.rank(columns)

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        frame, slots = self.frame, self.frame.graph.slots.places
        listed = len(frame.graph.representatives) * frame.row.size * 8 + frame.row.size * slots
        return frame.graph.shapes.nbytes + listed + threads * (frame.row.size + self.width) * (slots + 32)
