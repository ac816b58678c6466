"""Random positions, drawn with equal probability from all reachable positions of a puzzle of any size.

There are several ways to draw them. If a theorem proves that all arrangements are reachable, or all of one parity, a
random arrangement is drawn. If the moves are transforms without conditions, a random element of their group is applied
to the start: it leads to every reachable position with equal probability, because equally many elements lead there. If
the moves have conditions, a random shape and a random element of the group of its rearrangements are drawn. If all
indices are known to belong to reachable positions, a random index is drawn. In all other puzzles a search has to list
the reachable positions, so the puzzle must be small.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.base.option_names import in_words, option
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, Packing
from antipodes_tasks.keys.ranges import layers
from antipodes_tasks.permutations.chain import MAX_POINTS, Permutations, StabiliserChain, compose, stabiliser_chain
from antipodes_tasks.permutations.parity import with_last_two_apart, with_last_two_equal
from antipodes_tasks.rules.free_moves import FreeMoves
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import any_order
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.arrangements import parity_by_place
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.keyed import start_keys
from antipodes_tasks.spaces.orbit_parts import PiecesIndex
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.selection import numbering_of
from antipodes_tasks.spaces.shape_group import ShapeGroup, shape_group
from antipodes_tasks.spaces.space import Numbering

Draw = Callable[[int, np.random.Generator], Labels]
"""Function that draws a number of positions ``(n, places)``."""
BATCH = 1 << 12
"""Number of positions that are drawn together."""
MAX_EXPONENT = 1 << 31
"""Bound on exponents of moves, so that sums of 1,024 moves are exact in floating point."""
MAX_LISTED = 1 << 21
"""Maximum number of positions that a search lists, which takes a few seconds."""


def uniform_sample(rules: Rules, count: int, rng: np.random.Generator) -> Labels:
    """Draw positions ``(count, places)`` with equal probability from all positions that are reachable from the starts.

    If the puzzle has an origin, they are reachable from the origin. Free moves are made like other moves: they do not
    join positions. Draws are independent, so a position may be drawn several times.

    Raises
    ------
    InputError
        The reachable positions are not known without a search.
    """
    if rules.origin is not None:
        rules = replace(rules, starts=(rules.origin,), origin=None)
    if isinstance(rules.moves, FreeMoves):
        rules = replace(rules, moves=rules.moves.generators[0])
    ways = (_draw_arrangements, _draw_group_elements, _draw_shapes, _draw_indices, _draw_listed)
    draw = next((draw for way in ways if (draw := way(rules)) is not None), None)
    if draw is None:
        raise InputError(
            f"the reachable positions of {rules.name} are only known from its table; compute it, and draw from it with "
            + in_words("table.random_position()", f"{option('depth')} and {option('random')}")
        )
    sizes = [min(BATCH, count - first) for first in range(0, count, BATCH)]
    return np.concatenate([np.empty((0, rules.places), dtype=np.uint8), *(draw(size, rng) for size in sizes)])


def _draw_arrangements(rules: Rules) -> Draw | None:
    """Return a function that draws arrangements, if a theorem proves that all of them, or half of them, are reachable.

    Swaps determine the parity by the empty place. Even permutations keep it.
    """
    if Orbits.has_every_arrangement(rules):
        (part,) = Orbits.of(rules).parts
        parity = part.parity if isinstance(part, PiecesIndex) else None
    elif rules.moves.pairs is not None and rules.moves.free is None and any_order(rules):
        parity = parity_by_place(rules)
    else:
        return None
    required = None if parity is None else np.array(parity, dtype=np.uint8)
    return partial(_arrangements, np.sort(rules.first), required)


def _arrangements(pieces: Labels, parity_of_place: Labels | None, count: int, rng: np.random.Generator) -> Labels:
    """Draw arrangements of ``pieces`` ``(places,)``; ``parity_of_place`` is the required parity by place of label 0."""
    drawn = rng.permuted(np.tile(pieces, (count, 1)), axis=1)
    if parity_of_place is None:
        return drawn
    required = parity_of_place[drawn.argmin(axis=1)]
    return with_last_two_apart(with_last_two_equal(drawn, len(pieces)), len(pieces), required)


def _draw_group_elements(rules: Rules) -> Draw | None:
    """Return a function that draws images of the start, if the moves form a group that connects all starts."""
    moves = Transforms.of(rules.moves)
    if moves is None or moves.allowed is not None:
        return None
    if len(rules.start_labels) > 1 and not Group.can_number(rules):
        return None
    if (moves.origin == np.arange(moves.places)).all() and math.lcm(*moves.moduli.tolist()) < MAX_EXPONENT:
        return partial(_sums, moves, rules.first)
    group = _TransformGroup(moves)
    return partial(group.images, rules.first) if group.points <= MAX_POINTS else None


def _sums(moves: Transforms, position: Labels, count: int, rng: np.random.Generator) -> Labels:
    """Draw positions ``(count, places)``: each move, which only adds to labels, is made a random number of times.

    These moves commute, so every element of their group is a product of equally many combinations of exponents.
    """
    order = math.lcm(*moves.moduli.tolist())
    exponents = rng.integers(order, size=(count, len(moves))).astype(np.float64)
    sums = (exponents @ moves.added.astype(np.float64)).astype(np.int64)
    drawn: Labels = ((position + sums) % moves.moduli).astype(np.uint8)
    return drawn


@dataclass(frozen=True, eq=False)
class _TransformGroup:
    """The group of unconditional transforms, as the permutations of points that `Transforms.permutations` returns."""

    moves: Transforms

    @property
    def points(self) -> int:
        """Number of points."""
        return int(self.moves.points_of_places.sum())

    @cached_property
    def firsts(self) -> Numbers:
        """``(places,)``: the first point of each place."""
        return np.cumsum(self.moves.points_of_places) - self.moves.points_of_places

    @cached_property
    def places(self) -> Numbers:
        """``(points,)``: the place of each point."""
        return np.repeat(np.arange(self.moves.places), self.moves.points_of_places)

    @cached_property
    def chain(self) -> StabiliserChain:
        """The stabiliser chain of the group, in which each move takes ``permutation[i]`` to ``i``, or its inverse."""
        return stabiliser_chain(self.moves.permutations().astype(np.int16))

    def images(self, position: Labels, count: int, rng: np.random.Generator) -> Labels:
        """Draw images ``(count, places)`` of a position ``(places,)``."""
        images = _elements(self.chain, count, rng)[:, self.firsts]
        places = self.places[images]
        labels = (position + images - self.firsts[places]) % self.moves.moduli
        drawn = np.empty(labels.shape, dtype=np.uint8)
        np.put_along_axis(drawn, places, labels.astype(np.uint8), axis=1)
        return drawn


def _elements(chain: StabiliserChain, count: int, rng: np.random.Generator) -> Permutations:
    """Draw elements of a group, ``(count, points)``: one representative from each level of the chain."""
    drawn: Permutations = np.tile(np.arange(chain.points, dtype=np.int16), (count, 1))
    for level in chain.levels:
        drawn = compose(drawn, level.transversal[rng.integers(len(level.transversal), size=count)])
    return drawn


def _draw_shapes(rules: Rules) -> Draw | None:
    """Return a function that draws shapes and rearrangements of their pieces, if the moves have conditions."""
    moves = Transforms.of(rules.moves)
    found = None if moves is None or moves.allowed is None else shape_group(rules)
    return None if found is None else partial(_shaped, found)


def _shaped(group: ShapeGroup, count: int, rng: np.random.Generator) -> Labels:
    shapes = rng.integers(len(group.graph.keys), size=count)
    return group.positions(shapes, _elements(group.chain, count, rng))


def _draw_indices(rules: Rules) -> Draw | None:
    """Return a function that draws indices, if all of them belong to reachable positions."""
    try:
        numbering = numbering_of(rules)
    except (SizeLimitError, ResourceLimitError):
        return None
    return partial(_unranked, numbering) if numbering.reachable(rules) == numbering.size else None


def _unranked(numbering: Numbering, count: int, rng: np.random.Generator) -> Labels:
    return numbering.unrank(rng.integers(numbering.size, size=count))


def _draw_listed(rules: Rules) -> Draw | None:
    """Return a function that draws from a list of all reachable positions, if a short search finds all of them."""
    if rules.moves.joins_positions:
        return None
    packing = Packing.of(rules)
    found: list[Keys] = []
    for layer in layers(Expansion(rules, packing), start_keys(rules, packing)):
        found.append(layer)
        if sum(map(len, found)) > MAX_LISTED:
            return None
    return partial(_chosen, packing, np.concatenate(found))


def _chosen(packing: Packing, keys: Keys, count: int, rng: np.random.Generator) -> Labels:
    return packing.unpack(keys[rng.integers(len(keys), size=count)])
