"""Whether a goal can be reached, and in how many moves, as far as that is known without a search.

The colours of empty places and the `invariants` restrict the parity of the number of moves. Where one blank moves over
a graph of places, the theorem of R. M. Wilson (Graph puzzles, homotopy, and the alternating group, 1974) decides the
rest.
"""

from typing import NamedTuple

import numpy as np

from antipodes_tasks.rules.moves import Labels, Mask
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import any_order, both_ways, connected, swap_edges, two_colouring
from antipodes_tasks.searches.invariants import parities_by_sums


class Solvable(NamedTuple):
    """What is known of goals without a search, ``(goals,)`` each."""

    possible: Mask
    """False: the goal cannot be reached."""
    certain: Mask
    """True: it can."""


def parities(rules: Rules, position: Labels, goals: Labels) -> Mask:
    """Whether the number of moves to each of the goals ``(n, places)`` may be even, and odd, ``(n, 2)``.

    Neither of them, if a goal is unreachable.
    """
    both: Mask = _by_colour(rules, position, goals) & parities_by_sums(rules, position, goals)
    return both


def solvable(rules: Rules, position: Labels, goals: Labels) -> Solvable:
    """Whether each of the goals ``(n, places)`` can be reached from the position, as far as that is known."""
    same: Mask = (goals == position).all(axis=1)
    possible: Mask = same | parities(rules, position, goals).any(axis=1)
    edges = swap_edges(rules)
    if edges is None or not both_ways(edges) or rules.counts[0] != 1:
        return Solvable(possible, same)
    around = connected(edges, rules.places)
    if around is None:
        return Solvable(possible, same)
    degrees = sorted(map(len, around))
    if degrees[-1] <= 2:
        possible = same | possible & _on_a_line(around, position, goals, closed=degrees[0] == 2)
        return Solvable(possible, possible)
    return Solvable(possible, possible if any_order(rules) else same)


def _by_colour(rules: Rules, position: Labels, goals: Labels) -> Mask:
    """By two-colouring: each move changes the number of empty places of one colour by one."""
    edges = swap_edges(rules)
    colours = two_colouring(edges, rules.places) if edges else None
    if colours is None:
        return np.ones((len(goals), 2), dtype=np.bool_)
    coloured = [(labels == 0) @ colours.astype(np.int64) for labels in (position, goals)]
    odd: Mask = (coloured[1] - coloured[0]) % 2 == 1
    return np.stack((~odd, odd), axis=1)


def _on_a_line(around: list[list[int]], position: Labels, goals: Labels, closed: bool) -> Mask:
    """On a path the pieces keep their order, on a cycle they keep it up to rotation."""
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
