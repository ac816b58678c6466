"""The check of a sample of positions by the rules of the puzzle alone, without the tables by which it was searched."""

from collections.abc import Callable, Sequence

import numpy as np

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.move_tables import Indices, MoveTables, Neighbours
from antipodes_tasks.spaces.space import Space

SAMPLE = (30, 1000)
"""Minimum and maximum size of the sample. The minimum applies even if each position has millions of neighbours."""
PLACES_LOOKED_AT = 1 << 26
"""Maximum number of places of all neighbours of a sample, in total. Computing them takes at most half a second."""
INFINITE = 1 << 30
"""A depth greater than all others, for unreached positions."""
DepthsOf = Callable[[Indices], Indices]
"""Reads the depths ``(n,)`` at indices ``(n,)``: INFINITE for unreached positions and for NOT_NUMBERED."""


def draw_sample(space: Space, drawn: Sequence[Indices], seed: int) -> Indices:
    """Return the indices ``(n,)`` of different positions.

    Some are taken from ``drawn``, which has an index (or -1) for each depth in each block. The others are drawn from
    all indices.
    """
    rng = np.random.default_rng(seed)
    fewest, most = SAMPLE
    wanted = min(
        space.size, max(fewest, min(most, PLACES_LOOKED_AT // (1 + space.filler.max_moves * space.rules.places)))
    )
    at_depths = [rng.permutation(depth[depth >= 0]) for depth in np.array(drawn).T]
    first = [depth[0] for depth in at_depths if len(depth)]
    others = rng.permutation(np.concatenate([depth[1:] for depth in at_depths]))
    anywhere = rng.permutation(space.size) if space.size < 4 * most else rng.integers(space.size, size=4 * most)
    chosen = np.concatenate((first, others[: wanted // 2], anywhere)).astype(np.int64)
    return np.array(list(dict.fromkeys(chosen.tolist()))[:wanted], dtype=np.int64)


def check_sample(
    space: Space, sample: Indices, tables: MoveTables, depths_of: DepthsOf, expanded: int, seed: int
) -> dict[str, Indices]:
    """Return the indices of the sample that contradict the rules, by the kind of problem.

    If an entry stands for several positions, the neighbours of one of them, chosen at random, are checked. The
    successors of positions deeper than ``expanded`` may be unreached. If a move has no known inverse, predecessors are
    not checked here, but only with the move tables.
    """
    by_rules = space.successors(sample)
    positions = _drawn_positions(space, sample, seed)
    after = by_rules if space.weights is None else space.neighbours_after(positions)
    before = space.neighbours_before(positions) if space.rules.moves.invertible else None
    asked = (sample, after.indices, before.indices if before else sample[:0])
    found = depths_of(np.concatenate(asked))  # in one call, since each call may read blocks
    depths, after_depths, before_depths = np.split(found, np.cumsum([len(indices) for indices in asked[:-1]]))
    wrong = contradicted(depths, after, after_depths, expanded)
    if before:
        wrong |= unsupported(depths, before, before_depths, expanded)
    return {
        "moves by the rules of the puzzle that differ from the move tables": sample[
            by_rules.differing(tables.successors(sample))
        ],
        "a depth that the rules of the puzzle contradict": sample[wrong],
    }


def _drawn_positions(space: Space, sample: Indices, seed: int) -> Labels:
    """Return a random position of each entry ``(n,)``, as ``(n, places)``."""
    if space.weights is None:
        return space.unrank(sample)
    numbers = np.random.default_rng(seed).integers(space.weights[sample // space.width])
    return space.numbering.one_of(sample, numbers)


def contradicted(depths: Indices, after: Neighbours, after_depths: Indices, expanded: int) -> Mask:
    """Return whether each position of the sample, ``(samples,)``, has a depth that its successors' depths contradict.

    Unreached positions have the depth INFINITE. The successors of positions deeper than ``expanded`` may be unknown.
    """
    wrong = np.zeros(len(depths), dtype=bool)
    own = depths[after.of]
    wrong[after.of[(own <= expanded) & (after_depths > own + 1)]] = True
    return wrong


def unsupported(depths: Indices, before: Neighbours, before_depths: Indices, expanded: int) -> Mask:
    """Return whether each position of the sample, ``(samples,)``, has a depth that its predecessors' depths contradict.

    Positions at depth 0 need no predecessor.
    """
    wrong = np.zeros(len(depths), dtype=bool)
    own = depths[before.of]
    wrong[before.of[(before_depths <= expanded) & (own > before_depths + 1)]] = True
    supported = np.zeros(len(depths), dtype=bool)
    supported[before.of[before_depths == own - 1]] = True
    found: Mask = wrong | ~(supported | (depths == 0) | (depths == INFINITE))
    return found
