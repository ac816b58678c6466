"""Block puzzles as coloured graphs whose automorphisms take blocks to blocks.

The label of a block is only on its first square; its other squares have the label REST. A reflection may take the first
square of a block to another square of the image. A *placement* is a label on a first square. So the graph has a
vertex for each placement, adjacent to all squares that the block covers there. Placements are found from the moves.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.properties.coloured_graph import ColouredGraph
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.properties.symmetry_graph import SymmetryGraph, images_of_copies
from antipodes_tasks.rules.footprints import EMPTY, BlockStep, block_step
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms

Placement = tuple[int, int]
"""A label, and the first square of its block."""


class Blocks(NamedTuple):
    """The blocks of a puzzle, found from its moves."""

    steps: tuple[BlockStep, ...]
    """The moves."""
    covered: dict[Placement, frozenset[int]]
    """The squares of each placement that occurs in a move."""


class BlockGraph(SymmetryGraph):
    """The graph of a block puzzle."""

    def __init__(self, rules: Rules, starts: Labels, blocks: Blocks) -> None:
        self.rules = rules
        self.covered = blocks.covered
        self.graph = ColouredGraph()
        self.places = [self.graph.vertex("place") for _ in range(rules.places)]
        self.kinds = {label: self.graph.vertex("kind") for label, _ in self.covered}
        self.placements = {
            placement: self.graph.vertex("placement", self.kinds[placement[0]], *(self.places[at] for at in squares))
            for placement, squares in self.covered.items()
        }
        for start in starts.tolist():
            self.graph.vertex("start", *(self.placements[one] for one in _placements(start, len(rules.symbols))))
        numbers: dict[BlockStep, list[int]] = {}
        for number, step in enumerate(blocks.steps):
            numbers.setdefault(step, []).append(number)
        self.copies = list(numbers.values())
        self.move_vertices = [self._add_move(step) for step in numbers]

    def _add_move(self, step: BlockStep) -> int:
        vertex = self.graph.vertex("move", *(self.places[at] for at in step.empty))
        before, after = (self.placements[step.label, first] for first in (step.origin, step.destination))
        self.graph.arc(before, after, vertex)
        return vertex

    @property
    def deciding(self) -> list[int]:
        """The moves and the placements."""
        return [*self.move_vertices, *self.placements.values()]

    @property
    def placed(self) -> list[int]:
        """The squares."""
        return self.places

    @property
    def other_vertices(self) -> list[int]:
        """The kinds of blocks."""
        return list(self.kinds.values())

    def symmetry(self, permutation: Numbers) -> Symmetry:
        """Return the symmetry that a permutation of the points, ``(points,)``, represents."""
        become = self.images(permutation)
        place_of = {vertex: place for place, vertex in enumerate(self.places)}
        places = np.array([place_of[become[vertex]] for vertex in self.places], dtype=np.int64)
        labels = np.tile(np.arange(len(self.rules.symbols), dtype=np.uint8), (len(places), 1))
        firsts = np.tile(places[:, np.newaxis], (1, labels.shape[1]))
        placement_of = {vertex: placement for placement, vertex in self.placements.items()}
        for (label, first), vertex in self.placements.items():
            labels[:, label], firsts[first, label] = placement_of[become[vertex]]
        number = {vertex: at for at, vertex in enumerate(self.move_vertices)}
        moves = images_of_copies(self.copies, [number[become[vertex]] for vertex in self.move_vertices])
        every, moduli = np.arange(len(places)), np.full(len(places), labels.shape[1], dtype=np.int64)
        return Symmetry(self.rules, places, labels, np.zeros_like(labels), every, moduli, moves, firsts)


def blocks_of(rules: Rules, starts: Labels) -> Blocks | None:
    """Return the blocks of a puzzle; None if its moves or starts show that it is not a block puzzle."""
    moves = Transforms.of(rules.moves)
    if moves is None or len(rules.parts) > 1 or len(rules.symbols) < 3 or not len(moves):
        return None
    found: list[BlockStep] = []
    covered: dict[Placement, frozenset[int]] = {}
    for number in range(len(moves)):
        step = block_step(moves, number)
        if step is None or step.label >= len(rules.symbols) - 1:
            return None
        found.append(step)
        for placement, squares in _covered(moves, number, step):
            if covered.setdefault(placement, squares) != squares:
                return None
    blocks = Blocks(tuple(found), covered)
    return blocks if all(_fits(start, blocks, len(rules.symbols)) for start in starts.tolist()) else None


def _covered(moves: Transforms, number: int, step: BlockStep) -> Iterator[tuple[Placement, frozenset[int]]]:
    """Yield the squares that a block covers before and after a move."""
    origin = moves.origin[number].tolist()
    before = {place for place, come_from in enumerate(origin) if place != come_from} - {*step.empty}
    yield (step.label, step.origin), frozenset(before)
    yield (
        (step.label, step.destination),
        frozenset(place for place, come_from in enumerate(origin) if come_from in before),
    )


def _placements(start: list[int], labels: int) -> list[Placement]:
    return [(label, place) for place, label in enumerate(start) if EMPTY < label < labels - 1]


def _fits(start: list[int], blocks: Blocks, labels: int) -> bool:
    """Return whether the blocks of a start cover exactly the places that are not empty."""
    placements = _placements(start, labels)
    if not set(placements) <= blocks.covered.keys():
        return False
    covered = [place for placement in placements for place in blocks.covered[placement]]
    return sorted(covered) == [place for place, label in enumerate(start) if label != EMPTY]
