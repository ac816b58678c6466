"""One permutation of places for each symmetry, where several permutations are the same map of positions.

In a cube that is given by its stickers, the three stickers of all corners can be turned, and no position changes. So a
half turn of the cube is a permutation of stickers that repeats after two times, and others that repeat after six. Those
of a subgroup that has one permutation for each symmetry are the ones that people expect, and they are fewer.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.permutations.chain import Level, Permutations, StabiliserChain, compose, stabiliser_chain
from antipodes_tasks.symmetries.encoding import Encoding

MAX_TRIED = 1 << 10
"""Choices of generators that are tried."""


def all_products(levels: Sequence[Level], points: int) -> Permutations:
    """The products ``(n, points)`` of representatives of some levels, the identity first."""
    products: Permutations = np.arange(points, dtype=np.int16)[np.newaxis]
    for level in reversed(levels):
        left = np.repeat(level.transversal, len(products), axis=0)
        products = compose(left, np.tile(products, (len(level.transversal), 1)))
    return products


def faithful(chain: StabiliserChain, encoding: Encoding) -> StabiliserChain:
    """A subgroup with one permutation of places for each symmetry; the group itself where none is found."""
    decisive, shown = encoding.decisive, encoding.shown
    order = _order([level for level in chain.levels if level.point < decisive])
    idle = [level for level in chain.levels if decisive <= level.point < shown]
    if not idle:
        return chain
    generators = _needed(np.array(chain.generators, dtype=np.int16).reshape(-1, chain.points), decisive, order)
    if _order(idle) ** len(generators) > MAX_TRIED:
        return chain
    same = all_products(idle, chain.points)
    for choice in product(range(len(same)), repeat=len(generators)):
        chosen = compose(same[list(choice)], generators)
        if generated_order(chosen[:, :shown], order) == order:
            lower = [each for each in chain.generators if each[:shown] == tuple(range(shown))]
            identity = np.arange(chain.points, dtype=np.int16)[np.newaxis]
            return stabiliser_chain(np.concatenate([identity, chosen, *np.array(lower, dtype=np.int16)[:, np.newaxis]]))
    return chain


def _needed(generators: Permutations, decisive: int, order: int) -> Permutations:
    """The generators ``(n, points)`` without those that the others make, as far as points that decide are concerned."""
    kept: Permutations = generators[(generators[:, :decisive] != np.arange(decisive)).any(axis=1)]
    for number in reversed(range(len(kept))):
        others = np.delete(kept, number, axis=0)
        if generated_order(others[:, :decisive], order) == order:
            kept = others
    return kept


def generated_order(generators: Permutations, most: int) -> int:
    """The order of the group of some permutations ``(n, points)``; ``most + 1`` where it is greater than ``most``."""
    if not len(generators):
        return 1
    try:
        return stabiliser_chain(generators, most=most).order
    except ResourceLimitError:
        return most + 1


def _order(levels: Sequence[Level]) -> int:
    return prod(len(level.transversal) for level in levels)
