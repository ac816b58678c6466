"""Positions and distances drawn from a table, to train and to test heuristics."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.rules.moves import Labels

PERMUTED = 4
"""A part of 1 / PERMUTED or more is drawn by a permutation of the whole, less by numbers until enough differ."""


class Dataset(NamedTuple):
    """Different positions in random order, and the distance of each."""

    positions: Labels
    """``(n, places)``."""
    distances: NDArray[np.int32]
    """``(n,)``."""

    def __repr__(self) -> str:
        if not len(self.distances):
            return "<Dataset: no positions>"
        least, most = self.distances.min(), self.distances.max()
        return f"<Dataset: {len(self.distances):,} positions, distances {least} to {most}>"


def draw(
    space: CheckedSpace,
    chunks: TableChunks,
    layers: Sequence[int],
    depths: Sequence[int],
    n: int,
    rng: np.random.Generator,
    balanced: bool,
) -> Dataset:
    """``n`` different positions at some depths of a table, in random order.

    Positions are counted by depth, then by index, and numbers of them are drawn; so the numbers depend on nothing but
    the generator and the sizes of the layers. Chunks that hold none of them are not read.
    """
    sizes = np.array([layers[depth] for depth in depths], dtype=np.int64)
    begins = (np.cumsum(layers, dtype=np.int64) - layers)[list(depths)]
    if balanced:
        each = zip(begins.tolist(), sizes.tolist(), shared(sizes, n).tolist(), strict=True)
        numbers = np.concatenate([begin + different(size, quota, rng) for begin, size, quota in each])
    else:
        numbers = different(int(sizes.sum()), n, rng)
        ends = np.cumsum(sizes)
        numbers += (begins - ends + sizes)[np.searchsorted(ends, numbers, side="right")]
    rng.shuffle(numbers)
    indices, distances = chunks.picked(numbers)
    return Dataset(space.unchecked.unrank(indices), distances)


def different(size: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``n`` different numbers below ``size``, each set of them as probable as any other."""
    if PERMUTED * n >= size:
        return rng.permutation(size)[:n]
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < n:  # the first n different ones of a sequence: none is drawn that is not needed
        drawn = np.concatenate((drawn, rng.integers(size, size=n - len(drawn))))
        drawn.sort(kind="stable")  # which merges, after the first time; np.unique would hash, ten times as slow
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]
    return drawn


def shared(sizes: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """How many of ``n`` each layer gives: as equal as their sizes allow, the larger ones one more."""
    quotas = np.zeros_like(sizes)
    left = n
    for done, layer in enumerate(np.argsort(sizes, kind="stable").tolist()):
        quotas[layer] = min(int(sizes[layer]), left // (len(sizes) - done))
        left -= int(quotas[layer])
    return quotas
