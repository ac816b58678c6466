"""The group of all symmetries of a puzzle, found from its rules."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.permutations.chain import (
    Level,
    Permutations,
    StabiliserChain,
    after,
    stabiliser_chain,
)
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.symmetries.puzzle_graph import PuzzleGraph
from antipodes_tasks.symmetries.symmetry import Symmetry

MOST_POINTS = 1 << 13
"""Places, labels, values and moves together, up to which the group is found in seconds."""
MOST_LISTED = 10_000
"""Symmetries that are listed, unless a caller asks for more or fewer."""


@dataclass(frozen=True, eq=False, repr=False)
class Symmetries:
    """The group of symmetries of a puzzle with regard to some positions: its starts, or goals."""

    rules: Rules
    starts: Labels
    """``(n, places)``: the positions that the symmetries permute."""
    graph: PuzzleGraph
    chain: StabiliserChain
    """The group as permutations of the points of the graph."""

    def __repr__(self) -> str:
        return f"<Symmetries of {self.rules.name}: a group of order {self.order:,}>"

    @property
    def order(self) -> int:
        """The number of symmetries, the identity among them."""
        return prod(len(level.transversal) for level in self._levels)

    @cached_property
    def generators(self) -> tuple[Symmetry, ...]:
        """Some symmetries of which all others are products; none if the identity is the only one."""
        chosen = [each for each in self.chain.generators if each[: self.graph.decisive] != self._start_of_identity]
        return tuple(self.graph.symmetry(np.array(each, dtype=np.int64)) for each in chosen)

    @property
    def _start_of_identity(self) -> tuple[int, ...]:
        return tuple(range(self.graph.decisive))

    @property
    def _levels(self) -> tuple[Level, ...]:
        """The levels of the chain for the points that decide a symmetry: lower ones change no position."""
        return tuple(level for level in self.chain.levels if level.point < self.graph.decisive)

    def elements(self, most: int = MOST_LISTED) -> tuple[Symmetry, ...]:
        """All symmetries, the identity first.

        Raises
        ------
        ResourceLimitError
            There are more than ``most``.
        """
        if self.order > most:
            raise ResourceLimitError(
                f"expected at most {counted(most, 'symmetry', 'symmetries')}, found {self.order:,}"
            )
        return self._elements

    @cached_property
    def _elements(self) -> tuple[Symmetry, ...]:
        products: Permutations = np.arange(self.chain.points, dtype=np.int16)[np.newaxis]
        for level in reversed(self._levels):
            count = len(level.transversal)
            left = np.repeat(level.transversal, len(products), axis=0)
            products = after(left, np.tile(products, (count, 1)))
        return tuple(self.graph.symmetry(each.astype(np.int64)) for each in products)


def symmetries_of(rules: Rules, goals: Labels | None = None) -> Symmetries:
    """All symmetries of a puzzle that permute its starts, or the ``goals`` ``(n, places)``.

    They are maps of positions, see `Symmetry`: permutations of places that take moves to moves, where labels of pieces,
    values and twists are renamed as the starts demand. The last few results are kept.

    Raises
    ------
    ResourceLimitError
        The puzzle has more than MOST_POINTS places, labels, values and moves.
    InputError
        The moves are functions.
    """
    starts = rules.start_labels if goals is None else np.unique(goals, axis=0)
    return _symmetries_of(rules, starts.tobytes(), len(starts))


@lru_cache(maxsize=8)
def _symmetries_of(rules: Rules, starts: bytes, count: int) -> Symmetries:
    positions = np.frombuffer(starts, dtype=np.uint8).reshape(count, rules.places)
    graph = PuzzleGraph(rules, positions)
    points = len(graph.points)
    if points > MOST_POINTS:
        raise ResourceLimitError(
            f"expected at most {MOST_POINTS:,} places, labels and moves together, found {points:,}"
        )
    generators = graph.generators()
    identity = np.arange(points)[np.newaxis]
    return Symmetries(rules, positions, graph, stabiliser_chain(np.concatenate((identity, generators))))
