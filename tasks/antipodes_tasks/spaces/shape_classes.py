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
from itertools import chain, combinations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import FieldError
from antipodes_tasks.move_tables import (
    ILLEGAL,
    Closing,
    ColumnMap,
    ColumnMaps,
    Fill,
    Filler,
    Indices,
    MoveTables,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.class_graph import ClassGraph, Slots, class_graph
from antipodes_tasks.spaces.class_symmetries import ClassSymmetries
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.shapes import SHAPES
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering, SpaceRecord

MAX_LISTED_ROWS = 1 << 27
"""Maximum number of rows before those are left out that rotations map to earlier rows; each takes 8 bytes."""
MAX_COLUMNS = 1 << 24
"""Maximum number of columns."""
MAX_KEPT_RANKS = 1 << 24
"""Maximum number of row arrangements, of all rearrangements together, whose ranks are kept; each takes 8 bytes. It also
limits those of all renamings together."""
MIN_ENTRIES_FOR_ONE_BLOCK = 1 << 26
"""Number of entries above which all rows form one row block."""


class _Turns(NamedTuple):
    """Rotations and symmetries that take a class to a numbered one. They rearrange the slots, then rename pieces."""

    origins: Slots
    """``(turns, slots)``: the slot from which each slot gets its piece."""
    renaming: Numbers
    """``(turns,)``: the number of the renaming, see `ClassSymmetries`."""


class _Rows(NamedTuple):
    """The numbered rows, and to which of them each row of a numbered class is turned."""

    first: Numbers
    """``(classes,)``: the first class, to which a symmetry takes each class. Only these classes are numbered."""
    symmetry: Numbers
    """``(classes,)``: the number of this symmetry."""
    turns: _Turns
    """The rotations and symmetries that take each numbered class to itself."""
    ranges: dict[int, range]
    """The numbers of these turns for each numbered class, first of the identity, then of the rotations."""
    number: NDArray[np.int32]
    """``(classes, row arrangements)``: for numbered classes, the number of the first row to which turns take each."""
    turn: NDArray[np.int32]
    """``(classes, row arrangements)``: the number of such a turn."""
    of: Numbers
    """``(rows,)``: the class of each numbered row, ascending."""
    arrangement: Numbers
    """``(rows,)``: the row arrangement of each numbered row."""
    weights: Numbers
    """``(rows,)``: how many rows each numbered row stands for, of those that remain without symmetries."""
    stabilisers: list[tuple[int, int]]
    """The numbers of rows and of turns, other than rotations, that take the row to itself."""


class _RowOrbits(NamedTuple):
    """The orbits of the row arrangements of a class."""

    first: Numbers
    """The first arrangement of each orbit, ascending."""
    least: NDArray[np.int32]
    """``(row arrangements,)``: the first arrangement of the orbit of each."""
    turn: NDArray[np.int32]
    """``(row arrangements,)``: the turn that leads to it."""
    rows: Numbers
    """The number of rows up to rotations in each orbit."""
    stable: list[tuple[Numbers, int]]
    """The first arrangements that a turn takes to themselves, and the turn; rotations are left out."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The division of the kinds of pieces into those of the row and those of the column."""

    graph: ClassGraph
    row: Orbits
    """The numbering of the arrangements of the row; it ignores the other slots."""
    column: Orbits
    """The numbering of the arrangements of the column."""
    symmetries: ClassSymmetries

    @classmethod
    def of(cls, graph: ClassGraph) -> "Frame | None":
        """Return the division with the lowest cost of a search; None if all are too large."""
        kinds = Orbits.of(graph.slots).parts
        chosen = chain.from_iterable(combinations(range(len(kinds)), count) for count in range(len(kinds) + 1))
        frames = [cls._divided(graph, kinds, set(row)) for row in chosen]
        fitting = [frame for frame in frames if frame.fits]
        return min(fitting, key=lambda frame: ClassTables(frame).cost(len(frame.maps)), default=None)

    @classmethod
    def _divided(cls, graph: ClassGraph, kinds: Sequence[Any], row: set[int]) -> "Frame":
        parts = [
            tuple(kind for number, kind in enumerate(kinds) if (number in row) is inside) for inside in (True, False)
        ]
        places = graph.slots.places
        inside, outside = (Orbits(each, places, (0,) * len(each)) for each in parts)
        return cls(graph, inside, outside, ClassSymmetries.trivial(graph))

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

    @property
    def row_images(self) -> int:
        """Upper bound on the number of images of row arrangements that `rows` compares."""
        first, each = self.symmetries.to.min(axis=0), np.array(list(map(len, self.graph.rotations)))
        turns = (self.symmetries.to == np.arange(len(first))).sum(axis=0) * each
        return int(turns[first == np.arange(len(first))].sum()) * self.row.size

    @cached_property
    def column_slots(self) -> Numbers:
        """The slots of the column."""
        return np.array([slot for part in self.column.parts for slot in range(part.places)], dtype=np.int64) + np.array(
            [part.first for part in self.column.parts for _ in range(part.places)], dtype=np.int64
        )

    @cached_property
    def row_slots(self) -> Numbers:
        """The slots of the row."""
        return np.setdiff1d(np.arange(self.graph.slots.places), self.column_slots)

    @cached_property
    def maps(self) -> dict[tuple[bytes, int], int]:
        """The number of each column map, the identity first: the slots of the column, then the renaming."""
        numbers = {(self.column_slots.astype(np.uint8).tobytes(), 0): 0}
        for number in self.rows.ranges:
            for to, origins, renaming in self.moves_of(number):
                used: Sequence[int] = self.rows.ranges[to]
                if len(self.symmetries) > 1:
                    arrangements = self.rows.arrangement[self.rows.of == number]
                    used = np.unique(
                        self.rows.turn[to][self.arrangements_after(arrangements, origins, renaming)]
                    ).tolist()
                for turn in used:
                    numbers.setdefault(self.map_after(origins, renaming, turn), len(numbers))
        for _, turn in self.rows.stabilisers:
            numbers.setdefault(self.map_of(turn), len(numbers))
        return numbers

    def moves_of(self, number: int) -> Iterator[tuple[int, Slots, int]]:
        """Yield for each move of a numbered class the numbered class to which a symmetry takes the class after it.

        The slots and the renaming are those of the move and the symmetry together.
        """
        moves, rows, symmetries = self.graph.moves[number], self.rows, self.symmetries
        for to, origins in zip(moves.to.tolist(), moves.origins, strict=True):
            symmetry = rows.symmetry[to]
            yield int(rows.first[to]), origins[symmetries.origins[symmetry, to]], int(symmetries.renaming[symmetry])

    def arrangements_after(self, arrangements: Numbers, origins: Slots, renaming: int) -> Numbers:
        """Return the row arrangements after a move or a symmetry."""
        return self.row.rank(self.symmetries.renamed(self.row_arrangements[arrangements][:, origins], renaming))

    def map_after(self, origins: Slots, renaming: int, turn: int) -> tuple[bytes, int]:
        """Return the slots of the column and the renaming of a move, followed by a turn."""
        turns = self.rows.turns
        slots = origins[turns.origins[turn]][self.column_slots]
        return slots.tobytes(), self._column_renamings[self.symmetries.products[turns.renaming[turn], renaming]]

    def map_of(self, turn: int) -> tuple[bytes, int]:
        """Return the slots of the column and the renaming of a turn."""
        return self.map_after(np.arange(self.graph.slots.places, dtype=np.uint8), 0, turn)

    @cached_property
    def _column_renamings(self) -> list[int]:
        """For each renaming, the first one that renames the pieces of the column alike."""
        known = dict[bytes, int]()
        names = [each[self.column_slots].tobytes() for each in self.symmetries.renamings]
        return [known.setdefault(name, number) for number, name in enumerate(names)]

    @cached_property
    def row_arrangements(self) -> Labels:
        """``(row arrangements, slots)``: the pieces of each arrangement of the row; other slots are undefined."""
        arranged = np.zeros((self.row.size, self.graph.slots.places), dtype=np.uint8)
        arranged[:, self.row_slots] = self.row.unrank(np.arange(self.row.size))[:, self.row_slots]
        return arranged

    @cached_property
    def rows(self) -> _Rows:
        """The numbered rows."""
        first, sizes = self.symmetries.to.min(axis=0), [len(np.unique(images)) for images in self.symmetries.to.T]
        number, turn = (np.zeros((len(first), self.row.size), dtype=np.int32) for _ in range(2))
        turns, ranges = list[tuple[bytes, int]](), dict[int, range]()
        of, arrangement, weights = (list[Numbers]() for _ in range(3))
        stabilisers = list[tuple[int, int]]()
        for one in np.unique(first).tolist():
            here = self._turns(one)
            ranges[one] = range(len(turns), len(turns) + len(here))
            orbits = self._orbits(here, len(self.graph.rotations[one]))
            numbers = np.zeros(self.row.size, dtype=np.int32)
            numbers[orbits.first] = sum(map(len, of)) + np.arange(len(orbits.first))
            number[one], turn[one] = numbers[orbits.least], len(turns) + orbits.turn
            stabilisers += [(row, len(turns) + which) for at, which in orbits.stable for row in numbers[at].tolist()]
            turns += here
            of.append(np.full(len(orbits.first), one))
            arrangement.append(orbits.first)
            weights.append(sizes[one] * orbits.rows)
        self._ranks.clear()
        origins = np.array([list(slots) for slots, _ in turns], dtype=np.uint8)
        every = _Turns(origins, np.array([renaming for _, renaming in turns]))
        return _Rows(
            first,
            self.symmetries.to.argmin(axis=0),
            every,
            ranges,
            number,
            turn,
            np.concatenate(of),
            np.concatenate(arrangement),
            np.concatenate(weights),
            stabilisers,
        )

    def _turns(self, number: int) -> list[tuple[bytes, int]]:
        """Return the rotations of a class, followed by all other products of rotations and symmetries that keep it."""
        found = dict[tuple[bytes, int], None]()
        for symmetry in np.flatnonzero(self.symmetries.to[:, number] == number).tolist():
            for slots in self.symmetries.origins[symmetry, number][self.graph.rotations[number]]:
                found[bytes(slots), int(self.symmetries.renaming[symmetry])] = None
        return list(found)

    def _orbits(self, turns: Sequence[tuple[bytes, int]], rotations: int) -> _RowOrbits:
        """Return the orbits of the row arrangements under the turns of a class, the first of which are rotations."""
        first = np.arange(self.row.size)
        for one in turns:
            first = first[self._row_images(first, *one) >= first]
        least, turn = (np.zeros(self.row.size, dtype=np.int32) for _ in range(2))
        number, fixed = {one: which for which, one in enumerate(turns)}, np.zeros(len(first), dtype=np.int64)
        stable = list[tuple[Numbers, int]]()
        for one, which in reversed(number.items()):  # the identity comes last
            images = self._row_images(first, *one)
            least[images], turn[images] = first, number[self.symmetries.inverse(*one)]
            if which < rotations:
                fixed += images == first
            else:
                stable.append((first[images == first], which))
        return _RowOrbits(first, least, turn, np.bincount(least)[first] * fixed // rotations, stable)

    def _row_images(self, arrangements: Numbers, slots: bytes, renaming: int) -> Numbers:
        """Return the row arrangements after some of them ``(n,)`` are rearranged and renamed."""
        if has_parity(self.row) or self.row.size * len(self.symmetries.renamings) > MAX_KEPT_RANKS:
            return self.arrangements_after(arrangements, np.frombuffer(slots, dtype=np.uint8), renaming)
        in_row = np.frombuffer(slots, dtype=np.uint8)[self.row_slots]
        return self._row_renamings[renaming][self._rearranged(bytes(in_row))[arrangements]]

    def _rearranged(self, slots: bytes) -> Numbers:
        """Return the row arrangement after each one, ``(row arrangements,)``, and keep it.

        ``slots`` are the slots from which the slots of the row get their pieces.
        """
        if slots not in self._ranks:
            if len(self._ranks) * self.row.size >= MAX_KEPT_RANKS:
                self._ranks.clear()
            arranged = self.row_arrangements.copy()
            arranged[:, self.row_slots] = self.row_arrangements[:, list(slots)]
            self._ranks[slots] = self.row.rank(arranged)
        return self._ranks[slots]

    @cached_property
    def _ranks(self) -> dict[bytes, Numbers]:
        return {}

    @cached_property
    def _row_renamings(self) -> list[Numbers]:
        """For each renaming, the row arrangement after it, ``(row arrangements,)``."""
        return [
            self.row.rank(self.symmetries.renamed(self.row_arrangements, number))
            for number in range(len(self.symmetries.renamings))
        ]

    def numbered(self, of: Numbers, arranged: Labels) -> tuple[Numbers, Numbers]:
        """Return the row and the column of the entry of each class ``(n,)`` with pieces ``(n, slots)``.

        Either is NOT_NUMBERED if there is none.
        """
        rows, symmetries = self.rows, self.symmetries
        symmetry, first = rows.symmetry[of], rows.first[of]
        moved = np.take_along_axis(arranged, symmetries.origins[symmetry, of].astype(np.int64), axis=1)
        moved = symmetries.renamed(moved, symmetries.renaming[symmetry])
        arrangement = self.row.rank(moved)
        turn = rows.turn[first, arrangement]
        turned = np.take_along_axis(moved, rows.turns.origins[turn].astype(np.int64), axis=1)
        column = self.column.rank(symmetries.renamed(turned, rows.turns.renaming[turn]))
        row = rows.number[first, arrangement].astype(np.int64)
        return np.where(arrangement == NOT_NUMBERED, NOT_NUMBERED, row), column


def has_parity(arrangements: Orbits) -> bool:
    """Return whether only arrangements of one parity are numbered, so that a product of two odd maps has no factors."""
    return any(part.parity is not None for part in arrangements.parts)  # type: ignore[union-attr]


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
        graph, ranks = self.frame.graph, np.full(len(labels), NOT_NUMBERED)
        known, shapes, arranged = graph.shapes.divided(labels)
        at_home = np.empty_like(arranged)
        np.put_along_axis(at_home, graph.homes[shapes].astype(np.int64), arranged, axis=1)
        ranks[known] = self.rank_classes(graph.of[shapes].astype(np.int64), at_home)
        return ranks

    def rank_classes(self, of: Numbers, arranged: Labels) -> Indices:
        """Return the same as `rank` for classes ``(n,)`` with the pieces ``(n, slots)`` on their representatives."""
        row, column = self.frame.numbered(of, arranged)
        return np.where((row != NOT_NUMBERED) & (column != NOT_NUMBERED), row * self.radices[-1] + column, NOT_NUMBERED)

    def unrank(self, indices: Indices) -> Labels:
        """Return a position ``(n, places)`` of the class with each index ``(n,)``. The indices are not checked."""
        graph, (of, arranged) = self.frame.graph, self.unrank_classes(indices)
        return graph.shapes.positions(graph.representatives[of], arranged)

    def unrank_classes(self, indices: Indices) -> tuple[Numbers, Labels]:
        """Return the class ``(n,)`` of each index ``(n,)``, and its pieces ``(n, slots)`` on the representative."""
        frame, (row, column) = self.frame, np.divmod(indices, self.radices[-1])
        arranged = frame.row_arrangements[frame.rows.arrangement[row]]
        arranged[:, frame.column_slots] = frame.column.unrank(column)[:, frame.column_slots]
        return frame.rows.of[row], arranged

    def filler(self, rules: Rules, leading: int) -> "ClassTables":
        """Return the filler of the only cut."""
        return ClassTables(self.frame)


def _frame(rules: Rules) -> Frame | None:
    latest = _latest[:1]  # other threads may replace it
    if not latest or latest[0][0] != rules.fingerprint:
        graph = class_graph(rules)
        latest = _latest[:] = [(rules.fingerprint, None if graph is None else Frame.of(graph))]
    return latest[0][1]


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
        return max(len(self.frame.graph.moves[number].to) for number in self.frame.rows.ranges)

    @property
    def most_column_maps(self) -> int:
        """The number of column maps."""
        return len(self.frame.maps) if self.width > 1 else 1

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them: one for each class and one for each column map."""
        rows, count = self.frame.rows, self.most_column_maps
        target = np.full((self.rows, self.max_moves), ILLEGAL, dtype=np.int32)
        column_map: ColumnMap = np.zeros((self.rows, self.max_moves if self.width > 1 else 0), dtype=index_type(count))
        maps = unfilled_maps(count, self.width)
        fills: list[Fill] = []
        for number in rows.ranges:
            here = slice(*np.searchsorted(rows.of, [number, number + 1]))
            fills.append(partial(self._fill_rows, number, rows.arrangement[here], target[here], column_map[here]))
        if self.width > 1:
            by_slots = dict[bytes, list[tuple[int, int]]]()
            for (slots, renaming), which in self.frame.maps.items():
                by_slots.setdefault(slots, []).append((which, renaming))
            fills += [partial(self._fill_maps, maps, slots, some) for slots, some in by_slots.items()]
        return MoveTables(target, column_map, maps, undirected=True, closing=self._closing), fills

    @property
    def _closing(self) -> Closing | None:
        frame = self.frame
        pairs = {(row, frame.maps[frame.map_of(turn)]) for row, turn in frame.rows.stabilisers}
        found = np.array(sorted(pair for pair in pairs if pair[1]), dtype=np.int32).reshape(-1, 2)  # no identity
        rows, counts = np.unique(found[:, 0], return_counts=True)
        begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return Closing(rows, begins, np.ascontiguousarray(found[:, 1])) if len(rows) and self.width > 1 else None

    def _fill_rows(self, number: int, arrangements: Numbers, target: NDArray[np.int32], column_map: ColumnMap) -> None:
        frame = self.frame
        for move, (to, origins, renaming) in enumerate(frame.moves_of(number)):
            after = frame.arrangements_after(arrangements, origins, renaming)
            target[:, move] = frame.rows.number[to][after]
            if column_map.shape[1]:
                turns, which = np.unique(frame.rows.turn[to][after], return_inverse=True)
                maps = [frame.maps[frame.map_after(origins, renaming, turn)] for turn in turns.tolist()]
                column_map[:, move] = np.array(maps)[which]

    def _fill_maps(self, maps: ColumnMaps, slots: bytes, some: list[tuple[int, int]]) -> None:
        """Fill the maps that rearrange the slots alike; each is given with its number and its renaming."""
        columns = self._columns.copy()
        columns[:, self.frame.column_slots] = columns[:, np.frombuffer(slots, dtype=np.uint8)]
        ranks = self.frame.column.rank(columns)
        for which, renaming in some:
            if has_parity(self.frame.column):
                maps[which] = self.frame.column.rank(self.frame.symmetries.renamed(columns, renaming))
            else:
                maps[which] = self._renamed_columns[renaming][ranks]

    @cached_property
    def _columns(self) -> Labels:
        """``(width, slots)``: the pieces of each column; other slots are undefined."""
        arranged = np.zeros((self.width, self.frame.graph.slots.places), dtype=np.uint8)
        at = self.frame.column_slots
        arranged[:, at] = self.frame.column.unrank(np.arange(self.width))[:, at]
        return arranged

    @cached_property
    def _renamed_columns(self) -> dict[int, Numbers]:
        """For each renaming of the maps, the column after it."""
        return {
            number: self.frame.column.rank(self.frame.symmetries.renamed(self._columns, number))
            for number in {renaming for _, renaming in self.frame.maps}
        }

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        frame, slots = self.frame, self.frame.graph.slots.places
        listed = len(frame.graph.representatives) * frame.row.size * 8 + frame.row.size * slots
        return frame.graph.shapes.nbytes + listed + threads * (frame.row.size + self.width) * (slots + 32)
