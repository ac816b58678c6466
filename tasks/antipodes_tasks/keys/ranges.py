"""Ranges of keys, which are the work of tasks: found by a look at the puzzle, before it is searched.

Keys are not mixed: neighbours differ little, so a sorted layer takes few bytes, and most moves lead nearby. So ranges
of equal length would hold very different numbers of keys. A short search from the starts finds all positions of a small
puzzle, which is one range. Of a large one, a crowd of random walkers is a sample of the keys, and its quantiles are the
bounds. They decide how evenly work is divided, and nothing else.
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
from antipodes_tasks.rules.functions import Functions

SMALL = 1 << 18
"""Positions up to which a puzzle is one range: one task searches them in less than a second."""
RANGES = 256
"""Ranges of other puzzles: a billion positions are 4 million in each."""
WALKER_BITS = 8
WALKERS, STEPS, MAX_STEPS = 1 << WALKER_BITS, 160, 5120
"""Random walkers, and steps of each at first and at last; the second half of the steps is the sample."""
MAX_CALLS = 1 << 14
"""Moves of all walkers that functions make, each in a call of its own, before steps are enough: a second."""
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
    def first_keys(self) -> Keys:
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
        layer = difference(sorted_unique(expansion.successors(layer)), *seen)


def _bounds(expansion: Expansion, layer: Keys) -> tuple[int, ...]:
    """Keys that divide the positions into about equal parts, by those that random walkers from a layer reach.

    They walk until they are everywhere: each time twice as far, until where they were before tells where they are.
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
    """The walkers after random steps, and a sorted sample of where they were in the second half of them."""
    sample: list[Keys] = []
    for step in range(steps):
        walkers = after(walkers, rng)
        if step >= steps // 2 and step % max(1, steps // (4 * STEPS)) == 0:
            sample.append(walkers)
    return walkers, sorted_unique(np.concatenate(sample))


def _tag_word(expansion: Expansion) -> int | None:
    """A word of keys whose highest WALKER_BITS are free; None if there is none, or moves are functions."""
    layout, words = expansion.packing.fields.layout, np.arange(expansion.packing.words)[:, np.newaxis]
    used = np.bitwise_or.reduce(np.where(layout.word == words, layout.mask << layout.shift, np.uint64(0)), axis=1)
    free = np.flatnonzero(used >> np.uint64(WORD - WALKER_BITS) == 0)
    return int(free[-1]) if len(free) and expansion.compiled is not None else None


def _stepped(word: int, expansion: Expansion, walkers: Keys, rng: np.random.Generator) -> Keys:
    """The walkers one random step later.

    Each takes a step of its own: drawn from the successors of all, those of positions with many moves would become more
    and more. Moves leave the free bits of a word as they are, so these tell which walker a successor is of.
    """
    free, count = np.uint64(WORD - WALKER_BITS), len(walkers)
    stepped = rows_of(walkers).copy()
    stepped[:, word] |= np.arange(count, dtype=np.uint64) << free
    after = rows_of(expansion.successors(squeezed(stepped)))
    begins = np.searchsorted(after[:, word] >> free, np.arange(count + 1, dtype=np.uint64))
    chosen = begins[:-1] + (rng.random(count) * np.diff(begins)).astype(np.int64)
    moves = np.diff(begins) > 0  # the others are in dead ends
    stepped[moves] = after[chosen[moves]]
    stepped[:, word] &= (np.uint64(1) << free) - np.uint64(1)
    return squeezed(stepped)


def _moved(expansion: Expansion, walkers: Keys, rng: np.random.Generator) -> Keys:
    """As `_stepped`, without free bits: each move is made of all walkers, and one of the legal ones is taken."""
    labels = expansion.packing.unpack(walkers)
    chosen, legal_so_far = labels.copy(), np.zeros(len(walkers), dtype=np.int64)
    for number in range(expansion.moves):
        after, legal = expansion.rules.moves.move(number, labels)
        legal_so_far += legal
        taken = legal & (rng.random(len(walkers)) * legal_so_far < 1)
        chosen[taken] = after[taken]
    return expansion.packing.pack(chosen)


def _quantiles(sample: Keys, parts: int) -> Keys:
    """The first keys of the equal parts of a sorted sample, except the first part."""
    return sample[np.arange(1, parts) * len(sample) // parts]


def _most_between(bounds: Keys, sample: Keys) -> float:
    """The largest share of a sorted sample that is between neighbours of some bounds, or beside all of them."""
    ends = find(sample, bounds)
    return max(end - begin for begin, end in pairwise([0, *ends, len(sample)])) / len(sample)
