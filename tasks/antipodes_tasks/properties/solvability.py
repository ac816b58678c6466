"""Reachability of goals and parity of the number of moves, as far as they are known without a search.

Two kinds of invariants restrict the parity of the number of moves. The first is the number of empty places of each
colour in a two-colouring of the board. The others are sums to which each move adds a fixed amount, whatever the
position: the parity of the permutation of distinct pieces, and the sum of a part's values modulo their number. These
sums, together with the number of moves modulo 2, form an element of a product of cyclic groups, to which each move adds
a fixed element. So if the goal is reachable, the difference between position and goal, combined with the number of
moves, is an element of the subgroup that these fixed elements generate.

If a single blank moves on a graph of places, the theorem of R. M. Wilson (Graph puzzles, homotopy, and the alternating
group, 1974) decides whether goals are reachable.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.permutations import parity
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import any_order, both_ways, connected, swap_edges, two_colouring
from antipodes_tasks.rules.transforms import Transforms

Element = tuple[int, ...]
MAX_GROUP_ELEMENTS = 1 << 12
"""Maximum number of elements of a subgroup that is listed."""


class Solvable(NamedTuple):
    """Known reachability of goals without a search, as arrays ``(goals,)``."""

    possible: Mask
    """False if the goal is known to be unreachable."""
    certain: Mask
    """True if the goal is known to be reachable."""


def parities(rules: Rules, position: Labels, goals: Labels) -> Mask:
    """Return whether the number of moves to each of the goals ``(n, places)`` can be even and can be odd, ``(n, 2)``.

    Both are False if the goal is unreachable.
    """
    both: Mask = _by_colour(rules, position, goals) & _by_sums(rules, position, goals)
    return both


def solvable(rules: Rules, position: Labels, goals: Labels) -> Solvable:
    """Return which of the goals ``(n, places)`` are known to be reachable or unreachable from a position."""
    same: Mask = (goals == position).all(axis=1)
    possible: Mask = same | parities(rules, position, goals).any(axis=1)
    around = _neighbours(rules)
    if around is None:
        return Solvable(possible, same)
    if _is_line(around):
        closed = min(map(len, around)) == 2
        possible = same | possible & _on_a_line(around, position, goals, closed)
        return Solvable(possible, possible)
    return Solvable(possible, possible if any_order(rules) else same)


def invariants(rules: Rules, positions: Labels) -> Numbers:
    """Return parities and sums ``(n, numbers)`` of positions ``(n, places)``, on which `parities` depends alone."""
    return np.column_stack((_changes(rules, rules.first, positions), _coloured(rules, positions)))


def _neighbours(rules: Rules) -> list[list[int]] | None:
    """Return the neighbours of each place if a single blank moves on a connected graph in both directions, or None."""
    edges = swap_edges(rules)
    if edges is None or not both_ways(edges) or rules.counts[0] != 1:
        return None
    return connected(edges, rules.places)


def _is_line(around: list[list[int]]) -> bool:
    """Return whether the board is a path or a cycle."""
    return max(map(len, around)) <= 2


def _by_colour(rules: Rules, position: Labels, goals: Labels) -> Mask:
    """Return the parities that a two-colouring allows: a move changes the number of empty places of a colour by 1."""
    edges = swap_edges(rules)
    if not edges or two_colouring(edges, rules.places) is None:
        return np.ones((len(goals), 2), dtype=np.bool_)
    odd: Mask = _coloured(rules, goals) != _coloured(rules, position)
    return np.stack((~odd, odd), axis=1)


def _coloured(rules: Rules, positions: Labels) -> Numbers:
    """Return the parity of the number of empty places of one colour, ``(n,)``; zeros without a two-colouring."""
    edges = swap_edges(rules)
    colours = two_colouring(edges, rules.places) if edges else None
    if colours is None:
        return np.zeros(positions.shape[:-1], dtype=np.int64)
    odd: Numbers = (positions == 0) @ colours.astype(np.int64) % 2
    return odd


def _on_a_line(around: list[list[int]], position: Labels, goals: Labels, closed: bool) -> Mask:
    """Return which goals are reachable if the board is a path or, if ``closed``, a cycle.

    Pieces keep their order on a path; on a cycle, their order can only be rotated.
    """
    first = min(range(len(around)), key=lambda place: len(around[place]))
    line = [first]
    while len(line) < len(around):
        line.append(next(place for place in around[line[-1]] if place not in line[-2:]))
    wanted = goals[:, line]
    wanted = wanted[wanted != 0].reshape(len(goals), -1)  # there is one empty place
    pieces = position[line][position[line] != 0]
    found: Mask = (wanted == pieces).all(axis=1)
    for rotation in range(1, len(pieces) if closed else 1):
        found |= (wanted == np.roll(pieces, rotation)).all(axis=1)
    return found


def _by_sums(rules: Rules, position: Labels, goals: Labels) -> Mask:
    """Return the parities that the sums allow for each of the goals ``(n, places)``, even and odd, ``(n, 2)``.

    Both are False if the goal is unreachable.
    """
    span = _span(rules.moves, rules.parts)
    if span is None:
        return np.ones((len(goals), 2), dtype=np.bool_)
    different, which = np.unique(_changes(rules, position, goals), axis=0, return_inverse=True)
    known = [[(*change, parity) in span for parity in (0, 1)] for change in map(tuple, different.tolist())]
    possible: Mask = np.array(known, dtype=np.bool_).reshape(-1, 2)[which.reshape(-1)]
    return possible


def _changes(rules: Rules, position: Labels, goals: Labels) -> Numbers:
    """Return the difference of each sum between the position and each of the goals, ``(n, sums)``."""
    changes = [np.zeros((len(goals), 0), dtype=np.int64)]
    for part, here in zip(rules.parts, rules.ranges, strict=True):
        if part.counts is None:
            change = goals[:, here].sum(axis=1, dtype=np.int64) - position[here].sum(dtype=np.int64)
            changes.append((change % len(part.symbols))[:, np.newaxis])
        elif part.all_different:
            odd = parity.parities(goals[:, here]) ^ parity.parities(position[np.newaxis, here])
            changes.append(odd.astype(np.int64)[:, np.newaxis])
    return np.concatenate(changes, axis=1)


class WrongSum(NamedTuple):
    """A sum that no sequence of moves from the start can produce."""

    part: Part | None
    """The part with the wrong sum; None if each sum is possible by itself, but the combination of all sums is not."""
    found: int = 0
    expected: int = 0


def wrong_sum(rules: Rules, position: Labels) -> WrongSum | None:
    """Return the sum that makes a position ``(places,)`` unreachable from the first start; None if there is none."""
    span, start = _span(rules.moves, rules.parts), rules.first
    if span is None or _by_sums(rules, start, position[np.newaxis]).any():
        return None
    changes = _changes(rules, start, position[np.newaxis])[0].tolist()
    with_sums = [(part, at) for part, at in zip(rules.parts, rules.ranges, strict=True) if part.all_different]
    for number, (part, here) in enumerate(with_sums):
        if changes[number] not in {element[number] for element in span}:
            if part.holds_pieces:
                return WrongSum(part, parity.parity_of(position[here].tolist()), parity.parity_of(start[here].tolist()))
            modulus = len(part.symbols)
            return WrongSum(part, int(position[here].sum()) % modulus, int(start[here].sum()) % modulus)
    return WrongSum(None)


@lru_cache(maxsize=4)
def _span(moves: Moves, parts: tuple[Part, ...]) -> frozenset[Element] | None:
    """Return the elements that sequences of moves can add; None if there are too many, or the effect of moves is
    unknown.
    """
    added: set[Element]
    if moves.pairs is not None:
        added = {(1, 1) if parts[0].all_different else (1,)} if len(moves) else set()
    elif (stated := Transforms.of(moves)) is not None and _keeps_to_parts(stated, parts):
        added = _added(stated, parts)
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
        if len(reached) > MAX_GROUP_ELEMENTS:
            return None
    return frozenset(reached)


def _keeps_to_parts(moves: Transforms, parts: tuple[Part, ...]) -> bool:
    """Return whether moves take labels only to places of the same part, add nothing to pieces, and add to values modulo
    the part's number of values.
    """
    sizes = [part.places for part in parts]
    of_part = np.repeat(np.arange(len(parts)), sizes)
    pieces = np.repeat([part.holds_pieces for part in parts], sizes)
    symbols = np.repeat([len(part.symbols) for part in parts], sizes)
    inside = bool((of_part[moves.origin] == of_part).all())
    return inside and not moves.added[:, pieces].any() and bool((moves.moduli == symbols)[~pieces].all())


def _added(moves: Transforms, parts: tuple[Part, ...]) -> set[Element]:
    """Return the elements that the moves add, one per move, without repeats."""
    elements = set()
    for origin, values in zip(moves.origin, moves.added.astype(np.int64), strict=True):
        element, first = [], 0
        for part in parts:
            here = slice(first, first + part.places)
            if part.counts is None:
                element.append(int(values[here].sum()) % len(part.symbols))
            elif part.all_different:
                element.append(parity.parity_of((origin[here] - first).tolist()))
            first += part.places
        elements.add((*element, 1))
    return elements
