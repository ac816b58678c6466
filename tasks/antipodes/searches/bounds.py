"""Lower bounds on the number of moves, as arrays that the kernels keep up by difference.

A stronger bound brings arrays of its own into `LowerBound`, and its term into `blank_kernels`; the searches know
nothing of it.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from antipodes import arguments
from antipodes.errors import InputError
from antipodes.searches.graph import UNREACHABLE, Edges, distances_to, swap_edges
from antipodes.searches.problem import Problem

Name = Literal["manhattan", "linear-conflict"]
NAMES: tuple[Name, ...] = get_args(Name)
SMALL = 9
"""Up to so many places, linear conflicts cost more time than the positions they save."""
NEVER = 1 << 20
"""The cost of a place from which a piece cannot reach a goal; more than any number of moves a search can make."""


class LowerBound(NamedTuple):
    """No more moves than these are needed; without costs, none."""

    costs: NDArray[np.int64]
    """``(labels, places)``: moves that a piece needs at least to a goal; no rows where nothing is known."""
    goal: NDArray[np.int64]
    """``(labels,)``: the one place where the piece belongs, -1 where there are several or none."""
    line_of: NDArray[np.int64]
    """``(places, 2)``: the row and the column of each place, as numbers of lines."""
    lines: NDArray[np.int64]
    """``(lines, length)``: the places of each line in ascending order, -1 after them; none without conflicts."""


def no_bound() -> LowerBound:
    """The bound of a search that knows nothing."""
    nothing = np.empty((0, 0), dtype=np.int64)
    return LowerBound(costs=nothing, goal=nothing.reshape(-1), line_of=nothing, lines=nothing)


def lower_bound(problem: Problem, name: Name | None = None) -> LowerBound:
    """The bound of that name, by default the best that is known for the puzzle.

    ``manhattan`` adds up for all pieces the moves to the nearest goal place of their label if no other piece stood in
    the way: on a grid, the Manhattan distance. ``linear-conflict`` adds two for every tile that has to leave its row
    or column to let others pass (O. Hansson, A. Mayer and M. Yung, Criticizing solutions to relaxed models yields
    powerful admissible heuristics, 1992); it holds on rectangles of sliding tiles.

    Raises
    ------
    InputError
        The puzzle's moves are not single pieces that go to an empty place; or they are not those of sliding tiles,
        and linear conflicts are asked for; or there is no such bound.
    """
    edges = swap_edges(problem.puzzle)
    if edges is None:
        raise InputError("expected moves of one piece to an empty place, for which a bound is known; found others")
    sliding = is_grid(problem, edges)
    best: Name = "linear-conflict" if sliding and problem.puzzle.places > SMALL else "manhattan"
    chosen = best if name is None else name
    arguments.choice(chosen, "a bound", NAMES)
    if chosen == "linear-conflict" and not sliding:
        raise InputError("linear-conflict: expected tiles that slide on a full rectangle, found other moves")
    rows, columns = problem.puzzle.board.rows, problem.puzzle.board.columns
    with_lines = chosen == "linear-conflict"
    return LowerBound(
        costs=_costs(problem, edges),
        goal=_only_goals(problem),
        line_of=_line_of(rows, columns) if with_lines else np.empty((0, 2), dtype=np.int64),
        lines=_lines(rows, columns) if with_lines else np.empty((0, 0), dtype=np.int64),
    )


def is_grid(problem: Problem, edges: Edges) -> bool:
    """Whether pieces move exactly between neighbours in the rows and columns of a rectangle without holes."""
    board = problem.puzzle.board
    if board.holes or board.places != problem.puzzle.places:
        return False
    squares = np.arange(board.places).reshape(board.rows, board.columns)
    across = zip(squares[:, :-1].flat, squares[:, 1:].flat, strict=True)
    down = zip(squares[:-1].flat, squares[1:].flat, strict=True)
    forward = {(int(a), int(b)) for pairs in (across, down) for a, b in pairs}
    return problem.puzzle.counts[0] == 1 and edges == forward | {(b, a) for a, b in forward}


def _costs(problem: Problem, edges: Edges) -> NDArray[np.int64]:
    places = problem.puzzle.places
    costs = np.zeros((len(problem.puzzle.symbols), places), dtype=np.int64)
    for label in range(1, len(costs)):
        goals = set(np.nonzero(problem.goals == label)[1].tolist())
        distances = distances_to(goals, edges, places)
        costs[label] = np.where(distances == UNREACHABLE, NEVER, distances)
    return costs


def _only_goals(problem: Problem) -> NDArray[np.int64]:
    goals = np.full(len(problem.puzzle.symbols), -1, dtype=np.int64)
    for label in range(1, len(goals)):
        places = set(np.nonzero(problem.goals == label)[1].tolist())
        if len(places) == 1:
            goals[label] = places.pop()
    return goals


def _line_of(rows: int, columns: int) -> NDArray[np.int64]:
    row, column = np.divmod(np.arange(rows * columns), columns)
    return np.stack((row, rows + column), axis=1)


def _lines(rows: int, columns: int) -> NDArray[np.int64]:
    squares = np.arange(rows * columns).reshape(rows, columns)
    lines = np.full((rows + columns, max(rows, columns)), -1, dtype=np.int64)
    lines[:rows, :columns] = squares
    lines[rows:, :rows] = squares.T
    return lines
