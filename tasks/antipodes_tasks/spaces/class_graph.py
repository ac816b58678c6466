"""The classes of shapes under free moves, and the counted moves between them.

Free moves take the shapes of a class to each other. One of them is its *representative*, and free moves take every
position to a position with a representative shape. So a class of positions is a class of shapes and an arrangement of
the pieces on the slots of its representative. Free moves may also take a representative to itself and rearrange its
pieces: these *rotations* form a group, and arrangements that they map to each other belong to the same class.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers
from antipodes_tasks.move_tables import ILLEGAL
from antipodes_tasks.rules.free_moves import FreeMoves
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.starts import Starts
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.shapes import ShapeGraph, explored

Slots = NDArray[np.uint8]
"""Rearrangements ``(n, slots)``: the slot from which each slot gets its piece."""


class ClassMoves(NamedTuple):
    """The counted moves of a class."""

    to: Numbers
    """``(n,)``: the class after each move."""
    origins: Slots
    """``(n, slots)``: the slot of the representative before the move from which each slot after it gets its piece."""


@dataclass(frozen=True, eq=False)
class ClassGraph:
    """The classes of shapes, numbered in the order of their representatives."""

    shapes: ShapeGraph
    of: NDArray[np.int32]
    """``(shapes,)``: the class of each shape."""
    homes: Slots
    """``(shapes, slots)``: the slot of the representative to which free moves take the piece in each slot."""
    representatives: Numbers
    """``(classes,)``: a shape of each class."""
    rotations: list[Slots]
    """For each class, the rearrangements by its rotations, the identity first."""
    moves: list[ClassMoves]
    """For each class, its counted moves; only one of those that rotations of the class after them connect."""

    @cached_property
    def slots(self) -> Rules:
        """The puzzle of the arrangements on representatives; its moves are all rearrangements that occur."""
        rules = self.shapes.slots
        every = np.unique(np.concatenate([*self.rotations, *(moves.origins for moves in self.moves)]), axis=0)
        moduli = Transforms.of(rules.moves).moduli  # type: ignore[union-attr]
        return replace(rules, moves=Transforms((), every.astype(np.int64), moduli))


def class_graph(rules: Rules) -> ClassGraph | None:
    """Return the classes of a puzzle with free moves; None if its shapes cannot be found, see `explored`."""
    latest = _latest[:1]  # other threads may replace it
    if not latest or latest[0][0] != rules.fingerprint:
        latest = _latest[:] = [(rules.fingerprint, _found(rules))]
    return latest[0][1]


_latest: list[tuple[str, ClassGraph | None]] = []
"""The most recent graph, with the fingerprint of its puzzle."""


def _found(rules: Rules) -> ClassGraph | None:
    assert isinstance(rules.moves, FreeMoves)
    moves, free = rules.moves.generators
    shapes = explored(replace(rules, starts=Starts(rules.start_labels), moves=moves))
    if shapes is None:
        return None
    found = Transforms.of(shapes.slots.moves)
    assert found is not None
    unchanged = np.arange(found.places, dtype=np.uint8)  # stands for illegal moves if no move is legal
    origins = np.array([*found.origin, unchanged], dtype=np.uint8)
    of, homes, representatives = spanning_forest(shapes.target[:, :free], shapes.rearrangement[:, :free], origins)
    loops = [set[bytes]() for _ in representatives]
    shape, move = np.nonzero(shapes.target[:, :free] != ILLEGAL)
    moved = origins[shapes.rearrangement[shape, move]]
    for number, loop in zip(of[shape].tolist(), loops_of(homes, shape, shapes.target[shape, move], moved), strict=True):
        loops[number].add(loop.tobytes())
    rotations = [_generated(each, origins.shape[1]) for each in loops]
    counted = _counted_moves(shapes.target[:, free:], origins, shapes.rearrangement[:, free:], of, homes, rotations)
    return ClassGraph(shapes, of, homes, np.array(representatives), rotations, counted)


def spanning_forest(
    target: NDArray[np.int32], rearrangement: NDArray[np.int32], origins: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[Any], list[int]]:
    """Return the class of each shape, its home slots, and the representative of each class, for some moves.

    The home slots ``(shapes, slots)`` are the slots of the representative to which moves along the branches of the
    tree take the piece in each slot. ``target`` and ``rearrangement`` are those of a `ShapeGraph`, and ``origins``
    ``(rearrangements, slots)`` are the slots from which each slot gets its piece. Shapes that moves connect must be
    connected in both directions.
    """
    shapes, slots = len(target), origins.shape[1]
    of, homes = [-1] * shapes, np.zeros((shapes, slots), dtype=origins.dtype)
    representatives = list[int]()
    for first in range(shapes):
        if of[first] >= 0:
            continue
        of[first], homes[first] = len(representatives), np.arange(slots)
        representatives.append(first)
        waiting = [first]
        while waiting:
            shape = waiting.pop()
            for move, after in enumerate(target[shape].tolist()):
                if after != ILLEGAL and of[after] < 0:
                    of[after], homes[after] = of[shape], homes[shape, origins[rearrangement[shape, move]]]
                    waiting.append(after)
    return np.array(of, dtype=np.int32), homes, representatives


def loops_of(homes: NDArray[Any], before: NDArray[Any], after: NDArray[Any], moved: NDArray[Any]) -> NDArray[Any]:
    """Return the rearrangements ``(n, slots)`` of the slots of representatives by moves between other shapes.

    The pieces go along the tree to the shapes ``before`` ``(n,)``, then by moves that rearrange them as in ``moved``
    ``(n, slots)`` to the shapes ``after`` ``(n,)``, and along the tree to the representative.
    """
    back = np.argsort(homes[after], axis=1)
    return np.take_along_axis(np.take_along_axis(homes[before], moved, axis=1), back, axis=1)


def _generated(generators: Iterable[bytes], slots: int) -> Slots:
    """Return the group that some rearrangements generate, the identity first."""
    each = [np.frombuffer(one, dtype=np.uint8) for one in sorted(generators)]
    group = {bytes(range(slots)): np.arange(slots, dtype=np.uint8)}
    waiting = list(group.values())
    while waiting:
        element = waiting.pop()
        for one in each:
            product = element[one]
            if product.tobytes() not in group:
                group[product.tobytes()] = product
                waiting.append(product)
    return np.array(list(group.values()))


def _counted_moves(
    target: NDArray[np.int32],
    origins: Slots,
    rearrangement: NDArray[np.int32],
    of: NDArray[np.int32],
    homes: Slots,
    rotations: list[Slots],
) -> list[ClassMoves]:
    """Return the counted moves of each class: from all of its shapes, after all of its rotations."""
    shape, move = np.nonzero(target != ILLEGAL)
    after = target[shape, move]
    between = loops_of(homes, shape, after, origins[rearrangement[shape, move]])
    known: list[set[tuple[int, bytes]]] = [set() for _ in rotations]
    for begin, to, slots in zip(of[shape].tolist(), of[after].tolist(), between, strict=True):
        for line in rotations[begin][:, slots]:
            known[begin].add((to, min(one.tobytes() for one in line[rotations[to]])))
    return [
        ClassMoves(
            np.array([to for to, _ in sorted(each)], dtype=np.int64),
            np.array([list(slots) for _, slots in sorted(each)], dtype=np.uint8).reshape(len(each), homes.shape[1]),
        )
        for each in known
    ]
