"""A random sample of a table's positions, checked against the rules of the puzzle without its move tables."""

from collections.abc import Callable, Sequence

import numpy as np

from antipodes_tasks.spaces import rules
from antipodes_tasks.spaces.move_tables import MoveTables
from antipodes_tasks.spaces.space import Indices, StateSpace

SAMPLE = (30, 1000)
"""Positions of a sample: the least, if each has millions of neighbours to compute, and the most."""
PLACES_LOOKED_AT = 1 << 26
"""Places of all neighbours of a sample, at most, so that it takes half a second at most."""
DepthsOf = Callable[[Indices], Indices]
"""Reads the depth at each index ``(n,)``, ``(n,)``; rules.INFINITE where there is none, and if NOT_NUMBERED."""


def draw_sample(space: StateSpace, drawn: Sequence[Indices], seed: int) -> Indices:
    """Indices of different positions, ``(n,)``: some of those ``drawn`` at each depth in each block, and others."""
    rng = np.random.default_rng(seed)
    fewest, most = SAMPLE
    wanted = min(space.size, max(fewest, min(most, PLACES_LOOKED_AT // (1 + space.most_moves * space.rules.places))))
    at_depths = [rng.permutation(depth[depth >= 0]) for depth in np.array(drawn).T]
    first = [depth[0] for depth in at_depths if len(depth)]
    others = rng.permutation(np.concatenate([depth[1:] for depth in at_depths]))
    anywhere = rng.permutation(space.size) if space.size < 4 * most else rng.integers(space.size, size=4 * most)
    chosen = np.concatenate((first, others[: wanted // 2], anywhere)).astype(np.int64)
    return np.array(list(dict.fromkeys(chosen.tolist()))[:wanted], dtype=np.int64)


def check_sample(
    space: StateSpace, sample: Indices, tables: MoveTables, depths_of: DepthsOf, expanded: int
) -> dict[str, Indices]:
    """The indices of the sample that the rules contradict, by the kind of problem.

    The successors of positions deeper than ``expanded`` may be unreached. Where a move has no known inverse, the depths
    of predecessors are compared by the move tables alone, elsewhere.
    """
    after = rules.successors(space, sample)
    before = rules.predecessors(space, sample) if space.rules.moves.invertible else None
    asked = (sample, after.indices, before.indices if before else sample[:0])
    found = depths_of(np.concatenate(asked))  # in one call, since it may read blocks
    depths, after_depths, before_depths = np.split(found, np.cumsum([len(indices) for indices in asked[:-1]]))
    wrong = rules.contradicted(depths, after, after_depths, expanded)
    if before:
        wrong |= rules.unsupported(depths, before, before_depths, expanded)
    return {
        "moves by the rules of the puzzle that differ from the move tables": sample[
            rules.differing(after, rules.by_tables(tables, sample), len(sample))
        ],
        "a depth that the rules of the puzzle contradict": sample[wrong],
    }
