"""Ranges of keys, which are the work of tasks: found by a look at the puzzle, before it is searched.

Keys are not mixed: neighbours differ little, so a sorted layer takes few bytes, and most moves lead nearby. So ranges
of equal length would hold very different numbers of keys. A short search from the starts finds all positions of a small
puzzle, which is one range. Of a large one, a crowd of random walkers is a sample of the keys, and its quantiles are the
bounds. They decide how evenly work is divided, and nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys
from antipodes_tasks.keys.runs import WORD, integers, of_integers
from antipodes_tasks.keys.sorted_keys import find, merge, sorted_unique, without
from antipodes_tasks.rules.functions import Functions

SMALL = 1 << 18
"""Positions up to which a puzzle is one range: one task searches them in less than a second."""
RANGES = 256
"""Ranges of other puzzles: a billion positions are 4 million in each."""
WALKER_BITS = 8
WALKERS, STEPS, MOST_STEPS = 1 << WALKER_BITS, 160, 5120
"""Random walkers, and steps of each at first and at last; the second half of the steps is the sample."""
COARSE, EVEN = 16, 1.3 / 16
"""Parts in which the walkers are counted, and the share of them that one part may have once they are everywhere."""


@dataclass(frozen=True)
class KeyRanges:
    """How the keys of a puzzle are divided into ranges."""

    words: int
    """Words of a key."""
    bounds: tuple[int, ...]
    """The first key of each range but the first, ascending."""
    one_way: bool
    """Whether a move cannot be undone, so that all layers must be looked at."""

    def __len__(self) -> int:
        return len(self.bounds) + 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what follows from the fields."""
        return KeyRanges, (self.words, self.bounds, self.one_way)

    @cached_property
    def firsts(self) -> Keys:
        """The first key of each range but the first."""
        return of_integers(self.bounds, self.words)


def divided(expansion: Expansion, starts: Keys) -> tuple[KeyRanges, int, bool]:
    """The ranges of a puzzle, how many positions a look from its starts found, and whether these are all."""
    words, reached = expansion.packing.words, 0
    for layer in layers(expansion, starts):
        reached += len(layer)
        if reached > SMALL:
            return KeyRanges(words, _bounds(expansion, layer), expansion.one_way), reached, False
    return KeyRanges(words, (), expansion.one_way), reached, True


def layers(expansion: Expansion, starts: Keys) -> Iterator[Keys]:
    """The keys at each depth, from the starts on, sorted.

    Functions may not undo each other as they say, so that two layers would not be enough to end; the search checks it.
    """
    layer = sorted_unique(starts.copy())
    seen: list[Keys] = []
    every = expansion.one_way or isinstance(expansion.rules.moves, Functions)
    while len(layer):
        yield layer
        seen = [merge([*seen, layer])] if every else [*seen[-1:], layer]
        layer = without(sorted_unique(expansion.successors(layer)), *seen)


def _bounds(expansion: Expansion, layer: Keys) -> tuple[int, ...]:
    """Keys that divide the positions into about equal parts, by those that random walkers from a layer reach.

    They walk until they are everywhere: each time twice as far, until where they were before tells where they are.
    Steps of functions take too long for that.
    """
    rng = np.random.default_rng(0)
    walkers: Keys = layer[rng.integers(len(layer), size=WALKERS)]
    steps, before = STEPS, None
    most = STEPS if expansion.compiled is None else MOST_STEPS
    while True:
        walkers, sample = _walked(expansion, walkers, steps, rng)
        steps *= 2
        if steps > most or (before is not None and _most_between(before, sample) < EVEN):
            break
        before = _quantiles(sample, COARSE)
    chosen = integers(_quantiles(sample, RANGES))
    return tuple(chosen[:1] + [second for first, second in pairwise(chosen) if first < second])


def _walked(expansion: Expansion, walkers: Keys, steps: int, rng: np.random.Generator) -> tuple[Keys, Keys]:
    """The walkers after random steps, and a sorted sample of where they were in the second half of them."""
    sample: list[Keys] = []
    for step in range(steps):
        walkers = _stepped(expansion, walkers, rng)
        if step >= steps // 2 and step % max(1, steps // (4 * STEPS)) == 0:
            sample.append(walkers)
    return walkers, sorted_unique(np.concatenate(sample))


def _stepped(expansion: Expansion, walkers: Keys, rng: np.random.Generator) -> Keys:
    """The walkers one random step later.

    Each takes a step of its own: drawn from the successors of all, those of positions with many moves would become more
    and more. Where bits of a key are free, moves leave them as they are, and they tell which walker a successor is of.
    """
    free = np.uint64(WORD - WALKER_BITS)
    tagged = walkers.ndim == 1 and expansion.packing.bits + WALKER_BITS <= WORD and expansion.compiled is not None
    after = expansion.successors(walkers | np.arange(WALKERS, dtype=np.uint64) << free if tagged else walkers)
    if not len(after):  # all are in dead ends
        return walkers
    if not tagged:
        return after[((np.arange(WALKERS) + rng.random(WALKERS)) * len(after) / WALKERS).astype(np.int64)]
    begins = np.searchsorted(after >> free, np.arange(WALKERS + 1))
    chosen = begins[:-1] + (rng.random(WALKERS) * np.diff(begins)).astype(np.int64)
    stepped: Keys = after[np.minimum(chosen, len(after) - 1)] & ((np.uint64(1) << free) - np.uint64(1))
    return np.where(np.diff(begins) > 0, stepped, walkers)


def _quantiles(sample: Keys, parts: int) -> Keys:
    """The first keys of the equal parts of a sorted sample, except the first part."""
    return sample[np.arange(1, parts) * len(sample) // parts]


def _most_between(bounds: Keys, sample: Keys) -> float:
    """The largest share of a sorted sample that is between neighbours of some bounds, or beside all of them."""
    ends = find(sample, bounds)
    return max(end - begin for begin, end in pairwise([0, *ends, len(sample)])) / len(sample)
