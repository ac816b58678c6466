"""Puzzles of one empty place in which that place decides the parity of the arrangement, as in the fifteen puzzle.

A move exchanges the empty place with a piece, so each move changes the parity. If the places can be coloured in two
colours, so that each move takes the empty place to the other colour, colour and parity change together. Then half of
all arrangements cannot be reached (W. W. Johnson and W. E. Story, "Notes on the '15' puzzle", 1879).
"""

from antipodes_tasks.permutations.parity import parities
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps, swap_edges, two_colouring

FEWEST, MOST = 3, 20
"""Places: the empty one and two pieces to exchange; more than 20 have too many arrangements, even by halves."""


def parity_by_place(rules: Rules) -> tuple[int, ...] | None:
    """The parity of all arrangements that can be reached, by the place of label 0; None if it does not decide that.

    It is not declared but found: for each set of connected places, since the starts need not all be in one. Where the
    starts of a set disagree, or moves lead around a circle of odd length, no place decides the parity. In a set
    without a start any choice does, if only moves keep to it.
    """
    if not FEWEST <= rules.places <= MOST or set(rules.counts) != {1} or not isinstance(rules.moves, Swaps):
        return None
    empty, wanted = rules.start_labels.argmin(axis=1), parities(rules.start_labels)
    seeds = tuple(zip(empty.tolist(), wanted.tolist(), strict=True))
    colours = two_colouring(swap_edges(rules) or frozenset(), rules.places, seeds)
    if colours is None or (colours[empty] != wanted).any():
        return None
    return tuple(colours.tolist())
