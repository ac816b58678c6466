"""The numbering by shapes, for puzzles whose legal moves depend only on which kind of piece covers which places.

A *shape* is a position in which the pieces of each kind are replaced by identical ones. It determines the legal moves,
the shape after each move, and how the move rearranges the pieces of each kind in the order of the places. The index of
a position consists of the number of its shape and the number of the arrangement of its pieces, in this order. A search
finds the shapes. The arrangements are numbered, cut and tabulated like a puzzle of their own, whose *slots* are the
pieces in order, and whose moves are all rearrangements that occur.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.base.errors import FieldError, SizeLimitError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, Packing
from antipodes_tasks.keys.ranges import layers
from antipodes_tasks.keys.sorted_keys import sorted_unique
from antipodes_tasks.move_tables import ILLEGAL, ColumnMap, Fill, Filler, Indices, MoveTables, blocks, index_type
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.starts import Starts
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.keyed import places_in
from antipodes_tasks.spaces.orbit_tables import OrbitTables
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.shape_pieces import Kind, kinds_of
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering, SpaceRecord

MAX_SHAPE_MOVES = 1 << 24
"""Maximum number of shapes times moves. Their table takes 8 bytes each, and is computed in some seconds."""
MAX_SLOTS = 1 << 8
"""Maximum number of slots, because rearrangements store their numbers in 8 bits."""
SHAPES_AT_ONCE = 1 << 16
"""Number of shapes whose moves are computed together."""
SHAPES = "shapes"
"""The kind in a store, and the key of the number of shapes in its details."""


@dataclass(frozen=True, eq=False)
class ShapeGraph:
    """The shapes of a puzzle and the moves between them."""

    kinds: tuple[Kind, ...]
    """The kinds with different pieces."""
    codes: Labels
    """``(places, labels)``: the label that stands in a shape for each label on each place."""
    packing: Packing
    keys: Keys
    """The keys of the shapes, ascending."""
    target: NDArray[np.int32]
    """``(shapes, moves)``: the shape after each legal move; ILLEGAL after the last one."""
    rearrangement: NDArray[np.int32]
    """``(shapes, moves)``: the number of the rearrangement of the slots."""
    slots: Rules
    """The puzzle of the arrangements: a part for each kind, and a move for each rearrangement."""

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.keys.nbytes + self.target.nbytes + self.rearrangement.nbytes

    def divided(self, labels: Labels) -> tuple[Numbers, Numbers, Labels]:
        """Return which of some positions ``(n, places)`` have a shape and the right pieces, their shapes and pieces.

        The arrays are ``(k,)``, ``(k,)`` and ``(k, slots)``.
        """
        shapes = self.codes[np.arange(labels.shape[1]), labels]
        number = np.where(self.packing.fit(shapes), places_in(self.keys, self.packing.pack(shapes)), NOT_NUMBERED)
        known = np.flatnonzero(number != NOT_NUMBERED)
        arranged = _arrangements(self.kinds, shapes[known], labels[known])
        valid = self._are_pieces(arranged)
        known, arranged = known[valid], arranged[valid]
        whole = (_composed(self.kinds, shapes[known], arranged) == labels[known]).all(axis=1)
        known = known[whole]
        return known, number[known], arranged[whole]

    def positions(self, shapes: Numbers, arranged: Labels) -> Labels:
        """Return the positions ``(n, places)`` with the shapes ``(n,)`` and the pieces ``(n, slots)``."""
        return _composed(self.kinds, self.packing.unpack(self.keys[shapes]), arranged)

    def _are_pieces(self, arranged: Labels) -> Mask:
        """Return a mask of the rows ``(n, slots)`` that contain the pieces of the puzzle."""
        valid = np.ones(len(arranged), dtype=np.bool_)
        for here in self.slots.ranges:
            valid &= (np.sort(arranged[:, here], axis=1) == np.sort(self.slots.start_labels[0, here])).all(axis=1)
        return valid


def shape_graph(rules: Rules) -> ShapeGraph | None:
    """Return the shapes of a puzzle.

    Return None if its moves are not suitable transforms, or if there are too many shapes or pieces.
    """
    latest = _latest[:1]  # other threads may replace it
    if not latest or latest[0][0] != rules.fingerprint:
        found = explored(rules)
        latest = _latest[:] = [(rules.fingerprint, None if found is None else _legal_first(found))]
    return latest[0][1]


_latest: list[tuple[str, ShapeGraph | None]] = []
"""The most recent graph, with the fingerprint of its puzzle."""


def explored(rules: Rules) -> ShapeGraph | None:
    """Return the graph as in `shape_graph`, but with a column for each move of the puzzle, also where it is illegal."""
    moves = Transforms.of(rules.moves)
    kinds = None if moves is None else kinds_of(rules)
    if moves is None or kinds is None:
        return None
    arranged = tuple(kind for kind in kinds if len(kind.pieces) > 1)
    codes = _codes(rules, kinds)
    shaped = codes[np.arange(rules.places), rules.start_labels]
    too_many = sum(sum(kind.counts) for kind in arranged) > MAX_SLOTS
    if too_many or not _consist_of(kinds, shaped, rules.start_labels):
        return None
    starts = np.unique(shaped, axis=0)
    simpler = replace(rules, starts=Starts(starts), origin=None)
    try:
        packing = Packing.of(simpler)
    except SizeLimitError:
        return None
    listed, count = [], 0
    for layer in layers(Expansion(simpler, packing), packing.pack(starts)):
        listed.append(layer)
        count += len(layer)
        if count * len(moves) > MAX_SHAPE_MOVES:
            return None
    keys = sorted_unique(np.concatenate(listed))
    target, rearrangement, origins = _moves(moves, arranged, packing, keys)
    slots = _slots(arranged, _arrangements(arranged, shaped, rules.start_labels), origins)
    return ShapeGraph(arranged, codes, packing, keys, target, rearrangement, slots)


def _legal_first(graph: ShapeGraph) -> ShapeGraph:
    """Return the graph with the legal moves of each shape first, and only as many columns as are needed."""
    legal = graph.target != ILLEGAL
    order = np.argsort(~legal, axis=1, kind="stable")[:, : int(legal.sum(axis=1).max(initial=0))]
    target, rearrangement = (np.take_along_axis(each, order, axis=1) for each in (graph.target, graph.rearrangement))
    return replace(graph, target=target, rearrangement=rearrangement)


def _consist_of(kinds: Sequence[Kind], shapes: Labels, labels: Labels) -> bool:
    """Return whether positions ``(n, places)`` with these shapes consist of pieces of these kinds."""
    if any((kind.is_first_cell(shapes).sum(axis=1) != sum(kind.counts)).any() for kind in kinds):
        return False
    return bool((_composed(kinds, shapes, _arrangements(kinds, shapes, labels)) == labels).all())


def _composed(kinds: Sequence[Kind], shapes: Labels, arranged: Labels) -> Labels:
    """Return the positions ``(n, places)`` with these shapes and the pieces ``(n, slots)``."""
    labels, lines, first = shapes.copy(), np.arange(len(shapes))[:, np.newaxis], 0
    for kind in kinds:
        slots = kind.slots(shapes)
        here = arranged[:, first : first + slots.shape[1]]
        for cell, places in enumerate(kind.cells):
            labels[lines, places[slots]] = kind.labels[here, cell]
        first += slots.shape[1]
    return labels


def _codes(rules: Rules, kinds: Sequence[Kind]) -> Labels:
    labels = max(len(part.symbols) for part in rules.parts)
    codes = np.tile(np.arange(labels, dtype=np.uint8), (rules.places, 1))
    for kind in kinds:
        for cell, code in enumerate(kind.codes):
            places = np.array([cells[cell] for cells in kind.placements.values()])
            codes[places[:, np.newaxis], kind.labels[:, cell]] = code
    return codes


def _moves(
    moves: Transforms, kinds: Sequence[Kind], packing: Packing, keys: Keys
) -> tuple[NDArray[np.int32], NDArray[np.int32], Labels]:
    """Return the target and the number of the rearrangement of each shape and move, and the distinct rearrangements."""
    target = np.full((len(keys), len(moves)), ILLEGAL, dtype=np.int32)
    rearrangement = np.zeros_like(target)
    numbers: dict[bytes, int] = {}
    leads = [_leads(kind, packing, keys) for kind in kinds]
    for first, end in blocks(len(keys), 1, steps=SHAPES_AT_ONCE):
        shapes = packing.unpack(keys[first:end])
        ranks = [_ranks(kind, shapes) for kind in kinds]
        for move in range(len(moves)):
            after, legal = moves.move(move, shapes)
            after, here = after[legal], np.flatnonzero(legal)
            number = places_in(keys, packing.pack(after))
            target[first + here, move] = number
            rows = [np.zeros((len(after), 1), dtype=np.uint8)]
            for lead, rank in zip(leads, ranks, strict=True):
                rows.append(rank[here[:, np.newaxis], moves.origin[move][lead[number]]])
            rearrangement[first + here, move] = _numbered(np.concatenate(rows, axis=1), numbers)
    slots = sum(sum(kind.counts) for kind in kinds)
    origins = np.array([list(key) for key in numbers], dtype=np.uint8).reshape(len(numbers), 1 + slots)[:, 1:]
    return target, rearrangement, origins


def _leads(kind: Kind, packing: Packing, keys: Keys) -> NDArray[np.int16]:
    """Return the places ``(shapes, pieces)`` of the first cells of a kind in each shape, in order."""
    found = [
        kind.slots(packing.unpack(keys[first:end])).astype(np.int16)
        for first, end in blocks(len(keys), 1, steps=SHAPES_AT_ONCE)
    ]
    return np.concatenate(found)


def _ranks(kind: Kind, shapes: Labels) -> Labels:
    """Return the number ``(n, places)`` of the slot whose first cell is on each place."""
    ranks = np.zeros(shapes.shape, dtype=np.uint8)
    ranks[:, kind.leads] = np.cumsum(kind.is_first_cell(shapes), axis=1) - 1
    return ranks


def _numbered(rows: Labels, numbers: dict[bytes, int]) -> Numbers:
    """Return the number of each row ``(n, bytes)``, and add new rows to ``numbers``."""
    joined = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    listed: list[Any] = joined.tolist()
    for row in sorted(set(listed) - numbers.keys()):
        numbers[row] = len(numbers)
    return np.fromiter(map(numbers.__getitem__, listed), dtype=np.int64, count=len(listed))


def _arrangements(kinds: Sequence[Kind], shapes: Labels, labels: Labels) -> Labels:
    """Return the number of the piece in each slot, ``(n, slots)``, for positions ``(n, places)``.

    Without kinds there is one slot, which holds piece 0.
    """
    columns = [np.zeros((len(labels), int(not kinds)), dtype=np.uint8)]
    for kind in kinds:
        number = np.zeros(256, dtype=np.uint8)
        number[kind.labels[:, 0]] = np.arange(len(kind.pieces))
        columns.append(number[np.take_along_axis(labels, kind.slots(shapes), axis=1)])
    return np.concatenate(columns, axis=1)


def _slots(kinds: Sequence[Kind], starts: Labels, origins: Labels) -> Rules:
    """Return the puzzle of the arrangements, given the rearrangements of the slots of each kind."""
    sizes = [sum(kind.counts) for kind in kinds] or [1]
    parts, first, shifted = [], 0, origins.astype(np.int64)
    for size in sizes:
        start = tuple(starts[0, first : first + size].tolist())
        parts.append(pieces(start, tuple(map(str, range(max(start) + 1)))))
        shifted[:, first : first + size] += first
        first += size
    moduli = [len(part.symbols) for part in parts for _ in range(part.places)]
    places = shifted if kinds else np.zeros((len(origins), 1), dtype=np.int64)
    return Rules(tuple(parts), Starts(np.unique(starts, axis=0)), Transforms((), places, moduli))


@dataclass(frozen=True)
class Shapes(Numbering):
    """The numbering by shapes and arrangements. Some numbered positions may be unreachable."""

    KIND: ClassVar[str] = SHAPES

    rules: Rules

    def __reduce__(self) -> tuple[Any, ...]:
        """Send only the rules to other processes, which find the shapes again."""
        return Shapes, (self.rules,)

    @classmethod
    def suits(cls, rules: Rules) -> bool:
        """Return whether the numbering exists: the moves are transforms, and there are not too many shapes."""
        return shape_graph(rules) is not None

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering of a puzzle that it suits."""
        return cls(rules)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering of a record; raise FieldError if the shapes of the puzzle differ in number."""
        if not cls.suits(rules) or record.details != (numbering := cls(rules)).details:
            raise FieldError(f"space: the record does not match the shapes of the puzzle {rules.name}")
        return numbering

    @cached_property
    def graph(self) -> ShapeGraph:
        """The shapes."""
        graph = shape_graph(self.rules)
        assert graph is not None
        return graph

    @cached_property
    def arrangements(self) -> Orbits:
        """The numbering of the arrangements."""
        return Orbits.of(self.graph.slots)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The number of shapes, and the radices of the arrangement."""
        return len(self.graph.keys), *self.arrangements.radices

    @property
    def cuts(self) -> Sequence[int]:
        """The possible numbers of digits in the row, which contains the shape."""
        return [1 + cut for cut in self.arrangements.cuts]

    @property
    def details(self) -> Mapping[str, Any]:
        """The number of shapes, and the record of the arrangements."""
        return {SHAPES: len(self.graph.keys), **self.arrangements.details}

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64; NOT_NUMBERED if it has none."""
        ranks = np.full(len(labels), NOT_NUMBERED)
        known, shapes, arranged = self.graph.divided(labels)
        inner = self.arrangements.rank(arranged)
        ranks[known] = np.where(inner == NOT_NUMBERED, inner, shapes * self.arrangements.size + inner)
        return ranks

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""
        shapes, inner = np.divmod(indices, self.arrangements.size)
        return self.graph.positions(shapes, self.arrangements.unrank(inner))

    def filler(self, rules: Rules, leading: int) -> "ShapeTables":
        """Return the filler of a cut."""
        return ShapeTables(self.graph, self.arrangements.filler(self.graph.slots, leading - 1), rules.moves.reversible)


@dataclass(frozen=True)
class ShapeTables(Filler):
    """The filler: a row is a shape and a row of the tables of the arrangements, whose column maps are used."""

    graph: ShapeGraph
    arrangements: OrbitTables
    reversible: bool

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.graph.keys) * self.arrangements.rows

    @property
    def width(self) -> int:
        """Number of columns of each row."""
        return self.arrangements.width

    @property
    def max_moves(self) -> int:
        """Maximum number of legal moves of a shape."""
        return int(self.graph.target.shape[1])

    @cached_property
    def most_column_maps(self) -> int:
        """Upper bound on the number of column maps."""
        return self.arrangements.most_column_maps

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them; the tables of the arrangements are filled at once."""
        inner = self.arrangements.filled()
        shapes, rows = (self.graph.target, self.graph.rearrangement), (inner.target, inner.column_map)
        target = np.empty((self.rows, self.max_moves), dtype=np.int32)
        moves = self.max_moves if self.width > 1 else 0
        column_map: ColumnMap = np.empty((self.rows, moves), dtype=index_type(len(inner.column_maps)))
        fills: list[Fill] = [
            partial(combine_shapes, target[first:end], column_map[first:end], first, *shapes, *rows)
            for first, end in blocks(self.rows, max(1, self.max_moves))
        ]
        return MoveTables(target, column_map, inner.column_maps, undirected=self.reversible), fills

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while ``threads`` threads fill them."""
        return self.graph.nbytes + self.arrangements.table_bytes + self.arrangements.building_bytes(threads)


@kernel
def combine_shapes(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    first: int,
    shapes: NDArray[np.int32],
    rearrangements: NDArray[np.int32],
    inner_target: NDArray[np.int32],
    inner_map: ColumnMap,
) -> None:
    """Fill lines from the moves of the shapes ``(shapes, moves)`` and the tables of the arrangements."""
    rows = len(inner_target)
    for line in range(len(target)):
        shape, row = divmod(first + line, rows)
        for move in range(shapes.shape[1]):
            after, number = shapes[shape, move], rearrangements[shape, move]
            target[line, move] = ILLEGAL if after < 0 else after * rows + inner_target[row, number]
            if column_map.shape[1]:
                column_map[line, move] = 0 if after < 0 else inner_map[row, number]
