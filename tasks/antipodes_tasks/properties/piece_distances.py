"""The Manhattan distance and linear conflict: one table per piece, and one more table per row and column."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST, BoundTable, TableSum
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import UNREACHABLE, Edges, distances_to, reversed_edges, swap_edges

SMALL = 9
"""Maximum number of places of a small board: building linear-conflict tables for it takes longer than it saves."""
LINE = 7
"""Maximum number of places of a row or column with one conflict table, which takes 2 MB; longer ones are divided."""


def manhattan(rules: Rules, goals: Labels) -> TableSum:
    """Return the sum, over all pieces, of the moves to the nearest goal place of their label on an otherwise empty
    board: on a grid, the Manhattan distance.
    """
    return TableSum(costs_of_pieces(rules, goals))


def linear_conflict(rules: Rules, goals: Labels) -> TableSum:
    """Return `manhattan` plus two for every tile that has to leave its row or column to let others pass.

    O. Hansson, A. Mayer and M. Yung, Criticizing solutions to relaxed models yields powerful admissible heuristics,
    1992.
    """
    return TableSum(costs_of_pieces(rules, goals), _line_tables(rules, goals))


def moves_pieces(rules: Rules) -> bool:
    """Return whether each move takes one piece to an empty place."""
    return swap_edges(rules) is not None


def is_large_grid(rules: Rules) -> bool:
    """Return whether tiles slide on a full rectangle that is not `SMALL`."""
    return rules.places > SMALL and is_grid(rules)


def is_grid(rules: Rules) -> bool:
    """Return whether there is one blank, which moves between all adjacent squares of a full rectangle."""
    edges = swap_edges(rules)
    if edges is None or rules.layout is None:
        return False
    board = rules.board
    if board.holes or board.places != rules.places:
        return False
    squares = np.arange(board.places).reshape(board.rows, board.columns)
    across = zip(squares[:, :-1].flat, squares[:, 1:].flat, strict=True)
    down = zip(squares[:-1].flat, squares[1:].flat, strict=True)
    forward = frozenset((int(a), int(b)) for pairs in (across, down) for a, b in pairs)
    return rules.counts[0] == 1 and edges == forward | reversed_edges(forward)


def costs_of_pieces(rules: Rules, goals: Labels) -> NDArray[np.int64]:
    """Return each piece's number of moves to its nearest goal, ``(labels, places)``; UNREACHABLE_COST if impossible."""
    edges = swap_edges(rules) or frozenset()
    costs = np.zeros((len(rules.symbols), rules.places), dtype=np.int64)
    for label in range(1, len(costs)):
        costs[label] = costs_of_label(label, goals, edges)
    return costs


def costs_of_label(label: int, goals: Labels, edges: Edges) -> NDArray[np.int64]:
    """Return the number of edges ``(places,)`` to the nearest place with the label in one of the goals.

    It is UNREACHABLE_COST for places from which no edges lead there.
    """
    distances = distances_to(set(np.nonzero(goals == label)[1].tolist()), edges, goals.shape[1]).astype(np.int64)
    return np.where(distances == UNREACHABLE, UNREACHABLE_COST, distances)


def _only_goals(rules: Rules, goals: Labels) -> NDArray[np.int64]:
    """Return the goal place ``(labels,)`` of each label, or -1 for a label with several."""
    goal_of = np.full(len(rules.symbols), -1, dtype=np.int64)
    for label in range(1, len(goal_of)):
        places = set(np.nonzero(goals == label)[1].tolist())
        if len(places) == 1:
            goal_of[label] = places.pop()
    return goal_of


def _line_tables(rules: Rules, goals: Labels) -> tuple[BoundTable, ...]:
    """Return a table for each row and column: two moves for every tile that has to leave it to let others pass."""
    goal_of = _only_goals(rules, goals)
    squares = np.arange(rules.places).reshape(rules.board.rows, -1)
    lines = [line[first : first + LINE] for line in (*squares, *squares.T) for first in range(0, len(line), LINE)]
    return tuple(_line_table(line, goal_of) for line in lines)


def _line_table(line: Numbers, goal_of: Numbers) -> BoundTable:
    """Return the table of a line. Its number has one digit per place: the goal of the tile there, counted from 1 along
    the line, or 0 if the tile's goal is not on the line.
    """
    size = len(line)
    digits = np.where(np.isin(goal_of, line), np.searchsorted(line, goal_of) + 1, 0)
    return BoundTable(line, digits[:, np.newaxis] * (size + 1) ** np.arange(size), _tiles_leaving(size))


@cache
def _tiles_leaving(size: int) -> NDArray[np.uint8]:
    """Return the values of a line's table: two moves for each tile that must leave the line.

    The goals of the tiles that stay must be in ascending order, so at most a longest ascending subsequence can stay.
    """
    digits = np.arange((size + 1) ** size) // (size + 1) ** np.arange(size)[:, np.newaxis] % (size + 1)
    longest = np.zeros(digits.shape, dtype=np.uint8)  # length of the longest subsequence that ends at each place
    for i in range(size):
        before = np.where(digits[:i] < digits[i], longest[:i], 0).max(axis=0, initial=0)
        longest[i] = np.where(digits[i] > 0, before + 1, 0)
    leaving: NDArray[np.int64] = (digits > 0).sum(axis=0) - longest.max(axis=0)
    return (2 * leaving).astype(np.uint8)
