"""Admissible heuristics: sums of tables, in which a search looks up again only what a move has changed.

Manhattan distance is the tables of single tiles, linear conflict a table for each row and column. A stronger heuristic
is more tables; the searches stay as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.reachability.position_set import Numbers, Words
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import UNREACHABLE, Edges, distances_to, swap_edges
from antipodes_tasks.searches.problem import Problem

Name = Literal["manhattan", "linear-conflict"]
NAMES: tuple[Name, ...] = get_args(Name)
SMALL = 9
"""Places of a board up to which making the tables of linear conflicts takes longer than a search without them."""
LINE = 7
"""Places of a line up to which one table has all its conflicts: of 2 MB. A longer line is cut into several."""
UNREACHABLE_COST = 1 << 20
"""The cost of a place from which a piece cannot reach a goal; more moves than any search makes."""


class Table(NamedTuple):
    """Lower bounds of the moves of some pieces, by the number that the labels on some places give."""

    places: Numbers
    """``(k,)``: the places that the number depends on."""
    weights: Numbers
    """``(labels, k)``: what each label on each of these places adds to the number."""
    values: NDArray[np.uint8]
    """``(numbers,)``: the bounds."""

    def of(self, labels: Labels) -> Numbers:
        """The numbers of positions ``(n, places)``, ``(n,)``."""
        numbers: Numbers = self.weights[labels[:, self.places], np.arange(len(self.places))].sum(axis=1)
        return numbers


class Lookups(NamedTuple):
    """The tables of several pieces as arrays for kernels, which look up again what a move changed."""

    table_of: Words
    """``(places, k)``: the tables that depend on each place; none where ``k`` is 0."""
    weights: Words
    """``(labels, places, k)``: what each label on each place adds to the numbers of these tables."""
    values: NDArray[np.uint8]
    """The values of all tables one after another; the number of a table begins where its values do."""


@dataclass(frozen=True, eq=False)
class Heuristic:
    """A lower bound of the moves to a goal: the sum of tables, whose pieces or reasons to move differ."""

    costs: Numbers
    """``(labels, places)``: the tables of single pieces, by their places; no rows in the zero heuristic."""
    tables: tuple[Table, ...] = ()
    """Tables of several pieces. Each place is in equally many."""

    @property
    def is_zero(self) -> bool:
        """Whether it prunes nothing."""
        return len(self.costs) == 0

    def estimate(self, position: Labels) -> int:
        """The heuristic of one position ``(places,)``."""
        return int(self.bounds(position[np.newaxis])[0])

    def bounds(self, labels: Labels) -> Numbers:
        """The heuristic of positions ``(n, places)``, ``(n,)``."""
        totals = np.zeros(len(labels), dtype=np.int64)
        if not self.is_zero:
            totals += self.costs[labels, np.arange(labels.shape[1])].sum(axis=1)
        for table in self.tables:
            totals += table.values[table.of(labels)]
        return totals

    def numbers(self, position: Labels) -> Words:
        """The numbers of a position in the tables, as `Lookups` have them, ``(tables,)``."""
        own = [int(table.of(position[np.newaxis])[0]) for table in self.tables]
        return (np.array(own, dtype=np.int64) + self._begins).astype(np.uint64)

    @cached_property
    def lookups(self) -> Lookups:
        """The heuristic as arrays."""
        labels, places = self.costs.shape
        reading = [[t for t, table in enumerate(self.tables) if place in table.places] for place in range(places)]
        table_of = np.array(reading, dtype=np.int64).reshape(places, len(reading[0]) if reading else 0)
        weights = np.zeros((labels, *table_of.shape), dtype=np.int64)
        for place, i in np.ndindex(table_of.shape):
            table = self.tables[table_of[place, i]]
            weights[:, place, i] = table.weights[:, np.flatnonzero(table.places == place)[0]]
        values = [table.values for table in self.tables]
        return Lookups(
            table_of.astype(np.uint64),
            weights.astype(np.uint64),
            np.concatenate([np.empty(0, dtype=np.uint8), *values]),
        )

    @property
    def _begins(self) -> Numbers:
        """Where the values of each table begin among those of all."""
        return np.cumsum([0, *(len(table.values) for table in self.tables)], dtype=np.int64)[:-1]


def zero_heuristic() -> Heuristic:
    """The zero heuristic, which prunes nothing."""
    return Heuristic(np.empty((0, 0), dtype=np.int64))


def has_heuristic(rules: Rules) -> bool:
    """Whether `heuristic_of` knows one for the moves of the puzzle."""
    return swap_edges(rules) is not None


def less_memory(problem: Problem) -> str:
    """The end of a message for a search that has too little memory: what else can be done."""
    if problem.matches is not None:
        return "; allow more memory or limit the depth"
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
    name = best if name is None else name
    arguments.choice(name, "a heuristic", NAMES)
    if name == "linear-conflict" and not sliding:
        raise InputError("linear-conflict needs tiles that slide on a full rectangle; choose manhattan")
    tables = _line_tables(problem) if name == "linear-conflict" else ()
    return Heuristic(costs_of_pieces(problem), tables)


def from_start(rules: Rules, name: str) -> Callable[[Labels], NDArray[np.int64]]:
    """The heuristic of that name for distances from the nearest start: positions ``(n, places)`` in, ``(n,)`` out.

    Raises
    ------
    InputError
        As `heuristic_of`; or moves cannot be undone, so that ways back to a start say nothing of the ways from it.
    """
    arguments.choice(name, "a heuristic", NAMES)
    if not has_heuristic(rules):
        raise InputError(f"{name} needs moves of one piece to an empty place, which {rules.name} has not")
    if not rules.moves.reversible:
        raise InputError(f"{name} needs moves that can be undone, since it counts moves to the start")
    problem = Problem(rules, rules.start_labels[0], rules.start_labels)
    return heuristic_of(problem, name).bounds  # type: ignore[arg-type]


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


def costs_of_pieces(problem: Problem) -> NDArray[np.int64]:
    """``(labels, places)``: the moves of each piece alone to its nearest goal, NEVER where it cannot get there."""
    edges, places = swap_edges(problem.rules) or frozenset(), problem.rules.places
    costs = np.zeros((len(problem.rules.symbols), places), dtype=np.int64)
    for label in range(1, len(costs)):
        goals = set(np.nonzero(problem.goals == label)[1].tolist())
        distances = distances_to(goals, edges, places)
        costs[label] = np.where(distances == UNREACHABLE, UNREACHABLE_COST, distances)
    return costs


def _only_goals(problem: Problem) -> NDArray[np.int64]:
    goals = np.full(len(problem.rules.symbols), -1, dtype=np.int64)
    for label in range(1, len(goals)):
        places = set(np.nonzero(problem.goals == label)[1].tolist())
        if len(places) == 1:
            goals[label] = places.pop()
    return goals


def _line_tables(problem: Problem) -> tuple[Table, ...]:
    """The table of each row and each column: two moves for every tile that has to leave it to let others pass."""
    goal_of = _only_goals(problem)
    squares = np.arange(problem.rules.places).reshape(problem.rules.board.rows, -1)
    lines = [line[first : first + LINE] for line in (*squares, *squares.T) for first in range(0, len(line), LINE)]
    return tuple(_line_table(line, goal_of) for line in lines)


def _line_table(line: Numbers, goal_of: Numbers) -> Table:
    """The table of a line, whose number has a digit for each place: which of the line's tiles is there, or 0."""
    size = len(line)
    digits = np.where(np.isin(goal_of, line), np.searchsorted(line, goal_of) + 1, 0)
    return Table(line, digits[:, np.newaxis] * (size + 1) ** np.arange(size), _tiles_leaving(size))


@cache
def _tiles_leaving(size: int) -> NDArray[np.uint8]:
    """Two moves for each tile that must leave a line, by the number of the line.

    Tiles that stay are in ascending order of their goals, so at most the longest ascending subsequence stays.
    """
    digits = np.arange((size + 1) ** size) // (size + 1) ** np.arange(size)[:, np.newaxis] % (size + 1)
    longest = np.zeros(digits.shape, dtype=np.uint8)  # of the subsequences that end at each place
    for i in range(size):
        before = np.where(digits[:i] < digits[i], longest[:i], 0).max(axis=0, initial=0)
        longest[i] = np.where(digits[i] > 0, before + 1, 0)
    leaving: NDArray[np.int64] = (digits > 0).sum(axis=0) - longest.max(axis=0)
    return (2 * leaving).astype(np.uint8)
