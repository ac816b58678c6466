"""Identical pieces stored as one number: the index of their set of places in a list of all sets without overlaps.

Three dominoes on a board of 25 squares have at most 1,140 such sets, which take 11 bits; one bit field per square takes
20 bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2

import numpy as np

from antipodes_tasks.base.array_types import Words
from antipodes_tasks.keys.bit_fields import WORD, bits_of
from antipodes_tasks.rules.footprints import Footprints

MAX_SETS = 1 << 16
"""Maximum number of sets of places that are listed for a label."""
MAX_LISTED = 1 << 20
"""Maximum number of sets that are listed as an intermediate result, including repeats."""
MAX_STEPS = 1 << 21
"""Maximum number of moves that are listed for the sets of a label, 16 bytes each."""
FIELD_BITS = 10
"""Maximum number of bits of a field that several places share, since tables have an entry for each of its numbers."""


@dataclass(frozen=True, eq=False)
class PieceSets:
    """The possible sets of places of the pieces with one label."""

    label: int
    places: tuple[int, ...]
    """Places that can hold the label, ascending."""
    sets: Words
    """``(values,)``: the sets, ascending; bit *i* stands for ``places[i]``."""


def piece_sets(label: int, count: int, covers: Mapping[int, int]) -> PieceSets | None:
    """Return all sets of ``count`` places on which the pieces do not overlap; None if there are none or too many.

    ``covers`` maps each place that can hold the label to a mask of the places that a piece there covers.
    """
    sets = _sets(count, tuple(covers.values())) if len(covers) <= WORD else None
    return None if sets is None else PieceSets(label, tuple(covers), sets)


@lru_cache(maxsize=64)
def _sets(count: int, masks: tuple[int, ...]) -> Words | None:
    """Return all sets of ``count`` disjoint masks. A set is a number whose bit ``i`` stands for ``masks[i]``."""
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
    """Return, for each place that can hold a block's label, a mask of the places that the block then covers.

    The places are in ascending order.
    """
    return {
        one.place: sum(1 << place for place in (one.place, *one.others))
        for one in sorted(footprints.every)
        if one.label == label
    }


def shared(radices: Sequence[int]) -> tuple[int, ...]:
    """Divide neighbouring places into groups, each stored as one number, so that they take the fewest bits in total.

    Returns the number of places of each group. A group takes at most FIELD_BITS bits, or consists of one place.
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
    """Return the labels that should be stored as sets of places, which take ``bits``, and not in the places' fields.

    The search is greedy: the label that saves the most bits is switched first.
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
    """Return the number of bits that a packing takes if the labels ``sets`` are stored as sets of places.

    The bits of places are not rounded to whole numbers.
    """
    return sum(log2(len(set(labels) - sets)) for labels in contents) + sum(bits[label] for label in sets)
