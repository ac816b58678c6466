"""The division of keys into ranges, which are the units of work, estimated before the search.

Keys are not hashed, because sorted layers of unhashed keys compress well, and most moves stay within a range. Therefore
ranges of equal length would contain very different numbers of keys. A short search from the starts finds all positions
of a small puzzle, for which one range is enough. For a large puzzle, random walks provide a sample of the keys, and the
quantiles of the sample become the bounds. The bounds only affect how evenly the work is divided.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from antipodes_tasks.keys.encoded_runs import WORD, integers, of_integers
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, rows_of, squeezed
from antipodes_tasks.keys.sorted_keys import difference, find, merge, sorted_unique

SMALL = 1 << 18
"""Maximum number of positions of a puzzle with a single range; one task searches them in less than a second."""
RANGES = 256
"""Number of ranges of larger puzzles. For a billion positions, a range contains 4 million."""
WALKER_BITS = 8
WALKERS, STEPS, MAX_STEPS = 1 << WALKER_BITS, 160, 5120
"""Number of random walks, and minimum and maximum number of steps of each walk; the sample is taken from the second
half of the steps."""
MAX_CALLS = 1 << 14
"""Maximum number of calls of Python functions, each for all walkers at once; this takes about a second."""
COARSE, EVEN = 16, 1.3 / 16
"""Number of parts into which the keys are divided to test whether the walkers have spread out, and the maximum share
of the sample in one part if they have."""


@dataclass(frozen=True)
class KeyRanges:
    """The division of a puzzle's keys into ranges."""

    words: int
    """Number of words of a key."""
    bounds: tuple[int, ...]
    """First key of each range except the first, ascending."""
    one_way: bool
    """Whether some move is irreversible, so that a search must keep all layers."""

    def __len__(self) -> int:
        return len(self.bounds) + 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the fields, not the values derived from them."""
        return KeyRanges, (self.words, self.bounds, self.one_way)

    @cached_property
    def first_keys(self) -> Keys:
        """First key of each range except the first, as an array."""
        return of_integers(self.bounds, self.words)


def divided(expansion: Expansion, starts: Keys) -> tuple[KeyRanges, int, bool]:
    """Return the ranges of a puzzle, the number of positions found by a short search, and whether it found all."""
    words, reached = expansion.packing.words, 0
    for layer in layers(expansion, starts):
        reached += len(layer)
        if reached > SMALL:
            return KeyRanges(words, _bounds(expansion, layer), expansion.one_way), reached, False
    return KeyRanges(words, (), expansion.one_way), reached, True


def layers(expansion: Expansion, starts: Keys) -> Iterator[Keys]:
    """Yield the keys of each layer, sorted, beginning with the starts.

    For Python functions, all layers are kept. With only two layers, a wrong inverse could make this search endless; the
    inverses are checked later, by the main search.
    """
    layer = sorted_unique(starts.copy())
    seen: list[Keys] = []
    every = expansion.one_way or expansion.rules.moves.are_functions
    while len(layer):
        yield layer
        seen = [merge([*seen, layer])] if every else [*seen[-1:], layer]
        layer = difference(sorted_unique(expansion.successors(layer)), *seen)


def _bounds(expansion: Expansion, layer: Keys) -> tuple[int, ...]:
    """Return keys that divide the positions into about equal parts, estimated by random walks from a layer.

    In each round, the walks are twice as long. They have spread out if the quantiles of the previous round's sample
    also divide the new sample evenly.
    """
    rng = np.random.default_rng(0)
    walkers: Keys = layer[rng.integers(len(layer), size=WALKERS)]
    steps, before = STEPS, None
    tag = _tag_word(expansion)
    most = MAX_CALLS // expansion.moves if tag is None else MAX_STEPS
    step = partial(_moved, expansion) if tag is None else partial(_stepped, tag, expansion)
    while True:
        walkers, sample = _walked(step, walkers, steps, rng)
        steps *= 2
        if steps > most or (before is not None and _most_between(before, sample) < EVEN):
            break
        before = _quantiles(sample, COARSE)
    chosen = integers(_quantiles(sample, RANGES))
    return tuple(chosen[:1] + [second for first, second in pairwise(chosen) if first < second])


def _walked(
    after: Callable[[Keys, np.random.Generator], Keys], walkers: Keys, steps: int, rng: np.random.Generator
) -> tuple[Keys, Keys]:
    """Return the walkers after random steps, and a sorted sample of the keys that they passed in the second half."""
    sample: list[Keys] = []
    for step in range(steps):
        walkers = after(walkers, rng)
        if step >= steps // 2 and step % max(1, steps // (4 * STEPS)) == 0:
            sample.append(walkers)
    return walkers, sorted_unique(np.concatenate(sample))


def _tag_word(expansion: Expansion) -> int | None:
    """Return the number of a word whose highest WALKER_BITS bits are unused in all keys.

    Returns None if there is no such word, or if the moves are Python functions.
    """
    layout, words = expansion.packing.fields.layout, np.arange(expansion.packing.words)[:, np.newaxis]
    used = np.bitwise_or.reduce(np.where(layout.word == words, layout.mask << layout.shift, np.uint64(0)), axis=1)
    free = np.flatnonzero(used >> np.uint64(WORD - WALKER_BITS) == 0)
    return int(free[-1]) if len(free) and expansion.compiled is not None else None


def _stepped(word: int, expansion: Expansion, walkers: Keys, rng: np.random.Generator) -> Keys:
    """Return the walkers after one random step.

    Each walker chooses among its own successors; choosing from the successors of all walkers would favour positions
    with many moves. The unused bits of a word store the walker's number. Moves do not change these bits, so they
    identify the walker of each successor.
    """
    free, count = np.uint64(WORD - WALKER_BITS), len(walkers)
    stepped = rows_of(walkers).copy()
    stepped[:, word] |= np.arange(count, dtype=np.uint64) << free
    after = rows_of(expansion.successors(squeezed(stepped)))
    begins = np.searchsorted(after[:, word] >> free, np.arange(count + 1, dtype=np.uint64))
    chosen = begins[:-1] + (rng.random(count) * np.diff(begins)).astype(np.int64)
    moves = np.diff(begins) > 0  # a walker in a dead end stays there
    stepped[moves] = after[chosen[moves]]
    stepped[:, word] &= (np.uint64(1) << free) - np.uint64(1)
    return squeezed(stepped)


def _moved(expansion: Expansion, walkers: Keys, rng: np.random.Generator) -> Keys:
    """Step as `_stepped` does, without unused bits: apply each move to all walkers, and choose one move per walker."""
    labels = expansion.packing.unpack(walkers)
    chosen, legal_so_far = labels.copy(), np.zeros(len(walkers), dtype=np.int64)
    for number in range(expansion.moves):
        after, legal = expansion.rules.moves.move(number, labels)
        legal_so_far += legal
        taken = legal & (rng.random(len(walkers)) * legal_so_far < 1)
        chosen[taken] = after[taken]
    return expansion.packing.pack(chosen)


def _quantiles(sample: Keys, parts: int) -> Keys:
    """Return the keys that divide a sorted sample into equal parts: the first key of each part except the first."""
    return sample[np.arange(1, parts) * len(sample) // parts]


def _most_between(bounds: Keys, sample: Keys) -> float:
    """Return the largest share of a sorted sample in one of the intervals into which the bounds divide the keys."""
    ends = find(sample, bounds)
    return max(end - begin for begin, end in pairwise([0, *ends, len(sample)])) / len(sample)
