"""Whether a goal can be reached, and in how many moves, as far as that is known without a search.

The colours of empty places and the `invariants` restrict the parity of the number of moves. Where one blank moves over
a graph of places, the theorem of R. M. Wilson (Graph puzzles, homotopy, and the alternating group, 1974) decides the
rest.
"""

from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.puzzles.swap_graph import any_order, both_ways, connected, swap_edges, two_colouring
from antipodes.searches.invariants import EITHER, parities_by_sums


def parities(puzzle: Puzzle, position: Labels, goal: Labels) -> frozenset[int]:
    """The possible parities, 0 or 1, of the number of moves to the goal; none if it is unreachable."""
    return _by_colour(puzzle, position, goal) & parities_by_sums(puzzle, position, goal)


def solvable(puzzle: Puzzle, position: Labels, goal: Labels) -> bool | None:
    """Whether the goal can be reached from the position; None if only a search finds out."""
    if (position == goal).all():
        return True
    if not parities(puzzle, position, goal):
        return False
    edges = swap_edges(puzzle)
    if edges is None or not both_ways(edges) or puzzle.counts[0] != 1:
        return None
    around = connected(edges, puzzle.places)
    if around is None:
        return None
    degrees = sorted(map(len, around))
    if degrees[-1] <= 2:
        return _on_a_line(around, position, goal, closed=degrees[0] == 2)
    return True if any_order(puzzle) else None


def _by_colour(puzzle: Puzzle, position: Labels, goal: Labels) -> frozenset[int]:
    """By two-colouring: each move changes the number of empty places of one colour by one."""
    edges = swap_edges(puzzle)
    colours = two_colouring(edges, puzzle.places) if edges else None
    if colours is None:
        return EITHER
    change = int(colours[position == 0].sum()) - int(colours[goal == 0].sum())
    return frozenset({change % 2})


def _on_a_line(around: list[list[int]], position: Labels, goal: Labels, closed: bool) -> bool:
    """On a path the pieces keep their order, on a cycle they keep it up to rotation."""
    first = min(range(len(around)), key=lambda place: len(around[place]))
    line = [first]
    while len(line) < len(around):
        line.append(next(place for place in around[line[-1]] if place not in line[-2:]))
    pieces = [int(label) for label in position[line] if label]
    wanted = [int(label) for label in goal[line] if label]
    rotations = range(len(pieces)) if closed else range(1)
    return any(pieces[i:] + pieces[:i] == wanted for i in rotations) or not pieces
