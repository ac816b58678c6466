"""Puzzles of one empty place in which that place decides the parity of the arrangement, as in the fifteen puzzle.

A move exchanges the empty place with a piece, so each move changes the parity. If the places can be coloured in two
colours, so that each move takes the empty place to the other colour, colour and parity change together. Then half of
all arrangements cannot be reached (W. W. Johnson and W. E. Story, "Notes on the '15' puzzle", 1879).
"""

from collections.abc import Sequence

from antipodes.puzzles.moves.swaps import Swaps
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces.parity import parities

FEWEST, MOST = 3, 20
"""Places: the empty one and two pieces to exchange; more than 20 have too many arrangements, even by halves."""


def parity_by_place(puzzle: Puzzle) -> tuple[int, ...] | None:
    """The parity of all arrangements that can be reached, by the place of label 0; None if it does not decide that.

    It is not declared but found: for each set of connected places, since the starts need not all be in one. Where the
    starts of a set disagree, or moves lead around a circle of odd length, no place decides the parity. In a set
    without a start any choice does, if only moves keep to it.
    """
    if not FEWEST <= puzzle.places <= MOST or set(puzzle.counts) != {1} or not isinstance(puzzle.moves, Swaps):
        return None
    wanted: dict[int, set[int]] = {}
    for labels, parity in zip(puzzle.start_labels, parities(puzzle.start_labels).tolist(), strict=True):
        wanted.setdefault(int(labels.argmin()), set()).add(parity)
    colours = [-1] * puzzle.places
    neighbours = _neighbours(puzzle.moves, puzzle.places)
    for place in [*wanted, *range(puzzle.places)]:
        if colours[place] < 0 and not _colour(place, min(wanted.get(place, {0})), neighbours, colours):
            return None
    agreed = all(found == {colours[place]} for place, found in wanted.items())
    return tuple(colours) if agreed else None


def _neighbours(moves: Swaps, places: int) -> list[set[int]]:
    """The places to and from which the empty place moves, by its place."""
    neighbours: list[set[int]] = [set() for _ in range(places)]
    for one, other in set(map(tuple, moves.pairs.tolist())):
        if one != other:  # no piece moves to its own place
            neighbours[one].add(other)
            neighbours[other].add(one)
    return neighbours


def _colour(first: int, colour: int, neighbours: Sequence[set[int]], colours: list[int]) -> bool:
    """Colour the places connected with the first one; whether two colours are enough."""
    colours[first] = colour
    waiting = [first]
    while waiting:
        place = waiting.pop()
        for other in neighbours[place]:
            if colours[other] < 0:
                colours[other] = 1 - colours[place]
                waiting.append(other)
            elif colours[other] == colours[place]:
                return False
    return True
