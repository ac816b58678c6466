"""A random sample of a table's positions, checked against the rules of the puzzle without its move tables."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs.proof import Block
from antipodes.bfs.rows import Partition
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces import rules
from antipodes.spaces.arrangements import Index
from antipodes.spaces.move_tables import MoveTables, most_moves

SAMPLE = (30, 1000)
"""Positions of a sample: at least, where each has millions of neighbours to compute, and at most."""
PLACES_LOOKED_AT = 1 << 26
"""What the neighbours of all positions of a sample may have of places, so that it takes half a second at most."""
Indices = NDArray[np.int64]


class KnownDepths:
    """The depths of any positions of a table."""

    def __init__(
        self,
        index: Index,
        parts: Sequence[Partition],
        blocks: Sequence[Block | Partition],
        read: Callable[[Block | Partition], Block],
    ) -> None:
        self._width = index.width
        self._read = read
        self._blocks = blocks
        self._first_rows = np.array([part.first_row for part in parts])

    def of(self, indices: Indices, deepest: int) -> Indices:
        """Those of the indices ``(n,)``, ``(n,)``; UNREACHED instead of all beyond the ``deepest``."""
        depths = np.empty(len(indices), dtype=np.int64)
        numbers = np.searchsorted(self._first_rows, indices // self._width, side="right") - 1
        for number in np.unique(numbers):
            here = np.flatnonzero(numbers == number)
            block = self._read(self._blocks[number])
            depths[here] = block.depths.ravel()[indices[here] - block.first_row * self._width]
        return np.where(depths > deepest, rules.UNREACHED, depths)


def draw_sample(puzzle: Puzzle, index: Index, drawn: Sequence[Indices], seed: int) -> Indices:
    """Different positions, ``(n,)``: some of those ``drawn`` at each depth, in each partition, and any others."""
    rng = np.random.default_rng(seed)
    fewest, most = SAMPLE
    wanted = min(index.size, max(fewest, min(most, PLACES_LOOKED_AT // (1 + most_moves(puzzle) * puzzle.places))))
    at_depths = [rng.permutation(depth[depth >= 0]) for depth in np.array(drawn).T]
    first = [depth[0] for depth in at_depths if len(depth)]
    others = rng.permutation(np.concatenate([depth[1:] for depth in at_depths]))
    anywhere = rng.permutation(index.size) if index.size < 4 * most else rng.integers(index.size, size=4 * most)
    chosen = np.concatenate((first, others[: wanted // 2], anywhere)).astype(np.int64)
    return np.array(list(dict.fromkeys(chosen.tolist()))[:wanted], dtype=np.int64)


def check_sample(
    puzzle: Puzzle, index: Index, sample: Indices, tables: MoveTables, known: KnownDepths, deepest: int, expanded: int
) -> dict[str, Indices]:
    """The indices of the sample that the rules contradict, by what is wrong with them."""
    after, before = rules.successors(puzzle, index, sample), rules.predecessors(puzzle, index, sample)
    asked = (sample, after.indices, before.indices)
    found = known.of(np.concatenate(asked), deepest)  # in one go, since blocks may have to be read for it
    depths, after_depths, before_depths = np.split(found, np.cumsum([len(indices) for indices in asked[:-1]]))
    wrong = rules.contradicted(depths, after, after_depths, before, before_depths, expanded)
    return {
        "moves by the rules of the puzzle that differ from the move tables": sample[
            rules.differing(after, rules.by_tables(tables, sample), len(sample))
        ],
        "a depth that the rules of the puzzle contradict": sample[wrong],
    }
