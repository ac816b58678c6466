"""Equal pieces as one number: the place of their set of places among all sets in which they do not overlap.

Three dominoes on a board of 25 squares have at most 1,140 such sets, which are 11 bits, and in bits of the squares 20.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2

import numpy as np

from antipodes_tasks.keys.bit_fields import WORD, Words, bits_of
from antipodes_tasks.rules.footprints import Footprints

MAX_SETS = 1 << 16
"""Sets of places that are listed for a label."""
MAX_LISTED = 1 << 20
"""Sets of fewer pieces that are listed on the way."""
MAX_STEPS = 1 << 21
"""Moves that are listed for the sets of a label, 16 bytes each."""
FIELD_BITS = 10
"""Bits of a field that several places share: tables list what its numbers mean."""


@dataclass(frozen=True, eq=False)
class PieceSets:
    """Where pieces of a label can stand, all together."""

    label: int
    places: tuple[int, ...]
    """The places that can have the label, ascending."""
    sets: Words
    """``(values,)``, ascending: bit *i* stands for the place *i* in the list."""


def piece_sets(label: int, count: int, covers: Mapping[int, int]) -> PieceSets | None:
    """All sets of ``count`` places in which what a piece covers is apart; None if there are none, or too many.

    ``covers`` has for each place that can have the label the mask of the places that a piece covers there.
    """
    sets = _sets(count, tuple(covers.values())) if len(covers) <= WORD else None
    return None if sets is None else PieceSets(label, tuple(covers), sets)


@lru_cache(maxsize=64)
def _sets(count: int, masks: tuple[int, ...]) -> Words | None:
    """The sets, as numbers with a bit for each of the masks, that have ``count`` masks and no bit of them twice."""
    later = [sum(1 << j for j, other in enumerate(masks) if j >= i or other & mask) for i, mask in enumerate(masks)]
    sets = np.zeros(1, dtype=np.uint64)
    for _ in range(count):
        grown = [sets[sets & np.uint64(mask) == 0] | np.uint64(1 << i) for i, mask in enumerate(later)]
        if sum(map(len, grown)) > MAX_LISTED:
            return None
        sets = np.concatenate([sets[:0], *grown])
        if not len(sets):
            return None
    return np.sort(sets) if len(sets) <= MAX_SETS else None


def covered_by(footprints: Footprints, label: int) -> dict[int, int]:
    """The places that a block of a label covers, as a mask, for each place that gives it the label, ascending."""
    return {
        one.place: sum(1 << place for place in (one.place, *one.others))
        for one in sorted(footprints.every)
        if one.label == label
    }


def shared(radices: Sequence[int]) -> tuple[int, ...]:
    """Sizes of groups of neighbouring places, so that numbers of their digits take the fewest bits together.

    A group has FIELD_BITS at most, or one place.
    """
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for end in range(1, len(radices) + 1):
        ways, values = [], 1
        for size in range(1, end + 1):
            values *= radices[end - size]
            if size > 1 and bits_of(values) > FIELD_BITS:
                break
            bits, groups = best[end - size]
            ways.append((bits + bits_of(values), (*groups, size)))
        best.append(min(ways, key=lambda way: (way[0], len(way[1]))))
    return best[-1][1]


def in_sets(contents: Sequence[Sequence[int]], bits: Mapping[int, int]) -> set[int]:
    """The labels that take fewer bits as sets of places, so many each, than in the fields of places with the others.

    Labels change one after another, the one first that saves most.
    """
    sets = set(bits)
    while True:
        now = _needed(contents, bits, sets)
        saved = {label: now - _needed(contents, bits, sets ^ {label}) for label in bits}
        best = max(saved, key=lambda label: saved[label], default=None)
        if best is None or saved[best] <= 0:
            return sets
        sets ^= {best}


def _needed(contents: Sequence[Sequence[int]], bits: Mapping[int, int], sets: set[int]) -> float:
    """The bits that a packing takes, those of places not rounded up."""
    return sum(log2(len(set(labels) - sets)) for labels in contents) + sum(bits[label] for label in sets)
