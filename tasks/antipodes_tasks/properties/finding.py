"""The search for the group of all symmetries of a puzzle, from its rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.permutations.chain import (
    Level,
    Permutations,
    StabiliserChain,
    stabiliser_chain,
)
from antipodes_tasks.properties.block_graph import BlockGraph, blocks_of
from antipodes_tasks.properties.encoding import Encoding
from antipodes_tasks.properties.faithful import all_products, faithful
from antipodes_tasks.properties.named import DeclaredSymmetries
from antipodes_tasks.properties.puzzle_graph import PuzzleGraph
from antipodes_tasks.properties.symmetry import Numbers, Symmetry
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules

MAX_STARTS = 1 << 16
"""Maximum number of starts. Each is a vertex of the graph."""
MAX_POINTS = 1 << 13
"""Maximum number of places, labels, values and moves in total. With this many, the group is found in seconds."""
MAX_LISTED, MAX_IN_CLASSES = 10_000, 50_000
"""Default maximum number of symmetries that are listed, or divided into conjugacy classes."""


@dataclass(frozen=True, eq=False, repr=False)
class Symmetries:
    """The group of those symmetries of a puzzle that permute its starts, or its goals."""

    rules: Rules
    starts: Labels
    """``(n, places)``: the positions that the symmetries permute."""
    encoding: Encoding
    chain: StabiliserChain
    """The group as permutations of the points of the graph."""

    def __repr__(self) -> str:
        return f"<Symmetries of {self.rules.name}: a group of order {self.order:,}>"

    @property
    def order(self) -> int:
        """Number of symmetries, including the identity."""
        return prod(len(level.transversal) for level in self._levels)

    @cached_property
    def generators(self) -> tuple[Symmetry, ...]:
        """Symmetries that generate all others; empty if there is only the identity."""
        chosen = [each for each in self.chain.generators if each[: self._decisive] != tuple(range(self._decisive))]
        return tuple(self.encoding.symmetry(np.array(each, dtype=np.int64)) for each in chosen)

    @property
    def _decisive(self) -> int:
        return self.encoding.decisive

    @property
    def _levels(self) -> tuple[Level, ...]:
        """The levels of the chain whose base points are deciding. Later levels change no position."""
        return tuple(level for level in self.chain.levels if level.point < self._decisive)

    def elements(self, most: int = MAX_LISTED) -> tuple[Symmetry, ...]:
        """Return all symmetries, the identity first.

        Raises
        ------
        ResourceLimitError
            There are more than ``most`` symmetries.
        InputError
            An argument is not an integer, or not a position.
        """
        self._check_order(most)
        return self._elements

    def _check_order(self, most: int) -> None:
        most = arguments.integer(most, "a number of symmetries", 0)
        if self.order > most:
            expected = counted(most, "symmetry", "symmetries")
            raise ResourceLimitError(f"expected at most {expected}, found {self.order:,}")

    def classes(self, most: int = MAX_IN_CLASSES) -> tuple[tuple[Symmetry, int], ...]:
        """Return one symmetry of each conjugacy class, and the size of the class; errors as in `elements`.

        All symmetries of a class leave the same number of positions unchanged at each depth. Two symmetries
        of a class may leave different positions unchanged, but a third symmetry maps these to each other.
        """
        self._check_order(most)
        sizes = np.bincount(self._class_of)
        return tuple((self._element(number), int(sizes[number])) for number in np.flatnonzero(sizes).tolist())

    def fixing(self, position: ArrayLike, most: int = MAX_LISTED) -> tuple[Symmetry, ...]:
        """Return the symmetries that leave a position unchanged, the identity first; errors as in `elements`."""
        one = self.rules.checked_one(position)[np.newaxis]
        return tuple(symmetry for symmetry in self.elements(most) if symmetry.leaves(one).all())

    def images(self, position: ArrayLike, most: int = MAX_LISTED) -> Labels:
        """Return the different images ``(n, places)`` of a position, itself first; errors as in `elements`."""
        one = self.rules.checked_one(position)[np.newaxis]
        images = [symmetry.image(one)[0] for symmetry in self.elements(most)]
        return np.array(list({image.tobytes(): image for image in images}.values()), dtype=np.uint8)

    @property
    def _class_of(self) -> Numbers:
        """``(order,)``: for each element, the minimum number of an element of its conjugacy class."""
        products, decisive = self._products, self._decisive
        number = {one.tobytes(): at for at, one in enumerate(products[:, :decisive])}
        least: Numbers = np.arange(len(products))
        generators = np.array(self.chain.generators, dtype=np.int16).reshape(-1, self.chain.points)
        conjugates = [
            np.array([number[one.tobytes()] for one in _conjugated(products, by)[:, :decisive]]) for by in generators
        ]
        while True:
            before = least.copy()
            for images in conjugates:
                np.minimum.at(least, images, before)
                least = np.minimum(least, least[images])
            if (least == before).all():
                return least

    @cached_property
    def _elements(self) -> tuple[Symmetry, ...]:
        return tuple(self._element(number) for number in range(self.order))

    def _element(self, number: int) -> Symmetry:
        return self.encoding.symmetry(self._products[number].astype(np.int64))

    @cached_property
    def _products(self) -> Permutations:
        """``(order, points)``: a permutation for each symmetry, the identity first."""
        return all_products(self._levels, self.chain.points)


def _conjugated(products: Permutations, by: Permutations) -> Permutations:
    """Return the conjugates of permutations ``(n, points)`` by one permutation ``(points,)``."""
    conjugated = np.empty_like(products)
    conjugated[:, by] = by[products]
    return conjugated


def symmetries_of(rules: Rules, goals: Labels | None = None, most: int | None = None) -> Symmetries:
    """Return all symmetries of a puzzle that permute its starts, or the ``goals`` ``(n, places)``.

    A symmetry is a map of positions (see `Symmetry`). It permutes places, takes moves to moves, and renames labels of
    pieces, values and twists as the starts require. The last few results are cached.

    Raises
    ------
    ResourceLimitError
        The puzzle has more than MAX_POINTS places, labels, values and moves in total, or more than MAX_STARTS starts;
        or its graph has more than MAX_SIZE vertices and edges; or there are more than ``most`` permutations of points.
        The time to find a group grows with its order.
    InputError
        The moves are functions, and the puzzle declares no symmetries, or a declared symmetry is invalid.
    """
    starts = rules.start_labels if goals is None else np.unique(goals, axis=0)
    if len(starts) > MAX_STARTS:
        raise ResourceLimitError(f"symmetries can be found for at most {MAX_STARTS:,} starts, not {len(starts):,}")
    return _symmetries_of(rules, rules.name, rules.moves.identity, starts.tobytes(), len(starts), most)


@lru_cache(maxsize=8)
def _symmetries_of(
    rules: Rules, _name: str, _identity: bytes, starts: bytes, count: int, most: int | None
) -> Symmetries:
    positions = np.frombuffer(starts, dtype=np.uint8).reshape(count, rules.places)
    encoding = _encoded(rules, positions)
    points = len(encoding.points)
    if points > MAX_POINTS:
        raise ResourceLimitError(f"expected at most {MAX_POINTS:,} places, labels and moves in total, found {points:,}")
    generators = encoding.generators()
    identity = np.arange(points)[np.newaxis]
    chain = stabiliser_chain(np.concatenate((identity, generators)), most=most)
    return Symmetries(rules, positions, encoding, faithful(chain, encoding))


def _encoded(rules: Rules, starts: Labels) -> Encoding:
    if rules.moves.symmetries:
        return DeclaredSymmetries(rules, starts)
    blocks = blocks_of(rules, starts)
    return BlockGraph(rules, starts, blocks) if blocks else PuzzleGraph(rules, starts)
