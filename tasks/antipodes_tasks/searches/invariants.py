"""Sums and parities that every move changes by a fixed amount, whatever the position.

The parity of the permutation of pieces that all differ is one, the sum of a part's values modulo their number is
another, and the number of moves modulo 2 is a third. Each move adds a fixed element of the product of these cyclic
groups. So the difference of two positions, together with the number of moves, is in the subgroup that the moves span.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Labels, Mask, Moves
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms

Element = tuple[int, ...]
MOST = 1 << 12
"""Elements of the largest group that is listed."""


def parities_by_sums(rules: Rules, position: Labels, goals: Labels) -> Mask:
    """Whether the number of moves to each of the goals ``(n, places)`` may be even, and odd, ``(n, 2)``.

    Neither of them, if a goal is unreachable.
    """
    span = _span(rules.moves, rules.parts)
    if span is None:
        return np.ones((len(goals), 2), dtype=np.bool_)
    changes = [np.zeros(len(goals), dtype=np.int64)]  # there may be no other
    for part, here in zip(rules.parts, rules.ranges, strict=True):
        if part.counts is None:
            change = goals[:, here].sum(axis=1, dtype=np.int64) - position[here].sum(dtype=np.int64)
            changes.append(change % len(part.symbols))
        elif part.all_different:
            changes.append(_parities_between(position[here], goals[:, here]))
    different, which = np.unique(np.stack(changes, axis=1), axis=0, return_inverse=True)
    known = [[(*change[1:], parity) in span for parity in (0, 1)] for change in different.tolist()]
    possible: Mask = np.array(known, dtype=np.bool_).reshape(-1, 2)[which.reshape(-1)]
    return possible


def _parities_between(position: Labels, goals: Labels) -> NDArray[np.int64]:
    """The parity of the permutation of places from one arrangement of different pieces to each of others, ``(n,)``.

    It is that of the swaps that bring one piece after another to its place.
    """
    to = np.argsort(position)[np.argsort(np.argsort(goals, axis=1), axis=1)]
    back = np.argsort(to, axis=1)
    every, odd = np.arange(len(goals)), np.zeros(len(goals), dtype=np.bool_)
    for place in range(goals.shape[1]):
        here, there = to[:, place].copy(), back[:, place].copy()
        odd ^= here != place
        to[every, there], back[every, here] = here, there
    return odd.astype(np.int64)


@lru_cache(maxsize=4)
def _span(moves: Moves, parts: tuple[Part, ...]) -> frozenset[Element] | None:
    """The elements that sequences of moves add; None if the moves are unknown or there are too many."""
    added: set[Element]
    if isinstance(moves, Swaps):
        added = {(1, 1) if parts[0].all_different else (1,)} if len(moves) else set()
    elif isinstance(moves, Transforms) and _keeps_to_parts(moves, parts):
        added = _added(moves, parts)
    else:
        return None
    orders = [len(part.symbols) if part.counts is None else 2 for part in parts if part.all_different]
    reached, waiting = {(0,) * (len(orders) + 1)}, [(0,) * (len(orders) + 1)]
    while waiting:
        element = waiting.pop()
        for by in added:
            after = tuple((a + b) % order for a, b, order in zip(element, by, (*orders, 2), strict=True))
            if after not in reached:
                reached.add(after)
                waiting.append(after)
        if len(reached) > MOST:
            return None
    return frozenset(reached)


def _keeps_to_parts(moves: Transforms, parts: tuple[Part, ...]) -> bool:
    """Whether pieces and values stay in their part, pieces are not changed, and values are of the part's modulus."""
    sizes = [part.places for part in parts]
    of_part = np.repeat(np.arange(len(parts)), sizes)
    pieces = np.repeat([part.holds_pieces for part in parts], sizes)
    symbols = np.repeat([len(part.symbols) for part in parts], sizes)
    inside = bool((of_part[moves.origin] == of_part).all())
    return inside and not moves.added[:, pieces].any() and bool((moves.moduli == symbols)[~pieces].all())


def _added(moves: Transforms, parts: tuple[Part, ...]) -> set[Element]:
    """What each move adds."""
    elements = set()
    for origin, values in zip(moves.origin, moves.added.astype(np.int64), strict=True):
        element, first = [], 0
        for part in parts:
            here = slice(first, first + part.places)
            if part.counts is None:
                element.append(int(values[here].sum()) % len(part.symbols))
            elif part.all_different:
                element.append(permutation_parity((origin[here] - first).tolist()))
            first += part.places
        elements.add((*element, 1))
    return elements


def permutation_parity(permutation: list[int]) -> int:
    """0 for an even permutation, 1 for an odd one: a cycle of n elements is n - 1 swaps."""
    seen = [False] * len(permutation)
    parity = 0
    for start in range(len(permutation)):
        element = start
        while not seen[element]:
            seen[element] = True
            element = permutation[element]
            parity += element != start
    return parity % 2
