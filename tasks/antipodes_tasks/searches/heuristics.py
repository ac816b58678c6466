"""Admissible heuristics: lower bounds of the number of moves, as arrays that kernels update by difference.

A stronger heuristic adds arrays to `Heuristic`, and a term to `blank_kernels`; the searches stay as they are.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import UNREACHABLE, Edges, distances_to, swap_edges
from antipodes_tasks.searches.problem import Problem

Name = Literal["manhattan", "linear-conflict"]
NAMES: tuple[Name, ...] = get_args(Name)
SMALL = 9
"""Places of a board up to which linear conflicts cost more time than the pruned positions save."""
NEVER = 1 << 20
"""The cost of a place from which a piece cannot reach a goal; more moves than any search makes."""


class Heuristic(NamedTuple):
    """A lower bound of the moves to a goal, 0 if there are no costs."""

    costs: NDArray[np.int64]
    """``(labels, places)``: the least moves of a piece to a goal; no rows in the zero heuristic."""
    goal: NDArray[np.int64]
    """``(labels,)``: the goal place of the piece; -1 if there are several or none."""
    line_of: NDArray[np.int64]
    """``(places, 2)``: the row and the column of each place, as numbers of lines."""
    lines: NDArray[np.int64]
    """``(lines, length)``: the places of each line in ascending order, -1 after them; none without conflicts."""


def zero_heuristic() -> Heuristic:
    """The zero heuristic, which prunes nothing."""
    nothing = np.empty((0, 0), dtype=np.int64)
    return Heuristic(costs=nothing, goal=nothing.reshape(-1), line_of=nothing, lines=nothing)


def has_heuristic(rules: Rules) -> bool:
    """Whether `heuristic_of` knows one for the moves of the puzzle."""
    return swap_edges(rules) is not None


def less_memory(problem: Problem) -> str:
    """The end of a message for a search that has too little memory: what else can be done."""
    return (
        "; allow more memory, limit the depth, or choose "
        f"{'ida-star' if has_heuristic(problem.rules) else 'iddfs'}, which takes little memory"
    )


def heuristic_of(problem: Problem, name: Name | None = None) -> Heuristic:
    """The heuristic of that name, by default the strongest for the puzzle.

    ``manhattan`` is the sum over all pieces of the moves to the nearest goal place of their label on an otherwise empty
    board: on a grid, the Manhattan distance. ``linear-conflict`` adds two for every tile that has to leave its row or
    column to let others pass (O. Hansson, A. Mayer and M. Yung, Criticizing solutions to relaxed models yields
    powerful admissible heuristics, 1992); it holds on rectangles of sliding tiles.

    Raises
    ------
    InputError
        The moves are not swaps of a piece with an empty place; or the name is ``linear-conflict`` and the moves are not
        those of sliding tiles; or there is no heuristic of that name.
    """
    edges = swap_edges(problem.rules)
    if edges is None:
        raise InputError("ida-star needs moves of one piece to an empty place; choose iddfs or bfs")
    sliding = is_grid(problem, edges)
    best: Name = "linear-conflict" if sliding and problem.rules.places > SMALL else "manhattan"
    chosen = best if name is None else name
    arguments.choice(chosen, "a heuristic", NAMES)
    if chosen == "linear-conflict" and not sliding:
        raise InputError("linear-conflict needs tiles that slide on a full rectangle; choose manhattan")
    rows, columns = problem.rules.board.rows, problem.rules.board.columns
    with_lines = chosen == "linear-conflict"
    return Heuristic(
        costs=_costs(problem, edges),
        goal=_only_goals(problem),
        line_of=_line_of(rows, columns) if with_lines else np.empty((0, 2), dtype=np.int64),
        lines=_lines(rows, columns) if with_lines else np.empty((0, 0), dtype=np.int64),
    )


def from_start(rules: Rules, name: str) -> Callable[[Labels], NDArray[np.int64]]:
    """The heuristic of that name for distances from the nearest start: positions ``(n, places)`` in, ``(n,)`` out.

    Raises
    ------
    InputError
        As `heuristic_of`; or moves cannot be undone, so that ways back to a start say nothing of the ways from it.
    """
    from antipodes_tasks.searches.deepening.blank_kernels import estimate_all

    arguments.choice(name, "a heuristic", NAMES)
    if not has_heuristic(rules):
        raise InputError(f"{name} needs moves of one piece to an empty place, which {rules.name} has not")
    if not rules.moves.reversible:
        raise InputError(f"{name} needs moves that can be undone, since it counts moves to the start")
    problem = Problem(rules, rules.start_labels[0], rules.start_labels)
    arrays = heuristic_of(problem, name)  # type: ignore[arg-type]
    return lambda labels: estimate_all(np.ascontiguousarray(labels), *arrays)


def is_grid(problem: Problem, edges: Edges) -> bool:
    """Whether pieces move exactly between neighbours in the rows and columns of a rectangle without holes."""
    board = problem.rules.board
    if board.holes or board.places != problem.rules.places:
        return False
    squares = np.arange(board.places).reshape(board.rows, board.columns)
    across = zip(squares[:, :-1].flat, squares[:, 1:].flat, strict=True)
    down = zip(squares[:-1].flat, squares[1:].flat, strict=True)
    forward = {(int(a), int(b)) for pairs in (across, down) for a, b in pairs}
    return problem.rules.counts[0] == 1 and edges == forward | {(b, a) for a, b in forward}


def _costs(problem: Problem, edges: Edges) -> NDArray[np.int64]:
    places = problem.rules.places
    costs = np.zeros((len(problem.rules.symbols), places), dtype=np.int64)
    for label in range(1, len(costs)):
        goals = set(np.nonzero(problem.goals == label)[1].tolist())
        distances = distances_to(goals, edges, places)
        costs[label] = np.where(distances == UNREACHABLE, NEVER, distances)
    return costs


def _only_goals(problem: Problem) -> NDArray[np.int64]:
    goals = np.full(len(problem.rules.symbols), -1, dtype=np.int64)
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
